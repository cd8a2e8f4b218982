"""Draw Python functions with loops of graphla statements, and compare two calls of a function.

A drawn function takes a Matrix, Vectors, numbers and lists, and returns the values of all its
variables. Its loops terminate, because each `while` counts its rounds. Each name always refers to a
value of one kind:

- u, v, w: INT64 Vectors of size n.
- f, g: FP64 Vectors of size n. b, d: BOOL Vectors of size n. s: an INT8 Vector of size n.
- r, t: INT64 Vectors of size m. q: an INT64 Vector of n indices.
- z, y: INT64 Vectors whose values may depend on a choice of the monoid any. Only the structure of
  z and y is read and compared.
- i, j, k: int. x: float. p: bool. c1, c2, ...: the round counters.
- a: an int that may become a float. xs: a list or an array of numbers.
- levels, stack: lists of INT64 Vectors.
"""

from __future__ import annotations

import contextlib
import linecache
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from invariants import verify
from strategies import agrees

import graphla as gl
from graphla import Matrix, Vector

KINDS = {"int": "uvw", "float": "fg", "bool": "bd", "small": "s", "short": "rt", "loose": "zy"}
VECTORS = {name: kind for kind, names in KINDS.items() for name in names} | {"q": "index"}
DTYPES = {"int": "int", "float": "float", "bool": "bool", "small": "'INT8'"}
DTYPES |= {"short": "int", "loose": "int", "index": "int"}
GIVEN = "uvfbrq"
"""The Vectors that are parameters."""

NUMBERS = "ijkxp"
RESULTS = (*VECTORS, *NUMBERS)
PARAMETERS = ("A", "B", *GIVEN, "i", "j", "k", "x", "p", "xs", "levels")

_serials = count()


@dataclass(frozen=True)
class Source:
    """A function and the seed of its arguments."""

    text: str
    seed: int

    def __repr__(self) -> str:
        return f"Source(seed={self.seed}, text=\n{self.text})"

    def arguments(self) -> list[Any]:
        """Return new arguments, the same at each call."""
        return _make_arguments(random.Random(self.seed))

    def again(self) -> Source:
        """Return the same function with other arguments."""
        return Source(self.text, self.seed + 1)

    def function(self) -> Callable[..., Any]:
        """Return a new function with this source, which `inspect` can read."""
        file = f"<drawn function {next(_serials)}>"
        lines = self.text.splitlines(keepends=True)
        linecache.cache[file] = (len(self.text), None, lines, file)
        scope = {"__name__": "drawn", **HELPERS}
        exec(compile(self.text, file, "exec"), scope)
        return scope["drawn"]


def _make_arguments(rng: random.Random) -> list[Any]:
    n, m = rng.choice([5, 4, 6, 3, 7, 1]), rng.choice([2, 3])

    def places(rows: int, columns: int, density: float) -> list[tuple[int, int]]:
        return [(i, j) for i in range(rows) for j in range(columns) if rng.random() < density]

    def matrix(rows: int, columns: int) -> Matrix:
        at = places(rows, columns, rng.choice([0.2, 0.4, 0.6]))
        if rows == columns and rng.random() < 0.3:
            at = sorted({*at, *((j, i) for i, j in at)})
        if rng.random() < 0.5:
            values: Any = True if rng.random() < 0.5 else 1
        else:
            values = [rng.randint(-1, 4) for _ in at]
        dtype = bool if values is True else int
        lists = [i for i, _ in at], [j for _, j in at]
        return Matrix.from_coo(*lists, values, dtype, nrows=rows, ncols=columns)

    def vector(kind: str) -> Vector:
        size = m if kind == "short" else n
        if kind == "index":
            return Vector.from_dense([rng.randrange(n) for _ in range(n)])
        density = rng.choice([0.3, 0.5, 0.7, 0.9, 1.0, rng.random() / 2])
        at = [i for i in range(size) if rng.random() < density]
        draw = {
            "bool": lambda: rng.random() < 0.6,
            "float": lambda: rng.randint(-8, 12) / 4,
        }.get(kind, lambda: rng.randint(-3, 5))
        dtype = {"bool": bool, "float": float}.get(kind, int)
        return Vector.from_coo(at, [draw() for _ in at], dtype, size=size)

    A, B = matrix(n, n), matrix(n, m)
    vectors = {name: vector(VECTORS[name]) for name in GIVEN}
    if rng.random() < 0.15:
        vectors["v"] = vectors["u"]
    numbers = [rng.randint(-2, 6) for _ in range(3)]
    xs: Any = rng.choice([list, np.array])([rng.randint(-2, 5) for _ in range(rng.randint(1, 4))])
    levels = [vector("int") for _ in range(rng.choice([0, 0, 1, 2]))]
    x, p = rng.randint(-4, 8) / 4, rng.random() < 0.5
    return [A, B, *vectors.values(), *numbers, x, p, xs, levels]


