"""The settings (`config`), the forced direction of products, and the `Recorder` of operations.

An assignment (`config.threads = 4`) changes the setting for the whole process. `config.set` and
`direction` apply inside their `with` block, and only to the thread or task that entered it. Threads
started inside a block begin with the settings of the process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from importlib.util import find_spec
from typing import Any, Literal, NoReturn

from graphla import cards
from semirings.exceptions import InvalidValue

devices = ("cpu", "cuda")

Direction = Literal["push", "pull", "auto"]


@dataclass(frozen=True, slots=True)
class _Settings:
    """The values of all settings."""

    device: str | None = None
    compiled: bool | Literal["auto"] = "auto"
    compile_threshold: int = 10_000
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)
    push_cost: float | None = None
    debug: bool = False
    deterministic: bool = False
    progress: bool = False
    autocompute: bool = True

    def but(self, **options: Any) -> _Settings:
        """Check new values for some of these settings, and return a copy with the new values."""
        for name, value in options.items():
            if name not in _checks:
                _refuse_name(name)
            _checks[name](name, value)
        return replace(self, **options)


_process = _Settings()
"""The settings of the process; only `_assign` changes its fields."""
_override: ContextVar[_Settings] = ContextVar("graphla_settings", default=_process)

current: Callable[[], _Settings] = _override.get
"""Return all settings that apply to this thread or task, for code that reads several of them."""


def _assign(name: str, value: Any) -> None:
    if current() is not _process:
        raise InvalidValue(
            f"config.{name} is assigned inside a `with config.set(...)` block; "
            f"nest `with config.set({name}=...)` instead"
        )
    object.__setattr__(_process, name, getattr(_process.but(**{name: value}), name))


@cache
def _default_device() -> str:
    return "cuda" if cards.count() and cards.has_cupy() else "cpu"


_named = re.compile(r"cpu|cuda(:[0-9]{1,4})?").fullmatch


def check_device(name: str, value: Any) -> None:
    """Raise an error if a value is not the name of a device."""
    if not isinstance(value, str) or not _named(value):
        raise InvalidValue(f'{name} must be "cpu", "cuda" or one like "cuda:0", not {value!r}')


def _check_flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidValue(f"{name} must be True or False, not {value!r}")


def _check_progress(name: str, value: Any) -> None:
    _check_flag(name, value)
    if value and find_spec("tqdm") is None:
        raise InvalidValue(
            f'{name} is True, but tqdm is not installed: pip install "graphla[progress]"'
        )


def _check_compiled(name: str, value: Any) -> None:
    if not isinstance(value, bool) and value != "auto":
        raise InvalidValue(f'{name} must be "auto", True or False, not {value!r}')


def _check_cost(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise InvalidValue(f"{name} must be a number above 0, or None, not {value!r}")


def _check_count(least: int) -> Callable[[str, Any], None]:
    def check(name: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidValue(f"{name} must be an int of at least {least}, not {value!r}")

    return check


def _refuse_name(name: str) -> NoReturn:
    raise AttributeError(f"config has no setting {name!r}; it has {', '.join(_checks)}")


_checks: dict[str, Callable[[str, Any], None]] = {"device": check_device}


def _setting(name: str, check: Callable[[str, Any], None], doc: str) -> Any:
    """Return a property of `Config` that reads the current setting and checks assigned values.

    This function is declared to return Any, so that type checkers use the annotations in `Config`.
    """
    _checks[name] = check
    return property(lambda _: getattr(current(), name), lambda _, new: _assign(name, new), doc=doc)


class Config:
    """The settings. Read `config.threads`, assign it, or write `with config.set(threads=1):`.

    Assigning a value that is not allowed raises InvalidValue; an unknown name raises
    AttributeError.

    Attributes:
        device: the device of new matrices and vectors: "cpu", "cuda" (CuPy's current GPU at the
            time of use), "cuda:0", "cuda:1" and so on. The default is "cuda" if there is a GPU and
            CuPy is installed, otherwise "cpu".
        compiled: whether compiled loops run on the CPU: "auto", True or False. With "auto", they
            run if Numba is installed and the operands have at least `compile_threshold` entries.
            With fewer entries, an algorithm runs a compiled loop only if it need not wait for the
            compiler: if the loop is loaded, or its machine code is in the cache on disk.
        compile_threshold: the minimum number of entries for which "auto" compiles; 10,000 by
            default.
        threads: the maximum number of threads of a compiled loop; by default the number of cores.
        push_cost: the cost of adding one entry to an output in a push, relative to reading one
            entry in a pull. It affects the direction of products, but not of traversals. None uses
            the measured cost of the device (benchmarks/direction.py, benchmarks/direction_gpu.py).
        debug: whether the host waits for each GPU kernel, so that error messages can name the
            kernel.
        autocompute: whether an expression is computed automatically when it is used as an operand
            or when its entries are read. If False, only `.new()` and `C << expression` compute it.
        deterministic: whether a device returns the same bits in every run. The operands alone then
            decide the direction of products, and sums are added in a fixed order. On the CPU, only
            PageRank and betweenness depend on this setting.
        progress: whether long work shows a progress bar on standard error; this needs tqdm.

    Examples:
        >>> from graphla import config
        >>> with config.set(threads=1):
        ...     config.threads
        1
    """

    __slots__ = ()

    @property
    def device(self) -> str:
        """The device of new matrices and vectors."""
        return current().device or _default_device()

    @device.setter
    def device(self, value: str) -> None:
        _assign("device", value)

    compiled: bool | Literal["auto"] = _setting(
        "compiled", _check_compiled, 'Whether Numba compiles the hot loops: "auto", True or False.'
    )
    compile_threshold: int = _setting(
        "compile_threshold",
        _check_count(0),
        'The number of entries of the operands from which "auto" compiles.',
    )
    threads: int = _setting(
        "threads", _check_count(1), "The maximum number of threads of a compiled loop."
    )
    push_cost: float | None = _setting(
        "push_cost",
        _check_cost,
        "The cost of scattering one entry relative to gathering one; None: as measured.",
    )
    debug: bool = _setting(
        "debug",
        _check_flag,
        "Whether the host waits for each GPU kernel, so that a fault names the kernel.",
    )
    deterministic: bool = _setting(
        "deterministic", _check_flag, "Whether a device returns the same bits in every run."
    )
    progress: bool = _setting(
        "progress", _check_progress, "Whether long work shows a progress bar with the time left."
    )
    autocompute: bool = _setting(
        "autocompute",
        _check_flag,
        "Whether an expression computes itself when its entries are needed.",
    )

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _checks:
            _refuse_name(name)
        object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        return [*_checks, "set"]

    def set(self, **options: Any) -> AbstractContextManager[Config]:
        """Change settings inside a `with` block: `with config.set(compiled=False): ...`.

        Args:
            **options: settings by name, as documented in `Config`.

        Returns:
            A context manager that yields the config object. Without `with`, nothing changes.

        Raises:
            AttributeError: there is no setting with this name.
            InvalidValue: a value is not allowed.
        """
        return self._within(current().but(**options))

    @contextmanager
    def _within(self, settings: Any) -> Iterator[Config]:
        token = _override.set(settings)
        try:
            yield self
        finally:
            _override.reset(token)

    def __repr__(self) -> str:
        now = current()
        shown = replace(now, device=self.device)
        return "config(" + ", ".join(f"{name}={getattr(shown, name)!r}" for name in _checks) + ")"


config = Config()


_direction: ContextVar[Direction] = ContextVar("graphla_direction", default="auto")


@contextmanager
def direction(towards: Direction) -> Iterator[None]:
    """Force the direction of matrix-vector products and of traversals inside a `with` block.

    Args:
        towards: "push", "pull", or "auto" to let each product decide.

    Yields:
        None.

    Raises:
        InvalidValue: `towards` has another value.

    Examples:
        >>> from graphla import Matrix, Recorder, Vector, direction
        >>> A, u = Matrix.from_dense([[1, 2], [3, 4]]), Vector.from_dense([1, 1])
        >>> with direction("pull"), Recorder() as recorder:
        ...     w = A.mxv(u).new()
        >>> recorder.events[0].direction
        'pull'
    """
    if towards not in ("push", "pull", "auto"):
        raise InvalidValue(f'direction must be "push", "pull" or "auto", not {towards!r}')
    token = _direction.set(towards)
    try:
        yield
    finally:
        _direction.reset(token)


forced_direction: Callable[[], Direction] = _direction.get


@dataclass(frozen=True, slots=True)
class Event:
    """One operation that ran, as recorded by a `Recorder`.

    Attributes:
        operation: the name of the operation, such as "mxv".
        semiring: the operator or semiring with its dtype.
        direction: "push" or "pull"; "" if the operation has no direction.
        reason: why this direction was chosen.
        nvals_in: the number of entries of the operands.
        nvals_out: the number of entries of the result.
        seconds: the duration in seconds.
    """

    operation: str
    semiring: str
    direction: str
    reason: str
    nvals_in: int
    nvals_out: int
    seconds: float


_recorders: ContextVar[tuple[Recorder, ...]] = ContextVar("graphla_recorders", default=())

recorders: Callable[[], tuple[Recorder, ...]] = _recorders.get
"""Return the active recorders. Call `record` only if there are any, to save time."""


class Recorder:
    """Record the operations that run in a block: `with Recorder() as recorder: ...`.

    A recorder records the operations of the thread or task in which it was started. If recorders
    are nested, each of them records every operation.

    Args:
        start: whether recording begins now; if False, it begins with `start()` or `with`.
        max_rows: the maximum number of operations in `str(recorder)`; None shows all.

    Attributes:
        events: the recorded `Event` objects, in order.

    Raises:
        InvalidValue: `start` is not a bool, or `max_rows` is negative.

    Examples:
        >>> from graphla import Recorder, Vector
        >>> v = Vector.from_dense([1, 2, 3])
        >>> with Recorder() as recorder:
        ...     total = v.reduce().value
        >>> [(event.operation, event.nvals_in, event.nvals_out) for event in recorder]
        [('reduce', 3, 1)]
    """

    __slots__ = ("__weakref__", "events", "max_rows")

    def __init__(self, *, start: bool = True, max_rows: int | None = None) -> None:
        _check_flag("start", start)
        if max_rows is not None:
            _check_count(0)("max_rows", max_rows)
        self.events: list[Event] = []
        self.max_rows = max_rows
        if start:
            self.start()

    @property
    def data(self) -> list[Event]:
        """The same list as `events`; python-graphblas uses this name."""
        return self.events

    @property
    def is_recording(self) -> bool:
        """Whether the recorder is recording in this thread or task."""
        return self in _recorders.get()

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def start(self) -> None:
        """Start recording, or do nothing if the recorder is already recording."""
        if self not in _recorders.get():
            _recorders.set((*_recorders.get(), self))

    def stop(self) -> None:
        """Stop recording; the recorded events are kept."""
        _recorders.set(tuple(r for r in _recorders.get() if r is not self))

    def clear(self) -> None:
        """Delete the recorded events."""
        self.events.clear()

    def __enter__(self) -> Recorder:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Recorder, {len(self.events)} recorded>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        head = ("operation", "semiring", "direction", "why", "in", "out", "ms")
        hidden = 0 if self.max_rows is None else max(0, len(self.events) - self.max_rows)
        first = (len(self.events) - hidden) // 2 if hidden else len(self.events)
        shown = self.events[:first] + self.events[first + hidden :]
        rows = [head, *(_cells(event) for event in shown)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = [_line(row, widths) for row in rows]
        if hidden:
            lines.insert(first + 1, f"... {hidden} more; set max_rows to see them")
        return "\n".join(lines)


def record(event: Event) -> None:
    """Append an event to every active recorder."""
    for recorder in _recorders.get():
        recorder.events.append(event)


def _cells(event: Event) -> tuple[str, ...]:
    return (
        event.operation,
        event.semiring,
        event.direction,
        event.reason,
        f"{event.nvals_in:,}",
        f"{event.nvals_out:,}",
        f"{event.seconds * 1e3:.3f}",
    )


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    words = [cell.ljust(width) for cell, width in zip(row[:4], widths[:4], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(row[4:], widths[4:], strict=True)]
    return "  ".join(words + numbers).rstrip()
