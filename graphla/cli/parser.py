"""Build the argument parser of the command line from the table of algorithms."""

from __future__ import annotations

import sys
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    RawDescriptionHelpFormatter,
)
from collections.abc import Mapping
from difflib import get_close_matches
from shutil import get_terminal_size
from textwrap import fill, indent
from typing import Any

from graphla import datasets, io
from graphla.cli import about, answers, options
from graphla.cli.catalogue import ALGORITHMS, Algorithm

_OVERVIEW = """\
Graph algorithms, computed by sparse matrix operations over semirings.

GRAPH is a file. Its extension determines the format:
  .mtx                          Matrix Market
  .npz                          a matrix saved by graphla or SciPy, or arrays src, dst, n, directed
  .csv .tsv .txt                one line `source target` or `source target weight` per edge
  .edges .edgelist .el          like .txt
  .graphml .gexf .gml .json     GraphML, GEXF, GML, node-link JSON (needs NetworkX); read only
  .parquet .pq .feather .arrow  one row per edge (needs pyarrow); read only
  .metis .graph                 METIS; read only
  .gr .col .dimacs              DIMACS: shortest paths, coloring; read only
Text files may be compressed, as in .mtx.gz. GRAPH may also be - for standard input, together with
--format, or the name of a dataset that comes with graphla:
  {datasets}
"""

_EPILOG = """\
`graphla COMMAND --help` explains what a command computes and how.
exit codes: 0 success; 1 invalid input, reported in one line on standard error; 2 wrong usage;
  130 interrupted
"""


SYNONYMS = {
    "breadth": "bfs",
    "breadth-first": "bfs",
    "breadth-first-search": "bfs",
    "levels": "bfs",
    "dijkstra": "sssp",
    "delta-stepping": "sssp",
    "single-source-shortest-paths": "sssp",
    "shortest-paths": "sssp",
    "distances": "sssp",
    "bellman": "bellman-ford",
    "apsp": "all-pairs-lengths",
    "floyd-warshall": "all-pairs-lengths",
    "bottleneck": "widest",
    "closure": "transitive-closure",
    "egonet": "neighborhood",
    "ego": "neighborhood",
    "rank": "pagerank",
    "ppr": "pagerank",
    "degrees": "degree",
    "bc": "betweenness",
    "brandes": "betweenness",
    "connected-components": "components",
    "weakly-connected-components": "components",
    "wcc": "components",
    "cc": "components",
    "union-find": "components",
    "scc": "strong-components",
    "strongly-connected-components": "strong-components",
    "tarjan": "strong-components",
    "cores": "core-numbers",
    "coreness": "core-numbers",
    "mst": "spanning-forest",
    "msf": "spanning-forest",
    "minimum-spanning-tree": "spanning-forest",
    "spanning-tree": "spanning-forest",
    "kruskal": "spanning-forest",
    "prim": "spanning-forest",
    "boruvka": "spanning-forest",
    "tc": "triangles",
    "triangle-count": "triangles",
    "lpa": "label-propagation",
    "communities": "louvain",
    "clusters": "louvain",
    "mis": "maximal-independent-set",
    "independent-set": "maximal-independent-set",
    "coloring": "greedy-color",
    "color": "greedy-color",
    "matching": "maximal-matching",
    "similarity": "jaccard",
    "benchmark": "bench",
    "time": "bench",
    "stats": "info",
    "describe": "info",
    "show": "info",
    "version": "info",
    "export": "convert",
    "import": "convert",
    "save": "convert",
}
"""Other names of commands. The error for an unknown command uses them to suggest the right name."""


class _Layout(RawDescriptionHelpFormatter):
    """Formats help texts: keeps the paragraphs, and wraps options at up to 100 columns."""

    def __init__(self, prog: str) -> None:
        width = min(get_terminal_size().columns - 2, 100)
        super().__init__(prog, max_help_position=30, width=width)


class _Parser(ArgumentParser):
    """The parser of the whole command line. Its error for an unknown command suggests others."""

    commands: Mapping[str, ArgumentParser]

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore
        words = sys.argv[1:] if args is None else args
        first = next((word for word in words if not word.startswith("-")), None)
        if first is not None and first not in self.commands:
            self.error(_no_command(first, tuple(self.commands)))
        return super().parse_args(args, namespace)


def _no_command(word: str, commands: tuple[str, ...]) -> str:
    plain = word.lower().replace("_", "-")
    close = get_close_matches(plain, (*commands, *SYNONYMS), n=3, cutoff=0.7)
    meant = dict.fromkeys(SYNONYMS.get(name, name) for name in close)
    if plain in commands or plain in SYNONYMS:
        meant = [SYNONYMS.get(plain, plain)]
    problem = f"there is no command {word!r}"
    if not meant:
        return f"{problem}; `graphla --help` lists the commands"
    return f"{problem}; did you mean {' or '.join(meant)}?"


