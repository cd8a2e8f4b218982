"""Keep the programs of a loop in the cache on disk, so that later processes do not trace it.

A loop has two kinds of entries (see `graphla.compilers.disk_cache`):

- One entry lists what the loop reads (`Reads`): its variables, globals and attributes. There is one
  list for each set of helper functions with which the loop was flattened. The name of this entry
  depends on the source and the bytecode of the function.
- For each description of these values (`graphla.program.keys`), an entry contains the programs that
  were traced with such values: the header of each program, where its arguments are found, and its
  exits.

The values are read again in each call, as without a cache. So a program from the cache is used only
if everything on which it depends has the same content. The content of some values cannot be
described (`NoContent`), for example that of objects of a user's class. Programs that depend on such
a value are not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from types import CodeType, FunctionType
from typing import Any

from graphla.compilers import disk_cache
from graphla.program import ir
from graphla.program.fingerprints import NoContent, content_of, content_of_code
from graphla.program.records import record
from graphla.program.running import Binding, Path
from graphla.program.source import Source, is_inlined, original
from graphla.program.steps import Helper, Home, Reads
from graphla.program.storing import Codec

MOST = 16
"""The maximum number of items of an entry. The oldest item is dropped first."""


@record
class Unchanged:
    """A variable that only unreachable statements of the loop assign."""

    name: str


@record
class Left:
    """An exit of a program.

    Attributes:
        place: the number that the rewritten function receives: 0 for the end of the loop, 1 for a
            `break`, or 2 + k for item k of `Site.statements`.
        raises: whether a `raise` statement of a helper ends the loop here.
        outputs: the slot, variable, stack or object that each name in `Site.outputs` refers to.
        slots: the indices of the slots whose vectors are written back to Vector objects.
        missing: the outputs that have no value.
    """

    place: int
    raises: bool
    outputs: tuple[Any, ...]
    slots: tuple[int, ...]
    missing: frozenset[str]


Restored = tuple[ir.Program, Binding, list[Left]]
"""The header of a program, where its arguments are found, and its exits."""

_codec = Codec(Binding, Home, Left, Unchanged)

_HEADER = (
    *("name", "dims", "matrices", "arrays", "scalars", "inputs", "stacks", "slots", "variables"),
    "exits",
)
"""The attributes of a program that its header also has."""

FindContent = Callable[[Path], Any]
"""Returns the value at a path in this call, in a form that `content_of` accepts."""


class StoredPrograms:
    """The entries of one loop: loop `number` of a function."""

    def __init__(self, function: FunctionType, source: Source, number: int, line: int) -> None:
        self.parts = function.__code__, source, number, line

    @cached_property
    def name(self) -> str:
        """The name of the entry with `Reads`, or "" if the loop is not stored."""
        code, source, number, line = self.parts
        try:
            return disk_cache.name_of("loop", content_of_code(code), source.lines, number, line)
        except (NoContent, RecursionError):
            return ""

    # --- what the loop reads ----------------------------------------------------------------------

    def find_reads(self, user: FunctionType, names: Mapping[str, Any]) -> Iterator[Reads]:
        """Yield what the loop reads: one `Reads` for each stored set of helper functions whose code
        equals that of the current helpers."""
        for packed in (self.name and disk_cache.load(self.name)) or ():
            inputs, outside, helpers, attributes = _codec.unpack(packed)
            functions, found = [user], []
            for home, digest, is_method in helpers:
                helper = _find_helper(home, digest, is_method, names, functions)
                if helper is None:
                    break
                found.append(helper)
                functions.append(helper.find(names, functions))
            else:
                yield Reads(inputs, outside, tuple(found), attributes)

    def store_reads(self, reads: Reads) -> None:
        """Store what the loop reads."""
        packed = _pack_reads(reads)
        if self.name:
            _add(self.name, packed, lambda other: other == packed)

    # --- programs ---------------------------------------------------------------------------------

    def name_of(self, reads: Reads, description: Any) -> str:
        """Return the name of the entry with the programs for a description, or "" if they are not
        stored."""
        try:
            content = content_of(description)
        except (NoContent, RecursionError):
            return ""
        return self.name and disk_cache.name_of("program", self.name, _pack_reads(reads), content)

    def load(self, name: str, find_content: FindContent) -> Restored | None:
        """Return the stored program whose constants equal the values in this call, or None."""
        for item in (name and disk_cache.load(name)) or ():
            fixed, packed = item
            if all(_content_at(path, find_content) == content for path, content in fixed):
                known, binding, exits = _codec.unpack(packed)
                parts = dict(zip(_HEADER, known, strict=True))
                return ir.ProgramHeader(**parts, blocks=[], key=_key(name, item)), binding, exits
        return None

    def pack(
        self,
        name: str,
        program: ir.Program,
        binding: Binding,
        exits: list[Left],
        find_content: FindContent,
    ) -> Any:
        """Return the item for a program in an entry, and set the key of the program.

        Return None if the program contains an object that cannot be stored. The key depends on the
        item. So two programs with the same key have the same arguments and results, even though
        different traces of the loop may number the slots differently.
        """
        header = tuple([getattr(program, each) for each in _HEADER])
        try:
            fixed = tuple([(path, content_of(find_content(path))) for path in binding.fixed])
            item = fixed, _codec.pack((header, binding, exits))
        except (NoContent, RecursionError):
            return None
        if not name:
            return None
        program.key = _key(name, item)
        return item

    def store(self, name: str, item: Any) -> None:
        """Add a program to an entry."""
        _add(name, item, lambda other: other[0] == item[0])


def _add(name: str, item: Any, is_same: Callable[[Any], bool]) -> None:
    """Add an item to an entry, and drop equal and old items.

    If two processes do this at the same time, one of the items may be lost. A later process then
    stores it again.
    """
    others = [other for other in disk_cache.load(name) or () if not is_same(other)]
    disk_cache.store(name, [*others, item][-MOST:])


def _content_at(path: Path, find_content: FindContent) -> Any:
    try:
        return content_of(find_content(path))
    except (NoContent, RecursionError):
        return NoContent


def _key(name: str, item: Any) -> str:
    return sha256(f"{name}{item!r}".encode()).hexdigest()


def _pack_reads(reads: Reads) -> Any:
    helpers = [(each.home, _digest(each.code), each.is_method) for each in reads.helpers]
    return _codec.pack((reads.inputs, reads.outside, tuple(helpers), reads.attributes))


def _digest(code: CodeType) -> str:
    try:
        return sha256(repr(content_of_code(code)).encode()).hexdigest()
    except NoContent:
        return ""


def _find_helper(
    home: Home,
    digest: str,
    is_method: bool,
    names: Mapping[str, Any],
    functions: list[FunctionType],
) -> Helper | None:
    """Return the helper function at `home` if its code has this digest."""
    try:
        value = home.find(names, functions)
    except (KeyError, ValueError, AttributeError):
        return None
    function = original(getattr(value, "__func__", value))
    if not digest or not is_inlined(function) or _digest(function.__code__) != digest:
        return None
    helper = Helper(home, function.__code__, is_method)
    return helper if helper.find(names, functions) is function else None
