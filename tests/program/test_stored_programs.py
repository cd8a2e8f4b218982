"""A later process runs programs from the cache on disk as if it had traced the loops itself.

In most tests, a new decorator stands for a new process, because everything that `gl.jit` keeps in
memory belongs to the decorator. The engine of these tests compiles nothing. It interprets whole
programs, which it stores by key, as the cache stores machine code.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sources import Source, call, compare, has_large_number, sources

import graphla as gl
from graphla import Matrix, Vector
from graphla.compilers import disk_cache
from graphla.program import (
    fingerprints,
    interpreter,
    ir,
    running,
    stored_programs,
    storing,
    tracing,
)
from graphla.program.reasons import NotCompilable
from graphla.program.running import Arguments, Outcome
from semirings.dtypes import FP64, INT64

pytestmark = pytest.mark.cpu


class Engine:
    """An interpreter that finds the program of a ProgramHeader by the key of the header."""

    programs: ClassVar[dict[str, ir.Program]] = {}

    def __init__(self) -> None:
        self.restored = 0

    def run(self, program: ir.Program, arguments: Arguments) -> Outcome:
        if isinstance(program, ir.ProgramHeader):
            self.restored += 1
            whole = self.programs[program.key]
            for name in stored_programs._HEADER:
                assert getattr(program, name) == getattr(whole, name)
            program = whole
        elif program.key:
            self.programs[program.key] = program
        return interpreter.run(program, arguments)


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a cache folder for the entries of this module."""
    path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_cache, "cache_folder", lambda: path)
        patch.setattr(running, "may_store", lambda: True)
        yield path


@contextmanager
def without_tracing() -> Iterator[None]:
    """In a `with` block, fail if a loop is traced."""

    def fail(*_: Any) -> None:
        raise AssertionError("the loop was traced")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracing, "trace", fail)
        yield


# --- results ------------------------------------------------------------------------------------


@given(sources())
def test_a_drawn_function_gives_the_same_results_in_python_and_from_the_cache_on_disk(
    source: Source,
):
    expected = call(source, source.function())
    if has_large_number(expected):
        return
    engine = Engine()
    with running.use(engine), suppress(UserWarning):
        for _ in range(2):
            compare(call(source, gl.jit(source.function(), fallback=True)), expected)


def small_graph(dtype: Any = bool) -> Matrix:
    return Matrix.from_coo([0, 1, 2, 0, 3], [1, 2, 3, 3, 0], 1, dtype=dtype, nrows=5, ncols=5)


def start(dtype: Any = int) -> Vector:
    return Vector.from_coo([0, 2], [2, 3], dtype=dtype, size=5)


