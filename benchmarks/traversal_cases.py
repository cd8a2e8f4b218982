"""The graphs that benchmarks/bfs.py measures, and the target of each measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import graphs

import graphla as gl
from graphla import Matrix

ELSEWHERE = {
    "kron-22": "BLEST 0.337, GraphBLAST 1.42, cuGraph 1.93",
    "kron-24": "BLEST 1.11, cuGraph 2.36, GraphBLAST 3.47",
    "uniform-22": "GraphBLAST 1.29, cuGraph 2.67",
    "grid-1000": "BLEST 8.15, GAP 17.6, GraphBLAST 196",
    "road-NE": "BLEST 8.94, GAP 22.4, GraphBLAST 220",
    "road-FLA": "BLEST 8.28, GAP 17.0, GraphBLAST 199",
    "cnr-2000": "BLEST 0.233, GAP 3.11, cuGraph 4.32",
    "ego-Twitter": "BLEST 0.081, GAP 0.35, GraphBLAST 0.85",
    "delaunay_n16": "BLEST 0.605, GAP 1.22, GraphBLAST 10.7",
    "SSSP kron-22": "GraphBLAST 11.7, cuGraph 36.1",
    "SSSP kron-24": "GraphBLAST 61.8, cuGraph 62.4",
    "SSSP grid-1000": "GAP 12.4, GraphBLAST 295",
    "SSSP road-porto-osm": "GAP 15.8, GraphBLAST 264",
}
"""Search times of other programs on the same graphs, in milliseconds.

GAP ran on 16 CPU cores, all other programs on the same kind of GPU as graphla. All of these times
come from an earlier measurement, not from this program.
"""


@dataclass(frozen=True)
class Bar:
    """Two targets for the figure that is measured in a row of the table.

    The figure must be at least as good as `at_most`, and should be as good as `aim`.
    """

    at_most: float
    aim: float


@dataclass(frozen=True)
class Case:
    """A graph, and the targets of the measurements on it.

    A measurement whose target is None is skipped.
    """

    name: str
    make: Callable[[], Matrix]
    levels: Bar | None = None
    a_level: Bar | None = None
    light: Bar | None = None
    both: Bar | None = None
    plan: Bar | None = None
    call: Bar | None = None
    many: Bar | None = None
    shortest: Bar | None = None
    own_weights: bool = False
    beside_csgraph: Bar | None = None
    dijkstra: Bar | None = None


def gpu_cases(data: Path | None) -> list[Case]:
    """Return the cases for a GPU.

    Graphs that are read from files are included only if `data`, the folder of the files, is given.
    """
    cases = [
        Case("kron-14", partial(graphs.kron, 14), call=Bar(80, 50)),
        Case("kron-20", partial(graphs.kron, 20), levels=Bar(0.090, 0.06)),
        Case(
            "kron-22",
            partial(graphs.kron, 22),
            levels=Bar(0.180, 0.12),
            both=Bar(1.5, 1.2),
            many=Bar(8, 20),
            shortest=Bar(8, 4),
        ),
        Case(
            "kron-24",
            partial(graphs.kron, 24),
            light=Bar(0.80, 0.60),
            plan=Bar(0.30, 0.10),
            levels=Bar(0.45, 0.28),
            both=Bar(1.5, 1.2),
            shortest=Bar(40, 20),
        ),
        Case("kron-25", partial(graphs.kron, 25), levels=Bar(0.95, 0.50)),
        Case("uniform-22", partial(graphs.uniform, 22), levels=Bar(0.39, 0.25)),
        Case(
            "grid-1000",
            partial(graphs.grid, 1000, 1000, 0.15),
            a_level=Bar(3, 2),
            shortest=Bar(12, 7),
        ),
    ]
    if data is None:
        return cases
    real = partial(graphs.stored, data)
    return [
        *cases,
        Case("road-NE", partial(real, "road-NE"), a_level=Bar(4, 2.5)),
        Case("road-FLA", partial(real, "road-FLA"), a_level=Bar(4, 2.5)),
        Case("cnr-2000", partial(real, "cnr-2000"), levels=Bar(0.23, 0.15)),
        Case("ego-Twitter", partial(real, "ego-Twitter"), levels=Bar(0.080, 0.06)),
        Case("delaunay_n16", partial(real, "delaunay_n16"), levels=Bar(0.60, 0.35)),
        Case(
            "road-porto-osm",
            partial(real, "road-porto-osm", weighted=True),
            shortest=Bar(15, 8),
            own_weights=True,
        ),
    ]


def cpu_cases(data: Path | None) -> list[Case]:
    """Return the cases for a machine without a GPU. They are compared with SciPy's csgraph."""
    cases = [
        Case("kron-18", partial(graphs.kron_on_default_device, 18), beside_csgraph=Bar(7, 7)),
        Case("road-NY", partial(gl.datasets.load, "road-NY"), beside_csgraph=Bar(1.3, 1.3)),
    ]
    if data is None:
        return cases
    porto = partial(graphs.stored, data, "road-porto-osm", weighted=True)
    return [*cases, Case("road-porto-osm", porto, dijkstra=Bar(1.5, 1.5), own_weights=True)]
