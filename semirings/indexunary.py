"""The index-unary operators z = f(x, i, j, thunk), functions of an entry, a position and a scalar.

`register_new` adds an operator to this module; `register_anonymous` creates an unnamed operator.
"""

from __future__ import annotations

import sys as _sys
from collections.abc import Callable as _Callable
from typing import Any as _Any

from semirings import naming as _naming
from semirings.dtypes import BOOL as _BOOL
from semirings.dtypes import INT32 as _INT32
from semirings.dtypes import INT64 as _INT64
from semirings.operators import IndexUnaryOp as _IndexUnaryOp
from semirings.trace import Symbol as _Symbol

SIGNS = {
    "<": "valuelt",
    "<=": "valuele",
    ">": "valuegt",
    ">=": "valuege",
    "==": "valueeq",
    "!=": "valuene",
    "row<=": "rowle",
    "row>": "rowgt",
    "col<=": "colle",
    "col>": "colgt",
    "index<=": "indexle",
    "index>": "indexgt",
}


def from_string(name: str) -> _Any:
    """Return the index-unary operator with the given name.

    Args:
        name: a name such as `rowindex` or `row<=`, or a name with a dtype, such as `valuegt[FP64]`.

    Returns:
        The operator; it is typed if the name has a dtype.

    Raises:
        InvalidValue: no indexunary operator has this name.
        TypeError: `name` is not a string.

    Examples:
        >>> from semirings import indexunary
        >>> indexunary.from_string("rowindex")
        indexunary.rowindex
    """
    return _naming.find(globals(), "indexunary", SIGNS, name)


def register_anonymous(
    func: _Callable[..., _Any],
    name: str | None = None,
    *,
    parameterized: bool = False,
    is_udt: bool = False,
) -> _Any:
    """z = f(x, i, j, thunk).

    Create an index-unary operator from a Python function, without registering a name.

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
        NotImplementedException: `is_udt` is True.

    Examples:
        >>> from semirings import indexunary
        >>> indexunary.register_anonymous(lambda x, i, j, thunk: x + i * thunk)(5, 2, 0, 10)
        np.int64(25)
    """
    _naming.refuse_udt(is_udt)
    if parameterized:
        return lambda *args, **options: register_anonymous(func(*args, **options), name)
    return _IndexUnaryOp(_naming.name_of(func, name), func, is_anonymous=True)


def register_new(
    name: str,
    func: _Callable[..., _Any],
    *,
    parameterized: bool = False,
    is_udt: bool = False,
    lazy: bool = False,
) -> _Any:
    """z = f(x, i, j, thunk).

    Register an index-unary operator as `semirings.indexunary.<name>`.

    If it returns BOOL and `lazy` is False, the operator is also registered as
    `semirings.select.<name>`.

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
        _naming.register(globals(), "indexunary", name, op)
        return op
    op = _IndexUnaryOp(name, func)
    op = op if lazy else op.checked()
    _naming.register(globals(), "indexunary", name, op)
    if lazy:
        return op
    select = _sys.modules.get("semirings.select")
    if select is not None and set(op.types.values()) == {_BOOL}:
        select.adopt(op)
    return op


def _place(x: _Symbol, index: _Symbol) -> _Symbol:
    return index.astype(_INT32 if x.dtype is _INT32 else _INT64)


rowindex = _IndexUnaryOp("rowindex", lambda x, i, j, k: _place(x, i + k), thunk=_INT64)
colindex = _IndexUnaryOp("colindex", lambda x, i, j, k: _place(x, j + k), thunk=_INT64)
index = _IndexUnaryOp("index", lambda x, i, j, k: _place(x, i + k), thunk=_INT64)
# The thunk is added, as the GraphBLAS C API 2.1 requires; SuiteSparse subtracts it.
diagindex = _IndexUnaryOp("diagindex", lambda x, i, j, k: _place(x, j - i + k), thunk=_INT64)

tril = _IndexUnaryOp("tril", lambda x, i, j, k: j <= i + k, thunk=_INT64)
triu = _IndexUnaryOp("triu", lambda x, i, j, k: j >= i + k, thunk=_INT64)
diag = _IndexUnaryOp("diag", lambda x, i, j, k: j == i + k, thunk=_INT64)
offdiag = _IndexUnaryOp("offdiag", lambda x, i, j, k: j != i + k, thunk=_INT64)
rowle = _IndexUnaryOp("rowle", lambda x, i, j, k: i <= k, thunk=_INT64)
rowgt = _IndexUnaryOp("rowgt", lambda x, i, j, k: i > k, thunk=_INT64)
colle = _IndexUnaryOp("colle", lambda x, i, j, k: j <= k, thunk=_INT64)
colgt = _IndexUnaryOp("colgt", lambda x, i, j, k: j > k, thunk=_INT64)
indexle = _IndexUnaryOp("indexle", lambda x, i, j, k: i <= k, thunk=_INT64)
indexgt = _IndexUnaryOp("indexgt", lambda x, i, j, k: i > k, thunk=_INT64)

valueeq = _IndexUnaryOp("valueeq", lambda x, i, j, thunk: x == thunk)
valuene = _IndexUnaryOp("valuene", lambda x, i, j, thunk: x != thunk)
valuelt = _IndexUnaryOp("valuelt", lambda x, i, j, thunk: x < thunk)
valuele = _IndexUnaryOp("valuele", lambda x, i, j, thunk: x <= thunk)
valuegt = _IndexUnaryOp("valuegt", lambda x, i, j, thunk: x > thunk)
valuege = _IndexUnaryOp("valuege", lambda x, i, j, thunk: x >= thunk)
