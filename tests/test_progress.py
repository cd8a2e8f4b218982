"""Test that long work shows a progress bar if `config.progress` is True, and nothing otherwise."""

from __future__ import annotations

import time

import pytest

import graphla as gl
from graphla import progress as bars
from graphla.progress import progress


def test_no_progress_is_shown_unless_it_is_enabled(capsys):
    assert gl.config.progress is False
    with progress(3, "step", "work") as advance:
        assert not bars.is_shown()
        for _ in range(3):
            advance(1)
    assert capsys.readouterr() == ("", "")


def test_a_progress_bar_shows_completed_work_and_is_removed_at_the_end(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(bars, "DELAY", 1e-9)
    with gl.config.set(progress=True), progress(4, "step", "work") as advance:
        assert bars.is_shown()
        for _ in range(2):
            time.sleep(0.11)  # longer than the interval between two updates of tqdm
            advance(1)
    shown = capsys.readouterr().err
    assert "work:  50%" in shown and "2/4" in shown and " step/s" in shown
    assert shown.rsplit("\r", 2)[1].strip() == ""
    assert not bars.is_shown()


def test_a_progress_bar_is_removed_if_the_work_fails(capsys):
    pytest.importorskip("tqdm")
    with (
        pytest.raises(ZeroDivisionError),
        gl.config.set(progress=True),
        progress(None, "B", "work"),
    ):
        _ = 1 / 0
    assert not bars.is_shown()
    assert capsys.readouterr().err == ""


def test_requesting_a_progress_bar_without_tqdm_raises_an_error_with_the_advice_to_install_tqdm(
    monkeypatch,
):
    monkeypatch.setattr("graphla.settings.find_spec", lambda name: None)
    with pytest.raises(gl.exceptions.InvalidValue, match=r"tqdm.*graphla\[progress\]"):
        gl.config.progress = True
    gl.config.progress = False
