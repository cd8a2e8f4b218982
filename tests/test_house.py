"""Test that both backends use the same file names, and that no function is too long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphla

BACKENDS = Path(graphla.__file__).parent / "backends"
CPU, LOOPS, CUDA = BACKENDS / "cpu", BACKENDS / "cpu" / "loops", BACKENDS / "cuda"
LINES = 80
PARAMETERS = 12

INFRASTRUCTURE = {
    CPU: {"backend", "dispatch", "folding", "layout", "masks", "operands", "terms"},
    LOOPS: {"crew", "marks", "placeholder_ops", "sequential", "steps", "team"},
    CUDA: {"backend", "launch", "persistent", "streams"},
}
"""For each folder, the modules that several families of operations share."""
SHARED = {
    "atomics",
    "choose",
    "cluster",
    "collectives",
    "device",
    "edge_queue",
    "flags",
    "gathering",
}
SHARED |= {"hashed_random", "merge_path", "persistent", "rows"}
"""CUDA sources that several families of operations share."""
ONE_DEVICE = {CUDA: {"hot_columns"}, CPU: {"flow", "forces", "greedy_modularity", "serial"}}
"""For each folder of a backend, the families of operations that only this backend has."""


def families(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"} - INFRASTRUCTURE[folder]


def belongs(stem: str, known: set[str]) -> bool:
    """Return whether a file is named after one of the known families of operations.

    For example, both spgemm and spgemm_masked are named after the family spgemm.
    """
    return any(stem == family or stem.startswith(family + "_") for family in known)


def test_both_backends_use_the_same_file_names() -> None:
    cpu, cuda = families(CPU), families(CUDA)
    assert {stem for stem in cuda if not belongs(stem, cpu)} == ONE_DEVICE[CUDA]
    assert {stem for stem in cpu if not belongs(stem, cuda)} == ONE_DEVICE[CPU]


def test_each_cuda_source_and_each_loop_file_is_named_after_a_family_of_operations() -> None:
    sources = {path.stem for path in CUDA.iterdir() if path.suffix in (".cu", ".cuh")}
    assert {stem for stem in sources if not belongs(stem, families(CUDA))} == SHARED
    assert {stem for stem in families(LOOPS) if not belongs(stem, families(CPU))} == set()


# --- functions ----------------------------------------------------------------------------------


def without_comments(text: str) -> str:
    """Return CUDA source with blanks instead of comments and strings; positions do not change."""
    blanked = (
        r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^[ \t]*#(?:[^\n\\]|\\.)*"
    )
    return re.sub(
        blanked, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.DOTALL | re.MULTILINE
    )


def closing(text: str, start: int, pair: str = "()") -> int:
    """Return the index of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == pair[0]) - (text[place] == pair[1])
        if not depth:
            return place
    raise ValueError(f"the bracket at {start} is not closed")


def count_parameters(given: str) -> int:
    """Return the number of parameters in the text between two parentheses."""
    flat = given
    while (less := re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", flat)) != flat:
        flat = less
    return flat.count(",") + 1 if flat.strip() else 0


def cuda_functions(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the lines and the number of parameters of each function of a CUDA source."""
    text = without_comments(path.read_text())
    place = begin = 0
    while place < len(text):
        character = text[place]
        if character == "(":
            place = closing(text, place)
        elif character in ";}":
            begin = place + 1
        elif character == "{":
            header = text[begin:place]
            found = re.search(r"(?!__launch_bounds__\b|alignas\b)(operator\S+|\b\w+)\s*\(", header)
            if found is None or re.match(r"\s*(struct|enum|namespace|union)\b", header):
                begin = place + 1  # look inside
            else:
                opening = found.end() - 1
                end = closing(text, place, "{}")
                first = begin + len(header) - len(header.lstrip())
                lines = text.count("\n", first, end) + 1
                yield (
                    found[1],
                    lines,
                    count_parameters(header[opening + 1 : closing(header, opening)]),
                )
                place, begin = end, end + 1
        place += 1


def loop_functions(path: Path) -> Iterator[tuple[str, int]]:
    """For each function in a file of Numba loops, yield its name and its number of parameters."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            yield node.name, len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def sources() -> list[Path]:
    return [path for path in sorted(CUDA.iterdir()) if path.suffix in (".cu", ".cuh")]


def test_no_cuda_function_is_longer_than_80_lines() -> None:
    found = {
        f"{path.name}:{name}"
        for path in sources()
        for name, lines, _ in cuda_functions(path)
        if lines > LINES
    }
    assert found == set()


def test_no_cuda_function_takes_more_than_12_arguments() -> None:
    found = {
        f"{path.name}:{name}"
        for path in sources()
        for name, _, count in cuda_functions(path)
        if count > PARAMETERS
    }
    assert found == set()


def test_no_numba_loop_takes_more_than_12_arguments() -> None:
    found = {
        f"{path.name}:{name}"
        for path in sorted(LOOPS.glob("*.py"))
        for name, count in loop_functions(path)
        if count > PARAMETERS
    }
    assert found == set()


EXAMPLES = (
    ("void f(int a, int b) {\n}\n", ("f", 2, 2)),
    ("struct S { int x; S(int y) : x(y) {} };", ("S", 1, 1)),
    ("template <class A, class B> DEVICE A g() { /* { */ return h({1, 2}); }", ("g", 1, 0)),
    ("__global__ void __launch_bounds__(9, 2)\nk(T<A, B> t, i64 (*f)(A, B)) {\n\n}", ("k", 4, 2)),
    ("enum K { A };\nnamespace n {\nbool operator<(S a, S b) { return 1; }}", ("operator<", 1, 2)),
)


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_the_lengths_and_parameter_counts_of_cuda_functions_are_computed_correctly(
    text: str, expected: tuple[str, int, int], tmp_path: Path
) -> None:
    (tmp_path / "x.cu").write_text(text)
    assert list(cuda_functions(tmp_path / "x.cu")) == [expected]
