"""Test tour.py, which runs every kernel on small inputs so that sanitizers can check it.

The stages must also work on the CPU, and together they must run every kernel. For each stage,
`tour.json` lists the kernels that no earlier stage runs. `make test` only reads this file, and
`make test-full` checks the file by running the tour on the simulated GPU.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tour
from instances import in_the_sources

import graphla as gl


@pytest.mark.parametrize("stage", tour.STAGES, ids=lambda stage: stage.__name__)
def test_each_stage_of_the_tour_also_runs_on_the_cpu(stage):
    with gl.config.set(device="cpu"):
        stage()


def recorded() -> dict[str, set[tuple[str, str]]]:
    """Return the kernels that each stage is the first to run, according to tour.json."""
    found = json.loads(Path(__file__).with_name("tour.json").read_text())
    return {stage: {tuple(each.split(":")) for each in found[stage]} for stage in found}


def test_the_file_tour_json_lists_a_stage_for_each_kernel():
    assert tour.not_run(set().union(*recorded().values())) == set()


@pytest.mark.full
def test_each_stage_of_the_tour_runs_the_kernels_that_the_file_tour_json_lists(
    monkeypatch: pytest.MonkeyPatch,
):
    from graphla.compilers import cuda

    monkeypatch.setattr(cuda, "_loaded", {})
    kernels, found = in_the_sources().keys(), {}
    with gl.config.set(device="cuda"):
        for stage in tour.STAGES:
            before = tour.run()
            stage()
            found[stage.__name__] = (tour.run() - before) & kernels
    assert {stage: new for stage, new in found.items() if new} == recorded()
