"""Hand-written programs, equal to those that the tracer creates from a user's loops."""

from __future__ import annotations

from typing import Any

from graphla.program import ir
from semirings import binary, monoid, semiring, unary
from semirings.dtypes import BOOL, FP64, INT64, DataType

N = ir.Dim(0)


def call(function: str, *arguments: Any, dtype: DataType = BOOL) -> ir.Call:
    return ir.Call(function, arguments, dtype)


def number(value: Any) -> ir.Constant:
    kinds: dict[type, DataType] = {bool: BOOL, int: INT64, float: FP64}
    return ir.Constant(value, kinds[type(value)])


def square(name: str, dtype: DataType, index: int = 0) -> ir.MatrixArgument:
    return ir.MatrixArgument(index, name, dtype, N, N, False, False)


def bfs(dtype: DataType = BOOL) -> ir.Program:
    """while frontier.nvals: frontier(~parent.S, replace) << any_secondi(frontier @ A); ..."""
    a = square("A", dtype)
    parent, frontier = ir.Slot(0, "parent", INT64, N), ir.Slot(1, "frontier", INT64, N)
    size = ir.Var("size", INT64)
    ring = semiring.any_secondi["INT64", dtype]
    product = ir.Product(frontier, a, False, ring, "vxm", ring.return_type)
    unseen = ir.NotMask(ir.MaskOf(parent, False))
    blocks = [
        ir.Block([ir.Count(size, frontier, 4)], ir.Branch(call("gt", size, number(0)), 1, 2)),
        ir.Block(
            [
                ir.Write(frontier, unseen, None, True, product, 5),
                ir.Write(parent, ir.MaskOf(frontier, False), None, False, ir.Entry(frontier), 6),
            ],
            ir.Jump(0),
        ),
        ir.Block([], ir.Exit(0)),
    ]
    return ir.Program(
        name="bfs",
        dims=1,
        matrices=(a,),
        arrays=(),
        scalars=(),
        inputs=(parent, frontier),
        stacks=(),
        slots=(parent, frontier),
        variables=(size,),
        blocks=blocks,
        exits=[ir.LoopExit(0, {"parent": parent, "frontier": frontier})],
        source=(
            "def bfs(A, source):",
            "    n = A.nrows",
            "    parent, frontier = Vector(int, n), Vector(int, n)",
            "    while frontier.nvals:",
            "        frontier(~parent.S, replace) << any_secondi(frontier @ A)",
            "        parent(frontier.S) << frontier",
        ),
    )


def pagerank(dtype: DataType = BOOL) -> ir.Program:
    """PageRank with damping, until the ranks change by at most `tolerance` in total."""
    a = square("A", dtype)
    rank, degree = ir.Slot(0, "rank", FP64, N), ir.Slot(1, "degree", FP64, N)
    share, old = ir.Slot(2, "share", FP64, N), ir.Slot(3, "old", FP64, N)
    tolerance, damping = ir.Var("tolerance", FP64), ir.Var("damping", FP64)
    teleport, change = ir.Var("teleport", FP64), ir.Var("change", FP64)
    rounds, most = ir.Var("rounds", INT64), ir.Var("most", INT64)
    ring = semiring.plus_first["FP64", dtype]
    plus, minus, over = binary.plus["FP64"], binary.minus["FP64"], binary.truediv["FP64"]
    times = binary.times["FP64"]
    product = ir.Product(share, a, False, ring, "vxm", ring.return_type)
    difference = ir.Union(minus, ir.Entry(rank), ir.Entry(old), FP64)
    blocks = [
        ir.Block(
            [
                ir.Move((rank, old), (old, rank), 2),
                ir.Write(
                    share,
                    None,
                    None,
                    False,
                    ir.Intersection(
                        over,
                        ir.ApplyLeft(times, damping, ir.Entry(old), FP64),
                        ir.Entry(degree),
                        FP64,
                    ),
                    3,
                ),
                ir.Write(rank, None, None, False, ir.Full(teleport, FP64), 4),
                ir.Write(rank, None, plus, False, product, 5),
                ir.Reduce(
                    change,
                    None,
                    monoid.plus["FP64"],
                    ir.Apply(unary.abs["FP64"], difference, FP64),
                    6,
                ),
                ir.Let((rounds,), (call("add", rounds, number(1), dtype=INT64),), 7),
            ],
            ir.Branch(
                call(
                    "and",
                    call("gt", change, tolerance),
                    call("lt", rounds, most),
                ),
                0,
                1,
            ),
        ),
        ir.Block([], ir.Exit(0)),
    ]
    return ir.Program(
        name="pagerank",
        dims=1,
        matrices=(a,),
        arrays=(),
        scalars=(tolerance, damping, teleport, rounds, most),
        inputs=(rank, degree),
        stacks=(),
        slots=(rank, degree, share, old),
        variables=(tolerance, damping, teleport, change, rounds, most),
        blocks=blocks,
        exits=[ir.LoopExit(0, {"rank": rank, "rounds": rounds, "change": change})],
    )
