"""The select operators: functions f(x, i, j, thunk) that are true for entries that select keeps.

`register_new` adds an operator to this module; `register_anonymous` creates an unnamed operator.
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
    """Return the select operator with the given name.

    Args:
        name: a name such as `tril` or `<=`, or a name with a dtype, such as `valuegt[FP64]`.

    Returns:
        The operator; it is typed if the name has a dtype.

    Raises:
        InvalidValue: no select operator has this name.
        TypeError: `name` is not a string.

    Examples:
        >>> from semirings import select
        >>> select.from_string("tril")
        select.tril
    """
    return _naming.find(globals(), "select", SIGNS, name)


def register_anonymous(
    func: _Callable[..., _Any],
    name: str | None = None,
    *,
    parameterized: bool = False,
    is_udt: bool = False,
) -> _Any:
    """f(x, i, j, thunk).

    Create a select operator from a Python function, without registering a name.

    Args:
        func: a function of (x, i, j, thunk). It is traced once per dtype, so it may use Python's
            operators and the functions of `semirings.trace`, but may not branch on its arguments.
        name: the name to print; by default, the name of the function.
        parameterized: whether `func` takes parameters and returns the function to trace. If so,
            the result is a function that takes the parameters and returns the operator.
        is_udt: must be False; user-defined dtypes are not supported.

    Returns:
        The operator.

    Raises:
        TypeError: `func` is not callable.
        InvalidValue: the function does not return BOOL.
        NotImplementedException: `is_udt` is True.

    Examples:
        >>> from semirings import select
        >>> above = select.register_anonymous(lambda x, i, j, thunk: (i < j) & (x > thunk))
        >>> bool(above(5, 0, 1, 3))
        True
    """
    _naming.refuse_udt(is_udt)
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
    """f(x, i, j, thunk).

    Register a select operator as `semirings.select.<name>`, and as an index-unary operator.

    Args:
        name: the name, one or several identifiers joined by dots.
        func: a function of (x, i, j, thunk), traced as in `register_anonymous`.
        parameterized: whether `func` takes parameters and returns the function to trace.
        is_udt: must be False; user-defined dtypes are not supported.
        lazy: whether to trace the function at first use. By default it is traced during
            registration, so that errors appear immediately.

    Returns:
        The operator.

    Raises:
        InvalidValue: the name is taken or malformed.
        UdfParseError: the function cannot be traced.
        NotImplementedException: `is_udt` is True.
    """
    _naming.refuse_udt(is_udt)
    if parameterized:
        op = register_anonymous(func, name, parameterized=True)
    else:
        op = _SelectOp(name, func)
        op = op if lazy else op.checked()
        same = _IndexUnaryOp(name, func, result=_indexunary._BOOL)
        _naming.register(_indexunary.__dict__, "indexunary", name, same)
    _naming.register(globals(), "select", name, op)
    return op


def adopt(op: _IndexUnaryOp) -> None:
    """Register an index-unary operator that returns BOOL as a select operator as well."""
    _naming.register(globals(), "select", op.name, _SelectOp.of(op))


def value(comparison: _Any) -> _Any:
    """Return the entries of A whose values satisfy a comparison: `select.value(A > 3)`.

    Args:
        comparison: a comparison of A with a scalar, using <, <=, >, >=, == or !=. It must be an
            expression that has not been computed yet.

    Returns:
        An expression.

    Raises:
        TypeError: `comparison` is not a comparison with a scalar, or has already been computed.
    """
    return _select_by("value", comparison)


def row(comparison: _Any) -> _Any:
    """Return the entries of A whose row indices satisfy a comparison: `select.row(A <= 3)`.

    Args:
        comparison: a comparison of A with a scalar, using <, <=, > or >=. It must be an expression
            that has not been computed yet.

    Returns:
        An expression.

    Raises:
        TypeError: `comparison` is not a comparison with a scalar, or has already been computed.
        InvalidValue: the comparison is == or !=.
    """
    return _select_by("row", comparison)


def column(comparison: _Any) -> _Any:
    """Return the entries of A whose column indices satisfy a comparison: `select.column(A <= 3)`.

    Args:
        comparison: a comparison of A with a scalar, using <, <=, > or >=. It must be an expression
            that has not been computed yet.

    Returns:
        An expression.

    Raises:
        TypeError: `comparison` is not a comparison with a scalar, or has already been computed.
        InvalidValue: the comparison is == or !=.
    """
    return _select_by("column", comparison)


def index(comparison: _Any) -> _Any:
    """Return the entries of v whose indices satisfy a comparison: `select.index(v <= 3)`.

    Args:
        comparison: a comparison of v with a scalar, using <, <=, > or >=. It must be an expression
            that has not been computed yet.

    Returns:
        An expression.

    Raises:
        TypeError: `comparison` is not a comparison with a scalar, or has already been computed.
        InvalidValue: the comparison is == or !=.
    """
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