def parser() -> _Parser:
    """Return the parser with all subcommands: algorithms, `bench`, `ladder`, `info`, `convert`."""
    top = _Parser(
        prog="graphla",
        description=_OVERVIEW.format(datasets=" ".join(datasets.names())),
        epilog=_EPILOG,
        formatter_class=_Layout,
    )
    top.add_argument("--version", action="version", version=f"graphla {about.own_version()}")
    commands = top.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=ArgumentParser
    )
    top.commands = commands.choices
    for algorithm in ALGORITHMS:
        _add_algorithm(commands, algorithm)
    _add_bench(commands)
    _add_ladder(commands)
    _add_info(commands)
    _add_convert(commands)
    return top


def _add_algorithm(commands: Any, algorithm: Algorithm) -> None:
    story, formula = algorithm.teaches
    paragraphs = "\n\n".join(
        part if part.startswith(("-", " ")) else _paragraph(part) for part in story.split("\n\n")
    )
    teaches = f"{paragraphs}\n\nas algebra:\n{indent(formula, '  ')}".lstrip()
    examples = algorithm.examples or (options.example(algorithm),)
    command = _add_command(commands, algorithm.name, algorithm.computes, teaches, examples)
    _add_graph(command)
    if algorithm.parameters:
        options.add(command.add_argument_group(f"options of {algorithm.name}"), algorithm)
    _add_reading(command)
    result = command.add_argument_group("the result")
    formats = ", ".join(answers.OUTPUTS)
    result.add_argument(
        "--output",
        metavar="FILE",
        help=f"save the result to this file ({formats}); - prints the result as CSV",
    )
    result.add_argument(
        "--top",
        type=_natural,
        default=5,
        metavar="N",
        help="number of results to show (default: 5)",
    )
    _add_computing(command).add_argument(
        "--explain",
        action="store_true",
        help="list the operations that ran; for each, its direction (push or pull) and the reason",
    )
    command.set_defaults(command="algorithm", algorithm=algorithm)


def _add_computing(command: ArgumentParser) -> Any:
    how = command.add_argument_group(
        "computation",
        "If Numba is installed, the first run compiles loops, which takes a few seconds. Later\n"
        "runs load the compiled loops from the cache folder that `graphla info` prints.",
    )
    how.add_argument("--threads", type=int, metavar="N", help="maximum number of threads")
    how.add_argument("--no-compile", action="store_true", help="use NumPy only, without Numba")
    return how


def _add_bench(commands: Any) -> None:
    command = _add_command(
        commands,
        "bench",
        "time every algorithm on a graph",
        "Runs each algorithm on GRAPH in a separate process, twice if there is time, and prints a "
        "table with the better time and a one-line result. The source is a vertex with the most "
        "out-edges. Algorithms for undirected graphs ignore directions. An algorithm that exceeds "
        "the time limit is stopped, and the table shows this.",
        ("graphla bench road-NY", "graphla bench web.npz --limit 60 --only pagerank,bfs,katz"),
    )
    _add_graph(command)
    bench = command.add_argument_group("options of bench")
    bench.add_argument(
        "--limit",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="time limit per algorithm, including compilation (default: 30)",
    )
    bench.add_argument(
        "--only", metavar="NAMES", help="time only these algorithms, separated by commas"
    )
    bench.add_argument("--output", metavar="FILE", help="also save the table to this .csv file")
    _add_reading(command)
    _add_computing(command)
    command.set_defaults(command="bench")