class Module:
    """A file with a function `f`, which is imported again after each change."""

    def __init__(self, folder: Path, text: str, name: str = "written_module") -> None:
        self.path, self.name = folder / f"{name}.py", name
        self.write(text)

    def write(self, text: str) -> None:
        self.path.write_text(HEAD + text)
        linecache.checkcache(str(self.path))

    def load(self) -> Any:
        spec = importlib.util.spec_from_file_location(self.name, self.path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        return module


HEAD = """
import functools
import math

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace, semiring

"""

LOOP = """
def f(A, v):
    for _ in range(3):
        v << {statement}
    return v
"""


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        found = function(*(x.dup() for x in args))
    except NotCompilable:
        raise
    except Exception as error:
        return type(error), str(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [(x.dtype, x.to_dict()) if isinstance(x, Vector) else (type(x), x) for x in parts]


CHANGES = {
    "a global number": (
        "K = 2\n" + LOOP.format(statement="binary.times(v @ A, K)"),
        "K = 3\n" + LOOP.format(statement="binary.times(v @ A, K)"),
    ),
    "a global number of another type": (
        "K = 2\n" + LOOP.format(statement="binary.times(v @ A, K)"),
        "K = 2.5\n" + LOOP.format(statement="binary.times(v @ A, K)"),
    ),
    "the items of a global tuple": (
        "S = (1, 2)\ndef f(A, v):\n    for k in S:\n        v << v + k\n    return v\n",
        "S = (1, 2, 5)\ndef f(A, v):\n    for k in S:\n        v << v + k\n    return v\n",
    ),
    "a constant of the function": (
        LOOP.format(statement="v + 2"),
        LOOP.format(statement="v + 3"),
    ),
    "the operator of the library to which a name refers": (
        "op = semiring.plus_times\n" + LOOP.format(statement="op(v @ A)"),
        "op = semiring.min_plus\n" + LOOP.format(statement="op(v @ A)"),
    ),
    "the body of an operator": (
        "op = binary.register_anonymous(lambda x, y: x * 2 + y)\n"
        + LOOP.format(statement="op(v | v, left_default=0, right_default=0)"),
        "op = binary.register_anonymous(lambda x, y: x * 3 + y)\n"
        + LOOP.format(statement="op(v | v, left_default=0, right_default=0)"),
    ),
    "a number that an operator reads": (
        "K = 2\nop = binary.register_anonymous(lambda x, y: x * K + y)\n"
        + LOOP.format(statement="op(v & v)"),
        "K = 3\nop = binary.register_anonymous(lambda x, y: x * K + y)\n"
        + LOOP.format(statement="op(v & v)"),
    ),
    "a number that a function inside an operator reads": (
        "K = 2\ndef g(x, y):\n    return (lambda z: z * K)(x) + y\n"
        "op = binary.register_anonymous(g)\n" + LOOP.format(statement="op(v & v)"),
        "K = 3\ndef g(x, y):\n    return (lambda z: z * K)(x) + y\n"
        "op = binary.register_anonymous(g)\n" + LOOP.format(statement="op(v & v)"),
    ),
    "a default of an operator's keyword": (
        "def g(x, y, *, k=2):\n    return x * k + y\nop = binary.register_anonymous(g)\n"
        + LOOP.format(statement="op(v & v)"),
        "def g(x, y, *, k=3):\n    return x * k + y\nop = binary.register_anonymous(g)\n"
        + LOOP.format(statement="op(v & v)"),
    ),
    "the builtin that a global replaces": (
        "def h(x, y=1):\n    return x * 5 + y\nabs = h\n"
        "op = binary.register_anonymous(lambda x, y: abs(x) + pow(y, 2))\n"
        + LOOP.format(statement="op(v & v)"),
        "def h(x, y=1):\n    return x * 5 + y\npow = h\n"
        "op = binary.register_anonymous(lambda x, y: abs(x) + pow(y, 2))\n"
        + LOOP.format(statement="op(v & v)"),
    ),
    "the monoid of a semiring": (
        "op = semiring.register_anonymous(monoid.plus, binary.times)\n"
        + LOOP.format(statement="op(v @ A)"),
        "op = semiring.register_anonymous(monoid.max, binary.times)\n"
        + LOOP.format(statement="op(v @ A)"),
    ),
    "the body of a helper": (
        "def g(x):\n    return x + 1\n" + LOOP.format(statement="g(v)"),
        "def g(x):\n    return x + 2\n" + LOOP.format(statement="g(v)"),
    ),
    "a number that a helper reads": (
        "K = 1\ndef g(x):\n    return x + K\n" + LOOP.format(statement="g(v)"),
        "K = 2\ndef g(x):\n    return x + K\n" + LOOP.format(statement="g(v)"),
    ),
    "the default of a helper": (
        "def g(x, k=1):\n    return x + k\n" + LOOP.format(statement="g(v)"),
        "def g(x, k=2):\n    return x + k\n" + LOOP.format(statement="g(v)"),
    ),
    "the helper to which a name refers": (
        "def g(x):\n    return x + 1\ndef h(x):\n    return x * 3\nk = g\n"
        + LOOP.format(statement="k(v)"),
        "def g(x):\n    return x + 1\ndef h(x):\n    return x * 3\nk = h\n"
        + LOOP.format(statement="k(v)"),
    ),
    "a function of the library instead of a helper": (
        "def g(x):\n    return x * 1.5\ndef f(A, v):\n    k = 2.25\n    for _ in range(3):\n"
        "        k = g(k)\n        v[1] = int(k)\n    return v\n",
        "g = math.sqrt\ndef f(A, v):\n    k = 2.25\n    for _ in range(3):\n"
        "        k = g(k)\n        v[1] = int(k)\n    return v\n",
    ),
    "a helper instead of a function of the library": (
        "g = math.sqrt\ndef f(A, v):\n    k = 2.25\n    for _ in range(3):\n"
        "        k = g(k)\n        v[1] = int(k)\n    return v\n",
        "def g(x):\n    return x * 1.5\ndef f(A, v):\n    k = 2.25\n    for _ in range(3):\n"
        "        k = g(k)\n        v[1] = int(k)\n    return v\n",
    ),
    "a closure variable": (
        "def make(k):\n    def f(A, v):\n        for _ in range(3):\n            v << v + k\n"
        "        return v\n    return f\nf = make(1)\n",
        "def make(k):\n    def f(A, v):\n        for _ in range(3):\n            v << v + k\n"
        "        return v\n    return f\nf = make(2)\n",
    ),
    "the second of two loops": (
        LOOP.format(statement="v + 1").replace(
            "    return v", "    for _ in range(2):\n        v << v * 2\n    return v"
        ),
        LOOP.format(statement="v + 1").replace(
            "    return v", "    for _ in range(2):\n        v << v * 3\n    return v"
        ),
    ),
    "the message of an exception": (
        "def f(A, v):\n    for k in range(3):\n        if k == 2:\n"
        "            raise ValueError('one')\n        v << v + 1\n    return v\n",
        "def f(A, v):\n    for k in range(3):\n        if k == 2:\n"
        "            raise ValueError('other')\n        v << v + 1\n    return v\n",
    ),
    "the message of an exception of a helper": (
        "def g(k):\n    if k == 2:\n        raise ValueError('one')\n    return k\n"
        "def f(A, v):\n    for k in range(3):\n        v << v + g(k)\n    return v\n",
        "def g(k):\n    if k == 2:\n        raise ValueError('other')\n    return k\n"
        "def f(A, v):\n    for k in range(3):\n        v << v + g(k)\n    return v\n",
    ),
}
"""Maps each change to the text of a module before and after the change, which alters the result."""


@pytest.mark.parametrize("what", CHANGES)
def test_the_next_process_notices_a_change_of_the_source(what: str, tmp_path: Path):
    before, after = CHANGES[what]
    module, engine = Module(tmp_path, before), Engine()
    A, v = small_graph(int), start()
    expected = outcome(module.load().f, A, v)
    with running.use(engine):
        assert outcome(gl.jit(module.load().f), A, v) == expected
        with without_tracing():
            assert outcome(gl.jit(module.load().f), A, v) == expected
        assert engine.restored
        module.write(after)
        changed = outcome(module.load().f, A, v)
        assert changed != expected
        for _ in range(2):
            assert outcome(gl.jit(module.load().f), A, v) == changed
        module.write(before)
        with without_tracing():
            assert outcome(gl.jit(module.load().f), A, v) == expected


READ_BY_OPERATORS = {
    "an item of an array": ("T = np.array([{}])", "T[0]"),
    "the length of an array": ("T = np.ones({})", "len(T)"),
    "a Scalar": ("S = gl.Scalar.from_value({})", "S.value"),
    "an item of a vector": ("u = Vector.from_coo([0], [{}], size=3)", "u[0].value"),
    "an attribute of a function": ("def h(x):\n    return x\nh.k = {}", "h.k"),
    "an attribute of a class": ("class C:\n    k = {}", "C.k"),
    "a global by its name": ("K = {}", "globals()['K']"),
    "a variable of the environment": ("os.environ['STORED'] = '{}'", "int(os.environ['STORED'])"),
}
"""A statement that sets a number, and an expression that reads it."""


@pytest.mark.parametrize("what", READ_BY_OPERATORS)
def test_a_number_that_an_operator_reads_from_an_object_is_read_again_in_each_process(
    what: str, tmp_path: Path
):
    before, expression = READ_BY_OPERATORS[what]
    text = (
        f"import os\nimport numpy as np\n{before}\n"
        f"op = binary.register_anonymous(lambda x, y: x * {expression} + y)\n"
        + LOOP.format(statement="op(v & v)")
    )
    module, A, v = Module(tmp_path, ""), small_graph(int), start()
    with running.use(Engine()):
        for k in (2, 3):
            module.write(text.replace("{}", str(k)))
            for _ in range(2):
                found = gl.jit(module.load().f)(A, v.dup())
                assert found.to_dict() == {0: 2 * (k + 1) ** 3, 2: 3 * (k + 1) ** 3}


def test_an_operator_that_imports_a_module_is_traced_again_in_each_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    text = (
        "def g(x, y):\n    import stored_numbers\n    return x * stored_numbers.k + y\n"
        "op = binary.register_anonymous(g)\n" + LOOP.format(statement="op(v & v)")
    )
    module, A, v = Module(tmp_path, text), small_graph(int), start()
    with running.use(Engine()):
        for k in (2, 3):
            monkeypatch.setitem(sys.modules, "stored_numbers", SimpleNamespace(k=k))  # pyright: ignore[reportArgumentType]
            for _ in range(2):
                found = gl.jit(module.load().f)(A, v.dup())
                assert found.to_dict() == {0: 2 * (k + 1) ** 3, 2: 3 * (k + 1) ** 3}


KINDS: dict[str, Callable[[], tuple[Matrix, Vector]]] = {
    "other dtypes": lambda: (small_graph(float), start(float)),
    "another dtype of the vector": lambda: (small_graph(int), start(float)),
    "a matrix that is not iso": lambda: (
        Matrix.from_coo([0, 1, 2, 0], [1, 2, 3, 3], [1, 2, 3, 4], nrows=5, ncols=5),
        start(),
    ),
    "a symmetric matrix": lambda: (
        Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [5, 5, 7, 7], nrows=5, ncols=5),
        start(),
    ),
}


@pytest.mark.parametrize("what", KINDS)
def test_arguments_of_different_types_require_a_different_program(what: str, tmp_path: Path):
    module, engine = Module(tmp_path, LOOP.format(statement="semiring.plus_times(v @ A)")), Engine()
    A, v = small_graph(int), start()
    with running.use(engine):
        gl.jit(module.load().f)(A, v.dup())
        known = len(engine.programs)
        for _ in range(2):
            expected = outcome(module.load().f, *KINDS[what]())
            assert outcome(gl.jit(module.load().f), *KINDS[what]()) == expected
        assert len(engine.programs) == known + 1


@pytest.mark.parametrize("settings", [{"deterministic": True}, {"device": "cpu"}])
def test_different_settings_require_a_different_program(settings: dict[str, Any], tmp_path: Path):
    module, engine = Module(tmp_path, LOOP.format(statement="v + v @ A")), Engine()
    names = []
    with pytest.MonkeyPatch.context() as patch, running.use(engine):
        name_of = stored_programs.StoredPrograms.name_of

        def record(self: Any, *args: Any) -> str:
            names.append(name_of(self, *args))
            return names[-1]

        patch.setattr(stored_programs.StoredPrograms, "name_of", record)
        before = gl.config.device
        gl.jit(module.load().f)(small_graph(), start())
        with gl.config.set(**settings):
            gl.jit(module.load().f)(small_graph(), start())
    differs = settings != {"device": before}
    assert (names[0] != names[-1]) == differs


def test_a_fault_in_a_program_from_disk_names_the_line_of_the_statement(tmp_path: Path):
    text = "def f(A, v):\n    for k in range(9):\n\n        v[k] = k\n    return v\n"
    module = Module(tmp_path, text)
    with running.use(Engine()):
        for _ in range(2):
            with pytest.raises(IndexError) as caught:
                gl.jit(module.load().f)(small_graph(), start())
            last = traceback.extract_tb(caught.value.__traceback__)[-1]
            assert (Path(last.filename), last.line) == (module.path, "v[k] = k")


def test_a_function_that_moves_within_its_file_gets_the_new_line_numbers(tmp_path: Path):
    text = "def f(A, v):\n    for k in range(9):\n        v[k] = k\n    return v\n"
    module = Module(tmp_path, text)
    lines = []
    with running.use(Engine()):
        for above in ("", "", "# one more\n"):
            module.write(above + text)
            with pytest.raises(IndexError) as caught:
                gl.jit(module.load().f)(small_graph(), start())
            lines.append(traceback.extract_tb(caught.value.__traceback__)[-1].lineno)
    assert lines[0] == lines[1] == (lines[2] or 0) - 1


def test_a_loop_with_an_object_of_a_user_defined_class_is_not_stored(tmp_path: Path, folder: Path):
    text = (
        "class C:\n    k = 2\nc = C()\ndef f(A, v):\n    for _ in range(2):\n"
        "        v << v * c.k\n    return v\n"
    )
    module, engine = Module(tmp_path, text), Engine()
    before = {path.name for path in folder.iterdir()}
    with running.use(engine):
        for k in (2, 5):
            f = gl.jit(module.load().f)
            f.__wrapped__.__globals__["C"].k = k
            assert f(small_graph(), start()).to_dict() == {0: 2 * k * k, 2: 3 * k * k}
    assert not engine.restored
    assert {path.name for path in folder.iterdir()} == before


def test_explain_shows_the_statements_of_a_program_from_disk(tmp_path: Path):
    module = Module(tmp_path, LOOP.format(statement="v + 1"))
    with running.use(Engine()):
        texts = {gl.jit(module.load().f).explain(small_graph(), start()) for _ in range(2)}
        f = gl.jit(module.load().f)
        f(small_graph(), start())
        f = gl.jit(module.load().f)
        f(small_graph(), start())
        texts.add(f.explain(small_graph(), start()))
    assert len(texts) == 1 and "v + 1" in texts.pop()


def test_an_engine_that_reads_the_blocks_of_a_program_gets_the_traced_program(tmp_path: Path):
    module, A, v = Module(tmp_path, LOOP.format(statement="v + 1")), small_graph(), start()
    expected = outcome(module.load().f, A, v)
    with running.use(Engine()):
        assert outcome(gl.jit(module.load().f), A, v) == expected
    # The interpreter reads `blocks`, which a ProgramHeader lacks, so LacksBlocks is raised.
    with running.use(interpreter):
        assert outcome(gl.jit(module.load().f), A, v) == expected


# --- the cache on disk ----------------------------------------------------------------------------

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=12,
)


