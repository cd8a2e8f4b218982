"""Test that the programs of benchmarks/jit_programs.py are correct when compiled to kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from devices import has_card

import graphla as gl
from graphla.backends.cuda.program import ProgramTuning
from graphla.backends.tuning import using

pytest.importorskip("networkx")
sys.path.append(str(Path(__file__).parents[1]))  # for test_jit_programs

from test_jit_programs import CHECKS, programs

QUICK = {"betweenness", "bfs", "components", "independent_set"}
"""The programs that the simulator runs quickly."""

TUNING = ProgramTuning() if has_card() else ProgramTuning(block=64, cluster=4)
"""Numbers of threads; small on the simulator, where each thread adds to the cost of a barrier.
"""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.gpu) for name in CHECKS],
)
def test_each_program_gives_correct_results_as_a_kernel(name: str):
    program: Any = programs.PROGRAMS[name]
    with gl.config.set(device="cuda"), using(TUNING):
        CHECKS[name](gl.jit(program))