def _add_ladder(commands: Any) -> None:
    command = _add_command(
        commands,
        "ladder",
        "compare strategies of breadth-first search on a graph",
        "Runs breadth-first search from the same random vertices with several strategies from the "
        "literature. The strategies range from a queue on one thread to a single kernel "
        "launch on a GPU that runs the whole search. Prints the speed of each strategy on GRAPH "
        "and the resources that the strategy uses. The levels of each search are compared with "
        "those of the first strategy; a difference is an error. docs/ladder.md explains the "
        "strategies. Strategies that need a GPU do not run on the CPU. The CPU versions of the "
        "others are mostly written in NumPy, for clarity rather than speed.",
        ("graphla ladder road-NY", "graphla ladder web.npz --device cuda --chart web.png"),
    )
    _add_graph(command)
    group = command.add_argument_group("options of ladder")
    group.add_argument(
        "--strategies",
        metavar="NAMES",
        help="compare only these strategies, separated by commas (default: all strategies that run "
        "on the device)",
    )
    group.add_argument(
        "--sources",
        type=_natural,
        default=32,
        metavar="N",
        help="number of start vertices, drawn from the vertices with out-edges (default: 32)",
    )
    group.add_argument(
        "--seed",
        type=_natural,
        default=0,
        metavar="N",
        help="seed of the random start vertices (default: 0)",
    )
    group.add_argument(
        "--limit",
        type=_seconds,
        default=0.4,
        metavar="SECONDS",
        help="time limit per strategy; slow strategies run fewer searches (default: 0.4)",
    )
    group.add_argument(
        "--device", metavar="DEVICE", help="cpu or cuda (default: cuda if there is a GPU)"
    )
    group.add_argument(
        "--output", metavar="FILE", help="also save the table to this .csv file, in SI units"
    )
    group.add_argument(
        "--chart",
        metavar="FILE",
        help="draw a chart of the speeds to this .png file; - means no chart (default: "
        "ladder-GRAPH.png in the current folder, if matplotlib is installed)",
    )
    _add_reading(command)
    _add_computing(command)
    command.set_defaults(command="ladder")


def _add_info(commands: Any) -> None:
    command = _add_command(
        commands,
        "info",
        "show what is installed, or the properties of a graph",
        "Without GRAPH, prints versions, devices, threads, the folder of compiled loops, and "
        "datasets. With GRAPH, prints its vertices, entries, symmetry, self-loops, degrees and "
        "weights.",
        ("graphla info", "graphla info road-NY"),
    )
    _add_graph(command, nargs="?")
    _add_reading(command)
    command.set_defaults(command="info")


def _add_convert(commands: Any) -> None:
    command = _add_command(
        commands,
        "convert",
        "convert a graph to another file format",
        "Reads GRAPH and writes it to TARGET, whose extension determines the format. "
        "An .npz file is fastest to read and keeps the dtype and symmetry; an edge list keeps "
        "labels.",
        ("graphla convert web.mtx.gz web.npz", "graphla convert road-NY road-NY.mtx.gz"),
    )
    _add_graph(command)
    command.add_argument("target", metavar="TARGET", help="the file to write")
    _add_reading(command)
    command.set_defaults(command="convert")


def _add_command(
    commands: Any, name: str, computes: str, teaches: str, examples: tuple[str, ...]
) -> ArgumentParser:
    title = f"{name}: {computes}."
    paragraphs = teaches if "\n" in teaches else _paragraph(teaches)
    return commands.add_parser(
        name,
        help=computes,
        description=f"{title}\n\n{paragraphs}",
        epilog="examples:\n" + indent("\n".join(examples), "  "),
        formatter_class=_Layout,
    )


def _add_graph(command: ArgumentParser, **options: Any) -> None:
    command.add_argument(
        "graph", metavar="GRAPH", help="a file, a dataset or - (see graphla --help)", **options
    )


def _add_reading(command: ArgumentParser) -> None:
    reading = command.add_argument_group("how to read GRAPH")
    reading.add_argument(
        "--undirected",
        action="store_true",
        help="add the reverse of each edge; if weights differ, keep the smaller one",
    )
    reading.add_argument("--unweighted", action="store_true", help="set all edge weights to 1")
    reading.add_argument(
        "--duplicates",
        metavar="OP",
        help="for files, the operator that combines duplicate edges, such as min, plus or first",
    )
    reading.add_argument(
        "--format",
        metavar="FORMAT",
        help=f"format of the file, if its extension is unknown: {', '.join(io.FORMATS)}",
    )
    reading.add_argument(
        "--labels",
        action="store_true",
        help="in edge lists, vertices are names or arbitrary numbers",
    )
    reading.add_argument(
        "--base",
        type=int,
        choices=(0, 1),
        help="in edge lists, the lowest vertex number (default: 0)",
    )
    reading.add_argument(
        "--one-based", dest="base", action="store_const", const=1, help="same as --base 1"
    )
    reading.add_argument(
        "--separator",
        metavar="C",
        help="in edge lists, the character between fields (default: detected)",
    )
    reading.add_argument(
        "--header",
        action=BooleanOptionalAction,
        help="in edge lists, whether the first line names the columns (default: detected)",
    )
    reading.add_argument(
        "--columns",
        type=_positions,
        metavar="I,J[,K]",
        help="in edge lists, the columns of source, target and weight, counted from 0",
    )


def _positions(text: str) -> tuple[int, ...]:
    return tuple(_natural(position) for position in text.split(","))


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} should be an integer of at least 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ArgumentTypeError(f"{text!r} should be a number of seconds above 0")
    return seconds


def _paragraph(text: str) -> str:
    return fill(text, 90)