# --- helpers that the functions call ------------------------------------------------------------


def clamp(a, low, high=9):
    """Return `a` if it is between the bounds, or else the nearest bound."""
    if a < low:
        return low
    return min(a, high)


def spread(tree, front, A):
    """Run one step of a search, and return the number of vertices that it reaches."""
    front(~tree.S, gl.replace) << gl.semiring.min_secondi(front @ A)
    tree(front.S) << front
    return front.nvals


def larger(a, b):
    """Return a new Vector with the maxima of two Vectors."""
    both = gl.binary.max(a | b)
    return both.new()


def total(a):
    """Return a small number that depends on all entries."""
    found = a.reduce(gl.monoid.plus).get(0)
    return found % 11


def walk(front, A, most=3):
    """Run steps until the frontier is empty, and return the number of steps."""
    for step in range(most):
        front << gl.semiring.min_first(front @ A)
        if not front.nvals:
            return step
    return most


def require(a, least):
    """Raise an error if `a` is too small."""
    if a < least:
        raise ValueError(f"{a} is below {least}")
    return a - least


mix = gl.binary.register_anonymous(lambda x, y: x * 3 - y, "mix")
min_mix = gl.semiring.register_anonymous(gl.monoid.min, mix, "min_mix")
keep = SimpleNamespace(limit=3)
HELPERS: dict[str, Any] = {
    **{name: vars(gl)[name] for name in ("Vector", "Matrix", "binary", "unary", "monoid")},
    **{name: vars(gl)[name] for name in ("semiring", "select", "indexunary", "replace")},
    **{each.__name__: each for each in (math, clamp, spread, larger, total, walk, require)},
    **{"np": np, "contextlib": contextlib, "mix": mix, "min_mix": min_mix, "keep": keep},
}
"""The globals of the drawn functions."""

# --- drawing ------------------------------------------------------------------------------------


@st.composite
def sources(draw: st.DrawFn, statements: int = 16, without: Iterable[str] = ()) -> Source:
    """Draw functions. `without` names the kinds of statements to leave out."""
    return _Writer(draw, statements, frozenset(without)).source()


