"""Find the live names at each point of a function: those whose values a later statement may
read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from graphla.program.steps import Begin, Leave, Next, Step, roots, successors
from graphla.program.syntax import names_in, read_names, walk, written_names

Names = frozenset[str]
Uses = Sequence[tuple[Names, Names]]


def uses_of(steps: Iterable[Step]) -> Uses:
    """Return the names that each step reads and writes. The names that Python reads after a `Leave`
    are not included."""
    found: list[tuple[Names, Names]] = []
    for step in steps:
        pairs = [names_in(root) for root in roots(step)]
        read, written = pairs[0] if pairs else (frozenset[str](), frozenset[str]())
        if isinstance(step, Begin):
            written |= {step.iterator}
        elif isinstance(step, Next):
            read |= {step.iterator}
        found.append((read, written))
    return found


def live_names(
    steps: Sequence[Step], uses: Uses, left: Sequence[Names], outside: Iterable[str]
) -> tuple[Names, ...]:
    """Return the names that are live before each step.

    Args:
        steps: the steps of a loop.
        uses: the result of `uses_of`.
        left: the names that are live at each place where the loop can be left.
        outside: names to omit from the result.
    """
    ignored = frozenset(outside)
    next_steps = [successors(step) for step in steps]
    before: list[list[int]] = [[] for _ in steps]
    for k, following in enumerate(next_steps):
        for each in following:
            before[each].append(k)
    live = [frozenset[str]()] * len(steps)
    waiting = [*range(len(steps))]
    while waiting:
        k = waiting.pop()
        step, (read, written) = steps[k], uses[k]
        if isinstance(step, Leave):
            now = left[step.place] - ignored
        elif isinstance(step, Next):
            # The target is assigned only if there is another item, so `written` is subtracted only
            # for the body.
            now = ((live[step.body] - written) | live[step.done] | read) - ignored
        else:
            now = (frozenset[str]().union(*(live[x] for x in next_steps[k])) - written) | read
            now -= ignored
        if now != live[k]:
            live[k] = now
            waiting.extend(before[k])
    return tuple(live)


class Liveness:
    """Finds the live names of a function by going backward through its syntax tree.

    In each method, the argument `live` holds the names that are live after some statements. The
    method returns the names that are live before these statements. `exits` has two items: the names
    that are live after a `break`, and those that are live after a `continue`.

    Attributes:
        after: maps the id of each loop to the names that may be read after it, or to None if the
            loop is inside a `with` or `match` statement, or a `try` statement with `finally`.
        at_return: the names that are live before a `return`, in addition to those that it reads.
        at_raise: the names that are live before a `raise` or a failed `assert`, in addition to
            those that it reads.
        caught: the names that are live at the handlers of the `try` statements around the current
            statement.
    """

    def __init__(
        self, root: ast.AST, at_return: Names = frozenset(), at_raise: Names = frozenset()
    ):
        loops = [each for each in walk(root) if isinstance(each, ast.For | ast.While)]
        self.after: dict[int, Names | None] = {id(each): None for each in loops}
        self.at_return = at_return
        self.at_raise = at_raise
        self.caught: Names = frozenset()

    def block(self, statements: list[ast.stmt], live: Names, exits: tuple[Names, Names]) -> Names:
        for each in reversed(statements):
            live = self.statement(each, live, exits)
        return live

    def statement(self, node: ast.stmt, live: Names, exits: tuple[Names, Names]) -> Names:
        return self.caught | self.before(node, live, exits)

    def before(self, node: ast.stmt, live: Names, exits: tuple[Names, Names]) -> Names:
        """Return the names that are live before a statement that raises no exception."""
        if isinstance(node, ast.Try | ast.TryStar) and not node.finalbody:
            return self.before_try(node, live, exits)
        if isinstance(node, ast.Break | ast.Continue):
            return exits[isinstance(node, ast.Continue)]
        if isinstance(node, ast.Return):
            return read_names(node) | self.at_return
        if isinstance(node, ast.Raise):
            return read_names(node) | self.at_raise
        if isinstance(node, ast.If):
            either = self.block(node.body, live, exits) | self.block(node.orelse, live, exits)
            return read_names(node.test) | either
        if isinstance(node, ast.For | ast.While):
            done = self.block(node.orelse, live, exits)
            known = self.after[id(node)] or frozenset()
            self.after[id(node)] = known.union(live, done, self.caught)
            return self.rounds(node, live, done)
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        elif isinstance(node, ast.Assert):
            live |= self.at_raise
        elif not isinstance(node, ast.Expr | ast.AugAssign | ast.Pass):
            # Any part of a compound statement may run.
            live = live.union(*exits, self.at_return, self.at_raise)
        return (live - written_names(*targets)) | read_names(node)

    def before_try(
        self, node: ast.Try | ast.TryStar, live: Names, exits: tuple[Names, Names]
    ) -> Names:
        outer, done = self.caught, self.block(node.orelse, live, exits)
        handlers = [self.block(each.body, live, exits) for each in node.handlers]
        self.caught = outer.union(*handlers, *(read_names(each.type) for each in node.handlers))
        try:
            return self.block(node.body, done, exits) | self.caught
        finally:
            self.caught = outer

    def rounds(self, node: ast.For | ast.While, live: Names, done: Names) -> Names:
        """Return the names that are live before a loop.

        Args:
            node: the loop.
            live: the names that are live after a `break`.
            done: the names that are live after the last round: before the loop's `else`.
        """
        head = done
        while True:
            body = self.block(node.body, head, (live, head))
            if isinstance(node, ast.For):
                new = head | (body - written_names(node.target)) | read_names(node.target)
            else:
                new = head | body | read_names(node.test)
            if new == head:
                return head | read_names(node.iter) if isinstance(node, ast.For) else head
            head = new
