"""Helper functions for operators in generated Numba code, which begins with a copy of this file."""

# pyright: basic
import math

import numpy as np
from numba import njit as _njit

_helper = _njit(error_model="numpy", nogil=True)
_LGAMMA_SLOPE = 0.42278433509846713
_LGAMMA_SERIES = (
    0.3224670334241132,
    -0.0673523010531981,
    0.020580808427784546,
    -0.007385551028673986,
    0.0028905103307415234,
    -0.001192753911703261,
    0.0005096695247430425,
    -0.00022315475845357936,
    9.945751278180853e-05,
    -4.492623673813314e-05,
    2.0507212775670694e-05,
    -9.439488275268395e-06,
    4.374866789907487e-06,
    -2.039215753801366e-06,
    9.55141213040742e-07,
    -4.492469198764566e-07,
    2.1207184805554667e-07,
    -1.00432248239681e-07,
    4.769810169363981e-08,
    -2.2711094608943164e-08,
    1.0838659214896955e-08,
    -5.183475041970047e-09,
    2.4836745438024785e-09,
    -1.1921401405860912e-09,
    5.731367241678862e-10,
    -2.7595228851242334e-10,
    1.3304764374244491e-10,
    -6.422964563838101e-11,
)


@_helper
def _negated(x):
    # This also works for the minimum of INT64, whose negation is undefined.
    return np.int64(np.uint64(0) - np.uint64(x))


@_helper
def _abs(x):
    return _negated(x) if x < 0 else np.int64(x)


@_helper
def _min(x, y):
    return x if x < y else y


@_helper
def _max(x, y):
    return x if x > y else y


@_helper
def _min_float(x, y):
    return x if (x < y) | (x != x) else y


@_helper
def _max_float(x, y):
    return x if (x > y) | (x != x) else y


@_helper
def _isnan(x):
    return x != x


@_helper
def _isinf(x):
    return (x == np.inf) | (x == -np.inf)


@_helper
def _isfinite(x):
    return x - x == 0


@_helper
def _divide(x, y):
    return x / y


@_helper
def _floordiv_int(x, y):
    if y == 0:
        return np.int64(0)
    if y == -1:
        return _negated(x)
    return x // y


@_helper
def _floordiv_uint(x, y):
    return np.uint64(0) if y == 0 else x // y


@_helper
def _floordiv_float(x, y):
    if y == 0:
        return x / y
    rest = type(x)(np.fmod(x, y))
    quotient = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        quotient -= type(x)(1)
    if quotient == 0:
        return type(x)(math.copysign(type(x)(0), x / y))
    whole = np.floor(quotient)
    if quotient - whole > type(x)(0.5):
        whole += type(x)(1)
    return whole


@_helper
def _mod_int(x, y):
    if y == 0 or y == -1:
        return np.int64(0)
    return x % y


@_helper
def _mod_uint(x, y):
    return np.uint64(0) if y == 0 else x % y


@_helper
def _mod_float(x, y):
    rest = type(x)(np.fmod(x, y))
    if y == 0:
        return rest
    if rest == 0:
        return type(x)(math.copysign(type(x)(0), y))
    if (y < 0) != (rest < 0):
        rest += y
    return rest


@_helper
def _truncdiv_int(x, y, least, greatest):
    if y == 0:
        return least if x < 0 else (greatest if x > 0 else np.int64(0))
    if y == -1:
        return _negated(x)
    quotient = x // y
    if quotient * y != x and (x < 0) != (y < 0):
        quotient += 1
    return quotient


@_helper
def _truncdiv_uint(x, y, greatest):
    if y == 0:
        return greatest if x > 0 else np.uint64(0)
    return x // y


@_helper
def _pow_uint(x, y):
    result = np.uint64(1)
    while y != 0:
        if y & np.uint64(1):
            result = result * x
        x = x * x
        y = y >> np.uint64(1)
    return result


@_helper
def _pow_int(x, y, greatest):
    if y < 0:
        if x == 0:
            return greatest
        if x == 1:
            return np.int64(1)
        if x == -1:
            return np.int64(-1) if y & 1 else np.int64(1)
        return np.int64(0)
    return np.int64(_pow_uint(np.uint64(x), np.uint64(y)))


@_helper
def _pow_float(x, y):
    return x**y


@_helper
def _shl(x, n, bits):
    return x << n if 0 <= n < bits else np.int64(0)


@_helper
def _shl_uint(x, n, bits):
    return x << n if n < np.uint64(bits) else np.uint64(0)


@_helper
def _shr(x, n, bits):
    return x >> n if 0 <= n < bits else (np.int64(-1) if x < 0 else np.int64(0))


@_helper
def _shr_uint(x, n, bits):
    return x >> n if n < np.uint64(bits) else np.uint64(0)


@_helper
def _to_int(x, least, greatest):
    if x != x:
        return np.int64(0)
    if x >= np.float64(greatest):
        return np.int64(greatest)
    if x <= np.float64(least):
        return np.int64(least)
    return np.int64(x)


@_helper
def _to_uint64(x):
    if x != x or x <= 0:
        return np.uint64(0)
    if x >= 18446744073709551616.0:
        return np.uint64(18446744073709551615)
    if x >= 9223372036854775808.0:
        return np.uint64(np.int64(x - 9223372036854775808.0)) + np.uint64(9223372036854775808)
    return np.uint64(np.int64(x))


@_helper
def _frexp_fraction(x):
    return math.frexp(x)[0] if x - x == 0 else np.float64(x)


@_helper
def _frexp_exponent(x):
    return math.frexp(x)[1] if x - x == 0 else 0


@_helper
def _lgamma_near_2(x):
    total = 0.0
    for k in range(len(_LGAMMA_SERIES) - 1, -1, -1):
        total = total * x + _LGAMMA_SERIES[k]
    return x * (_LGAMMA_SLOPE + x * total)


@_helper
def _lgamma(x):
    if x >= 0.5 and x < 1.5:
        return _lgamma_near_2(x - 1.0) - math.log1p(x - 1.0)
    if x >= 1.5 and x < 2.5:
        return _lgamma_near_2(x - 2.0)
    return math.lgamma(x)


@_helper
def _tgamma(x):
    if x < 0 and (x == -np.inf or x == np.floor(x)):
        return np.nan
    if x == 0:
        return math.copysign(np.inf, x)
    return math.gamma(x)


@_helper
def _ieee_remainder(x, y):
    if y == 0 or x != x or y != y or x - x != 0:
        return type(x)(np.nan)
    if y - y != 0:
        return x
    divisor = type(x)(math.fabs(y))
    rest = type(x)(math.fabs(x))
    twice = divisor + divisor
    if twice - twice == 0:
        rest = type(x)(np.fmod(rest, twice))
    half = divisor * type(x)(0.5)
    if half + half != divisor:
        if rest + rest > divisor:
            rest -= divisor
            if rest + rest >= divisor:
                rest -= divisor
    elif rest > half:
        rest -= divisor
        if rest >= half:
            rest -= divisor
    return type(x)(-rest if math.copysign(1.0, x) < 0 else rest)


@_helper
def _binom(n, k):
    if k < 0 or k > n:
        return np.int64(0)
    k = min(k, n - k)
    if k > 62:
        return np.int64(0)
    value = np.int64(1)
    for i in range(1, k + 1):
        factor, divisor = n - k + i, np.int64(i)
        a, b = value, divisor
        while b:
            a, b = b, a % b
        value //= a
        factor //= divisor // a
        if value > 9223372036854775807 // factor:
            return np.int64(0)
        value *= factor
    return value
