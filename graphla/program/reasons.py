"""Define the reasons why a loop is not compiled, and what to write instead."""

from __future__ import annotations

import ast
from enum import Enum
from typing import NoReturn

from semirings.exceptions import NotCompilable

__all__ = ["NotCompilable", "Reason", "refuse"]


class Reason(Enum):
    """Why a loop is not compiled, and what to write instead.

    Both texts may contain words in braces, such as `{name}`, which the arguments of `refuse`
    replace.
    """

    MATRIX_RESULT = (
        "{name} is a matrix that the loop computes or changes",
        "compute the matrix before the loop; a compiled loop only reads matrices",
    )
    PYTHON_OBJECT = (
        "{name} is {kind}, which a compiled loop cannot contain",
        "use vectors, matrices, numbers and lists of vectors in the loop",
    )
    INPUT_OUTPUT = (
        "{name} reads input or writes output",
        "call it after the loop, or in an outer loop that runs as Python",
    )
    CALL = (
        "{name} is neither an operation of graphla that a compiled loop can contain, nor a Python "
        "function whose source can be inlined",
        "call it before or after the loop",
    )
    OPERATION = (
        "a compiled loop cannot contain {name}",
        "write it with products, entry-wise operations, apply, select, assign and reductions",
    )
    SYNTAX = (
        "a compiled loop cannot contain {name}",
        "move it out of the loop",
    )
    NO_SOURCE = (
        "the source of {name} is not available",
        "define the function in a file or in a notebook",
    )
    GENERATOR = (
        "{name} is a generator or a coroutine",
        "write a function that returns a value, and call it from the generator",
    )
    OUTER_NAME = (
        "{name} is declared global or nonlocal, and the loop assigns it",
        "assign a local variable in the loop, and assign the outer variable after the loop",
    )
    RECURSION = (
        "{name} calls itself, so it cannot be inlined",
        "write the recursion as a loop",
    )
    ITERABLE = (
        "the loop iterates over {kind}",
        "iterate over a range, a list, or a 1-d array of numbers",
    )
    DTYPE = (
        "{name} is {kind} in one round and {other} in another",
        "give it the same dtype in each round",
    )
    STATES = (
        "the variables refer to different vectors, or have different dtypes, in too many "
        "combinations",
        "use fewer names for the same vector, and give each variable one dtype",
    )
    STACK = (
        "{name} is a list that the loop uses in a way other than append, pop, an index or len, or "
        "its vectors differ in dtype or size",
        "use the list as a stack of vectors of one dtype and size",
    )
    SHARED = (
        "this statement changes a vector that a list contains, or appends a vector that has "
        "another name or is in a list already",
        "append a copy, as in `frontiers.append(frontier.dup())`, or make a copy of the item",
    )
    TOO_LARGE = (
        "the bitmaps of the vectors need {size} bytes, and {limit} are available",
        "run the loop without gl.jit, which keeps vectors sparse, or use a smaller dtype",
    )
    OPERATOR = (
        "the operator {name} cannot be translated for {device}",
        "write the operator as a Python function of numbers",
    )
    FAILS = (
        "this statement raises {kind} when it runs: {text}",
        "correct the statement",
    )
    """If this is the reason, `jit` runs the loop as Python, where the statement raises its
    exception."""

    @property
    def text(self) -> str:
        """The reason, with words in braces."""
        return self.value[0]

    @property
    def instead(self) -> str:
        """What to write instead, with words in braces."""
        return self.value[1]


def refuse(reason: Reason, node: ast.AST | None, **words: object) -> NoReturn:
    """Raise NotCompilable for a part of the loop's syntax tree.

    Args:
        reason: why the loop is not compiled.
        node: the part of the syntax tree that is responsible. `jit` adds the file, the line and the
            statement that contains it.
        **words: values for the words in braces. By default, `name` is the source of the node.
    """
    if "name" not in words and node is not None:
        words["name"] = f"`{ast.unparse(node)}`" if not isinstance(node, ast.stmt) else "this"
    raise NotCompilable(reason.text.format(**words), reason.instead.format(**words), reason, node)
