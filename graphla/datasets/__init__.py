"""Real graphs that come with the library; `LICENSES.md` in this folder lists their licenses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphla.io import read
from graphla.sparse import Matrix
from semirings.exceptions import InvalidValue

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Dataset:
    """The description of a graph, which `info` returns without loading it.

    Attributes:
        name: the name that `load` accepts.
        kind: what the vertices, edges and weights represent.
        vertices: the number of vertices.
        edges: the number of edges; each undirected edge is counted once.
        directed: whether edges have a direction.
        weighted: whether edges have weights.
        license: the license of the data.
        source: where the data come from.
        file: the name of the file in the package.
    """

    name: str
    kind: str
    vertices: int
    edges: int
    directed: bool
    weighted: bool
    license: str
    source: str
    file: str


_ALL = (
    Dataset(
        name="road-NY",
        kind="roads of New York City: vertices are crossings, edges the roads between them",
        vertices=264_346,
        edges=365_050,
        directed=False,
        weighted=False,
        license="public domain",
        source="US Census Bureau (TIGER), 9th DIMACS implementation challenge; "
        "github.com/ben-strasser/road-graphs-pace16, NY.gr.xz",
        file="road-NY.npz",
    ),
    Dataset(
        name="ak2010",
        kind="census blocks of Alaska in 2010; weights are the lengths of common borders",
        vertices=45_292,
        edges=108_549,
        directed=False,
        weighted=True,
        license="Apache-2.0",
        source="US Census Bureau, 10th DIMACS implementation challenge; "
        "github.com/gunrock/gunrock, tests/mf/_data/ak2010.mtx",
        file="ak2010.npz",
    ),
    Dataset(
        name="4elt",
        kind="mesh of triangles around an airfoil of four elements",
        vertices=15_606,
        edges=45_878,
        directed=False,
        weighted=False,
        license="MIT",
        source="github.com/networkit/networkit, input/4elt.graph",
        file="4elt.npz",
    ),
    Dataset(
        name="karate",
        kind="friendships in a karate club (W. W. Zachary, 1977)",
        vertices=34,
        edges=78,
        directed=False,
        weighted=False,
        license="BSD-2-Clause",
        source="github.com/GraphBLAS/LAGraph, data/karate.mtx",
        file="karate.mtx",
    ),
    Dataset(
        name="ldbc-directed",
        kind="the directed example of the LDBC Graphalytics specification",
        vertices=10,
        edges=17,
        directed=True,
        weighted=True,
        license="BSD-2-Clause",
        source="github.com/GraphBLAS/LAGraph, data/ldbc-directed-example.mtx",
        file="ldbc-directed.mtx",
    ),
)
_BY_NAME = {dataset.name: dataset for dataset in _ALL}


def names() -> list[str]:
    """Return the names of all graphs, which `load` and `info` accept.

    Returns:
        A list of names.

    Examples:
        >>> from graphla import datasets
        >>> datasets.names()
        ['road-NY', 'ak2010', '4elt', 'karate', 'ldbc-directed']
    """
    return list(_BY_NAME)


def info(name: str) -> Dataset:
    """Return the kind, counts, license and source of a graph, without loading it.

    Args:
        name: one of `names()`.

    Returns:
        A Dataset.

    Raises:
        InvalidValue: no graph has this name.

    Examples:
        >>> from graphla import datasets
        >>> datasets.info("karate").license
        'BSD-2-Clause'
    """
    if name not in _BY_NAME:
        raise InvalidValue(f"name is {name!r}, but should be one of {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def load(name: str) -> Matrix:
    """Return the adjacency matrix of a graph.

    Args:
        name: one of `names()`.

    Returns:
        A square Matrix, symmetric if the graph is undirected; BOOL if it has no weights.

    Raises:
        InvalidValue: no graph has this name.

    Examples:
        >>> from graphla import datasets
        >>> datasets.load("karate").nvals
        156
    """
    return read(_FOLDER / info(name).file)
