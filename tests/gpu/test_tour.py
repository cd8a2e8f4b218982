"""Test tour.py, which runs every kernel on small inputs so that sanitizers can check it.

Its stages must work on the CPU too, and no kernel may be missing.
"""

from __future__ import annotations

import pytest
import tour

import graphla as gl


@pytest.mark.parametrize("stage", tour.STAGES, ids=lambda stage: stage.__name__)
def test_each_stage_of_the_tour_also_runs_on_the_cpu(stage):
    with gl.config.set(device="cpu"):
        stage()


@pytest.mark.full
def test_the_tour_runs_every_kernel(monkeypatch: pytest.MonkeyPatch):
    from graphla.compilers import cuda

    monkeypatch.setattr(cuda, "_loaded", {})
    with gl.config.set(device="cuda"):
        for stage in tour.STAGES:
            stage()
    assert tour.not_run(tour.run()) == set()
