"""A pull may stop at the first term of an output only if this term is the result."""

from __future__ import annotations

from typing import Any

import handmade
import numpy as np
import pytest
from handmade import N, number
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.program import interpreter, ir
from graphla.program.plan_steps import Terms
from graphla.program.running import Arguments
from graphla.program.value_order import find_terms
from semirings import binary, indexunary, monoid, select, semiring, unary
from semirings.dtypes import FP64, INT8, INT64

X, Y, SMALL, REAL = (
    ir.Slot(k, name, dtype, N)
    for k, (name, dtype) in enumerate(zip("xysr", (INT64, INT64, INT8, FP64), strict=True))
)
SLOTS = (X, Y, SMALL, REAL)
MATRIX = handmade.square("A", INT64)
own_left = semiring.register_anonymous(monoid.min, binary.register_anonymous(lambda x, y: x))
one_more = semiring.register_anonymous(monoid.min, binary.register_anonymous(lambda x, y: x + 1))
SEMIRINGS = (
    *(semiring.min_first, semiring.max_first, semiring.min_second, semiring.min_plus),
    *(semiring.min_secondi, semiring.min_firstj, semiring.max_secondi, semiring.min_firsti),
    *(own_left, one_more, semiring.plus_first, semiring.any_first, semiring.min_secondj1),
)


def program_of(*instructions: ir.Instruction, rounds: int = 2) -> ir.Program:
    """Return a program that runs the instructions a few times."""
    k = ir.Var("k", INT64)
    step = ir.Let((k,), (handmade.call("add", k, number(1), dtype=INT64),))
    blocks = [
        ir.Block([], ir.Branch(handmade.call("lt", k, number(rounds)), 1, 2)),
        ir.Block([*instructions, step], ir.Jump(0)),
        ir.Block([], ir.Exit(0)),
    ]
    names: dict[str, Any] = {slot.name: slot for slot in SLOTS}
    given = {"dims": 1, "matrices": (MATRIX,), "arrays": (), "scalars": (k,), "stacks": ()}
    return ir.Program(
        name="random",
        inputs=SLOTS,
        slots=SLOTS,
        variables=(k,),
        blocks=blocks,
        exits=[ir.LoopExit(0, names)],
        **given,
    )


def product(ring: Any, u: ir.Slot, target: ir.Slot, side: str = "vxm") -> ir.Write:
    """Return the statement `target << ring(u @ A)`, or `ring(A @ u)`."""
    types = (u.dtype, INT64) if side == "vxm" else (INT64, u.dtype)
    typed = ring[types]
    source = ir.Product(u, MATRIX, False, typed, side, typed.return_type)
    return ir.Write(target, None, None, False, source)


def replaced(target: ir.Slot, source: Any) -> ir.Write:
    if source.dtype is not target.dtype:
        source = ir.Cast(source, target.dtype)
    return ir.Write(target, None, None, False, source)


def indices_of(slot: ir.Slot, shift: int = 0) -> ir.VectorExpression:
    return ir.ApplyIndex(indexunary.rowindex[slot.dtype], ir.Entry(slot), number(shift), INT64)


slots = st.sampled_from(SLOTS)


@st.composite
def expressions(draw: st.DrawFn) -> Any:
    slot = draw(slots)
    entry, dtype = ir.Entry(slot), slot.dtype
    kind = draw(st.sampled_from(("entry", "indices", "full", "select", "negative", "empty")))
    if kind == "indices":
        return indices_of(slot, draw(st.sampled_from((0, 0, 3, -5))))
    if kind == "full":
        return ir.Full(number(draw(st.integers(-3, 3))), INT64)
    if kind == "select":
        return ir.Select(select.valuegt[dtype], entry, number(1), dtype)
    if kind == "negative":
        return ir.Apply(unary.ainv[dtype], entry, dtype)
    return ir.Empty(dtype) if kind == "empty" else entry


@st.composite
def instructions(draw: st.DrawFn) -> ir.Instruction:
    target, other = draw(slots), draw(slots)
    kind = draw(st.sampled_from(("write", "write", "write", "product", "product", "other")))
    if kind == "product":
        side = draw(st.sampled_from(("vxm", "mxv")))
        found = product(draw(st.sampled_from(SEMIRINGS)), target, other, side)
    elif kind == "write":
        found = replaced(target, draw(expressions()))
    else:
        element = ir.SetElement(target, number(draw(st.integers(2, 5))), number(-4), None)
        move = ir.Move((X, Y), (Y, X))
        return draw(st.sampled_from((element, ir.Clear(target), move)))
    mask = draw(st.sampled_from((None, ir.MaskOf(other, False), ir.NotMask(ir.MaskOf(X, False)))))
    accum = draw(st.sampled_from((None, None, binary.plus[target.dtype])))
    if mask is None and accum is None:
        return found
    if accum is not None and found.target is not target:
        accum = None
    replace = mask is not None and draw(st.booleans())
    return ir.Write(found.target, mask, accum, replace, found.source)


