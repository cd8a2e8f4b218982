"""The semirings ⟨⊕, ⊗⟩, named `<add>_<multiply>`.

The common semirings are predefined. All others, such as `semiring.max_abssecond`, are created at
first use. `register_new` adds a semiring to this module; `register_anonymous` creates an unnamed
semiring.
"""

from __future__ import annotations

from typing import Any as _Any

from semirings import binary as _binary
from semirings import monoid as _monoid
from semirings import naming as _naming
from semirings.exceptions import InvalidValue as _InvalidValue
from semirings.operators import BinaryOp as _BinaryOp
from semirings.structures import Monoid as _Monoid
from semirings.structures import Semiring as _Semiring


def from_string(name: str) -> _Any:
    """Return the semiring with the given name.

    Args:
        name: a name such as `min_plus`, `min.plus` or `+.*`, or a name with a dtype, such as
            `min_plus[FP64]`.

    Returns:
        The semiring; it is typed if the name has a dtype.

    Raises:
        InvalidValue: no semiring has this name.
        TypeError: `name` is not a string.

    Examples:
        >>> from semirings import semiring
        >>> semiring.from_string("max.hypot")
        semiring.max_hypot
    """
    if isinstance(name, str):
        base, dtypes = _naming.split(name)
        found = globals().get(base)
        if not isinstance(found, _Semiring):
            found = _compose(base)
        if found is not None:
            return found if dtypes is None else found[dtypes]
    return _naming.find(globals(), "semiring", {}, name)


def _compose(name: str) -> _Semiring | None:
    """Return the semiring with this name, or None if there is none.

    The name must consist of the name of a monoid, `_` or `.`, and the name of a binary operator.
    """
    for between in ("_", "."):
        add, _, multiply = name.partition(between)
        try:
            monoid, binaryop = _monoid.from_string(add), _binary.from_string(multiply)
        except _InvalidValue:
            continue
        if isinstance(monoid, _Monoid) and isinstance(binaryop, _BinaryOp):
            full = f"{monoid.name}_{binaryop.name}"
            if full not in globals():
                globals()[full] = _Semiring(full, monoid, binaryop)
            return globals()[full]
    return None


def __getattr__(name: str) -> _Semiring:
    found = None if name.startswith("_") else _compose(name)
    if found is None:
        raise AttributeError(f"module 'semirings.semiring' has no attribute {name!r}")
    return found


def register_anonymous(
    monoid: _Monoid | str, binaryop: _BinaryOp | str, name: str | None = None
) -> _Semiring:
    """⟨⊕, ⊗⟩.

    Create a semiring from a monoid and an operator, without registering a name.

    Args:
        monoid: ⊕, a monoid or its name.
        binaryop: ⊗, a binary operator or its name.
        name: the name to print; by default, `<monoid>_<binaryop>`.

    Returns:
        The semiring.

    Raises:
        TypeError: `monoid` or `binaryop` has the wrong type.
        InvalidValue: no monoid or no binary operator has the given name.

    Examples:
        >>> from semirings import semiring
        >>> semiring.register_anonymous("max", "hypot")
        semiring.max_hypot
    """
    add, multiply = _parts(monoid, binaryop)
    return _Semiring(name or f"{add.name}_{multiply.name}", add, multiply, is_anonymous=True)


def register_new(
    name: str, monoid: _Monoid | str, binaryop: _BinaryOp | str, *, lazy: bool = False
) -> _Semiring:
    """⟨⊕, ⊗⟩.

    Register a semiring as `semirings.semiring.<name>`.

    Args:
        name: the name, one or several identifiers joined by dots.
        monoid: ⊕, a monoid or its name.
        binaryop: ⊗, a binary operator or its name.
        lazy: must be False; a semiring looks up its monoid and operator immediately.

    Returns:
        The semiring.

    Raises:
        TypeError: `monoid` or `binaryop` has the wrong type.
        InvalidValue: `name` is taken, or no monoid or binary operator has the given name.
        NotImplementedException: `lazy` is True.
    """
    _naming.refuse_lazy("semiring", lazy)
    semiring = _Semiring(name, *_parts(monoid, binaryop))
    _naming.register(globals(), "semiring", name, semiring)
    return semiring


def _parts(monoid: _Any, binaryop: _Any) -> tuple[_Monoid, _BinaryOp]:
    add = _monoid.from_string(monoid) if isinstance(monoid, str) else monoid
    multiply = _binary.from_string(binaryop) if isinstance(binaryop, str) else binaryop
    if not isinstance(add, _Monoid):
        raise TypeError(f"monoid is {monoid!r}, but it should be a Monoid or the name of one")
    if not isinstance(multiply, _BinaryOp):
        raise TypeError(f"binaryop is {binaryop!r}, but it should be a BinaryOp or its name")
    return add, multiply


