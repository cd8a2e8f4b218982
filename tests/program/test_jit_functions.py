"""A function under `gl.jit` keeps its signature, and its source and closures are found."""

from __future__ import annotations

import ast
import functools
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from jitting import Counting, bfs, compiling, ones, path, shown

import graphla as gl
from graphla import Vector, binary
from graphla.exceptions import NotCompilable
from graphla.program.source import source_of

pytestmark = pytest.mark.cpu


def test_the_decorated_function_keeps_its_name_and_signature_and_docstring():
    search = gl.jit(bfs)
    assert search.__name__ == "bfs"
    assert search.__doc__ == bfs.__doc__
    assert search.__module__ == bfs.__module__
    assert inspect.signature(search) == inspect.signature(bfs)


def test_a_function_may_have_default_values_and_keyword_only_arguments(engine: Counting):
    @gl.jit
    def add(u: Vector, times: int = 2, *others: int, step: int = 3, **more: int) -> Vector:
        for _ in range(times):
            u << u.apply(binary.plus, right=step + more.get("extra", 0))
        return u

    with pytest.raises(NotCompilable, match="more"):
        add(ones())

    @gl.jit
    def plain(u: Vector, times: int = 2, /, *, step: int = 3) -> Vector:
        for _ in range(times):
            u << u.apply(binary.plus, right=step)
        return u

    assert plain(ones())[0].value == 7
    assert plain(ones(), 1, step=10)[0].value == 11


