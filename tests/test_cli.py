"""Test the command line: output, files, error messages and exit statuses."""

from __future__ import annotations

import csv
import gzip
import inspect
import io
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla.cli import main
from graphla.cli.catalogue import ALGORITHMS, Algorithm
from graphla.cli.parser import SYNONYMS, parser

ROOT = Path(__file__).parent.parent
COMMANDS = (
    "bfs",
    "sssp",
    "reachable",
    "widest",
    "minimax",
    "reliable",
    "pagerank",
    "components",
    "triangles",
    "bench",
    "ladder",
    "info",
    "convert",
)

OF_ANY_GRAPH = ("pagerank", "closeness", "eccentricity", "components", "triangles", "info")


def graphla(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run `graphla ARGUMENTS` in this process; return its exit status and output."""
    words = [str(each) for each in arguments]
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(error):
        try:
            code = main(words)
        except SystemExit as done:  # raised by argparse after --help or an error
            code = int(done.code or 0)
    printed = [_text(stream) for stream in (out, error)]
    return subprocess.CompletedProcess(words, code, *printed)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # pyright: ignore[reportAttributeAccessIssue]


def launched(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run `python -m graphla ARGUMENTS` in a process that imports this source tree."""
    return subprocess.run(
        [sys.executable, "-m", "graphla", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment(),
    )


def environment() -> dict[str, str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "100"}


def succeeds(*arguments: Any) -> str:
    done = graphla(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(*arguments: Any) -> str:
    """Check that the command rejects the input; return the one line of its error message."""
    done = graphla(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("graphla: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def edge_list(tmp_path: Path) -> Path:
    path = tmp_path / "edges.txt"
    path.write_text("# source target weight\n0 1 5\n0 2 1\n2 1 2\n3 3 4\n")
    return path


# --- help -----------------------------------------------------------------------------------------


def test_the_help_text_names_every_command_and_dataset():
    text = succeeds("--help")
    assert all(word in text for word in (*COMMANDS, *gl.datasets.names(), "exit codes"))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_explains_its_options_and_gives_examples(command):
    text = succeeds(command, "--help")
    assert f"\n{command}: " in text
    assert "examples:\n  graphla " in text
    if command not in ("bench", "ladder", "info", "convert"):
        assert "as algebra:\n  " in text


def test_the_examples_of_every_command_are_valid_command_lines():
    grammar = parser()
    for algorithm in ALGORITHMS:
        _, _, examples = succeeds(algorithm.name, "--help").partition("examples:\n")
        for line in examples.strip().splitlines():
            program, *words = shlex.split(line, comments=True)
            assert program == "graphla"
            assert grammar.parse_args(words).algorithm is algorithm


def test_graphla_can_be_run_as_a_command():
    assert launched("--version").stdout.startswith("graphla ")
    done = launched("bfs", "nothing")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    done = launched("sssp", "karate", "--output", "-")
    assert (done.returncode, done.stdout[:16]) == (0, "vertex,distance\n")


# --- results --------------------------------------------------------------------------------------


def test_the_bfs_command_prints_the_levels_in_a_dataset():
    lines = succeeds("bfs", "karate", "--source", 16, "--top", 2).splitlines()
    assert lines[0] == "graph    karate: 34 vertices, 156 entries"
    assert lines[1] == "source   16"
    assert lines[2] == "reached  34 vertices, with 156 out-edges"
    assert lines[3].startswith("levels   6, the widest with ")
    assert lines[-4] == "farthest vertices"
    assert [line.split() for line in lines[-3:]] == [["vertex", "level"], ["14", "5"], ["15", "5"]]


def test_the_sssp_command_uses_weights_unless_an_option_says_to_ignore_the_weights(edge_list):
    assert "up to 3, " in succeeds("sssp", edge_list)
    assert "up to 1, " in succeeds("sssp", edge_list, "--unweighted")


def test_edges_are_directed_unless_an_option_makes_the_graph_undirected(edge_list):
    assert "reached  1 vertex, " in succeeds("bfs", edge_list, "--source", 1)
    assert "reached  3 vertices, " in succeeds("bfs", edge_list, "--source", 1, "--undirected")


def test_the_ranks_and_components_and_triangles_of_a_dataset_are_printed():
    assert "\n      33   0.100919\n" in succeeds("pagerank", "karate", "--tol", 1e-9)
    assert "components  1\n" in succeeds("components", "karate")
    assert "triangles     45\n" in succeeds("triangles", "karate")


def test_distances_between_the_vertices_of_a_dataset_are_printed():
    assert "\n       0   0.568966\n" in succeeds("closeness", "karate")
    assert "diameter          5\n" in succeeds("eccentricity", "karate")


def test_the_triangles_command_ignores_edge_directions():
    assert "triangles     5\n" in succeeds("triangles", "ldbc-directed")


@pytest.mark.parametrize("command", ["reachable", "widest", "minimax", "reliable"])
def test_path_commands_that_can_use_weights_accept_a_graph_without_weights(command):
    assert "34 vertices" in succeeds(command, "karate", "--source", 3)


def test_widest_paths_are_listed_with_their_widths(edge_list):
    text = succeeds("widest", edge_list)
    assert "width    from 1 to 5\n" in text
    assert "\n       1      5\n       2      1\n" in text


def test_the_option_explain_lists_the_operations_that_ran():
    done = graphla("bfs", "karate", "--explain", "--no-compile")
    assert done.returncode == 0
    assert "level 1" in done.stderr
    assert "any_secondi" in done.stderr


# --- tests of all algorithms ----------------------------------------------------------------------


def needed(algorithm: Algorithm) -> list[str]:
    """Return command-line options for the algorithm's required parameters."""
    words = {"k": ["--k", "3"], "communities": ["--communities", "0=1,33=2"]}
    words |= {"target": ["--target", "16"], "n": ["--n", "3"]}
    missing = [
        name
        for name, parameter in algorithm.parameters.items()
        if parameter.default is inspect.Parameter.empty and name not in ("source", "sources")
    ]
    return [word for name in missing for word in words[name]]


every = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.name)


@every
def test_each_algorithm_has_a_help_page_and_can_be_run_and_can_save_its_result(
    algorithm, capsys, tmp_path
):
    with pytest.raises(SystemExit) as done:
        main([algorithm.name, "--help"])
    text = capsys.readouterr().out
    assert done.value.code == 0
    assert "as algebra:\n  " in text and "examples:\n  graphla " in text
    assert ">>>" not in text and "`A`" not in text
    if algorithm.name in ("modularity", "partition-quality"):
        communities = tmp_path / "parts.csv"
        assert main(["louvain", "karate", "--output", str(communities)]) == 0
        words = ["--communities", str(communities)]
    else:
        words = needed(algorithm)
    path = tmp_path / "found.csv"
    assert main([algorithm.name, "karate", *words, "--output", str(path)]) == int(
        algorithm.name == "negative-cycle"  # this command finds no cycle here, so it writes no file
    )
    if algorithm.name != "negative-cycle":
        assert "graph" in capsys.readouterr().out
        rows = path.read_text().splitlines()
        assert len(rows) > 1 and len({row.count(",") for row in rows}) == 1


@pytest.mark.parametrize(("name", "text"), [("none.mtx", "2 2 0"), ("none.txt", "# nothing")])
def test_every_algorithm_accepts_graphs_without_edges_or_vertices(tmp_path, capsys, name, text):
    path = tmp_path / name
    head = "%%MatrixMarket matrix coordinate pattern general\n" if name == "none.mtx" else ""
    path.write_text(f"{head}{text}\n")
    for algorithm in ALGORITHMS:
        code = main([algorithm.name, str(path), *needed(algorithm)])
        printed = capsys.readouterr()
        # On an empty graph, an algorithm either succeeds without a message or fails with one line.
        assert (code, printed.err.count("\n")) in ((0, 0), (1, 1)), algorithm.name
    for words in (["pagerank"], ["components"], ["triangles"], ["info"]):
        assert main([*words, str(path)]) == 0
        assert "graph" in capsys.readouterr().out or words == ["info"]


def test_the_options_of_a_command_match_the_parameters_of_its_function(capsys, tmp_path):
    path = tmp_path / "friends.txt"
    path.write_text("ann bob 1\nbob eve 5\nann eve 2\neve joe 1\n")
    friends = [str(path), "--labels", "--undirected", "--output", "-"]

    def rows(*words: str) -> list[str]:
        assert main([words[0], *friends, *words[1:]]) == 0
        return capsys.readouterr().out.splitlines()

    assert rows("shortest-path", "--source", "ann", "--target", "joe") == [
        "path",
        "ann",
        "eve",
        "joe",
    ]
    assert rows("closeness", "--u", "eve,joe", "--no-wf-improved") == [
        "vertex,closeness",
        "eve,1.0",
        "joe,0.6",
    ]
    assert rows("jaccard", "--ebunch", "ann:bob")[1:] == ["ann,bob,0.3333333333333333"]
    assert rows("degree")[0] == "vertex,degree"
    ranks = rows("pagerank", "--personalization", "joe=1", "--alpha", "0", "--no-weight")
    assert ranks[1:] == ["ann,0.0", "bob,0.0", "eve,0.0", "joe,1.0"]
    assert rows("modularity", "--communities", "ann=1,bob=1,eve=2,joe=2")[0] == "modularity"
    assert set(rows("spanning-forest")[1:]) >= {"ann,bob,1", "bob,ann,1", "eve,joe,1"}
    assert len(rows("components")) == 5


def test_the_bench_command_times_each_algorithm_and_reports_which_ones_exceeded_the_time_limit(
    tmp_path,
):
    path = tmp_path / "times.csv"
    text = succeeds("bench", "karate", "--no-compile", "--output", path)
    header, *lines = text.splitlines()[2:]
    assert header.split() == ["algorithm", "seconds", "found"]
    assert [line.split()[0] for line in lines] == [each.name for each in ALGORITHMS]
    assert all(float(line.split()[1]) >= 0 for line in lines)
    with path.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(ALGORITHMS)
    text = succeeds(
        "bench",
        "road-NY",
        "--no-compile",
        "--limit",
        "0.01",
        "--only",
        "closeness,all-pairs-lengths,bfs",
    )
    assert "not finished in 0.01 s" in text.splitlines()[-3]
    assert "-  its result would take 1,118 GB" in text.splitlines()[-2] or "not done" in text


def test_the_bench_command_rejects_unknown_algorithms_and_graphs(tmp_path):
    assert "--only lists 'bfss', which is not one of bfs" in refused(
        "bench", "karate", "--only", "bfss"
    )
    assert "nowhere.mtx" in refused("bench", tmp_path / "nowhere.mtx")
    assert "should end in .csv" in refused("bench", "karate", "--output", "times.txt")


def test_the_bench_command_can_be_called_from_a_script_without_a_main_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from graphla.cli import main\nmain(['bench', 'karate', '--no-compile', '--only', 'bfs'])\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, env=environment()
    )
    assert (done.returncode, done.stderr) == (0, "")
    header, bfs = done.stdout.splitlines()[2:]
    seconds = bfs.split()[1]
    assert header.index("seconds") + len("seconds") == bfs.index(seconds) + len(seconds)


# --- tests of `info` and `convert` ----------------------------------------------------------------


def test_the_info_command_reports_what_is_installed():
    text = succeeds("info")
    assert all(word in text for word in ("graphla", "numpy", "numba", "devices", "threads"))
    assert np.__version__ in text


def test_the_info_command_describes_a_graph(edge_list):
    facts = dict(line.split(None, 1) for line in succeeds("info", edge_list).splitlines())
    assert facts["vertices"] == "4"
    assert facts["entries"] == "4"
    assert facts["symmetric"] == "no: the edges are directed"
    assert facts["self-loops"] == "1"
    assert facts["weights"] == "1 to 5, 3 on average"


@pytest.mark.parametrize(
    ("written", "name", "said"),
    [
        (
            "0 1 nan\n1 2 4.5\n2 0 2\n",
            "weights",
            "2 to 4.5, 3.25 on average; 1 (33.3%) not a number",
        ),
        ("0 1 nan\n1 2 nan\n", "weights", "NaN in every entry"),
        ("0 1 inf\n1 2 4.5\n", "weights", "4.5 to infinity, infinity on average"),
        ("0 1 -inf\n1 2 inf\n", "weights", "-infinity to infinity"),
        ("0 1 1e300\n1 2 4.5\n", "weights", "4.5 to 1e+300, 5e+299 on average"),
        ("0 1 1e308\n1 2 1e308\n2 0 2\n", "weights", "2 to 1e+308"),
        ("0 1 nan\n1 0 nan\n", "symmetric", "yes: 1 undirected edge"),
        ("0 3\n", "isolated", "2 vertices (50.0% of all)"),
        ("0 1\n1 1\n", "isolated", "0 vertices (0.0% of all)"),
        ("0 9999\n" + "1 2\n" * 600, "isolated", "9,996 vertices (more than 99.9% of all)"),
    ],
)
def test_the_info_command_describes_the_weights_and_symmetry_and_isolated_vertices_of_a_graph(
    tmp_path, written, name, said
):
    (tmp_path / "a.txt").write_text(written)
    lines = succeeds("info", tmp_path / "a.txt").splitlines()
    assert dict(line.split(None, 1) for line in lines)[name] == said


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz", "a.csv", "a.tsv.gz", "a.txt"])
def test_the_convert_command_keeps_every_entry(tmp_path, name):
    assert succeeds("convert", "ldbc-directed", tmp_path / name) == ""
    assert gl.io.read(tmp_path / name).isequal(gl.datasets.load("ldbc-directed"))


def test_the_convert_command_makes_a_graph_undirected_or_unweighted_on_request(tmp_path, edge_list):
    target = tmp_path / "a.npz"
    assert succeeds("convert", edge_list, target, "--undirected") == ""
    assert gl.io.read(target).to_dicts() == {
        0: {1: 5, 2: 1},
        1: {0: 5, 2: 2},
        2: {0: 1, 1: 2},
        3: {3: 4},
    }
    assert succeeds("convert", edge_list, target, "--unweighted") == ""
    assert gl.io.read(target).to_dicts() == {0: {1: True, 2: True}, 2: {1: True}, 3: {3: True}}


def test_the_convert_command_keeps_an_unweighted_graph_unweighted(tmp_path):
    (tmp_path / "a.txt").write_text("0 1\n1 2\n2 0\n")
    assert succeeds("convert", tmp_path / "a.txt", tmp_path / "a.mtx", "--undirected") == ""
    assert " pattern symmetric\n" in (tmp_path / "a.mtx").read_text()


def test_the_convert_command_accepts_vectors_and_matrices_of_any_shape(tmp_path):
    for thing in (gl.Vector.from_coo([1], [2.5], size=3), gl.Matrix.from_coo([0], [2], [7])):
        gl.io.write(tmp_path / "a.npz", thing)
        assert succeeds("convert", tmp_path / "a.npz", tmp_path / "a.mtx") == ""
        assert gl.io.read(tmp_path / "a.mtx").nvals == 1
        assert "a.npz h" in refused("convert", tmp_path / "a.npz", "b.mtx", "--undirected")


# --- files written --------------------------------------------------------------------------------


def rows_of(path: Path, delimiter: str) -> list[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as lines:
        return list(csv.DictReader(lines, delimiter=delimiter))


@pytest.mark.parametrize(("name", "mark"), [("l.csv", ","), ("l.tsv", "\t"), ("l.csv.gz", ",")])
def test_text_output_can_be_read_back(tmp_path, name, mark):
    succeeds("bfs", "karate", "--source", 30, "--output", tmp_path / name)
    rows = rows_of(tmp_path / name, mark)
    levels, parents = gl.algorithms.bfs(gl.datasets.load("karate"), 30)
    assert {int(row["vertex"]): int(row["level"]) for row in rows} == levels.to_dict()
    assert {int(row["vertex"]) for row in rows} == parents.to_dict().keys()
    assert rows[30]["parent"] == "30"


def test_npz_output_can_be_read_back(tmp_path):
    path = tmp_path / "ranks.npz"
    succeeds("pagerank", "karate", "--output", path)
    with np.load(path) as arrays:
        rank = gl.algorithms.pagerank(gl.datasets.load("karate"))
        assert arrays["vertex"].tolist() == list(range(34))
        assert np.allclose(arrays["rank"], rank.to_dense(), rtol=1e-12)


def test_matrix_market_output_has_one_column_per_value(tmp_path, edge_list):
    path = tmp_path / "levels.mtx"
    succeeds("bfs", edge_list, "--output", path)
    assert "columns: level, parent" in path.read_text()
    assert gl.io.mmread(path).to_dicts() == {0: {0: 0, 1: 0}, 1: {0: 1, 1: 0}, 2: {0: 1, 1: 0}}


@pytest.mark.parametrize("name", ["t.csv", "t.npz", "t.mtx"])
def test_a_scalar_result_can_be_written_to_a_file(tmp_path, name):
    path = tmp_path / name
    succeeds("triangles", "karate", "--output", path)
    if name.endswith(".npz"):
        with np.load(path) as arrays:
            assert arrays["triangles"].tolist() == [45]
    elif name.endswith(".csv"):
        assert path.read_text() == "triangles\n45\n"
    else:
        assert gl.io.mmread(path)[0, 0].value == 45


def test_output_to_a_dash_prints_csv_and_moves_the_summary_to_standard_error(edge_list):
    done = graphla("sssp", edge_list, "--output", "-")
    assert done.stdout == "vertex,distance\n0,0\n1,3\n2,1\n"
    assert "reached" in done.stderr


def test_labels_name_vertices_in_options_and_in_output(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text('ann,bob\nbob,"carol, junior"\n900719925474,ann\n')
    done = graphla("bfs", path, "--labels", "--source", "bob", "--undirected", "--output", "-")
    assert done.returncode == 0
    rows = {row["vertex"]: row for row in csv.DictReader(done.stdout.splitlines())}
    assert rows["carol, junior"] == {"vertex": "carol, junior", "level": "1", "parent": "bob"}
    assert rows["900719925474"]["level"] == "2"


def test_the_convert_command_keeps_the_labels_of_an_edge_list(tmp_path):
    path = tmp_path / "friends.txt"
    path.write_text("bob ann 3\nann carol 4\n")
    assert succeeds("convert", path, tmp_path / "friends.csv", "--labels") == ""
    written = (tmp_path / "friends.csv").read_text()
    assert written == "source,target,weight\nbob,ann,3\nann,carol,4\n"
    assert succeeds("convert", tmp_path / "friends.csv", tmp_path / "b.txt", "--labels") == ""
    assert (tmp_path / "b.txt").read_text() == "bob ann 3\nann carol 4\n"
    assert succeeds("convert", path, tmp_path / "friends.mtx", "--labels") == ""
    assert gl.io.read(tmp_path / "friends.mtx").to_dicts() == {0: {1: 3}, 1: {2: 4}}


def test_vertices_may_be_numbered_from_one(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("1 2\n2 3\n")
    assert "vertices    4\n" in succeeds("info", path)
    assert "vertices    3\n" in succeeds("info", path, "--one-based")
    assert "vertices    3\n" in succeeds("info", path, "--base", 1)
    path.write_text("0 1\n")
    assert "line 1: the source is 0" in refused("info", path, "--one-based")
    assert "--base 0" in refused("info", path, "--one-based")


def test_a_graph_can_be_read_from_standard_input(monkeypatch, tmp_path):
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b"0 1\n1 2\n")
    assert "vertices    3\n" in succeeds("info", "-", "--format", "edgelist")
    given(b"0 1\n1 2\n")
    assert "--format" in refused("info", "-")
    assert "format is 'xls'" in refused("info", "-", "--format", "xls")
    given(b"ann bob\nbob ann\n")
    assert succeeds("convert", "-", tmp_path / "a.csv", "--format", "txt", "--labels") == ""
    assert (tmp_path / "a.csv").read_text() == "source,target\nann,bob\nbob,ann\n"
    assert succeeds("convert", "karate", tmp_path / "karate.npz") == ""
    given((tmp_path / "karate.npz").read_bytes())
    assert "vertices    34\n" in succeeds("info", "-", "--format", "npz")
    given(b"0 1\nx 2\n")
    assert "line 2: source is 'x'" in refused("info", "-", "--format", "el")
    assert "bench reads it again" in refused("bench", "-", "--format", "el")
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input: Bad file descriptor" in refused("info", "-", "--format", "el")


def test_every_format_can_be_chosen_by_extension_or_by_name(tmp_path):
    nx = pytest.importorskip("networkx")
    G = nx.Graph([("ann", "bob"), ("bob", "eve")])
    nx.write_graphml(G, tmp_path / "a.graphml")
    nx.write_gml(G, tmp_path / "b.graph", stringizer=str)
    (tmp_path / "a.gr").write_text("p sp 3 2\na 1 2 7\na 1 2 5\n")
    (tmp_path / "a.metis").write_text("3 2\n2\n1 3\n2\n")
    found = graphla("bfs", tmp_path / "a.graphml", "--source", "ann", "--output", "-").stdout
    assert found.startswith("vertex,level,parent\nann,0,ann\nbob,1,ann\n")
    assert "symmetric   yes: 2 undirected edges" in succeeds("info", tmp_path / "a.metis")
    assert "2 undirected" in succeeds("info", tmp_path / "b.graph", "--format", "gml")
    assert "METIS" in refused("info", tmp_path / "a.metis", "--duplicates", "min")
    assert "--duplicates" in refused("info", tmp_path / "a.gr")
    assert "weights     all 5" in succeeds("info", tmp_path / "a.gr", "--duplicates", "min")
    assert "--base is for edge lists" in refused("info", tmp_path / "a.gr", "--base", 1)
    assert succeeds("convert", tmp_path / "a.graphml", tmp_path / "a.csv") == ""
    assert (tmp_path / "a.csv").read_text().startswith("source,target\nann,bob\n")
    problem = refused("convert", tmp_path / "a.gr", tmp_path / "b.gml", "--duplicates", "min")
    assert "does not write" in problem


def test_options_decide_whether_the_first_line_is_a_header(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("a,b\n0,1\n1,2\n")
    assert "vertices    3\n" in succeeds("info", path)
    assert "vertices    3\n" in succeeds("info", path, "--labels", "--header")
    assert "vertices    5\n" in succeeds("info", path, "--labels")
    assert "source is 'a'" in refused("info", path, "--no-header")
    path.write_text("source,target\n0,1\n1,2\n")
    assert "vertices    3\n" in succeeds("info", path, "--labels")
    assert "vertices    5\n" in succeeds("info", path, "--labels", "--no-header")


# --- error messages -------------------------------------------------------------------------------


def test_each_problem_with_the_input_is_reported_in_one_line(tmp_path, edge_list):
    broken = tmp_path / "broken.mtx"
    broken.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    wide = tmp_path / "wide.mtx"
    wide.write_text("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n")
    negative = tmp_path / "negative.csv"
    negative.write_text("0,1,2\n1,2,-3\n")
    twice = tmp_path / "twice.txt"
    twice.write_text("0 1 4\n0 1 5\n")
    assert "No such file or directory" in refused("bfs", tmp_path / "missing.mtx")
    assert "neither a file nor a dataset" in refused("bfs", "nothing")
    assert "GRAPH is empty" in refused("bfs", "")
    names = tmp_path / "names.txt"
    names.write_text("ann bob 1\nbob carol 2\n")
    assert "line 1: source is 'ann'" in refused("bfs", names)
    assert "--labels" in refused("bfs", names)
    names.write_text("0 4000000000\n")
    assert "--labels" in refused("bfs", names)
    assert "broken.mtx, line 3: " in refused("bfs", broken)
    assert "2 rows and 3 columns" in refused("components", wide)
    assert "source is 7, but the vertices are 0 to 3" in refused("bfs", edge_list, "--source", 7)
    assert "source is -1, but" in refused("sssp", edge_list, "--source", -1)
    assert "vertices are numbers" in refused("bfs", edge_list, "--source", "ann")
    assert "weight -3 on edge 1 -> 2" in refused("sssp", negative)
    assert "--duplicates" in refused("sssp", twice)
    assert "should end in one of" in refused("bfs", edge_list, "--output", "levels.xls")
    assert "should end in one of" in refused("bfs", tmp_path)
    assert "--labels is for edge lists" in refused("bfs", "karate", "--labels")
    assert "--duplicates is for files" in refused("bfs", "karate", "--duplicates", "min")
    assert "'bogus' names no binary" in refused("bfs", edge_list, "--duplicates", "bogus")
    assert "--personalization is empty, but should be a file or a=1,b=2,..." in refused(
        "pagerank", "karate", "--personalization", ""
    )
    assert "max_iter is 1" in refused("pagerank", "karate", "--tol", 1e-9, "--max-iter", 1)
    assert "alpha is 2.0, but" in refused("pagerank", "karate", "--alpha", 2)


def test_a_rejected_command_creates_no_file(tmp_path, edge_list):
    assert refused("bfs", edge_list, "--source", 9, "--output", tmp_path / "levels.csv")
    assert refused("convert", edge_list, tmp_path / "nowhere" / "graph.mtx")
    assert [path.name for path in tmp_path.iterdir()] == ["edges.txt"]


@pytest.mark.parametrize(
    ("word", "proposed"),
    [
        ("pagernk", "pagerank"),
        ("betweeness", "betweenness"),
        ("kcore", "k-core"),
        ("k_core", "k-core"),
        ("BFS", "bfs"),
        ("breadth", "bfs"),
        ("Dijkstra", "sssp"),
        ("floyd-warshall", "all-pairs-lengths"),
        ("kruskal", "spanning-forest"),
        ("benchmark", "bench"),
    ],
)
def test_the_error_about_an_unknown_command_suggests_similar_commands(word, proposed):
    done = graphla(word, "karate")
    assert done.returncode == 2
    assert f"there is no command '{word}'; did you mean {proposed}" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_the_error_about_an_unknown_command_without_similar_commands_points_to_the_help():
    done = graphla("xyzzy")
    assert done.returncode == 2
    assert "there is no command 'xyzzy'; `graphla --help` lists the commands" in done.stderr


def test_each_synonym_maps_to_a_command_and_is_not_itself_a_command():
    commands = parser().commands
    assert set(SYNONYMS.values()) <= set(commands)
    assert not set(SYNONYMS) & set(commands)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["bfs"],
        ["search", "karate"],
        ["bfs", "karate", "--depth", "3"],
        ["bfs", "karate", "--cutoff", "few"],
        ["bfs", "karate", "--top", "-1"],
        ["bfs", "karate", "--columns", "0,x"],
        ["convert", "karate"],
    ],
)
def test_invalid_usage_ends_with_exit_status_2(arguments):
    done = graphla(*arguments)
    assert done.returncode == 2
    assert "usage: graphla" in done.stderr
    assert "Traceback" not in done.stderr


# --- tests of pipes, signals and terminals --------------------------------------------------------

unix = pytest.mark.skipif(os.name != "posix", reason="signals and pseudo-terminals are POSIX's")


@unix
def test_a_reader_that_closes_the_pipe_early_causes_no_error():
    command = [sys.executable, "-m", "graphla", "bfs", "4elt", "--output", "-"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "vertex,level,parent\n"
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
        assert process.wait() in (0, 128 + signal.SIGPIPE)


@unix
def test_closed_standard_streams_cause_no_crash(edge_list):
    def run(arguments: str) -> subprocess.CompletedProcess[str]:
        command = f"exec {sys.executable} -m graphla {arguments}"
        return subprocess.run(
            ["sh", "-c", command], capture_output=True, text=True, env=environment(), timeout=300
        )

    done = run(f"bfs {edge_list} 2>&-")
    assert (done.returncode, "levels   2" in done.stdout) == (0, True)
    done = run(f"bfs {edge_list} >&-")
    assert (done.returncode, done.stderr) == (0, "")
    done = run(f"bfs {edge_list} --output - >&-")
    assert (done.returncode, done.stderr) == (1, "graphla: standard output: Bad file descriptor\n")


@unix
def test_an_interrupt_is_reported_in_one_line(tmp_path):
    pipe = tmp_path / "never.txt"
    os.mkfifo(pipe)  # a command that reads this pipe blocks until it is interrupted
    command = [sys.executable, "-m", "graphla", "bfs", str(pipe)]
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
        ) as process,
        pipe.open("w"),  # `open` returns when the process has opened the pipe for reading
    ):
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert error == "graphla: interrupted\n"


IMPORTING = """
import os, signal, sys

class Interrupter:
    "Sends an interrupt as NumPy is imported, which is long before the command line is there."

    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
sys.argv = ["/usr/bin/graphla", "info"]
from graphla.cli import command
command()
"""

INSIDE = """
import sys
sys.argv = ["/usr/bin/graphla", "info"]
from graphla.cli import command, commands
commands.about.installation = lambda: exec("raise KeyboardInterrupt")
command()
"""


@unix
@pytest.mark.parametrize("program", [IMPORTING, INSIDE], ids=["imports", "text"])
def test_an_interrupted_command_ends_with_one_line_and_status_130(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment()
    )
    assert (done.returncode, done.stderr) == (130, "graphla: interrupted\n")


@unix
def test_importing_graphla_keeps_the_signal_handler_of_the_program():
    program = (
        "import signal; before = signal.getsignal(signal.SIGINT); import graphla.cli; "
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=environment())


def test_tqdm_is_imported_only_if_a_progress_bar_is_shown():
    program = (
        "import sys; from graphla.cli import main; main(['closeness', 'karate', '--no-compile']); "
        "assert 'tqdm' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment())
    assert (done.returncode, done.stderr) == (0, b"")


@unix
def test_a_slow_step_shows_progress_on_a_terminal(tmp_path):
    import pty

    pipe = tmp_path / "slow.txt"
    os.mkfifo(pipe)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "graphla", "bfs", str(pipe)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment()
    ) as process:
        with pipe.open("w") as feed:
            time.sleep(2)
            feed.write("0 1\n")
        out, _ = process.communicate(timeout=60)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert process.returncode == 0
    assert "reached  2 vertices" in out
    assert f"reading {pipe}: 1 s" in shown
