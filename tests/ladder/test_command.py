"""Tests of the tables, files, charts and errors of the command `graphla ladder`."""

from __future__ import annotations

import csv
import sys

import pytest
from devices import DEVICE
from ladder.test_comparing import TWO, TooFar, planted
from test_cli import graphla, refused, succeeds

from graphla.cli import ladder as command
from graphla.ladder import STRATEGIES, chart
from graphla.ladder.rows import Comparison, Row

HERE = ("--device", DEVICE, "--strategies", ",".join(TWO), "--chart", "-")
DIGITS = "0123456789"


def test_the_command_prints_tables_for_a_dataset():
    text = succeeds("ladder", "karate", *HERE, "--sources", 3, "--seed", 5)
    assert "graph    karate: 34 vertices, 156 entries; the edges are undirected\n" in text
    assert "sources  3, drawn with seed 5; every search found the same levels\n" in text
    assert "TEPS     undirected edges of the source's component, each once, per second\n" in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith(tuple(TWO))] == TWO * 2
    assert text.count(" fastest") == 1
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_accepts_a_directed_graph_and_one_strategy(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("0,1\n1,2\n5,0\n")
    text = succeeds(
        "ladder", path, "--device", DEVICE, "--strategies", "sequential", "--chart", "-"
    )
    assert "3 entries; the edges are directed\n" in text
    assert "TEPS     edges out of the vertices that the source reaches, per second\n" in text


def test_the_command_writes_the_table_to_a_csv_file(tmp_path):
    path = tmp_path / "table.csv"
    succeeds("ladder", "karate", *HERE, "--output", path, "--sources", 2)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["strategy"] for row in rows] == TWO
    # The power is not measured if a search runs on the host.
    assert rows[0]["watts"] == rows[0]["teps_per_watt"] == ""
    for row in rows:
        assert row["searches"] == "2"
        low, mean, high = (float(row[f"{of}_teps"]) for of in ("min", "harmonic_mean", "max"))
        assert 0 < low <= mean <= high
        assert int(row["held_bytes"]) > 0


def test_the_command_writes_the_chart_to_a_png_file(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "ladder.png"
    assert succeeds("ladder", "karate", *HERE, "--chart", path, "--sources", 2).endswith(
        f"{path}\n"
    )
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.cpu
def test_the_default_name_of_the_chart_file_contains_the_name_of_the_graph(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.web.csv").write_text("0,1\n1,2\n5,0\n")
    few = ("--strategies", "sequential", "--sources", 2, "--device", "cpu")
    assert succeeds("ladder", "tiny.web.csv", *few).endswith("speeds: ladder-tiny.png\n")
    assert (tmp_path / "ladder-tiny.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "ladder-tiny.png").unlink()
    succeeds("ladder", "tiny.web.csv", *few, "--chart", "-")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "chart of" not in succeeds("ladder", "tiny.web.csv", *few)
    assert not (tmp_path / "ladder-tiny.png").exists()


@pytest.mark.cpu
def test_a_chart_with_very_different_speeds_can_be_written(tmp_path):
    pytest.importorskip("matplotlib")
    path, told = tmp_path / "far.png", ([3, 3], [3, 3], None, 80, 0.5)
    rows = [
        Row(name, [10, 10], [spent, 2 * spent], *told)
        for name, spent in (("slow", 1.0), ("fast", 1e-6))
    ]
    chart.save(Comparison("here", 9, 9, False, [0, 1, 2], rows), path, "far apart")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.cpu
def test_the_tables_report_searches_that_did_not_finish_within_the_limit():
    rows = [Row("slow", [10], [0.5], [3], [3], [70], 80, 0.5, 300.0)]
    text = "\n".join(command.lines("g", Comparison("here", 9, 9, False, [0, 1], rows), 0))
    assert "slow finished 1 of 2 sources within --limit; its values are averages over these" in text
    found = Comparison("here", 9, 9, False, [0, 1], rows, ["slower", "closure"])
    text = "\n".join(command.lines("g", found, 0))
    assert "slower, closure: no search finished within --limit" in text
    # The strategies of the ladder come first.
    assert text.index("\nclosure ") < text.index("\nslow ")
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("slower ")] == [
        ["-"] * 7,
        ["-"] * 6,
    ]
    assert "140 B" in text  # bytes per second: 70 bytes take 0.5 seconds
    assert " 300 " in text  # power in watts


@pytest.mark.cpu
def test_numbers_are_printed_with_si_prefixes():
    for value, text in (
        (0, "0"),
        (7, "7"),
        (7.0, "7.00"),
        (12_345, "12.3 k"),
        (999_999, "1.00 M"),
        (3.6e9, "3.60 G"),
        (1.2e12, "1.20 T"),
        (3.4e15, "3400 T"),
        (0.25, "0.250"),
    ):
        assert chart.engineering(value) == text
    assert chart.engineering(1500, "B") == "1.50 kB"


@pytest.mark.cpu
def test_invalid_options_are_rejected(tmp_path, monkeypatch):
    assert "strategy is 'fast', but the rungs" in refused(
        "ladder", "karate", "--strategies", "fast"
    )
    assert "should end in .csv" in refused("ladder", "karate", "--output", "table.txt")
    assert "strategy is ''" in refused("ladder", "karate", "--strategies", "")
    assert "no folder" in refused("ladder", "karate", "--output", tmp_path / "none" / "table.csv")
    (tmp_path / "bars.png").mkdir()
    assert "that is a folder" in refused("ladder", "karate", "--chart", tmp_path / "bars.png")
    assert "should end in .png" in refused("ladder", "karate", "--chart", "bars.svg")
    assert "sources is 0" in refused("ladder", "karate", "--sources", "0")
    assert "'gpu'" in refused("ladder", "karate", "--device", "gpu")
    needs = [name for name, each in STRATEGIES.items() if not each.runs_on("cpu")]
    text = refused("ladder", "karate", "--device", "cpu", "--strategies", f"closure, {needs[0]}")
    assert f"{needs[0]} needs a GPU" in text
    lone = tmp_path / "none.mtx"
    lone.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n")
    assert "A has no edge" in refused("ladder", lone)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'graphla[plot]'" in refused("ladder", "karate", "--chart", "bars.png")


@pytest.mark.cpu
def test_a_wrong_result_of_a_strategy_makes_the_command_exit_with_an_error(monkeypatch):
    planted(monkeypatch, TooFar)
    done = graphla("ladder", "karate", "--strategies", "sequential,wrong", "--sources", 2)
    assert done.returncode == 1
    assert "wrong gives vertex" in done.stderr
    assert done.stderr.count("\n") == 1
