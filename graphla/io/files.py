"""Read files line by line with line numbers, and write files completely or not at all."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import secrets
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Self

from graphla.progress import progress
from semirings.exceptions import GraphblasException, InvalidValue

# Files are parsed in batches of about this many bytes, so that the text of a huge file need not fit
# in memory.
BLOCK = 1 << 24

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


class ParseError(InvalidValue):
    """A file is malformed.

    Args:
        problem: what is wrong.
        file: the name of the file.
        line: the number of the line, from 1; None if it is unknown.

    Attributes:
        problem: what is wrong.
        file: the name of the file.
        line: the number of the line, or None.
    """

    advice = ""  # advice for Python users: `str` appends it to the message
    option = ""  # advice for command-line users, which names options instead of parameters

    def __init__(self, problem: str, file: str, line: int | None = None):
        super().__init__(problem, file, line)
        self.problem = problem
        self.file = file
        self.line = line

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.problem}{self.advice}"


class NotIndices(ParseError):
    """The vertices are not indices: they are names, or numbers far above the number of edges."""

    advice = "; Graph.read(..., named=True) and read_labelled_edgelist read vertices as labels"
    option = "--labels reads vertices as labels"


class CountsFromOne(ParseError):
    """A vertex number is `n`, although vertices are numbered from 0 to n - 1."""

    advice = "; base=1 is for vertices counted from 1"
    option = "--one-based is for vertices counted from 1"


class CountsFromZero(ParseError):
    """A vertex number is 0, although vertices are numbered from 1."""

    advice = "; base=0 is for vertices counted from 0"
    option = "--base 0 is for vertices counted from 0"


class PackageMissing(GraphblasException, ImportError):
    """A file format needs a package that is not installed."""


class NumberOutOfRange(ParseError):
    """A well-formed number does not fit its dtype."""


class TextReader:
    """Reads the lines of a file, given by its path or as a file object.

    A file that is compressed as .gz, .bz2 or .xz is recognized by its first bytes. The attribute
    `line` is the number of the last line returned, counted from 1. `again()` returns to the first
    line, so that the line of an error can be found after parsing. In a `with` block, the reader
    shows a progress bar.
    """

    def __init__(self, source: Any):
        self.name = name_of(source)
        self._source = _hold(source)
        self._open()
        self.line = 0
        self._read = 0  # number of bytes that the progress bar already shows as read
        self._advance: Callable[[int], object] | None = None
        self._bar = contextlib.ExitStack()

    def __enter__(self) -> Self:
        held = self._source
        size = len(held) if isinstance(held, bytes) else held.stat().st_size
        bar = progress(size, "B", f"reading {Path(self.name).name}")
        self._advance = self._bar.enter_context(bar)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
        self._close()

    def again(self) -> Self:
        """Go back to the first line, and return this reader."""
        self._close()
        self._open()
        self.line = 0
        return self

    def readline(self) -> bytes:
        """Return the next line with its line end, or b"" after the last line."""
        with self._name_damage():
            line = self._stream.readline()
        if self.line == 0:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        self.line += bool(line)
        return line

    def block(self) -> bytes:
        """Return the next complete lines, about BLOCK bytes, or b"" after the last line."""
        with self._name_damage():
            block = self._stream.read(BLOCK)
            if len(block) == BLOCK and not block.endswith(b"\n"):
                block += self._stream.readline()
        if self._advance is not None:
            place = self._file.tell()  # position in the file, not in the decompressed text
            self._advance(place - self._read)
            self._read = place
        if self.line == 0:
            block = block.removeprefix(_BYTE_ORDER_MARK)
        self.line += block.count(b"\n") + (bool(block) and not block.endswith(b"\n"))
        return block

    def read(self) -> bytes:
        """Return the rest of the text."""
        return b"".join(iter(self.block, b""))

    def error(self, problem: str, line: int | None = None) -> ParseError:
        """Return a ParseError for `line`, by default the last line read."""
        return ParseError(problem, self.name, self.line if line is None else line)

    def _open(self) -> None:
        held = self._source
        self._file: IO[bytes] = io.BytesIO(held) if isinstance(held, bytes) else held.open("rb")
        opener = _opener(self._file.read(6))
        self._file.seek(0)
        self._stream: IO[bytes] = opener(self._file) if opener else self._file

    def _close(self) -> None:
        self._stream.close()
        self._file.close()  # closing a decompressor does not close its file

    @contextlib.contextmanager
    def _name_damage(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if is_of_system(error):
                raise
            problem = f"the compressed data is damaged or ends too early after this line ({error})"
            raise self.error(problem) from error


def is_of_system(error: BaseException) -> bool:
    """Return whether an error comes from the operating system, not from the contents of the file.

    The error EINVAL is caused by the data: a damaged offset may point before the start of the file.
    """
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def name_of(source: Any) -> str:
    """Return the name of a path or a file object for messages."""
    if is_file_object(source):
        name = getattr(source, "name", None)
        return name if isinstance(name, str) else "<file object>"
    return os.fspath(source)


def is_file_object(thing: Any) -> bool:
    """Return whether `source` is a file object rather than a path."""
    return hasattr(thing, "read") or hasattr(thing, "write")


def import_optional(package: str, extra: str, purpose: str) -> Any:
    """Import an optional package; if it is missing, raise an error that shows how to install it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise PackageMissing(
            f'{purpose} needs {package}: pip install "graphla[{extra}]"'
        ) from error


@contextlib.contextmanager
def replacing(target: Any) -> Iterator[Any]:
    """Yield a binary file for writing; it replaces `target` only after everything is written.

    A file whose name ends in .gz, .bz2 or .xz is compressed. If `target` is a file object, a pipe
    or a device, the data is written to it directly.
    """
    if is_file_object(target):
        yield _BytesOf(target) if isinstance(target, io.TextIOBase) else target
        return
    path = Path(os.path.realpath(os.fspath(target)))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(target))
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        file = partial.open("xb")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None
    try:
        with file, _open_compressed(file, path.suffix) as out:
            yield out
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _open_compressed(file: IO[bytes], suffix: str) -> contextlib.AbstractContextManager[Any]:
    suffix = suffix.lower()
    if suffix == ".gz":
        return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
    if suffix == ".bz2":
        return bz2.BZ2File(file, "wb")
    if suffix == ".xz":
        return lzma.LZMAFile(file, "wb")
    return contextlib.nullcontext(file)


class _BytesOf:
    """A binary file that decodes the bytes written to it and writes the text to a text file."""

    def __init__(self, file: io.TextIOBase):
        self._file = file

    def write(self, data: bytes) -> int:
        return self._file.write(data.decode())


def _hold(source: Any) -> Path | bytes:
    """Return an object that can be read several times.

    For a regular file, this is its path. For a file object, a pipe or a device, it is a bytes
    object with all data read from it.
    """
    if is_file_object(source):
        data = source.read()
        return data.encode() if isinstance(data, str) else bytes(data)
    path = Path(source)
    if path.is_file() or not path.exists() or path.is_dir():
        return path
    return path.read_bytes()


def _opener(first_bytes: bytes) -> Any:
    return next((op for magic, op in _OPENERS.items() if first_bytes.startswith(magic)), None)
