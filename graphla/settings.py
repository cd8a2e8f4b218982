"""The settings (`config`), the forced direction of products, and the `Recorder` of operations.

An assigned setting (`config.threads = 4`) applies to the process. `config.set` and `direction`
apply inside their `with` block, to the thread or task that entered it. A thread that is started
inside a block begins with the settings of the process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal, NoReturn

from graphla import cards
from semirings.exceptions import InvalidValue

devices = ("cpu", "cuda")

Direction = Literal["push", "pull", "auto"]


@dataclass(frozen=True, slots=True)
class _Settings:
    """One value of every setting."""

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
        """Return a copy of the settings with some of them replaced, after checking each value."""
        for name, value in options.items():
            if name not in _checks:
                _refuse_name(name)
            _checks[name](name, value)
        return replace(self, **options)


_process = _Settings()
_override: ContextVar[_Settings | None] = ContextVar("graphla_settings", default=None)


def current() -> _Settings:
    """Return the settings in force here, all at once: for code that reads several of them."""
    return _override.get() or _process


def _assign(name: str, value: Any) -> None:
    global _process
    if _override.get() is not None:
        raise InvalidValue(
            f"config.{name} is assigned inside a `with config.set(...)` block; "
            f"nest `with config.set({name}=...)` instead"
        )
    _process = _process.but(**{name: value})


@cache
def _default_device() -> str:
    return "cuda" if cards.count() and cards.has_cupy() else "cpu"


_named = re.compile(r"cpu|cuda(:[0-9]{1,4})?").fullmatch


def check_device(name: str, value: Any) -> None:
    """Raise InvalidValue if the value is not the name of a device."""
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
    """Return a property of `Config` that reads the setting in force and assigns a checked one.

    It is Any to a type checker, so that the annotation in `Config` gives the type.
    """
    _checks[name] = check
    return property(lambda _: getattr(current(), name), lambda _, new: _assign(name, new), doc=doc)


class Config:
    """The settings: read `config.threads`, assign to it, or use `with config.set(threads=1):`.

    - device: the device of new matrices and vectors: "cpu", "cuda" (CuPy's current card when they
      are created), "cuda:0", "cuda:1" and so on; by default "cuda" if there is a card and CuPy is
      installed, otherwise "cpu";
    - compiled: whether hot loops run compiled by Numba: "auto" (if Numba is installed and the
      operands have at least `compile_threshold` entries), True (always) or False (never);
    - compile_threshold: the number of entries from which "auto" compiles;
    - threads: the maximum number of threads of a compiled loop;
    - push_cost: the cost of one entry scattered by push, in entries gathered by pull. The direction
      of a product depends on it (whole traversals choose by themselves). None means the cost
      measured for the device (benchmarks/direction.py, benchmarks/direction_gpu.py);
    - debug: whether to wait for each kernel on a GPU, so that an error names the kernel at fault;
    - autocompute: whether an expression computes itself when it is used as an operand or when its
      entries are read; if False, only `.new()` and `C << expression` compute it;
    - deterministic: whether a GPU gives the same bits in every run: the direction of products is
      fixed by the operands alone, and sums are added in one order;
    - progress: whether long work shows a bar with the time left on standard error; it needs tqdm.
    """

    __slots__ = ()

    @property
    def device(self) -> str:
        """The device on which new matrices and vectors are stored."""
        return current().device or _default_device()

    @device.setter
    def device(self, value: str) -> None:
        _assign("device", value)

    compiled: bool | Literal["auto"] = _setting(
        "compiled", _check_compiled, 'Whether hot loops run compiled: "auto", True or False.'
    )
    compile_threshold: int = _setting(
        "compile_threshold",
        _check_count(0),
        'The entries among the operands from which "auto" compiles.',
    )
    threads: int = _setting("threads", _check_count(1), "How many threads a compiled loop may use.")
    push_cost: float | None = _setting(
        "push_cost",
        _check_cost,
        "What one entry scattered costs, in entries gathered; None: as measured.",
    )
    debug: bool = _setting(
        "debug",
        _check_flag,
        "Whether each kernel is waited for, so that a fault names the one that made it.",
    )
    deterministic: bool = _setting(
        "deterministic", _check_flag, "Whether results are the same to the last bit, run by run."
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

    @contextmanager
    def set(self, **options: Any) -> Iterator[Config]:
        """Change settings inside a `with` block: `with config.set(compiled=False): ...`."""
        token = _override.set(current().but(**options))
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
    """Force matrix-vector products, and the levels of traversals, to "push" or "pull".

    The direction applies inside a `with` block; "auto" removes the force.
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
    """One operation that ran: its direction and the reason for it, entries in and out, and time."""

    operation: str
    semiring: str
    direction: str
    reason: str
    nvals_in: int
    nvals_out: int
    seconds: float


_recorders: ContextVar[tuple[Recorder, ...]] = ContextVar("graphla_recorders", default=())

recorders: Callable[[], tuple[Recorder, ...]] = _recorders.get
"""The active recorders. Usually there are none, and `if recorders(): record(...)` is cheap."""


class Recorder:
    """Record the operations that run in a block: `with Recorder() as recorder: ...`.

    A recorder records the thread or task in which it was started. Nested recorders each record
    every operation.

    Args:
        start: whether recording begins now; if False, it begins with `start()` or `with`.
        max_rows: the maximum number of operations in `str(recorder)`; None shows all.
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
        """Start recording; does nothing if the recorder is already recording."""
        if self not in _recorders.get():
            _recorders.set((*_recorders.get(), self))

    def stop(self) -> None:
        """Stop recording; the events are kept."""
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
    """Append the event to every active recorder."""
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
