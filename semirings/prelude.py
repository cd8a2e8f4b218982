"""The text that stands before printed operators: what Numba and C++ need beyond their own words."""

numba_prelude = """\
import math

import numpy as np
from numba import njit as _njit

_helper = _njit(error_model="numpy", nogil=True)


@_helper
def _abs(x):
    return -x if x < 0 else x


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
        return -x
    return x // y


@_helper
def _floordiv_uint(x, y):
    return np.uint64(0) if y == 0 else x // y


@_helper
def _floordiv_float(x, y):
    if y == 0:
        return x / y
    rest = type(x)(math.fmod(x, y))
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
    rest = type(x)(math.fmod(x, y))
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
        return -x
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
        rest = type(x)(math.fmod(rest, twice))
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
"""

cuda_prelude = """\
#ifndef SEMIRINGS_PRELUDE
#define SEMIRINGS_PRELUDE
#if defined(__CUDACC__)
#define SEMIRINGS_FUNCTION __host__ __device__ inline
#define SEMIRINGS_INF __longlong_as_double(0x7ff0000000000000LL)
#define SEMIRINGS_NAN __longlong_as_double(0x7ff8000000000000LL)
#else
#include <math.h>
#define SEMIRINGS_FUNCTION inline
#define SEMIRINGS_INF __builtin_inf()
#define SEMIRINGS_NAN __builtin_nan("")
#endif

namespace semirings {

template <class T> SEMIRINGS_FUNCTION bool is_nan(T x) { return x != x; }
template <class T> SEMIRINGS_FUNCTION bool is_finite(T x) { return x - x == 0; }
template <class T> SEMIRINGS_FUNCTION bool is_inf(T x) { return x == x && x - x != 0; }

template <class T> SEMIRINGS_FUNCTION T minimum(T x, T y) { return x < y ? x : y; }
template <class T> SEMIRINGS_FUNCTION T maximum(T x, T y) { return x > y ? x : y; }
template <class T> SEMIRINGS_FUNCTION T minimum_float(T x, T y) {
  return x < y || x != x ? x : y;
}
template <class T> SEMIRINGS_FUNCTION T maximum_float(T x, T y) {
  return x > y || x != x ? x : y;
}

template <class T> SEMIRINGS_FUNCTION T negated(T x) { return (T)(0ULL - (unsigned long long)x); }

template <class T> SEMIRINGS_FUNCTION T truncdiv_int(T x, T y, T least, T greatest) {
  if (y == 0) return x < 0 ? least : x > 0 ? greatest : (T)0;
  if (y == (T)-1) return negated(x);
  return (T)(x / y);
}
template <class T> SEMIRINGS_FUNCTION T truncdiv_uint(T x, T y, T greatest) {
  if (y == 0) return x > 0 ? greatest : (T)0;
  return (T)(x / y);
}
template <class T> SEMIRINGS_FUNCTION T floordiv_int(T x, T y) {
  if (y == 0) return 0;
  if (y == (T)-1) return negated(x);
  return (T)(x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0));
}
template <class T> SEMIRINGS_FUNCTION T floordiv_uint(T x, T y) {
  return y == 0 ? (T)0 : (T)(x / y);
}
template <class T> SEMIRINGS_FUNCTION T mod_int(T x, T y) {
  if (y == 0 || y == (T)-1) return 0;
  T rest = (T)(x % y);
  return (T)(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
}
template <class T> SEMIRINGS_FUNCTION T mod_uint(T x, T y) { return y == 0 ? (T)0 : (T)(x % y); }

SEMIRINGS_FUNCTION float fmod_of(float x, float y) { return fmodf(x, y); }
SEMIRINGS_FUNCTION double fmod_of(double x, double y) { return fmod(x, y); }
SEMIRINGS_FUNCTION float floor_of(float x) { return floorf(x); }
SEMIRINGS_FUNCTION double floor_of(double x) { return floor(x); }
SEMIRINGS_FUNCTION float copysign_of(float x, float y) { return copysignf(x, y); }
SEMIRINGS_FUNCTION double copysign_of(double x, double y) { return copysign(x, y); }

template <class T> SEMIRINGS_FUNCTION T floordiv_float(T x, T y) {
  if (y == 0) return x / y;
  T rest = fmod_of(x, y);
  T quotient = (x - rest) / y;
  if (rest != 0 && (y < 0) != (rest < 0)) quotient -= (T)1;
  if (quotient == 0) return copysign_of((T)0, x / y);
  T whole = floor_of(quotient);
  return quotient - whole > (T)0.5 ? whole + (T)1 : whole;
}
template <class T> SEMIRINGS_FUNCTION T mod_float(T x, T y) {
  T rest = fmod_of(x, y);
  if (y == 0) return rest;
  if (rest == 0) return copysign_of((T)0, y);
  return (y < 0) != (rest < 0) ? rest + y : rest;
}

template <class T> SEMIRINGS_FUNCTION T pow_uint(T x, T y) {
  unsigned long long base = x, exponent = y, result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if (exponent & 1) result *= base;
  }
  return (T)result;
}
template <class T> SEMIRINGS_FUNCTION T pow_int(T x, T y, T greatest) {
  if (y < 0) {
    if (x == 0) return greatest;
    if (x == 1) return 1;
    if (x == (T)-1) return (y & 1) ? (T)-1 : (T)1;
    return 0;
  }
  return (T)pow_uint<unsigned long long>((unsigned long long)x, (unsigned long long)y);
}

template <class T, class U> SEMIRINGS_FUNCTION T shl(T x, T n) {
  return n >= 0 && n < (T)(8 * sizeof(T)) ? (T)((U)x << n) : (T)0;
}
template <class T> SEMIRINGS_FUNCTION T shr_int(T x, T n) {
  return n >= 0 && n < (T)(8 * sizeof(T)) ? (T)(x >> n) : (T)(x < 0 ? -1 : 0);
}
template <class T> SEMIRINGS_FUNCTION T shr_uint(T x, T n) {
  return n < (T)(8 * sizeof(T)) ? (T)(x >> n) : (T)0;
}

template <class T> SEMIRINGS_FUNCTION T to_int(double x, T least, T greatest) {
  if (x != x) return 0;
  if (x >= (double)greatest) return greatest;
  if (x <= (double)least) return least;
  return (T)x;
}

SEMIRINGS_FUNCTION float frexp_fraction(float x) {
  int exponent;
  return is_finite(x) ? frexpf(x, &exponent) : x;
}
SEMIRINGS_FUNCTION double frexp_fraction(double x) {
  int exponent;
  return is_finite(x) ? frexp(x, &exponent) : x;
}
SEMIRINGS_FUNCTION int frexp_exponent(double x) {
  int exponent = 0;
  if (is_finite(x)) frexp(x, &exponent);
  return exponent;
}

SEMIRINGS_FUNCTION long long binom(long long n, long long k) {
  if (k < 0 || k > n) return 0;
  if (n - k < k) k = n - k;
  if (k > 62) return 0;
  long long value = 1;
  for (long long i = 1; i <= k; ++i) {
    long long factor = n - k + i, a = value, b = i;
    while (b != 0) {
      long long rest = a % b;
      a = b;
      b = rest;
    }
    value /= a;
    factor /= i / a;
    if (value > 9223372036854775807LL / factor) return 0;
    value *= factor;
  }
  return value;
}

}  // namespace semirings
#endif
"""