def test_jit_may_be_placed_above_another_decorator(engine: Counting):
    calls: list[int] = []

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            calls.append(1)
            return function(*args)

        return wrapper

    @gl.jit
    @counted
    def above(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u

    @counted
    @gl.jit
    def below(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u

    assert above(ones())[0].value == below(ones())[0].value == 3
    assert len(calls) == len(engine.programs) == 2


def test_jit_rejects_a_decorated_function_that_it_cannot_unwrap():
    def hidden(function: Callable[..., Any]) -> Callable[..., Any]:
        held = [function]

        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return held[0](*args)

        return wrapper

    with pytest.raises(TypeError, match="below the other decorator"):
        gl.jit(hidden(bfs))


class Base:
    def scale(self, u: Vector) -> Vector:
        return u


class Walk(Base):
    steps = 3

    def __init__(self) -> None:
        self.__factor = 2
        self.size = 6

    @gl.jit
    def scale(self, u: Vector) -> Vector:
        u = super().scale(u)
        for _ in range(self.steps):
            u << u.apply(binary.times, right=self.__factor)
        return u

    @gl.jit
    def fill(self) -> Vector:
        u = Vector(int, self.size)
        for k in range(self.size):
            u[k] = self.double(k)
        return u

    def double(self, k: int) -> int:
        return k * self.__factor

    @classmethod
    @gl.jit
    def of_class(cls, u: Vector) -> Vector:
        for _ in range(cls.steps):
            u << u.apply(binary.plus, right=1)
        return u

    @gl.jit
    @staticmethod
    def alone(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u


def test_methods_are_compiled(engine: Counting):
    walk = Walk()
    assert walk.scale(ones())[0].value == 8
    walk.steps = 1
    assert walk.scale(ones())[0].value == 2
    assert walk.fill().to_dict() == {k: 2 * k for k in range(6)}
    assert Walk.of_class(ones())[0].value == 4
    assert Walk.alone(ones())[0].value == 3
    assert len(engine.programs) == 5


def test_closure_variables_are_read_again_at_each_call(engine: Counting):
    step, op = 1, binary.plus

    @gl.jit
    def add(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(op, right=step)
        return u

    assert add(ones())[0].value == 3
    step = 10
    assert add(ones())[0].value == 21
    op = binary.times
    assert add(ones())[0].value == 100
    assert engine.programs[0] is engine.programs[1]


def test_an_inner_function_is_inlined(engine: Counting):
    @gl.jit
    def add(u: Vector, step: int) -> Vector:
        def times(k: int) -> int:
            return k * step if k else 1

        for k in range(3):
            u << u.apply(binary.plus, right=times(k))
        return u

    assert add(ones(), 2)[0].value == 8
    assert add(ones(), 3)[0].value == 11
    assert engine.programs[0] is engine.programs[1]


def test_inner_functions_see_the_results_of_the_loop(engine: Counting):
    @gl.jit
    def add(u: Vector) -> Callable[[], tuple[Any, ...]]:
        def read() -> tuple[Any, ...]:
            return u, k

        k = 0
        while k < 3:
            u = u.apply(binary.plus, right=1).new()
            k += 1
        return read

    u, k = add(ones())()
    assert (u[0].value, k) == (4, 3)


def test_jit_accepts_only_python_functions():
    with pytest.raises(TypeError, match="builtin_function"):
        gl.jit(len)


def test_several_threads_may_call_one_function_at_the_same_time():
    search = gl.jit(bfs)

    def work(source: int) -> Any:
        with compiling():
            return [shown(search(path(n), source)) for n in range(4, 9)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    for source, results in enumerate(found):
        assert results == [shown(bfs(path(n), source)) for n in range(4, 9)]


def test_importing_graphla_does_not_import_the_compiler():
    text = "import sys, graphla; print(any('graphla.program' in name for name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# --- sources -------------------------------------------------------------------------------------

ENDINGS = {
    "a return": "    return 1\n",
    "statements that never run": "    return 1\n    x = 2\n    if x:\n        return 3\n",
    "a bracket at the left": "    return max(\n        1,\n        2,\n)\n",
    "a string at the left": '    return """\nleft\n"""\n',
    "a comment": "    return 1\n    # comment\n\n# another\n",
    "nothing": "    pass\n",
    "an inner function": "    def inner():\n        return 1\n\n        # comment\n",
    "a loop": "    while k:\n        k -= 1\n    else:\n        pass\n",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("beginning", ["def f(k):\n", "@keep\ndef f(\n    k,\n):\n"])
@pytest.mark.parametrize("following", ["", "\nx = 1\n", "def g(k):\n    return 2\n"])
@pytest.mark.parametrize("depth", [0, 4])
def test_jit_finds_the_source_lines_of_a_function(
    tmp_path: Path, beginning: str, ending: str, following: str, depth: int
):
    text = textwrap.indent(beginning, " " * depth) + textwrap.indent(
        ENDINGS[ending], " " * depth, lambda line: line.startswith(" ")
    )
    text += textwrap.indent(following, " " * depth)
    file = tmp_path / "functions.py"
    before = "# first\ndef keep(f):\n    return f\n\n" + ("class C:\n" if depth else "")
    file.write_text(before + text)
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    function = vars(names["C"])["f"] if depth else names["f"]
    found = source_of(function)
    wanted = inspect.getsource(function).rstrip("\n").splitlines()
    code = [line for line in found.lines if line.strip() and not line.lstrip().startswith("#")]
    assert code == [x for x in wanted if x.strip() and not x.lstrip().startswith("#")]
    assert found.first == inspect.getsourcelines(function)[1]
    lines = [x.lineno for x in ast.walk(found.node) if isinstance(x, ast.stmt)]
    assert min(lines) == found.first + beginning.startswith("@")


def test_a_function_whose_file_has_changed_is_rejected(tmp_path: Path, engine: Counting):
    text = "def f(u):\n    k = 0\n    for _ in range(2):\n        k += u.nvals + 1\n    return k\n"
    functions = []
    for name in ("same.py", "changed.py"):
        file, names = tmp_path / name, {}
        file.write_text(text)
        exec(compile(text, str(file), "exec"), names)
        functions.append(gl.jit(names["f"]))
    file.write_text(text.replace("+ 1", "+ 20"))
    assert functions[0](ones()) == 14
    with pytest.raises(NotCompilable, match="whose file has changed since it was imported"):
        functions[1](ones())
