"""`graphla ladder GRAPH`: time and compare all strategies of breadth-first search on one graph.

There are two tables: the speed of each strategy, and the resources that it uses.
"""

from __future__ import annotations

import csv
import io
import os
from argparse import Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graphla.cli import graphs
from graphla.cli.answers import number
from graphla.cli.progress import Bar, progress
from graphla.io.files import replacing
from graphla.ladder import chart
from graphla.ladder.chart import engineering
from graphla.ladder.comparing import Contest
from graphla.ladder.rows import Comparison, Row
from graphla.ladder.strategies import STRATEGIES
from semirings.exceptions import InvalidValue

NOWHERE = "-"
_Cells = tuple[str, ...]
_SPEED = ("strategy", "harm. mean", "mean", "least", "most", "time", "levels", "launches", "")
_NEEDS = ("strategy", "prepared in", "held", "moved", "moved/s", "watts", "TEPS/W")


def run(options: Namespace) -> None:
    """Time all requested strategies, and print the two tables.

    Depending on the options, also write the results to a CSV file and draw a chart of the speeds.
    """
    _check(options)
    with progress(f"reading {options.graph}"):
        graph = graphs.read(options)
        contest = Contest(graph, options.sources, options.seed)
    given = options.strategies
    names = contest.chosen(None if given is None else [name.strip() for name in given.split(",")])
    bar, rows = Bar(len(names)), list[Row | None]()
    for done, name in enumerate(names):
        with bar.step(name, done):
            rows.append(contest.row(name, options.limit))
    found = contest.of(rows)
    print("\n".join(lines(options.graph, found, options.seed)))
    if options.output is not None:
        _write(options.output, found)
    picture = _picture(options)
    if picture is not None:
        with replacing(picture) as out:
            chart.save(
                found, out, f"Breadth-first search on {Path(options.graph).name}, by strategy"
            )
        print(f"chart of the speeds: {picture}")


def _picture(options: Namespace) -> str | None:
    """Return the path of the chart, or None to draw no chart.

    Without --chart, a chart is drawn if matplotlib is installed and the current folder is
    writable.
    """
    if options.chart is not None:
        return None if options.chart == NOWHERE else options.chart
    can_be = find_spec("matplotlib") is not None and os.access(".", os.W_OK)
    return f"ladder-{Path(options.graph).name.partition('.')[0]}.png" if can_be else None


def _check(options: Namespace) -> None:
    asked = None if options.chart == NOWHERE else options.chart
    for name, ending, path in (("output", ".csv", options.output), ("chart", ".png", asked)):
        if path is not None and not path.lower().endswith(ending):
            raise InvalidValue(f"--{name} is {path!r}, but should end in {ending}")
        if path is not None and not Path(path).parent.is_dir():
            raise InvalidValue(f"--{name} is {path!r}, but there is no folder {Path(path).parent}")
        if path is not None and Path(path).is_dir():
            raise InvalidValue(f"--{name} is {path!r}, but that is a folder")
    if asked is not None:
        chart.needs_matplotlib()


def lines(name: str, found: Comparison, seed: int) -> list[str]:
    """Return the lines to print.

    They show the graph, the machine, the sources, the definition of TEPS, both tables, and notes.
    """
    edges = "the edges are undirected" if found.symmetric else "the edges are directed"
    same = "; every search found the same levels" if len(found.rows) > 1 else ""
    size = f"{number(found.vertices, 'vertex')}, {number(found.entries, 'entry')}"
    return [
        f"graph    {name}: {size}; {edges}",
        f"on       {found.machine}",
        f"sources  {len(found.sources)}, drawn with seed {seed}{same}",
        f"TEPS     {found.counted}, per second",
        "",
        *_table(_SPEED, [_speed(row, found) for row in found], found.slow),
        "",
        *_table(_NEEDS, [_needs(row) for row in found], found.slow),
        "",
        *_notes(found),
    ]


def _speed(row: Row, found: Comparison) -> _Cells:
    speeds = (row.harmonic_mean, row.mean, row.minimum, row.maximum)
    facts = row.facts()
    return (
        row.strategy,
        *map(engineering, speeds),
        _time(row.time),
        _few(facts["mean_levels"]),
        _few(facts["mean_launches"]),
        "fastest" if row is found.fastest else "",
    )


def _needs(row: Row) -> _Cells:
    moved = row.facts()["mean_moved_bytes"]
    return (
        row.strategy,
        _time(row.preparing),
        engineering(row.held, "B"),
        *("-" if x is None else engineering(x, "B") for x in (moved, row.bandwidth)),
        "-" if row.watts is None else f"{row.watts:.0f}",
        "-" if row.teps_per_watt is None else engineering(row.teps_per_watt),
    )


def _notes(found: Comparison) -> list[str]:
    notes = [
        "time, levels and launches are means per search (on the CPU, a launch is an operation on",
        "whole arrays)",
        "`moved` is the minimum number of bytes that a search reads and writes",
        "`-` means that a value is not available",
    ]
    if found.slow:
        notes.append(f"{', '.join(found.slow)}: no search finished within --limit")
    many = number(len(found.sources), "source")
    notes += [
        f"{row.strategy} finished {len(row.seconds)} of {many} within --limit; its values "
        "are averages over these searches"
        for row in found
        if len(row.seconds) < len(found.sources)
    ]
    return notes


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{engineering(seconds / size)} {unit}"
    return f"{1e6 * seconds:.2f} µs"


def _few(count: float) -> str:
    return f"{count:,.0f}" if count >= 100 or count == int(count) else f"{count:.1f}"


def _table(header: _Cells, rows: list[_Cells], slow: Sequence[str]) -> list[str]:
    """Return the lines of a table that has one row per strategy, in the order of `STRATEGIES`.

    `slow` lists the strategies that finished no search in time. Their rows contain dashes. The
    first column is left-aligned, and the others are right-aligned.
    """
    steps = {name: k for k, name in enumerate(STRATEGIES)}
    rows = rows + [(name, *("-" * bool(title) for title in header[1:])) for name in slow]
    rows = [header, *sorted(rows, key=lambda row: steps.get(row[0], len(steps)))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:<{width}}" if k == 0 else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _write(path: str, found: Comparison) -> None:
    text, rows = io.StringIO(newline=""), [_plain(row) for row in found]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with replacing(path) as out:
        out.write(text.getvalue().encode())


def _plain(row: Row) -> dict[str, Any]:
    """Return the measured results of one strategy, as a dictionary from names to values.

    Floats become text with six significant digits, and unknown values are None.
    """
    return {
        name: f"{value:.6g}" if isinstance(value, float) else value
        for name, value in row.facts().items()
    }
