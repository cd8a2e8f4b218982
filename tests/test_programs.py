"""Run long random programs, and test that a write never changes a value that was read before.

A matrix or vector may overwrite its arrays in place if no other object refers to these arrays. In
the programs, duplicates, pending expressions, masks, transposes and exported arrays refer to them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from oracle import Mask, Table
from strategies import mask_of, masks, matrix, numbers, same, tables, vector

import graphla as gl

N = 5
INT = np.dtype(np.int16)
LINE, SQUARE = (N, 1), (N, N)

indices = st.integers(0, N - 1)
accums = st.sampled_from([None, "plus", "second", "min"])
lines = st.sampled_from("uvw")
full_lines = st.lists(indices, min_size=N, max_size=N)
squares = st.sampled_from("AB")


class Programs(RuleBasedStateMachine):
    """The vectors u, v, w, the matrices A, B, their tables, and objects derived from these."""

    waiting = Bundle("waiting")

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, Table] = {name: Table(LINE, INT, {}) for name in "uvw"}
        self.tables |= {name: Table(SQUARE, INT, {}) for name in "AB"}
        self.nouns: dict[str, Any] = {name: gl.Vector(INT, N) for name in "uvw"}
        self.nouns |= {name: gl.Matrix(INT, N, N) for name in "AB"}
        self.arrays: list[tuple[np.ndarray, np.ndarray]] = []

    def write(self, name: str, expression: Any, T: Table, mask: Mask | None, *how: Any) -> None:
        accum, replace = how
        table, make = self.tables[name], matrix if name in "AB" else vector
        replace = replace and mask is not None
        options: dict[str, Any] = {"accum": accum} if accum else {}
        if mask is not None:
            options |= {"mask": mask_of(mask, make(mask.table)), "replace": replace}
        self.nouns[name](**options) << expression
        self.tables[name] = oracle.write(table, T, mask, accum, replace)

    @rule(name=lines, table=tables(st.just(LINE), INT), dense=st.booleans())
    def make_vector(self, name: str, table: Table, dense: bool) -> None:
        self.nouns[name] = vector(table, "assigned" if dense else "coo")
        self.tables[name] = table

    @rule(name=squares, table=tables(st.just(SQUARE), INT))
    def make_matrix(self, name: str, table: Table) -> None:
        self.nouns[name], self.tables[name] = matrix(table), table

    @rule(name=lines, i=indices, x=numbers(INT), accum=accums)
    def assign_element(self, name: str, i: int, x: Any, accum: str | None) -> None:
        one = oracle.filled((1, 1), x, INT)
        if accum is None:
            self.nouns[name][i] = x
        else:
            self.nouns[name](accum)[i] << x
        self.tables[name] = oracle.assign(self.tables[name], [i], [0], one, None, accum)

    @rule(name=squares, i=indices, j=indices, x=numbers(INT))
    def assign_element_of_a_matrix(self, name: str, i: int, j: int, x: Any) -> None:
        self.nouns[name][i, j] = x
        one = oracle.filled((1, 1), x, INT)
        self.tables[name] = oracle.assign(self.tables[name], [i], [j], one)

    @rule(name=lines, i=indices)
    def delete_element(self, name: str, i: int) -> None:
        del self.nouns[name][i]
        left = {key: x for key, x in self.tables[name].entries.items() if key != (i, 0)}
        self.tables[name] = Table(LINE, INT, left)

    @rule(name=lines, u=lines, mask=masks(LINE), accum=accums, replace=st.booleans())
    def write_a_vector(self, name: str, u: str, mask: Any, accum: Any, replace: bool) -> None:
        self.write(name, self.nouns[u], self.tables[u], mask, accum, replace)

    @rule(name=lines, x=numbers(INT), mask=masks(LINE), accum=accums, replace=st.booleans())
    def write_a_scalar(self, name: str, x: Any, mask: Any, accum: Any, replace: bool) -> None:
        self.write(name, x, oracle.filled(LINE, x, INT), mask, accum, replace)

    @rule(name=squares, A=squares, mask=masks(SQUARE), accum=accums, replace=st.booleans())
    def write_a_transpose(self, name: str, A: str, mask: Any, accum: Any, replace: bool) -> None:
        T = oracle.transpose(self.tables[A])
        self.write(name, self.nouns[A].T, T, mask, accum, replace)

    @rule(w=lines, u=lines, A=squares, complement=st.booleans(), replace=st.booleans())
    def write_a_product_under_a_noun(
        self, w: str, u: str, A: str, complement: bool, replace: bool
    ) -> None:
        view = ~self.nouns[w].S if complement else self.nouns[w].S
        T = oracle.mxm(oracle.transpose(self.tables[A]), self.tables[u], "max_second")
        mask = Mask(self.tables[w], True, complement)
        product = gl.semiring.max_first(self.nouns[u] @ self.nouns[A])
        self.nouns[w](view, replace=replace) << product
        self.tables[w] = oracle.write(self.tables[w], T, mask, None, replace)

    @rule(w=lines, u=lines, v=lines)
    def frontier_step(self, w: str, u: str, v: str) -> None:
        self.nouns[w](self.nouns[v].S) << self.nouns[u]
        mask = Mask(self.tables[v])
        self.tables[w] = oracle.write(self.tables[w], self.tables[u], mask)

    @rule(name=lines, u=lines, places=full_lines, accum=st.sampled_from(["plus", "min"]))
    def join_at_indices(self, name: str, u: str, places: list[int], accum: str) -> None:
        self.nouns[name](accum)[gl.Vector.from_dense(places)] << self.nouns[u]
        T = self.tables[u]
        self.tables[name] = oracle.assign(self.tables[name], places, [0], T, None, accum)

    @rule(name=st.sampled_from("uvwAB"), other=st.sampled_from("uvwAB"))
    def duplicate(self, name: str, other: str) -> None:
        if self.tables[name].shape == self.tables[other].shape:
            self.nouns[name] = self.nouns[other].dup()
            self.tables[name] = self.tables[other]

    @rule(name=st.sampled_from("uvwAB"))
    def clear(self, name: str) -> None:
        self.nouns[name].clear()
        self.tables[name] = Table(self.tables[name].shape, INT, {})

    @rule(target=waiting, u=lines, v=lines)
    def wait_for_a_sum(self, u: str, v: str) -> Any:
        T = oracle.ewise_add(self.tables[u], self.tables[v], "plus")
        return gl.binary.plus(self.nouns[u] | self.nouns[v]), T

    @rule(target=waiting, u=lines, A=squares)
    def wait_for_a_product(self, u: str, A: str) -> Any:
        T = oracle.mxm(self.tables[A], self.tables[u], "min_second")
        return gl.semiring.min_second(self.nouns[A] @ self.nouns[u]), T

    @rule(target=waiting, name=st.sampled_from("uvwAB"))
    def wait_for_a_part(self, name: str) -> Any:
        table, noun = self.tables[name], self.nouns[name]
        if table.shape == LINE:
            return noun[[3, 0, 1]], oracle.extract(table, [3, 0, 1], [0])
        return noun[1:, ::2], oracle.extract(table, range(1, N), range(0, N, 2))

    @rule(target=waiting, name=lines, places=full_lines)
    def wait_for_a_part_at_the_indices_of_a_vector(self, name: str, places: list[int]) -> Any:
        q = gl.Vector.from_dense(places)
        part = self.nouns[name][q]
        q[:] << 0
        return part, oracle.extract(self.tables[name], places, [0])

    @rule(target=waiting, name=st.sampled_from("uvwAB"))
    def wait_with_a_copy(self, name: str) -> Any:
        return self.nouns[name].dup(), self.tables[name]

    @rule(waited=waiting)
    def compute_what_waits(self, waited: Any) -> None:
        expression, T = waited
        same(expression if isinstance(expression, gl.Vector | gl.Matrix) else expression.new(), T)

    @rule(name=lines)
    def export(self, name: str) -> None:
        for array in self.nouns[name].to_coo():
            self.arrays.append((array, array.copy()))

    @rule(name=squares)
    def export_a_matrix(self, name: str) -> None:
        for array in (*self.nouns[name].to_csr(), *self.nouns[name].to_csc()):
            self.arrays.append((array, array.copy()))

    @invariant()
    def every_noun_is_its_table(self) -> None:
        for name, noun in self.nouns.items():
            assert noun.nvals == len(self.tables[name].entries)

    @rule()
    def compare_all(self) -> None:
        for name, noun in self.nouns.items():
            same(noun, self.tables[name])

    def teardown(self) -> None:
        self.compare_all()
        for array, copy in self.arrays:
            assert np.array_equal(array, copy)


class TestPrograms(Programs.TestCase):
    settings = settings(max_examples=80, stateful_step_count=30)
