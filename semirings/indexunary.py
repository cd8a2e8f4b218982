"""The index-unary operators z = f(x, i, j, thunk): of an entry, its position and a scalar.

`register_new` adds a named operator here; `register_anonymous` returns an unregistered one.
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
    """Return the index-unary operator: `rowindex`, `row<=`, or typed, `valuegt[FP64]`."""
    return _naming.find(globals(), "indexunary", SIGNS, name)


def register_anonymous(
    func: _Callable[..., _Any],
    name: str | None = None,
    *,
    parameterized: bool = False,
    is_udt: bool = False,
) -> _Any:
    """Return an unregistered index-unary operator that computes a traced Python function.

    >>> register_anonymous(lambda x, i, j, thunk: x + i * thunk)(5, 2, 0, 10)
    np.int64(25)
    """
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
    """Register an index-unary operator as `semirings.indexunary.<name>`.

    If it returns BOOL, it is also registered as `semirings.select.<name>`.
    """
    if parameterized:
        op = register_anonymous(func, name, parameterized=True)
        _naming.register(globals(), "indexunary", name, op)
        return op
    op = _IndexUnaryOp(name, func).checked()
    _naming.register(globals(), "indexunary", name, op)
    select = _sys.modules.get("semirings.select")
    if select is not None and set(op.types.values()) == {_BOOL}:
        select.adopt(op)
    return op


def _place(x: _Symbol, index: _Symbol) -> _Symbol:
    return index.astype(_INT32 if x.dtype is _INT32 else _INT64)


rowindex = _IndexUnaryOp("rowindex", lambda x, i, j, k: _place(x, i + k), thunk=_INT64)
colindex = _IndexUnaryOp("colindex", lambda x, i, j, k: _place(x, j + k), thunk=_INT64)
index = _IndexUnaryOp("index", lambda x, i, j, k: _place(x, i + k), thunk=_INT64)
# As in the GraphBLAS C API 2.1, the thunk is added; SuiteSparse subtracts it.
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