@given(plain)
def test_a_cache_entry_returns_the_value_that_was_stored(value: Any):
    name = disk_cache.name_of("test", 1)
    disk_cache.store(name, value)
    found = disk_cache.load(name)
    assert found == value and repr(type(found)) == repr(type(value))


@given(st.data())
def test_a_damaged_cache_entry_is_ignored_and_replaced(data: st.DataObject):
    name = disk_cache.name_of("test", 2)
    disk_cache.store(name, ("some", "value", 3))
    path = disk_cache._path(name)
    contents = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(contents) - 1))
    if data.draw(st.booleans()):
        del contents[place:]
    else:
        contents[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(contents)
    assert disk_cache.load(name) is None
    disk_cache.store(name, "new")
    assert disk_cache.load(name) == "new"


def test_a_cache_entry_under_another_name_is_ignored():
    one, other = disk_cache.name_of("test", 3), disk_cache.name_of("test", 4)
    disk_cache.store(one, "value")
    disk_cache._path(other).write_bytes(disk_cache._path(one).read_bytes())
    assert disk_cache.load(other) is None


@pytest.mark.parametrize("kind", ["loop", "program"])
def test_a_program_whose_entries_are_damaged_is_traced_again(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(disk_cache, "cache_folder", lambda: tmp_path)
    module, A, v = Module(tmp_path, LOOP.format(statement="v + 1")), small_graph(), start()
    expected = outcome(module.load().f, A, v)
    with running.use(Engine()):
        assert outcome(gl.jit(module.load().f), A, v) == expected
        (path,) = tmp_path.glob(f"{kind}_*.entry")
        path.write_bytes(b"damaged")
        assert outcome(gl.jit(module.load().f), A, v) == expected
        with without_tracing():
            assert outcome(gl.jit(module.load().f), A, v) == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "graphla/program/plan.py").write_text("# changed"),
        lambda root: (root / "graphla/backends/cuda/program.cuh").write_text("// changed"),
        lambda root: (root / "semirings/new.py").write_text(""),
        lambda root: (root / "graphla/settings.py").unlink(),
        lambda root: os.utime(root / "graphla/program/plan.py", (1, 1)),
    ],
)
def test_a_change_of_the_compiler_invalidates_all_cache_entries(
    change: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in disk_cache._SOURCES:
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "graphla/backends/cuda").mkdir()
    for name in ("graphla/program/plan.py", "graphla/settings.py"):
        (tmp_path / name).write_text("# before")
    (tmp_path / "graphla/backends/cuda/program.cuh").write_text("// before")
    monkeypatch.setattr(disk_cache, "_ROOT", tmp_path)
    monkeypatch.setattr(disk_cache, "signature", disk_cache.signature.__wrapped__)
    name = disk_cache.name_of("test", 5)
    disk_cache.store(name, "value")
    assert disk_cache.load(name) == "value"
    change(tmp_path)
    assert disk_cache.load(name) is None


