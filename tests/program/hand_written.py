"""Programs in the intermediate form, written by hand, for tests of the engines."""

from graphla import binary, monoid, select, semiring, unary
from graphla.program.ir import *  # noqa: F403
from semirings.dtypes import BOOL, FP64, INT64

N = Dim(0)


def bfs(dtype=FP64, is_iso=False) -> Program:
    """Return the program of a search that stores parents."""
    parent, frontier = Slot(0, "parent", INT64, N), Slot(1, "frontier", INT64, N)
    A = MatrixArgument(0, "A", dtype, N, N, is_iso, False)
    count, source = Var("count", INT64), Var("source", INT64)
    product = Product(frontier, A, False, semiring.any_secondi["INT64", dtype], "vxm", INT64)
    seen = MaskOf(parent, False)
    blocks = [
        Block(
            [
                SetElement(parent, source, source, None, 1),
                SetElement(frontier, source, source, None, 1),
            ],
            Jump(1),
        ),
        Block(
            [Count(count, frontier, 2)],
            Branch(Call("gt", (count, Constant(0, INT64)), BOOL), 2, 3),
        ),
        Block(
            [
                Write(frontier, NotMask(seen), None, True, product, 3),
                Write(parent, MaskOf(frontier, False), None, False, Entry(frontier), 4),
            ],
            Jump(1),
        ),
        Block([], Exit(0)),
    ]
    lines = (
        "parent[source] = frontier[source] = source",
        "while frontier.nvals:",
        "    frontier(~parent.S, replace) << any_secondi(frontier @ A)",
        "    parent(frontier.S) << frontier",
    )
    slots, exits = (parent, frontier), [Leaving(0, {"parent": parent})]
    return Program(
        "bfs", 1, (A,), (), (source,), (), (), slots, (count,), blocks, exits, lines
    )