class _Writer:
    """Draws one function, line by line."""

    def __init__(self, draw: st.DrawFn, statements: int, without: frozenset[str]) -> None:
        self.draw, self.left, self.without = draw, statements, without
        self.lines: list[str] = []
        self.indent = 1
        self.rounds = 0
        self.depth = 0
        self.has_near = self.chance(3)

    def pick(self, options: Iterable[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, part: int) -> bool:
        """Return True with a probability of 1 / part; shrinking makes it False."""
        return self.draw(st.integers(0, part - 1)) == part - 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def source(self) -> Source:
        seed = self.draw(st.integers(0, 1 << 32))
        self.line("n, m = A.nrows, B.ncols")
        for name, kind in VECTORS.items():
            if name not in GIVEN:
                self.line(f"{name} = {self.start(kind)}")
        start = len(self.lines)
        while self.left > 0:
            if self.chance(3):
                self.block(["write", "let", "rename"])
            if self.chance(4):
                self.line("try:")
                self.indent += 1
                self.loop()
                self.indent -= 1
                self.line("except (IndexError, ValueError, AssertionError) as error:")
                self.line("    k = len(str(error))")
            else:
                self.loop()
        counters = [f"c{k + 1}" for k in range(self.rounds)]
        results = ", ".join((*RESULTS, *counters, "a", "len(stack)", "levels"))
        self.line(f"return {results}")
        first = ["a, stack = 0, []", f"{' = '.join(counters)} = 0"]
        if self.has_near:
            first += ["def near(c):", "    return c % (n + 1)"]
        self.lines[start:start] = ["    " + line for line in first]
        text = "\n".join(line.replace("RESULTS", results) for line in self.lines)
        return Source(f"def drawn({', '.join(PARAMETERS)}):\n{text}\n", seed)

    def start(self, kind: str) -> str:
        """Return an expression for a Vector that the function creates before its loops."""
        size = "m" if kind == "short" else "n"
        known = [name for name in GIVEN if VECTORS[name] == kind]
        if kind == "loose":
            return self.pick(["Vector(int, n)", "u.dup()"])
        form = self.pick(["copy", "copy", "alias", "new"]) if known else "new"
        if form == "new":
            return f"Vector({DTYPES[kind]}, {size})"
        return f"{known[0]}.dup()" if form == "copy" else known[0]

    # --- numbers

    def name(self, kind: str) -> str:
        return self.pick(KINDS[kind])

    def number(self) -> str:
        return str(self.draw(st.integers(-2, 5)))

    def index(self) -> str:
        """Return an index that is valid for each Vector of size n."""
        return self.pick(["0", "-1", "n - 1", "i % n", "k % n", "j % n"])

    def int(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(3):
            return self.pick(["i", "j", "k", self.number()])
        a, b = self.int(depth - 1), self.int(0)
        u = self.name("int")
        if self.has_near and self.chance(8):
            return f"near({a})"
        return self.pick(
            [
                f"{a} + {b}",
                f"({a}) - {b}",
                f"({a}) % 7",
                f"({a}) // 3",
                f"max({a}, {b})",
                f"min({a}, {b}, 4)",
                f"abs({a})",
                f"({a}) * 2 % 13",
                f"({a}) & 3",
                f"({a}) ^ ({b})",
                f"-({a})",
                f"{u}.nvals",
                f"{self.pick('zfb')}.nvals",
                f"{u}.get({self.index()}, 0) % 5",
                f"{u}[{self.index()}].get({b}) % 5",
                f"{u}.reduce({self.monoid()}).get(0) % 9",
                f"{u}.reduce(monoid.max, allow_empty=False).value % 6",
                f"{u}.inner({self.name('int')}).get(1) % 8",
                f"{self.name('bool')}.reduce(monoid.lor).get(False) + 1",
                "len(levels)",
                "n",
                f"int({self.float(0)})",
                f"({a}) if {self.condition(0)} else {b}",
                f"({a}) or {b}",
                f"clamp({a}, {b})",
                f"total({u})",
                f"require({a}, -4)",
                f"walk({self.name('int')}, A)",
                "len(stack)",
                "int(a) % 5",
                "keep.limit",
                f"round({self.float(0)})",
            ]
        )

    def float(self, depth: int = 2) -> str:
        if depth == 0:
            return self.pick(["x", "0.5", "1.25", "-0.75"])
        a, b = self.float(depth - 1), self.float(0)
        f = self.name("float")
        return self.pick(
            [
                f"min({a} + {b}, 8.0)",
                f"({a}) * 0.5",
                f"({self.int(0)}) / 4",
                f"float({self.int(0)})",
                f"abs({a})",
                f"{f}.get({self.index()}, 0.25)",
                f"{f}.reduce({self.pick(['monoid.max', 'monoid.min'])}).get(0.5)",
                f"math.floor({a}) / 2",
                "float(a)",
                "math.inf",
                f"{f}.inner({self.name('float')}, semiring.min_plus).get(1.5)",
                f"({a} if {self.condition(0)} else {b})",
                f"math.sqrt(abs({self.int(0)})) // 1.0",
                f"({a}) % 3.0",
            ]
        )

    def condition(self, depth: int = 1) -> str:
        a, b = self.int(depth), self.int(0)
        options = [
            f"{a} < {b}",
            f"{a} != {b}",
            f"{self.name('int')}.nvals",
            f"{self.pick('zubf')}.nvals > {self.number()}",
            "p",
            f"{self.float(0)} > {self.float(0)}",
            "a > 1",
            f"{self.name('int')} is {self.name('int')}",
        ]
        if depth:
            c = self.condition(depth - 1)
            options += [
                f"not ({c})",
                f"{c} and {self.condition(0)}",
                f"({c}) or {self.condition(0)}",
                f"0 <= {a} < {b}",
                f"{self.name('int')}.isequal({self.name('int')})",
                f"{self.index()} in {self.name('int')}",
                "levels",
                f"(k := {self.int(0)}) > 1 and {c}",
            ]
        return self.pick(options)

    # --- Vectors

    def monoid(self) -> str:
        return self.pick(["monoid.plus", "'min'", "monoid.max", "'times'"])

    def mask(self, size: str = "n", depth: int = 2) -> str:
        if size == "m":
            name = self.name("short")
            return self.pick([f"{name}.S", f"~{name}.V", f"~{name}.S"])
        form = self.pick(["S", "~S", "V", "~V", "and", "or", "not"]) if depth else "S"
        if form in ("and", "or"):
            symbol = "&" if form == "and" else "|"
            return f"{self.mask(size, depth - 1)} {symbol} ({self.mask(size, depth - 1)})"
        if form == "not":
            return f"~({self.mask(size, depth - 1)})"
        name = self.pick("uvwfbdzs" if form.endswith("S") else "uvwfbds")
        return f"{'~' * (form[0] == '~')}{name}.{form[-1]}"

    def vector(self, kind: str, depth: int = 2) -> str:
        """Return an expression for a Vector of the kind."""
        if depth == 0:
            return self.name(kind)
        make = {"int": self.int_vector, "float": self.float_vector, "bool": self.bool_vector}
        return make[kind](depth)

    def product(self) -> str:
        u = self.name("int")
        semiring = self.pick(
            [
                "semiring.plus_times",
                "semiring.min_plus",
                "semiring.max_first",
                "semiring.min_secondi",
                "semiring.plus_pair",
                "semiring.max_second",
                "semiring.min_firstj",
                "min_mix",
            ]
        )
        return self.pick(
            [
                f"{semiring}({u} @ A)",
                f"{semiring}(A @ {u})",
                f"{semiring}(A.T @ {u})",
                f"{semiring}({u} @ A.T)",
                f"{u}.vxm(A, {semiring})",
                f"A.mxv({u}, {semiring})",
                f"({u} @ A)",
                f"{semiring}(B @ {self.name('short')})",
                f"{semiring}({self.name('short')} @ B.T)",
            ]
        )

    def int_vector(self, depth: int) -> str:
        a, b = self.vector("int", depth - 1), self.vector("int", self.pick([0, depth - 1]))
        u, k = self.name("int"), self.int(0)
        op = self.pick(["binary.plus", "binary.min", "monoid.max", "binary.minus", "mix"])
        thunk = self.pick(["i", "j", "k", "2", "-1"])
        options = [
            f"({a} + {b})",
            f"({a} * {b})",
            f"{op}({a} | {b})",
            f"{op}({a} & {b})",
            f"({a} - {self.number()})",
            f"({self.number()} - {a})",
            f"(-{a})",
            f"abs({a})",
            f"unary.ainv({a})",
            f"{u}.apply('abs')",
            f"{u}.apply(binary.times, right={k})",
            f"{u}.apply('minus', left={k})",
            f"binary.minus({u} | {self.name('int')}, left_default={k}, right_default=1)",
            f"{u}.select('valuegt', {thunk})",
            f"{u}.select({self.mask()})",
            f"select.value({u} <= {thunk})",
            f"select.index({u} < {thunk})",
            f"indexunary.rowindex({a}, {thunk})",
            f"binary.firsti({u} & {self.name('int')})",
            f"binary.times({u}, 2)",
            f"{u}.ewise_add({self.name('int')}, 'min')",
            f"{u}.ewise_mult({self.name('int')}, binary.times)",
            f"{u}.ewise_union({self.name('int')}, 'plus', 0, {k})",
        ]
        if "products" not in self.without:
            options += [self.product()] * 4
        if "gather" not in self.without:
            options += [f"{u}[q]"]
        return self.pick(options)

    def float_vector(self, depth: int) -> str:
        a, f = self.vector("float", depth - 1), self.name("float")
        b = self.name("float")
        options = [
            f"({a} + {b})",
            f"binary.min({a} | {b})",
            f"binary.max({a} & {b})",
            f"({a} * 0.5)",
            f"({a} - {self.float(0)})",
            f"({self.name('int')} / 4)",
            f"abs({a})",
            f"{f}.apply(unary.ainv)",
            f"{f}.select('valuelt', {self.float(0)})",
            f"unary.floor({a})",
        ]
        if "products" not in self.without:
            options += [f"semiring.min_plus({f} @ A)", f"semiring.max_first(A @ {f})"]
            options += [f"semiring.min_first({f} @ A)"]
        return self.pick(options)

    def bool_vector(self, depth: int) -> str:
        a, b = self.vector("bool", depth - 1), self.name("bool")
        u, v = self.name("int"), self.name("int")
        return self.pick(
            [
                f"binary.lor({a} | {b})",
                f"({a} & {b})",
                f"({a} | {b})",
                f"({u} > {v})",
                f"({u} == {self.number()})",
                f"({self.name('float')} < {self.float(0)})",
                f"unary.lnot({a})",
                f"semiring.lor_land({b} @ A)",
            ]
        )

    # --- statements

    def block(self, forms: Iterable[str]) -> None:
        known = [form for form in forms if form not in self.without]
        for _ in range(self.pick([3, 2, 1, 4, 6])):
            self.left -= 1
            getattr(self, f"add_{self.pick(known)}")()

    def body(self) -> None:
        """Draw the statements of a loop or a branch."""
        self.indent += 1
        forms = ["write"] * 7 + ["let"] * 3 + ["rename"] * 3 + ["element", "swap", "clear", "new"]
        forms += ["loose", "stack", "scatter", "short", "index", "call", "augmented"]
        forms += ["pending", "mask_view", "type", "own_stack", "choice", "chain"]
        if self.depth < 3 and self.left > 0:
            forms += ["if"] * 3 + ["loop"]
        self.block(forms)
        self.indent -= 1

    def options(self, kind: str, size: str = "n") -> str:
        """Return the options of a write, such as `(~v.S, binary.plus, replace)`, or ""."""
        parts = []
        if self.chance(2):
            mask = self.mask(size)
            if size == "n" and self.chance(6):
                mask = self.name("bool")
            parts.append(mask)
            if self.draw(st.booleans()):
                parts.append(self.pick(["replace", "replace=True"]))
        if self.chance(3):
            accum = self.pick(["binary.plus", "'min'", "binary.second", "max", "monoid.times"])
            if kind == "bool":
                accum = self.pick(["binary.lor", "binary.land", "'second'"])
            parts.insert(0, accum if self.draw(st.booleans()) else f"accum={accum}")
        parts.sort(key=lambda part: "=" in part)
        return f"({', '.join(parts)})" if parts else ""

    def add_write(self) -> None:
        kind = self.pick(["int", "int", "int", "float", "bool", "small"])
        target, source = self.name(kind), self.pick([kind, kind, "int", "bool"])
        if kind == "small" or source == "small":
            source = self.pick(["int", "bool"])
        value = self.vector(source, self.pick([1, 2, 0, 1]))
        if self.chance(6):
            value = {"int": self.int(1), "float": self.float(1), "bool": "p"}.get(kind, "2")
            value = f"({value})"
        where = self.pick(["", "", "[:]"])
        options = self.options(kind)
        if where and not options and self.chance(2):
            self.line(f"{target}[:] = {value}")
        else:
            self.line(f"{target}{options}{where} << {value}")

    def add_short(self) -> None:
        target, u = self.name("short"), self.name("int")
        value = self.pick(
            [
                f"semiring.plus_times({u} @ B)",
                f"semiring.min_second(B.T @ {u})",
                f"binary.plus({self.name('short')} | {self.name('short')})",
                f"{self.name('short')} * 2",
                f"({self.int(1)})",
                "B.reduce_columnwise(monoid.plus)",
            ]
        )
        self.line(f"{target}{self.options('short', 'm')} << {value}")

    def add_loose(self) -> None:
        target = self.name("loose")
        value = self.pick(
            [
                f"semiring.any_secondi({self.name('loose')} @ A)",
                f"semiring.any_first({self.name('int')} @ A)",
                f"semiring.any_second(A @ {self.name('loose')})",
                f"semiring.any_pair({self.name('bool')} @ A)",
                f"binary.plus({self.name('loose')} | {self.name('int')})",
                self.name("loose"),
            ]
        )
        self.line(f"{target}{self.options('loose')} << {value}")

    def add_let(self) -> None:
        form = self.pick(["int", "int", "float", "bool", "both", "more"])
        if form == "int":
            self.line(f"{self.pick('ijk')} = {self.int()}")
        elif form == "float":
            self.line(f"x = {self.float()}")
        elif form == "bool":
            self.line(f"p = bool({self.condition()})")
        elif form == "both":
            self.line(f"i, j = {self.int(1)}, {self.int(1)}")
        else:
            self.line(f"{self.pick('ijk')} {self.pick(['+=', '-='])} {self.int(0)}")

    def add_rename(self) -> None:
        """Draw a statement that makes a name refer to another or a new Vector."""
        kind = self.pick(["int", "int", "float", "bool", "loose", "short"])
        target, other = self.name(kind), self.name(kind)
        size = "m" if kind == "short" else "n"
        new = f"Vector({DTYPES[kind]}, {size})"
        copy = self.pick([f"{other}.dup()", f"{other}.dup(mask={self.mask(size)})"])
        options = [other, new, copy, f"Vector({DTYPES[kind]}, size={other}.size)"]
        if kind in ("int", "float", "bool"):
            value = self.vector(kind, 1)
            value = value if value.startswith("(") or "(" in value else f"({value} + 0)"
            options += [f"{value}.new()", f"{value}.new(mask={self.mask()})"]
        if kind == "int":
            options += [f"larger({other}, {self.name('int')})"]
            options += [f"{self.vector('bool', 1)}.new(dtype=int)"]
        self.line(f"{target} = {self.pick(options)}")

    def add_swap(self) -> None:
        form = self.pick(["u, v = v, u", "u, v, w = v, w, u", "f, g = g, f", "z, y = y, z"])
        self.line(form)

    def add_clear(self) -> None:
        name = self.pick("uvwfbz")
        self.line(self.pick([f"{name}.clear()", f"del {name}[:]"]))

    add_new = add_rename

    def add_element(self) -> None:
        u = self.name("int")
        index = self.index()
        if self.chance(8):
            index = self.pick(["i", "j", "n"])
        self.line(
            self.pick(
                [
                    f"{u}[{index}] = {self.int(1)}",
                    f"{self.name('float')}[{index}] = {self.float(0)}",
                    f"del {u}[{index}]",
                    f"{u}(binary.plus)[{index}] << {self.int(0)}",
                    f"{self.name('bool')}[{index}] = p",
                ]
            )
        )

    def add_augmented(self) -> None:
        u = self.name("int")
        self.line(self.pick([f"{u} += {self.name('int')}", f"{u} *= 2", f"{u} -= 1"]))

    def add_index(self) -> None:
        self.line(self.pick(["q << binary.min(q & q[q])", "q[i % n] = j % n", "q << q[q]"]))

    def add_scatter(self) -> None:
        u, v = self.name("int"), self.name("int")
        accum = self.pick(["binary.min", "'plus'", "max"])
        self.line(self.pick([f"{u}({accum})[q] << {v}", f"{u}({accum})[q] << ({self.int(1)})"]))

    def add_stack(self) -> None:
        u = self.name("int")
        form = self.pick(["append", "append", "pop", "peek", "item"])
        if form == "append":
            self.line(f"levels.append({u}.dup())")
            return
        self.line("if len(levels) > 1:" if form != "peek" else "if levels:")
        self.indent += 1
        if form == "pop":
            self.line(f"{u} = levels.pop()")
        elif form == "peek":
            self.line(f"{self.name('int')} << binary.plus({u} | levels[-1])")
        else:
            self.line(f"{u}(levels[k % len(levels)].S) << {self.int(0)}")
        self.indent -= 1

    def add_pending(self) -> None:
        """Draw statements that create an expression and later write its value.

        Between these statements, an operand may change.
        """
        target, u = self.name("int"), self.name("int")
        self.line(f"late = {self.vector('int', 2)}")
        if self.draw(st.booleans()):
            self.line(self.pick([f"{u} << ({self.int(0)})", f"{u}[0] = 3", f"{u}.clear()"]))
        self.line(f"{target}{self.options('int')} << late")
        if self.chance(3):
            self.line(f"{self.name('int')} << binary.plus(late | {u})")

    def add_mask_view(self) -> None:
        """Draw statements that create a mask, may change its Vector, and write under the mask."""
        target, u = self.name("int"), self.name("int")
        self.line(f"view = {self.pick(['', '~'])}{u}.{self.pick('SV')}")
        if self.draw(st.booleans()):
            self.line(self.pick([f"{u}[0] = 2", f"del {u}[-1]", f"{u} = {self.name('int')}"]))
        self.line(f"{target}(view, replace) << ({self.int(0)})")

    def add_type(self) -> None:
        self.line(self.pick(["a = a + 1", "a += 0.5", "a = a + x if a < 8 else a"]))

    def add_own_stack(self) -> None:
        u = self.name("int")
        form = self.pick(["stack.append", "stack.append", "pop", "drain", "new"])
        if form == "stack.append":
            self.line(f"stack.append({self.pick([f'{u}.dup()', f'({u} + 1).new()'])})")
        elif form == "new":
            self.line("stack = []")
        else:
            self.line("if stack:" if form == "pop" else "while len(stack):")
            self.line(f"    {self.pick(['w = stack.pop()', 'w << stack.pop()'])}")

    def add_choice(self) -> None:
        u, v = self.name("int"), self.name("int")
        self.line(f"{self.name('int')} = {u} if {self.condition(0)} else {v}")

    def add_chain(self) -> None:
        u, v = self.draw(st.permutations("uvw"))[:2]
        self.line(
            self.pick(
                [
                    f"{u} = {v} = Vector(int, n)",
                    f"({u}, {v}), i = ({v}, {u}), {self.int(0)}",
                    f"{u}[0] = {v}[-1] = {self.int(0)}",
                    f"i = j = {self.int(0)}",
                    f"assert {self.int(0)} < 9, 'too large'",
                ]
            )
        )

    def add_call(self) -> None:
        u, v = self.draw(st.permutations("uvw"))[:2]
        self.line(self.pick([f"k = spread({u}, {v}, A)", f"j = clamp({self.int(1)}, 0, high=n)"]))

    def add_if(self) -> None:
        self.depth += 1
        self.line(f"if {self.condition()}:")
        self.body()
        if self.loops and self.chance(4):
            self.indent += 1
            self.line(self.pick(["break", "continue"]))
            self.indent -= 1
        elif self.chance(10):
            self.indent += 1
            self.line(self.pick(["return RESULTS", 'raise ValueError(f"k is {k}")']))
            self.indent -= 1
        if self.chance(3):
            self.line(f"elif {self.condition()}:")
            self.body()
        if self.chance(3):
            self.line("else:")
            self.body()
        self.depth -= 1

    loops = 0

    def add_loop(self) -> None:
        self.loop()

    def loop(self) -> None:
        self.left -= 1
        self.depth += 1
        self.loops += 1
        self.rounds += 1
        counter, most = f"c{self.rounds}", self.pick([3, 2, 4])
        forms = ["while", "while", "range", "span", "true"] + ["list"] * (self.depth == 1)
        form = self.pick(forms)
        self.line(f"{counter} = 0")
        if form == "while":
            limit = f"{counter} < {most}"
            condition = self.pick([limit, f"{limit} and {self.condition(0)}"])
            self.line(f"while {condition}:")
            self.indent += 1
            self.line(f"{counter} += 1")
            self.indent -= 1
        elif form == "true":
            self.line("while True:")
            self.indent += 1
            self.line(f"{counter} += 1")
            self.line(f"if {counter} > {most}:")
            self.line("    break")
            self.indent -= 1
        else:
            name = self.pick(["i", "j"]) if form != "list" else f"e{self.rounds}"
            over = {
                "range": f"range({most})",
                "span": f"range({self.int(0)} % 5, {most}, {self.pick(['1', '2', '-1'])})",
                "list": "xs",
            }[form]
            self.line(f"for {name} in {over}:")
            self.indent += 1
            self.line(f"{counter} += 1")
            if form == "list":
                self.line(f"k = (k + int({name})) % 10")
            self.indent -= 1
        self.body()
        self.loops -= 1
        if self.chance(6):
            self.line("else:")
            self.body()
        self.depth -= 1


# --- running ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """The outcome when a drawn function is called: return values, or an exception."""

    values: tuple[Any, ...]
    error: BaseException | None
    names: tuple[str, ...]


def call(source: Source, function: Callable[..., Any]) -> Result:
    """Call a function that `source.function()` returned, with new arguments.

    The values of the result are the return values followed by the arguments.
    """
    arguments = source.arguments()
    given = [*arguments[:-1], *arguments[-1], arguments[-1]]
    try:
        found = function(*arguments)
    except Exception as error:
        return Result(tuple(given), error, tuple(f"argument {k}" for k in range(len(given))))
    names = [f"result {k}" for k in range(len(found) - 1)]
    if len(names) > len(RESULTS):
        names[: len(RESULTS)] = RESULTS
    levels = found[-1]
    names += [f"levels[{k}]" for k in range(len(levels))]
    names += [f"argument {k}" for k in range(len(given))]
    return Result((*found[:-1], *levels, *given), None, tuple(names))


def has_large_number(result: Result) -> bool:
    """Return whether a number of the result is outside INT64, which a compiled loop rejects."""
    numbers = [x for x in result.values if type(x) is int]
    return any(not -(1 << 63) <= x < 1 << 63 for x in numbers)


def compare(got: Result, expected: Result) -> None:
    """Assert that two calls have the same results, up to the choices of the monoid any."""
    error, wanted = got.error, expected.error
    assert type(error) is type(wanted), f"raised {error!r}, not {wanted!r}"
    if wanted is not None and type(wanted) is not OverflowError:
        assert str(error) == str(wanted)
    assert got.names == expected.names
    for name, x, y in zip(got.names, got.values, expected.values, strict=True):
        assert type(x) is type(y), f"{name} is {x!r}, not {y!r}"
        if isinstance(x, Vector):
            assert x.dtype == y.dtype and x.shape == y.shape, f"{name} is {x!r}, not {y!r}"
            verify(x)
            entries, wanted_entries = x.to_dict(), y.to_dict()
            is_same = entries.keys() == wanted_entries.keys() and (
                name in KINDS["loose"]
                or all(agrees(entries[i], wanted_entries[i]) for i in entries)
            )
            assert is_same, f"{name} has {entries}, not {wanted_entries}"
        elif isinstance(x, (bool, int, float)):
            assert agrees(x, y), f"{name} is {x!r}, not {y!r}"
    same = [[a is b for b in vectors_of(got)] for a in vectors_of(got)]
    wanted_same = [[a is b for b in vectors_of(expected)] for a in vectors_of(expected)]
    assert same == wanted_same, "other names refer to one Vector"


def vectors_of(result: Result) -> list[Vector]:
    """Return the Vectors in a result, so that their identities can be compared."""
    return [x for x in result.values if isinstance(x, Vector)]


__all__ = ["Source", "call", "compare", "has_large_number", "math", "sources"]