# GraphBLAS C API 2.1
plus_times = _Semiring("plus_times", _monoid.plus, _binary.times)
min_plus = _Semiring("min_plus", _monoid.min, _binary.plus)
max_plus = _Semiring("max_plus", _monoid.max, _binary.plus)
min_times = _Semiring("min_times", _monoid.min, _binary.times)
min_max = _Semiring("min_max", _monoid.min, _binary.max)
min_first = _Semiring("min_first", _monoid.min, _binary.first)
min_second = _Semiring("min_second", _monoid.min, _binary.second)
max_times = _Semiring("max_times", _monoid.max, _binary.times)
max_min = _Semiring("max_min", _monoid.max, _binary.min)
max_first = _Semiring("max_first", _monoid.max, _binary.first)
max_second = _Semiring("max_second", _monoid.max, _binary.second)
plus_min = _Semiring("plus_min", _monoid.plus, _binary.min)
lor_land = _Semiring("lor_land", _monoid.lor, _binary.land)
land_lor = _Semiring("land_lor", _monoid.land, _binary.lor)
lxor_land = _Semiring("lxor_land", _monoid.lxor, _binary.land)
lxnor_lor = _Semiring("lxnor_lor", _monoid.lxnor, _binary.lor)

# Other semirings that the algorithms use
any_pair = _Semiring("any_pair", _monoid.any, _binary.pair)
any_first = _Semiring("any_first", _monoid.any, _binary.first)
any_second = _Semiring("any_second", _monoid.any, _binary.second)
any_firsti = _Semiring("any_firsti", _monoid.any, _binary.firsti)
any_firstj = _Semiring("any_firstj", _monoid.any, _binary.firstj)
any_secondi = _Semiring("any_secondi", _monoid.any, _binary.secondi)
any_secondj = _Semiring("any_secondj", _monoid.any, _binary.secondj)
any_plus = _Semiring("any_plus", _monoid.any, _binary.plus)
any_times = _Semiring("any_times", _monoid.any, _binary.times)
min_min = _Semiring("min_min", _monoid.min, _binary.min)
max_max = _Semiring("max_max", _monoid.max, _binary.max)
min_pair = _Semiring("min_pair", _monoid.min, _binary.pair)
max_pair = _Semiring("max_pair", _monoid.max, _binary.pair)
plus_pair = _Semiring("plus_pair", _monoid.plus, _binary.pair)
plus_first = _Semiring("plus_first", _monoid.plus, _binary.first)
plus_second = _Semiring("plus_second", _monoid.plus, _binary.second)
plus_plus = _Semiring("plus_plus", _monoid.plus, _binary.plus)
plus_max = _Semiring("plus_max", _monoid.plus, _binary.max)
plus_minus = _Semiring("plus_minus", _monoid.plus, _binary.minus)
plus_truediv = _Semiring("plus_truediv", _monoid.plus, _binary.truediv)
plus_land = _Semiring("plus_land", _monoid.plus, _binary.land)
plus_iseq = _Semiring("plus_iseq", _monoid.plus, _binary.iseq)
plus_isne = _Semiring("plus_isne", _monoid.plus, _binary.isne)
plus_eq = _Semiring("plus_eq", _monoid.plus, _binary.eq)
plus_ne = _Semiring("plus_ne", _monoid.plus, _binary.ne)
min_firsti = _Semiring("min_firsti", _monoid.min, _binary.firsti)
min_firstj = _Semiring("min_firstj", _monoid.min, _binary.firstj)
min_secondi = _Semiring("min_secondi", _monoid.min, _binary.secondi)
min_secondj = _Semiring("min_secondj", _monoid.min, _binary.secondj)
max_firsti = _Semiring("max_firsti", _monoid.max, _binary.firsti)
max_firstj = _Semiring("max_firstj", _monoid.max, _binary.firstj)
max_secondi = _Semiring("max_secondi", _monoid.max, _binary.secondi)
max_secondj = _Semiring("max_secondj", _monoid.max, _binary.secondj)
lor_first = _Semiring("lor_first", _monoid.lor, _binary.first)
lor_second = _Semiring("lor_second", _monoid.lor, _binary.second)
lor_pair = _Semiring("lor_pair", _monoid.lor, _binary.pair)
lor_lor = _Semiring("lor_lor", _monoid.lor, _binary.lor)
land_land = _Semiring("land_land", _monoid.land, _binary.land)
times_times = _Semiring("times_times", _monoid.times, _binary.times)
times_plus = _Semiring("times_plus", _monoid.times, _binary.plus)
times_first = _Semiring("times_first", _monoid.times, _binary.first)
times_second = _Semiring("times_second", _monoid.times, _binary.second)
bor_band = _Semiring("bor_band", _monoid.bor, _binary.band)
band_bor = _Semiring("band_bor", _monoid.band, _binary.bor)
bxor_band = _Semiring("bxor_band", _monoid.bxor, _binary.band)


# --- Semirings named after NumPy functions: numpy.add_multiply is plus_times --------------------


class _NumPy:
    """Semirings whose names join the names of two NumPy functions, such as `add_multiply`.

    Each semiring is an attribute that is created at first access.
    """

    def __getattr__(self, name: str) -> _Semiring:
        for add, monoid in vars(_monoid.numpy).items():
            op = vars(_binary.numpy).get(name.removeprefix(f"{add}_"))
            if op is not None and name.startswith(f"{add}_"):
                found = _of_numpy(name, monoid, op)
                setattr(self, name, found)
                return found
        raise AttributeError(f"semirings.semiring.numpy has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [f"{add}_{op}" for add in vars(_monoid.numpy) for op in vars(_binary.numpy)]


def _of_numpy(name: str, monoid: _Monoid, op: _BinaryOp) -> _Semiring:
    usual = f"{monoid.name}_{op.name}"
    if "." not in usual:
        found = globals().get(usual) or _compose(usual)
        assert found is not None
        return found
    return _Semiring(f"numpy.{name}", monoid, op)


numpy = _NumPy()
