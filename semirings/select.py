"""The select operators f(x, i, j, thunk), with the result dtype BOOL: which entries to keep.

`register_new` adds a named operator here; `register_anonymous` returns an unregistered one.
"""

from __future__ import annotations

from collections.abc import Callable as _Callable
from typing import Any as _Any

from semirings import indexunary as _indexunary
from semirings import naming as _naming
from semirings.operators import IndexUnaryOp as _IndexUnaryOp
from semirings.operators import SelectOp as _SelectOp

SIGNS = _indexunary.SIGNS


def from_string(name: str) -> _Any:
    """Return the select operator with this name: `tril`, `<=`, or typed, `valuegt[FP64]`."""
    return _naming.find(globals(), "select", SIGNS, name)


def register_anonymous(
    func: _Callable[..., _Any],
    name: str | None = None,
    *,
    parameterized: bool = False,
    is_udt: bool = False,
) -> _Any:
    """Return an unregistered select operator that computes a traced Python function.

    Raises InvalidValue if the operator does not return BOOL.

    >>> bool(register_anonymous(lambda x, i, j, thunk: (i < j) & (x > thunk))(5, 0, 1, 3))
    True
    """
    if parameterized:
        return lambda *args, **options: register_anonymous(func(*args, **options), name)
    return _SelectOp(_naming.name_of(func, name), func, is_anonymous=True).checked()


def register_new(
    name: str,
    func: _Callable[..., _Any],
    *,
    parameterized: bool = False,
    is_udt: bool = False,
    lazy: bool = False,
) -> _Any:
    """Register an operator as `semirings.select.<name>` and `semirings.indexunary.<name>`."""
    if parameterized:
        op = register_anonymous(func, name, parameterized=True)
    else:
        op = _SelectOp(name, func).checked()
        same = _IndexUnaryOp(name, func, result=_indexunary._BOOL)
        _naming.register(_indexunary.__dict__, "indexunary", name, same)
    _naming.register(globals(), "select", name, op)
    return op


def adopt(op: _IndexUnaryOp) -> None:
    """Register an index-unary operator with the result BOOL in this module as well."""
    _naming.register(globals(), "select", op.name, _SelectOp.of(op))


def value(comparison: _Any) -> _Any:
    """Return the entries of A whose values satisfy the comparison: `select.value(A > 3)`."""
    return _select_by("value", comparison)


def row(comparison: _Any) -> _Any:
    """Return the entries of A whose rows satisfy the comparison: `select.row(A <= 3)`."""
    return _select_by("row", comparison)


def column(comparison: _Any) -> _Any:
    """Return the entries of A whose columns satisfy the comparison: `select.column(A <= 3)`."""
    return _select_by("column", comparison)


def index(comparison: _Any) -> _Any:
    """Return the entries of v whose indices satisfy the comparison: `select.index(v <= 3)`."""
    return _select_by("index", comparison)


def _select_by(what: str, comparison: _Any) -> _Any:
    select_by = getattr(type(comparison), "__select_by__", None)
    if select_by is None:
        raise TypeError(
            f"select.{what} takes a comparison, as in select.{what}(A > 3), not {comparison!r}"
        )
    return select_by(comparison, what)


tril = _SelectOp.of(_indexunary.tril)
triu = _SelectOp.of(_indexunary.triu)
diag = _SelectOp.of(_indexunary.diag)
offdiag = _SelectOp.of(_indexunary.offdiag)
rowle = _SelectOp.of(_indexunary.rowle)
rowgt = _SelectOp.of(_indexunary.rowgt)
colle = _SelectOp.of(_indexunary.colle)
colgt = _SelectOp.of(_indexunary.colgt)
indexle = _SelectOp.of(_indexunary.indexle)
indexgt = _SelectOp.of(_indexunary.indexgt)

valueeq = _SelectOp.of(_indexunary.valueeq)
valuene = _SelectOp.of(_indexunary.valuene)
valuelt = _SelectOp.of(_indexunary.valuelt)
valuele = _SelectOp.of(_indexunary.valuele)
valuegt = _SelectOp.of(_indexunary.valuegt)
valuege = _SelectOp.of(_indexunary.valuege)