def test_the_signature_covers_all_modules_that_a_compilation_imports():
    code = (
        "import sys, graphla.program.tracing, graphla.program.interpreter\n"
        "from graphla.compilers import disk_cache\n"
        "files = '\\n'.join(disk_cache._list_sources())\n"
        "parts = ('graphla.program', 'graphla.compilers', 'graphla.operations', 'semirings')\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith(parts): assert module.__file__ in files, name\n"
        "for end in ('.cu ', '.cuh '): assert end in files, end\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


WRITER = """
import sys
from pathlib import Path
from graphla.compilers import disk_cache
folder = Path(sys.argv[1])
disk_cache.cache_folder = lambda: folder
name = disk_cache.name_of("test", 6)
for k in range(300):
    found = disk_cache.load(name)
    assert found is None or (len(found) == 2000 and len(set(found)) == 1), "a torn entry"
    disk_cache.store(name, (k,) * 2000)
"""


def test_several_processes_may_write_a_cache_entry_at_the_same_time(tmp_path: Path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert [path.suffix for path in tmp_path.iterdir()] == [".entry"]


# --- contents -----------------------------------------------------------------------------------

NAMES = """
import sys
sys.path.insert(0, sys.argv[1])
import written_module as m
from graphla.program.fingerprints import content_of, content_of_code
from graphla.program.keys import Description
print(content_of(Description().of_parts((m.f, m.op, m.replace, m.math.sqrt, {1.5, "x"} and 2))))
print(content_of_code(m.f.__code__))
"""


def test_content_keys_are_the_same_in_each_process(tmp_path: Path):
    text = (
        "op = binary.register_anonymous(lambda x, y: x * 2 + y)\n"
        "def f(x, names=('a', 'b')):\n    return x in {'p', 'q', 'r', 's'} and op\n"
    )
    Module(tmp_path, text)
    found = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", NAMES, str(tmp_path)]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("value", [object(), [], {}, Module, pytest, pytest.raises, Engine().run])
def test_an_object_that_has_no_content_key_is_reported(value: Any):
    with pytest.raises(fingerprints.NoContent):
        fingerprints.content_of(value)


def test_the_content_key_of_a_registered_operator_depends_on_its_function():
    def register(k: int) -> Any:
        op = gl.binary.register_new(f"stored_{k}", lambda x, y: x * k + y)
        try:
            return fingerprints.content_of(op)[2]
        finally:
            delattr(gl.binary, f"stored_{k}")

    assert register(2) != register(3)


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 3), st.booleans()), max_size=4))
def test_a_codec_restores_the_records_that_it_encodes(items: list[Any]):
    codec = storing.Codec(stored_programs.Left, stored_programs.Unchanged)
    dim = ir.Dim(1)
    names = {
        name: ir.Slot(k, name, INT64 if flag else FP64, dim) if k else ir.Var(name, FP64)
        for name, k, flag in items
    }
    value = (
        ir.LoopExit(2, names),
        stored_programs.Left(
            1, True, (*names.values(), None, ir.Same("x")), (1, 2), frozenset(names)
        ),
        [gl.monoid.plus, gl.monoid.plus[INT64], gl.semiring.min_plus[FP64], {1: {2}}],
    )
    restored = codec.unpack(codec.pack(value))
    assert restored == value
    assert restored[2][0] is gl.monoid.plus


def test_a_codec_creates_only_objects_of_its_own_classes():
    with pytest.raises(KeyError):
        storing.Codec().unpack(("Left", 1, True, (), (), ()))
    with pytest.raises(fingerprints.NoContent):
        storing.Codec().pack(stored_programs.Unchanged("x"))
    with pytest.raises(fingerprints.NoContent):
        storing.Codec().pack(gl.binary.register_anonymous(lambda x, y: x))
