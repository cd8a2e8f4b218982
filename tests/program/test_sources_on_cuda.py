"""Test that a drawn function gives the same results in Python and with one kernel per loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from devices import has_cuda, use_cuda
from hypothesis import given
from hypothesis import strategies as st

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from sources import Source, sources  # noqa: E402
from test_sources import Checked, check_source  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.program import cuda  # noqa: E402

SMALL = cuda.machine.ProgramTuning(
    block=64, cluster=4, stack_entries=1, stack_items=2, most_joined=0
)
"""A tuning with small blocks, because the simulator needs a fiber for each thread of a block. Each
vector has its own allocation, so the simulator detects accesses beyond the end of a vector."""
WITHOUT_CLUSTERS = replace(SMALL, cluster_rows=0)


@given(sources(statements=8), st.booleans())
def test_a_drawn_function_gives_the_same_results_in_python_and_in_gpu_kernels(
    source: Source, is_one_cluster: bool
):
    engine: Any = cuda
    tuning = SMALL if is_one_cluster else WITHOUT_CLUSTERS
    with gl.config.set(device="cuda"), using(tuning):
        check_source(source, Checked(engine))