def terms_of(x: ir.Product, u: gl.Vector, A: gl.Matrix) -> dict[int, list[Any]]:
    """Return the terms of each output, in the order of the index of u."""
    found: dict[int, list[Any]] = {}
    op, dtype = x.semiring.binaryop, x.semiring.monoid.type.np_type
    for k, value in sorted(u.to_dict().items()):
        for i, j, a in zip(*A.to_coo(), strict=True):
            o, inner = (j, i) if x.side == "vxm" else (i, j)
            if inner != k:
                continue
            given = [(value, 0, k), (a, k, o)] if x.side == "vxm" else [(a, o, k), (value, k, 0)]
            types = (op.type.np_type, op.type2.np_type)
            pairs = [
                [np.asarray(each, kind), *map(np.int64, places)]
                for (each, *places), kind in zip(given, types, strict=True)
            ]
            arguments = [*pairs[0], *pairs[1]] if op.is_positional else [pair[0] for pair in pairs]
            term = np.asarray(op.numpy(*arguments)).astype(dtype).reshape(-1)[0]
            found.setdefault(int(o), []).append(term)
    return found


@st.composite
def programs(draw: st.DrawFn) -> ir.Program:
    """Draw a program that multiplies a slot whose values often never decrease with the index."""
    slot = draw(slots)
    source = draw(st.sampled_from((indices_of(slot), ir.Full(number(2), INT64))))
    side = draw(st.sampled_from(("vxm", "mxv")))
    usual = semiring.min_first if side == "vxm" else semiring.min_second
    ring = draw(st.sampled_from((usual, usual, *SEMIRINGS)))
    between = draw(st.lists(instructions(), max_size=3))
    last = product(ring, slot, draw(slots), side)
    return program_of(replaced(slot, source), *between, last)


@given(st.lists(programs(), min_size=9, max_size=9), st.integers(0, 99))
def test_a_pull_stops_at_the_first_term_only_if_this_term_is_the_fold_of_all_terms(
    some: list[ir.Program], seed: int
):
    random, n = np.random.default_rng(seed), 6
    some_values = random.integers(1, 4, (n, n)) * (random.random((n, n)) < 0.4)
    A = gl.Matrix.from_dense(some_values, missing_value=0)
    vectors = [
        gl.Vector.from_dense(random.integers(-3, 4, n).astype(slot.dtype.np_type), missing_value=0)
        for slot in SLOTS
    ]
    known = {number: terms for each in some for number, terms in find_terms(each).items()}
    write = interpreter._run[ir.Write]

    def check(state: Any, each: ir.Write) -> None:
        terms_known = known.get(id(each), Terms())
        x: Any = each.source
        if terms_known.reads_index:
            assert all(k == value for k, value in state.slots[x.u.index].to_dict().items())
        if terms_known.first_is_result:
            adds, u = x.semiring.monoid.binaryop, state.slots[x.u.index]
            for terms in terms_of(x, u, A).values():
                for other in terms[1:]:
                    assert adds.numpy(np.asarray(terms[0]), np.asarray(other)) == terms[0]
        write(state, each)

    with gl.config.set(device="cpu"), pytest.MonkeyPatch.context() as patch:
        patch.setitem(interpreter._run, ir.Write, check)
        stores = [each._read() for each in vectors]
        given = Arguments(A.device, (n,), (A._read(),), (), (0,), tuple(stores), ())
        for program in some:
            assert interpreter.run(program, given).fault is None


def first_is_result(*instructions: ir.Instruction) -> bool:
    """Return whether a pull of the last instruction may stop at the first term."""
    program = program_of(*instructions)
    return find_terms(program)[id(instructions[-1])].first_is_result


FROM_INDICES = replaced(X, indices_of(X))


@pytest.mark.parametrize("ring", [semiring.min_first, own_left])
def test_terms_never_decrease_if_the_values_of_the_vector_are_its_indices(ring: Any):
    multiply = product(ring, X, X)
    masked = ir.Write(X, ir.NotMask(ir.MaskOf(Y, False)), None, True, multiply.source)
    assert first_is_result(FROM_INDICES, multiply)
    assert first_is_result(FROM_INDICES, masked)
    assert not first_is_result(multiply)
    assert not first_is_result(FROM_INDICES, ir.SetElement(X, number(3), number(0), None), multiply)
    some = ir.Write(X, ir.MaskOf(Y, False), None, False, ir.Full(number(2), INT64))
    assert not first_is_result(FROM_INDICES, some, multiply)
    assert first_is_result(FROM_INDICES, ir.SetElement(Y, number(3), number(0), None), multiply)


def test_terms_never_decrease_if_they_are_indices_of_the_vector():
    assert first_is_result(product(semiring.min_secondi, X, Y))
    assert first_is_result(product(semiring.min_firstj, X, Y, "mxv"))
    assert not first_is_result(product(semiring.max_secondi, X, Y))
    assert not first_is_result(product(semiring.min_plus, X, Y))


def test_the_first_of_equal_terms_is_their_minimum_but_not_their_sum():
    full = replaced(Y, ir.Full(number(4), INT64))
    assert first_is_result(full, product(semiring.min_first, Y, X))
    assert not first_is_result(full, product(semiring.plus_first, Y, X))


def test_values_that_are_cast_to_a_smaller_dtype_may_decrease():
    narrow, wide = replaced(SMALL, ir.Entry(X)), replaced(REAL, ir.Entry(X))
    assert first_is_result(FROM_INDICES, wide, product(semiring.min_first, REAL, REAL))
    assert not first_is_result(FROM_INDICES, narrow, product(semiring.min_first, SMALL, SMALL))


def test_exchanging_two_vectors_also_exchanges_what_is_known_about_their_values():
    first = replaced(Y, indices_of(Y))
    move = ir.Move((X, Y), (Y, X))
    assert first_is_result(first, move, product(semiring.min_first, X, REAL))
    assert not first_is_result(first, move, product(semiring.min_first, Y, REAL))
