"""Choose between a compiled loop and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from threading import local
from typing import ParamSpec, TypeAlias, TypeVar

from graphla.compilers.numba import NotReady, is_installed, policy
from graphla.settings import current
from semirings.operators import TypedBinaryOp, TypedSelectOp
from semirings.structures import TypedMonoid, TypedSemiring

TypedOp: TypeAlias = TypedBinaryOp | TypedSelectOp | TypedMonoid | TypedSemiring
WIDE = 1 << 24
"""If vectors are longer than this, a compiled loop is used only if it processes enough entries.

It must process at least one entry for every 16 elements of a vector, because the scratch memory of
a loop grows with the length of the vectors.
"""

SIMPLE = 8
"""Factor by which `config.compile_threshold` is multiplied if an operation is fast in NumPy."""

P = ParamSpec("P")
T = TypeVar("T")


class _Trial(local):
    is_on = False


_trial = _Trial()
"""Whether `compiles` returns a number of threads for small operands as well; see `try_loops`."""


def try_loops(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function use compiled loops for small operands, if the loops are already compiled.

    The function is first called with `compiles` returning a number of threads, even for operands
    below `config.compile_threshold`. If this call needs a loop that is neither in memory nor in the
    cache on disk, it is abandoned, and the function is called again with `compiles` returning 0. So
    the function must not change its arguments before it has loaded its loops.
    """

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        before = _trial.is_on, policy.may_compile
        _trial.is_on = True
        try:
            return function(*args, **options)
        except NotReady:
            _trial.is_on, policy.may_compile = False, True
            return function(*args, **options)
        finally:
            _trial.is_on, policy.may_compile = before

    return call


def compiles(entries: int, op: TypedOp | None = None, size: int = 0) -> int:
    """Return the number of threads for a compiled loop over `entries` entries, or 0 for NumPy.

    `size` is the length of the vectors, if the loop needs scratch memory of this length.
    """
    settings = current()
    wanted = settings.compiled
    if wanted is False:
        return 0
    is_small = wanted == "auto" and entries < settings.compile_threshold > size
    if is_small and not _trial.is_on:
        return 0
    if wanted is True and not is_installed():
        raise ImportError("config.compiled is True, but Numba is not there: pip install numba")
    if size > WIDE and size > 16 * entries:
        return 0
    policy.may_compile = not is_small
    return settings.threads if is_installed() and (op is None or has_loop_form(op)) else 0


@lru_cache(maxsize=4096)
def has_loop_form(op: TypedOp) -> bool:
    """Return whether an operator can be translated for Numba; operators written in C++ cannot."""
    if isinstance(op, TypedBinaryOp | TypedSelectOp):
        return op.source_numba("f") is not None
    if isinstance(op, TypedMonoid):
        return has_loop_form(op.binaryop)
    return has_loop_form(op.binaryop) and has_loop_form(op.monoid)
