"""All unary operators, binary operators and semirings as attributes of one module."""

# ruff: noqa: F403
from __future__ import annotations

from typing import Any as _Any

from semirings import binary as _binary
from semirings import semiring as _semiring
from semirings import unary as _unary
from semirings.exceptions import InvalidValue as _InvalidValue
from semirings.semiring import *
from semirings.unary import *  # isort: split

from semirings.binary import *


def from_string(name: str) -> _Any:
    """Return the binary operator, unary operator or semiring with the given name.

    Binary operators are tried first, then unary operators, then semirings.

    Args:
        name: the name or symbol, such as `plus`, `-` or `min_plus[FP64]`.

    Returns:
        The operator or semiring.

    Raises:
        InvalidValue: no operator and no semiring has this name.
    """
    for module in (_binary, _unary, _semiring):
        try:
            return module.from_string(name)
        except _InvalidValue:
            continue
    raise _InvalidValue(f"{name!r} names no operator; dir(semirings.op) lists them")


class _NumPy:
    """The binary operators, unary operators and semirings that are named as in NumPy."""

    def __getattr__(self, name: str) -> _Any:
        for module in (_binary, _unary, _semiring):
            found = getattr(module.numpy, name, None)
            if found is not None:
                return found
        raise AttributeError(f"semirings.op.numpy has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted(
            {n for m in (_binary, _unary, _semiring) for n in dir(m.numpy) if n[0] != "_"}
        )


numpy = _NumPy()


def __getattr__(name: str) -> _Any:
    if not name.startswith("_"):
        for module in (_binary, _unary, _semiring):
            found = getattr(module, name, None)
            if getattr(found, "opclass", None) is not None:
                return found
    raise AttributeError(f"module 'semirings.op' has no attribute {name!r}")


del SIGNS, register_anonymous, register_new  # noqa: F821  each module has its own
