"""The aggregators: `agg.mean(A)`, `A.reduce_rowwise(agg.argmax)`, `v.reduce("stdp")`.

They reduce rows, columns, or a whole Vector or Matrix. A string that names both an aggregator and a
monoid, such as "min", means the monoid. A row without entries has no result. Counts and indices are
INT64 for every dtype of entries, and a sum of BOOL counts the true entries.
"""

import copyreg as _copyreg

from graphla import aggregators as _of
from graphla.aggregators import Aggregator, TypedAggregator
from semirings import monoid as _monoid
from semirings.dtypes import BOOL as _BOOL
from semirings.exceptions import InvalidValue as _InvalidValue

sum = Aggregator("sum", _of.total, _of.sum_dtype, monoid=_monoid.plus)
prod = Aggregator("prod", _of.product, _of.sum_dtype, monoid=_monoid.times)
all = Aggregator("all", _of.fold_by(_monoid.land, _BOOL), lambda dtype: _BOOL, monoid=_monoid.land)
any = Aggregator("any", _of.fold_by(_monoid.lor, _BOOL), lambda dtype: _BOOL, monoid=_monoid.lor)
min = Aggregator("min", _of.fold_by(_monoid.min), _of.same_dtype, monoid=_monoid.min)
max = Aggregator("max", _of.fold_by(_monoid.max), _of.same_dtype, monoid=_monoid.max)
any_value = Aggregator("any_value", _of.fold_by(_monoid.any), _of.same_dtype, monoid=_monoid.any)
bitwise_all = Aggregator(
    "bitwise_all", _of.fold_by(_monoid.band), _of.same_dtype, monoid=_monoid.band
)
bitwise_any = Aggregator(
    "bitwise_any", _of.fold_by(_monoid.bor), _of.same_dtype, monoid=_monoid.bor
)
exists = Aggregator("exists", _of.ones, _of.same_dtype)
count = Aggregator("count", _of.count, _of.whole)
count_nonzero = Aggregator("count_nonzero", _of.count_nonzero, _of.whole)
count_zero = Aggregator("count_zero", _of.count_zero, _of.whole)
sum_of_squares = Aggregator("sum_of_squares", _of.sum_of_squares, _of.square_dtype)
sum_of_inverses = Aggregator("sum_of_inverses", _of.sum_of_inverses, _of.floats_of)
hypot = Aggregator("hypot", _of.root_of_squares, _of.floats_of)
logaddexp = Aggregator("logaddexp", _of.log_of_powers(2.718281828459045), _of.floats_of)
logaddexp2 = Aggregator("logaddexp2", _of.log_of_powers(2.0), _of.floats_of)
L0norm = count_nonzero
L1norm = Aggregator("L1norm", _of.sum_of_magnitudes, _of.sum_dtype)
L2norm = hypot
Linfnorm = Aggregator("Linfnorm", _of.greatest_magnitude, _of.same_dtype)
mean = Aggregator("mean", _of.mean, _of.average_dtype)
varp = Aggregator("varp", _of.variance(0), _of.average_dtype)
vars = Aggregator("vars", _of.variance(1), _of.average_dtype)
stdp = Aggregator("stdp", _of.deviation(0), _of.average_dtype)
var, std = varp, stdp  # variance and standard deviation of a population, as in NumPy
stds = Aggregator("stds", _of.deviation(1), _of.average_dtype)
geometric_mean = Aggregator("geometric_mean", _of.geometric_mean, _of.average_dtype)
harmonic_mean = Aggregator("harmonic_mean", _of.harmonic_mean, _of.floats_of)
root_mean_square = Aggregator("root_mean_square", _of.root_mean_square, _of.average_dtype)
peak_to_peak = Aggregator("peak_to_peak", _of.peak_to_peak, _of.same_dtype)
first = Aggregator("first", _of.first, _of.same_dtype)
last = Aggregator("last", _of.last, _of.same_dtype)
first_index = Aggregator("first_index", _of.first_index, _of.whole, needs_place=True)
last_index = Aggregator("last_index", _of.last_index, _of.whole, needs_place=True)
argmin = Aggregator("argmin", _of.index_of(_monoid.min), _of.whole, needs_place=True)
argmax = Aggregator("argmax", _of.index_of(_monoid.max), _of.whole, needs_place=True)

_by_name = {name: thing for name, thing in globals().items() if isinstance(thing, Aggregator)}


_in_lower_case = {name.lower(): thing for name, thing in _by_name.items()}


def find(name: str) -> Aggregator | TypedAggregator | None:
    """Return the aggregator with the given name.

    Args:
        name: the name, as in `from_string`.

    Returns:
        The aggregator, or None if there is none with this name.
    """
    name, _, dtype = name.strip().removeprefix("agg.").partition("[")
    found = _by_name.get(name) or _in_lower_case.get(name.lower())
    return found[dtype.rstrip("]").strip()] if found is not None and dtype else found


def from_string(name: str) -> Aggregator | TypedAggregator:
    """Return the aggregator with the given name.

    Args:
        name: the name, such as "mean", or with a dtype, such as "mean[FP64]".

    Returns:
        The Aggregator, or the TypedAggregator if the name has a dtype.

    Raises:
        InvalidValue: there is no aggregator with this name.

    Examples:
        >>> from graphla import agg
        >>> agg.from_string("mean"), agg.from_string("mean[FP64]")
        (agg.mean, agg.mean[FP64])
    """
    found = find(name)
    if found is None:
        raise _InvalidValue(f"name is {name!r}, but it should be one of {', '.join(_by_name)}")
    return found


def __dir__() -> list[str]:
    return [*_by_name, "Aggregator", "TypedAggregator", "from_string"]


_copyreg.pickle(Aggregator, lambda op: (from_string, (op.name,)))  # pyright: ignore
_copyreg.pickle(TypedAggregator, lambda op: (from_string, (f"{op.name}[{op.type}]",)))  # pyright: ignore
