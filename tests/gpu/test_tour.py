"""The tour of every kernel, that the sanitizers watch on a card, runs, and leaves no kernel out."""

from __future__ import annotations

import pytest
import tour

import graphla as gl


@pytest.mark.parametrize("stage", tour.STAGES, ids=lambda stage: stage.__name__)
def test_a_stage_of_the_tour_runs_on_the_cpu_too(stage):
    with gl.config.set(device="cpu"):
        stage()


@pytest.mark.full
def test_the_tour_leaves_no_kernel_out(monkeypatch: pytest.MonkeyPatch):
    from graphla.compilers import cuda

    monkeypatch.setattr(cuda, "_loaded", {})
    with gl.config.set(device="cuda"):
        for stage in tour.STAGES:
            stage()
    assert tour.not_run(tour.run()) == set()
