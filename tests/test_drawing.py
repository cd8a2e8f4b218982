"""Test that the pictures of `gl.draw` and `gl.spy` show the contents of the graph or matrix."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import colormaps, pyplot  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.patches import FancyArrowPatch  # noqa: E402
from scipy import sparse  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.algorithms import bfs, louvain  # noqa: E402
from graphla.drawing import density  # noqa: E402
from graphla.drawing.layout import minimize_stress, place  # noqa: E402
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def random_matrix(nrows: int, ncols: int, nvals: int, seed: int) -> gl.Matrix:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, nrows, nvals), rng.integers(0, ncols, nvals)
    return gl.Matrix.from_coo(rows, columns, 0, nrows=nrows, ncols=ncols, dup_op="any")


def chain() -> gl.Graph:
    return gl.Graph.from_edges([("a", "b", 2), ("b", "c", 3), ("c", "d", 4)])


# --- spy ------------------------------------------------------------------------------------------


@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.integers(0, 200),
    st.integers(1, 20),
    st.sampled_from([1, 7, 1 << 24]),
)
def test_bin_counts_equal_those_of_scipy(nrows, ncols, nvals, bins, entries):
    A = random_matrix(nrows, ncols, nvals, nvals + bins)
    rows, columns = min(bins, nrows), min(bins, ncols)
    edges = [np.arange(k + 1) * n // k for n, k in ((nrows, rows), (ncols, columns))]
    S = gl.io.to_scipy_sparse(A.to("cpu"), "coo")
    wanted = np.zeros((rows, columns), int)
    i, j = (np.searchsorted(e, x, "right") - 1 for e, x in zip(edges, (S.row, S.col), strict=True))
    np.add.at(wanted, (i, j), 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(density, "ENTRIES", entries)
        assert np.array_equal(density.count_in_bins(A, rows, columns), wanted)


def test_the_function_spy_draws_the_bin_counts_and_hides_empty_bins():
    A = random_matrix(50, 70, 90, 0)
    ax = gl.spy(A, bins=10)
    shown: Any = ax.images[0].get_array()
    assert shown.shape == (10, 10) and shown.sum() == A.nvals and shown.min() >= 1
    assert ax.images[0].get_extent() == [-0.5, 69.5, 49.5, -0.5]


def test_a_spy_plot_of_a_small_matrix_has_one_bin_per_element():
    A = random_matrix(5, 8, 12, 0)
    shown: Any = gl.spy(A).images[0].get_array()
    assert shown.shape == (5, 8)
    found = {(int(i), int(j)) for i, j in zip(*np.nonzero(shown.filled(0)), strict=True)}
    assert found == set(A.to_dict())


def test_the_function_spy_accepts_graphs_and_expressions_and_axes():
    G = chain()
    _, ax = pyplot.subplots()
    assert gl.spy(G, ax=ax) is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c", "d"]
    assert gl.spy(G.matrix.T).images and gl.spy(gl.Matrix(int, 3, 4)).images


def test_the_function_spy_rejects_arguments_that_cannot_be_drawn():
    with pytest.raises(InvalidValue, match="bins must be an int from 1 to 4096, not 0"):
        gl.spy(gl.Matrix(int, 3, 3), bins=0)
    with pytest.raises(InvalidValue, match="A is 0 x 3, so there is nothing to draw"):
        gl.spy(gl.Matrix(int, 0, 3))
    with pytest.raises(TypeError, match=r"A must be a graphla.Matrix or Graph, not a list"):
        gl.spy([[1]])  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, not a str"):
        gl.spy(gl.Matrix(int, 3, 3), ax="here")


# --- draw -----------------------------------------------------------------------------------------


def dots(ax: Any) -> Any:
    return ax.collections[-1]


def test_the_function_draw_shows_each_vertex_and_edge_and_label_and_weight_exactly_once():
    ax = gl.draw(chain())
    assert dots(ax).get_offsets().shape == (4, 2)
    (lines,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    assert len(lines.get_segments()) == 3
    assert sorted(t.get_text() for t in ax.texts) == ["2", "3", "4", "a", "b", "c", "d"]
    assert not gl.draw(chain(), labels=False, weights=False).texts


def test_directed_edges_are_drawn_as_arrows_and_self_loops_as_circles():
    G = gl.Graph.from_edges([("a", "b"), ("b", "a"), ("b", "b")], directed=True)
    patches = gl.draw(G).patches
    arrows = [each for each in patches if isinstance(each, FancyArrowPatch)]
    assert len(arrows) == 2 and len(patches) == 3


def test_numbers_are_drawn_in_colormap_colors_and_missing_values_in_gray():
    G = chain()
    ax = gl.draw(G, color={"a": 0, "b": 5, "c": 10})
    faces = dots(ax).get_facecolors()
    assert np.allclose(faces[:3], colormaps["viridis"]([0.0, 0.5, 1.0]))
    assert len(set(faces[3][:3].round(2))) <= 3 and not np.allclose(faces[3], faces[0])
    levels = bfs(G, "a").levels
    one, other = (dots(gl.draw(G, color=x)) for x in (levels, levels.to_dense().tolist()))
    assert np.array_equal(one.get_facecolors(), other.get_facecolors())


def test_vertices_of_the_same_category_have_the_same_color():
    G = chain()
    ax = gl.draw(G, color=["x", "y", "x", "z"])
    faces = [tuple(face) for face in dots(ax).get_facecolors()]
    assert faces[0] == faces[2] and len(set(faces)) == 3
    legend: Any = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["x", "y", "z"]
    many = gl.Graph(gl.generators.path(40))
    faces = dots(gl.draw(many, color=range(40), categorical=True)).get_facecolors()
    assert len(np.unique(faces, axis=0)) == 40
    assert gl.draw(many, color=louvain(many)).collections


def test_the_function_draw_uses_the_given_positions():
    points = {"a": (0, 0), "b": (1, 2), "c": (5, 1), "d": (3, 3)}
    for positions in (points, list(points.values())):
        shown = dots(gl.draw(chain(), positions=positions)).get_offsets()
        assert np.array_equal(shown, list(points.values()))


def test_the_function_draw_rejects_arguments_that_cannot_be_drawn():
    G, large = chain(), gl.Graph(gl.generators.path(2000))
    with pytest.raises(InvalidValue, match="G has 2,000 vertices and 1,999 edges, but draw shows"):
        gl.draw(large)
    with pytest.raises(DimensionMismatch, match="color has 2 values, but G has 4 vertices"):
        gl.draw(G, color=[1, 2])
    with pytest.raises(DimensionMismatch, match="color has size 3, but G has 4 vertices"):
        gl.draw(G, color=gl.Vector(int, 3))
    with pytest.raises(IndexOutOfBound, match="color has 'z', which is not a label of the graph"):
        gl.draw(G, color={"z": 1})
    with pytest.raises(InvalidValue, match="color is 'reddish', which is not a color"):
        gl.draw(G, color="reddish")
    with pytest.raises(InvalidValue, match="categorical is False, but color holds values that"):
        gl.draw(G, color=["x"] * 4, categorical=False)
    with pytest.raises(InvalidValue, match="positions has no item for 'b'"):
        gl.draw(G, positions={"a": (0, 0)})
    with pytest.raises(DimensionMismatch, match=r"positions has shape \(3, 2\), but should have"):
        gl.draw(G, positions=np.zeros((3, 2)))
    with pytest.raises(TypeError, match="labels must be True, False or None, not 'all'"):
        gl.draw(G, labels="all")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"G must be a graphla.Graph or Matrix, not a list"):
        gl.draw([1])  # pyright: ignore[reportArgumentType]


def test_the_function_draw_accepts_graphs_with_at_most_one_vertex():
    assert not gl.draw(gl.Graph(gl.Matrix(int, 0, 0))).collections
    assert len(dots(gl.draw(gl.Graph(gl.Matrix(int, 1, 1)))).get_offsets()) == 1


# --- layout ---------------------------------------------------------------------------------------


def test_the_layout_of_a_path_is_a_straight_line_that_preserves_graph_distances():
    wanted = abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    points = minimize_stress(wanted)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert np.allclose(apart, wanted, atol=0.2)


def test_the_layout_is_deterministic_and_separates_components():
    A = gl.io.to_scipy_sparse(gl.generators.uniform(40, 30, seed=3).to("cpu"))
    points = place(A)
    assert np.array_equal(points, place(A)) and np.isfinite(points).all()
    _, component = sparse.csgraph.connected_components(A, directed=False)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert apart[component[:, None] != component[None]].min() > 0.5


def test_importing_graphla_does_not_import_matplotlib():
    code = "import graphla, sys; graphla.draw; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_label_is_placed_on_that_side_of_its_vertex_where_there_are_no_edges():
    G = gl.Graph.from_edges([("a", "b"), ("b", "b"), ("c", "d"), ("d", "e")], directed=True)
    x = {"a": (0, 1), "b": (0, 0), "c": (1, 2), "d": (1, 1), "e": (1, 0)}
    ax = gl.draw(G, positions=x)
    sides = {text.get_text(): text.get_verticalalignment() for text in ax.texts}
    assert sides == {"a": "bottom", "b": "bottom", "c": "bottom", "d": "bottom", "e": "top"}


def test_no_two_vertices_of_the_karate_club_overlap():
    points = place(gl.io.to_scipy_sparse(gl.datasets.load("karate")))
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    assert apart[~np.eye(len(points), dtype=bool)].min() > 0.29


# --- odd input ------------------------------------------------------------------------------------


def test_a_dollar_sign_in_a_label_is_drawn_literally():
    G = gl.Graph.from_edges([("$\\foo$", "a$b$"), ("a$b$", "_c")])
    ax = gl.draw(G, color={"_c": "$\\bar$", "a$b$": "_x"})
    ax.figure.canvas.draw()  # Matplotlib's math parser would reject \foo
    assert {text.get_text() for text in ax.texts} == {"$\\foo$", "a$b$", "_c"}
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["$\\bar$", "_x"]
    gl.spy(G).figure.canvas.draw()


@pytest.mark.parametrize("values", [[-1.5, np.nan, np.inf], [0, 0, 0], [False, True, False]])
def test_the_layout_ignores_the_values_of_edges(values):
    ends = [0, 1, 2], [1, 2, 3]
    plain = gl.Matrix.from_coo(*ends, 1, nrows=4, ncols=4)
    A = gl.Matrix.from_coo(*ends, values, nrows=4, ncols=4)
    wanted, found = (gl.draw(M).collections[-1].get_offsets() for M in (plain, A))
    assert np.array_equal(wanted, found)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.uint8])
def test_numpy_numbers_are_accepted_as_colors(kind):
    color = {"a": kind(1), "b": kind(2)}
    assert gl.draw(chain(), color=color).get_legend() is None
    assert gl.draw(chain(), color=[kind(k) for k in range(4)]).get_legend() is None


@pytest.mark.parametrize(
    ("color", "error"),
    [
        (5, TypeError),
        (np.array(5), TypeError),
        (np.zeros((4, 3)), TypeError),
        ([[1], [2], [3], [4]], InvalidValue),
    ],
)
def test_invalid_colors_are_rejected(color, error):
    with pytest.raises(error, match="color"):
        gl.draw(chain(), color=color)


@pytest.mark.parametrize("positions", ["circle", {v: v for v in "abcd"}, [(1, 2), (1,), 3, 4]])
def test_positions_that_are_not_pairs_are_rejected(positions):
    with pytest.raises(InvalidValue, match="positions must be pairs of numbers"):
        gl.draw(chain(), positions=positions)
