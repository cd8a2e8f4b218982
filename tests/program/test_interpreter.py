"""Test that hand-written programs give the same results as the statements that they represent."""

from __future__ import annotations

import pytest

import graphla as gl
from graphla.program import ir
from graphla.program.checking import check
from graphla.program.interpreter import run
from graphla.program.running import Arguments
from graphla.semiring import any_secondi
from semirings.dtypes import BOOL, INT64
from semirings.exceptions import Panic

N = ir.Dim(0)
parent, frontier = ir.Slot(0, "parent", INT64, N), ir.Slot(1, "frontier", INT64, N)
matrix = ir.MatrixArgument(0, "A", BOOL, N, N, True, False)
count, rounds = ir.Var("count", INT64), ir.Var("rounds", INT64)
zero, one = ir.Constant(0, INT64), ir.Constant(1, INT64)


def search() -> ir.Program:
    """Return the program of a breadth-first search that counts its rounds."""
    product = ir.Product(frontier, matrix, False, any_secondi[INT64, BOOL], "vxm", INT64)
    unvisited = ir.NotMask(ir.MaskOf(parent, False))
    more = ir.Call("add", (rounds, one), INT64)
    round_ = [
        ir.Write(frontier, unvisited, None, True, product, 2),
        ir.Write(parent, ir.MaskOf(frontier, False), None, False, ir.Entry(frontier), 3),
        ir.Let((rounds,), (more,), 4),
    ]
    goes_on = ir.Call("gt", (count, zero), BOOL)
    return ir.Program(
        name="search",
        dims=1,
        matrices=(matrix,),
        arrays=(),
        scalars=(),
        inputs=(parent, frontier),
        stacks=(),
        slots=(parent, frontier),
        variables=(count, rounds),
        blocks=[
            ir.Block([ir.Let((rounds,), (zero,))], ir.Jump(1)),
            ir.Block([ir.Count(count, frontier, 1)], ir.Branch(goes_on, 2, 3)),
            ir.Block(round_, ir.Jump(1)),
            ir.Block([], ir.Exit(0)),
        ],
        exits=[ir.LoopExit(0, {"parent": parent, "rounds": rounds})],
    )


def start() -> Arguments:
    """Return the arguments for a path of four vertices and an isolated vertex."""
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=5, ncols=5)
    u = gl.Vector.from_dict({0: 0}, size=5)
    return Arguments(u.device, (5,), (A._read(),), (), (), (u._read(), u.dup()._read()), ())


def test_a_breadth_first_search_finds_the_parents_of_all_reachable_vertices():
    program, arguments = search(), start()
    check(program)
    outcome = run(program, arguments)
    assert (outcome.exit, outcome.fault, outcome.scalars) == (0, None, {"rounds": 4})
    found = gl.Vector._of(outcome.slots[0])
    assert found.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2}
    assert gl.Vector._of(arguments.vectors[0]).to_dict() == {0: 0}


def test_a_fault_names_the_exception_and_the_line():
    program = search()
    far = ir.Call("lshift", (one, ir.Constant(63, INT64)), INT64)
    program.blocks[0] = ir.Block([ir.Let((rounds,), (far,), 7)], ir.Jump(1))
    outcome = run(program, start())
    assert outcome.exit == -1 and outcome.fault is not None
    assert (outcome.fault[0], outcome.fault[2]) == ("OverflowError", 7)


def test_a_program_that_may_read_an_unassigned_variable_is_rejected():
    program = search()
    program.blocks[0] = ir.Block([], ir.Jump(1))
    with pytest.raises(Panic, match="rounds may be read before it is assigned"):
        check(program)


def test_a_program_with_a_product_inside_an_expression_is_rejected():
    program = search()
    write = program.blocks[2].instructions[0]
    assert isinstance(write, ir.Write)
    nested = ir.Cast(write.source, INT64)
    program.blocks[2].instructions[0] = ir.Write(frontier, None, None, False, nested)
    with pytest.raises(Panic, match="Product is not entry-wise"):
        check(program)
