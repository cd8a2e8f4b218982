"""The steps of a loop: its syntax tree as simple statements and jumps.

`flatten` turns a loop into a list of steps. Each step names the steps that may follow it, so a
reader needs no stack of loops and conditions. Python helper functions that the loop calls are
inlined here. What remains in a step is evaluated from left to right without any jump:

- A condition with `and`, `or` or `not` is several `Test` steps.
- Elsewhere, `x if c else y`, and `and` and `or` whose second operand is more than names, constants
  and comparisons of these, become `Test` steps that assign a hidden name. So does a chained
  comparison. What Python evaluates before them is assigned to hidden names first, so a hidden name
  may also hold an expression, a mask, or the left side of `<<`.
- A call of a helper function becomes the steps of its body, with other names for its variables,
  after assignments of the arguments to its parameters. Its result is a hidden name.
- `x := value` is an assignment before the rest.
- `assert c, text` is a `Test` and a place at which the loop is left.
- `a = b = value` remains one assignment with two targets.

Names. The user's local variables keep their names. All other names contain a character that is
not allowed in an identifier:

- `.1`, `.2`: hidden names. The steps assign them before they read them.
- `x@2`: the variable x of the second inlined call.
- `x@f`: the global or closure variable x of the helper function f (`x@f.1` if two helpers have
  this name).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

# --- steps ------------------------------------------------------------------------------------
# The attribute `line` of a step is the number of its line in `Loop.source`, from 1.


@dataclass(frozen=True, slots=True)
class Do:
    """Execute a simple statement, and go on with the step `next`.

    `node` is an `ast.Assign`, `AugAssign`, `AnnAssign` with a value, `Expr` or `Delete`. A
    constant in it may be any Python object that the tracer knows as a static value, such as None.
    """

    node: ast.stmt
    next: int
    line: int


@dataclass(frozen=True, slots=True)
class Test:
    """Go on with `then` if the expression is true, or else with `otherwise`."""

    node: ast.expr
    then: int
    otherwise: int
    line: int


@dataclass(frozen=True, slots=True)
class Begin:
    """Evaluate `node`, which a `for` iterates over, and assign an iterator to a hidden name."""

    node: ast.expr
    iterator: str
    next: int
    line: int


@dataclass(frozen=True, slots=True)
class Next:
    """Assign the iterator's next item to the target and go on with `body`.

    If there are no more items, the target is unchanged, and the step `done` follows.
    """

    target: ast.expr
    iterator: str
    body: int
    done: int
    line: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on with the step `next`: a `break`, a `continue`, `pass`, or the end of a round."""

    next: int
    line: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the loop at a place: an index of `Loop.places`."""

    place: int
    line: int


Step = Do | Test | Begin | Next | Jump | Leave


@dataclass(frozen=True, slots=True)
class Place:
    """Where Python goes on after the loop.

    `statement` is the `return` or `raise` statement that Python then executes. It is None at two
    places: place 0 is the end of the loop, where Python goes on with the loop's `else`, and place 1
    is a `break`, after which Python skips the `else`.
    """

    statement: ast.stmt | None


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop as steps. Step 0 comes first.

    Attributes:
        name: the name of the function and the line of the loop, for messages.
        steps: the steps.
        live: for each step, the names whose values this step or a later one may read, in the state
            before the step. A name that Python reads after the loop is live at a `Leave`.
        places: where the loop can be left.
        outside: the names that the steps read and never assign and that are not local variables of
            the user's function: globals, closure variables, builtins, and those of helpers. The
            dictionary `names` that `trace` gets has a value for each of them that exists. A local
            variable that has no value before the loop is missing from `names`.
        source: the lines of the user's function, then those of the inlined helpers.
    """

    name: str
    steps: tuple[Step, ...]
    live: tuple[frozenset[str], ...]
    places: tuple[Place, ...]
    outside: frozenset[str]
    source: tuple[str, ...]
