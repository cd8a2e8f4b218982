"""Simplify the blocks of a program that the tracer has created."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

from graphla.program import ir
from graphla.program.checking import names_assigned, names_read, next_blocks

SAFE = {"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "where", "bool", "float"}
"""Scalar functions that raise no exception. A call is omitted if its result is not used."""


def simplify(
    blocks: list[ir.Block], exits: list[ir.LoopExit], kept: Iterable[str]
) -> tuple[list[ir.Block], list[ir.LoopExit]]:
    """Return simpler blocks and exits with the same results.

    Empty blocks, unreachable blocks and unused scalars are dropped. If the result of an instruction
    is only copied to another variable, the instruction assigns that variable directly.

    Args:
        blocks: the blocks.
        exits: the exits.
        kept: the names of the variables that are live everywhere.
    """
    blocks, exits = renumber(blocks, exits)
    names = frozenset(kept)
    after = find_live(blocks, exits, names)
    for block, live in zip(blocks, after, strict=True):
        block.instructions = _without_copies(block, live)
    after = find_live(blocks, exits, names)
    for block, live in zip(blocks, after, strict=True):
        block.instructions = _without_unused(block, live)
    return renumber(blocks, exits)


def renumber(
    blocks: list[ir.Block], exits: list[ir.LoopExit]
) -> tuple[list[ir.Block], list[ir.LoopExit]]:
    """Drop empty and unreachable blocks, and number the others in depth-first order.

    If a block ends with a jump and its successor has no other predecessor, both become one block.
    """

    def resolve(number: int) -> int:
        passed: set[int] = set()
        while number not in passed:
            passed.add(number)
            block = blocks[number]
            if block.instructions or not isinstance(block.end, ir.Jump):
                break
            number = block.end.target
        return number

    first = resolve(0)
    counts: dict[int, int] = {first: 1}
    order: list[int] = []
    waiting = [first]
    while waiting:
        number = waiting.pop()
        order.append(number)
        targets = [resolve(target) for target in next_blocks(blocks[number].end)]
        for target in reversed(targets):
            if target not in counts:
                counts[target] = 0
                waiting.append(target)
            counts[target] += 1
    heads = [
        number
        for number in order
        if number == first
        or counts[number] > 1
        or not _is_continuation(number, blocks, order, resolve)
    ]
    numbers = {number: k for k, number in enumerate(heads)}
    left: dict[int, int] = {}
    found = []
    for number in heads:
        block = blocks[number]
        instructions = list(block.instructions)
        while isinstance(block.end, ir.Jump):
            target = resolve(block.end.target)
            if target in numbers:
                break
            block = blocks[target]
            instructions += block.instructions
        end: ir.End = block.end
        if isinstance(end, ir.Jump):
            end = ir.Jump(numbers[resolve(end.target)])
        elif isinstance(end, ir.Branch):
            then, otherwise = (numbers[resolve(x)] for x in (end.then, end.otherwise))
            end = ir.Jump(then) if then == otherwise else ir.Branch(end.condition, then, otherwise)
        else:
            end = ir.Exit(left.setdefault(end.number, len(left)))
        found.append(ir.Block(instructions, end))
    return found, [exits[number] for number in left]


def _is_continuation(number: int, blocks: list[ir.Block], order: list[int], resolve: Any) -> bool:
    """Return whether the only predecessor of a block is another block that ends with a jump."""
    for other in order:
        end = blocks[other].end
        if number in (resolve(target) for target in next_blocks(end)):
            return isinstance(end, ir.Jump) and other != number
    return False


def find_live(
    blocks: list[ir.Block], exits: list[ir.LoopExit], kept: frozenset[str]
) -> list[frozenset[str]]:
    """Return the variables that are live after the instructions of each block.

    They include those that the end of the block reads.
    """
    before: list[frozenset[str]] = [frozenset()] * len(blocks)
    after: list[frozenset[str]] = [frozenset()] * len(blocks)
    ends = [kept | _names_at_end(block.end, exits) for block in blocks]
    read = [
        reduce(lambda live, x: needed_before(x, live), reversed(block.instructions), frozenset())
        for block in blocks
    ]
    written = [frozenset[str]().union(*map(names_assigned, block.instructions)) for block in blocks]
    changes = True
    while changes:
        changes = False
        for number in reversed(range(len(blocks))):
            targets = next_blocks(blocks[number].end)
            live = after[number] = ends[number].union(*(before[target] for target in targets))
            live = (live - written[number]) | read[number]
            if live != before[number]:
                before[number] = live
                changes = True
    return after


def _names_at_end(end: ir.End, exits: list[ir.LoopExit]) -> set[str]:
    """Return the names of the variables that the end of a block reads."""
    if isinstance(end, ir.Branch):
        return names_read(end.condition)
    if isinstance(end, ir.Exit):
        values = exits[end.number].names.values()
        return {value.name for value in values if isinstance(value, ir.Var)}
    return set()


def needed_before(instruction: ir.Instruction, live: frozenset[str]) -> frozenset[str]:
    """Return the variables that are live before an instruction."""
    return (live - names_assigned(instruction)) | names_read(instruction)


def _lives(block: ir.Block, live: frozenset[str]) -> list[frozenset[str]]:
    """Return the variables that are live after each instruction."""
    found = []
    for instruction in reversed(block.instructions):
        found.append(live)
        live = needed_before(instruction, live)
    return found[::-1]


def _without_copies(block: ir.Block, live: frozenset[str]) -> list[ir.Instruction]:
    """Join each instruction with the next one if that is a `Let` that copies its result."""
    after = _lives(block, live)
    found: list[ir.Instruction] = []
    for k, instruction in enumerate(block.instructions):
        before: Any = found[-1] if found else None
        if isinstance(instruction, ir.Let) and before is not None:
            changed = _join_copy(before, instruction, after[k])
            if changed is not None:
                found[-1:] = changed
                continue
        found.append(instruction)
    return found


def _join_copy(before: Any, let: ir.Let, live: frozenset[str]) -> list[ir.Instruction] | None:
    """Return the instructions that replace `before` and `let`.

    Return None if `let` does not copy the result of `before`, or if the result is needed later.
    """
    result = getattr(before, "variable", None)
    if result is None or result.name in live or result not in let.values:
        return None
    place = let.values.index(result)
    target = let.variables[place]
    others = [
        (variable, value)
        for k, (variable, value) in enumerate(zip(let.variables, let.values, strict=True))
        if k != place
    ]
    read = set().union(*(names_read(value) for _, value in others)) if others else set()
    if result.name in read or target.name in read:
        return None
    new = replace(before, variable=target)
    if getattr(before, "is_present", None) == target:
        return None
    if not others:
        return [new]
    variables, values = zip(*others, strict=True)
    return [new, ir.Let(variables, values, let.line)]


def _without_unused(block: ir.Block, live: frozenset[str]) -> list[ir.Instruction]:
    """Drop assignments to variables that are not live, unless the value may raise an exception."""
    found: list[ir.Instruction] = []
    for instruction in reversed(block.instructions):
        kept: ir.Instruction | None = instruction
        if isinstance(instruction, ir.Let):
            pairs = [
                (variable, value)
                for variable, value in zip(instruction.variables, instruction.values, strict=True)
                if variable != value and (variable.name in live or not is_safe(value))
            ]
            kept = None
            if pairs:
                variables, values = zip(*pairs, strict=True)
                kept = ir.Let(variables, values, instruction.line)
        elif isinstance(instruction, ir.Count | ir.Length):
            kept = instruction if instruction.variable.name in live else None
        elif isinstance(instruction, ir.Reduce):
            present = instruction.is_present
            if present is not None and present.name not in live:
                kept = replace(instruction, is_present=None)
        if kept is not None:
            found.append(kept)
            live = needed_before(kept, live)
    return found[::-1]


def is_safe(x: ir.Scalar) -> bool:
    """Return whether the evaluation of a scalar raises no exception."""
    if isinstance(x, ir.Call):
        return x.function in SAFE and all(map(is_safe, x.arguments))
    return not isinstance(x, ir.Element)
