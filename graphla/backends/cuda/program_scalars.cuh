// The functions on scalars in compiled loops. They return the same results and report the same
// exceptions as Python.
//
// A function whose Python counterpart can raise an exception has a parameter `fault`. If there is
// an exception, the function sets `fault` to its number (see `ScalarFault`), unless `fault` already
// holds an earlier one. The returned value is then meaningless.
#ifndef GRAPHLA_PROGRAM_SCALARS
#define GRAPHLA_PROGRAM_SCALARS
#include "device.cuh"

namespace graphla {

/// The faults of functions on scalars. `FAULTS` in graphla/program/cuda.py lists their exceptions.
enum ScalarFault {
  NO_FAULT = 0,
  EXCEEDS_64_BITS = 1,
  DIVIDES_BY_ZERO = 2,
  NEGATIVE_SHIFT = 3,
  OUT_OF_DOMAIN = 4,
  OUT_OF_RANGE = 5,
  NAN_TO_INT = 6,
  INFINITY_TO_INT = 7,
  ZERO_TO_NEGATIVE_POWER = 8,
  INDEX_OUT_OF_RANGE = 9,
  POP_FROM_EMPTY_LIST = 10,
  LIST_INDEX_OUT_OF_RANGE = 11,
  COMPLEX_POWER = 12,
  DOES_NOT_FIT = 13,
  SCALAR_FAULTS = 16  // first number for the faults in the list of a program; smaller numbers are
                      // the faults above
};

constexpr i64 LEAST_INT = -i64(~u64(0) >> 1) - 1;

DEVICE i64 refuse(u32 &fault, ScalarFault kind) {
  if (!fault) fault = kind;
  return 0;
}

// --- functions on integers ----------------------------------------------------------------------

DEVICE i64 add_int(i64 x, i64 y, u32 &fault) {
  const i64 z = i64(u64(x) + u64(y));
  return ((x ^ z) & (y ^ z)) < 0 ? refuse(fault, EXCEEDS_64_BITS) : z;
}
DEVICE i64 sub_int(i64 x, i64 y, u32 &fault) {
  const i64 z = i64(u64(x) - u64(y));
  return ((x ^ y) & (x ^ z)) < 0 ? refuse(fault, EXCEEDS_64_BITS) : z;
}
CALL i64 mul_int(i64 x, i64 y, u32 &fault) {
  const i64 z = i64(u64(x) * u64(y));
  const bool is_wrong = (x == -1 && y == LEAST_INT) || (y == -1 && x == LEAST_INT) ||
                        (x != 0 && x != -1 && z / x != y);
  return is_wrong ? refuse(fault, EXCEEDS_64_BITS) : z;
}
CALL i64 floordiv_int(i64 x, i64 y, u32 &fault) {
  if (y == 0) return refuse(fault, DIVIDES_BY_ZERO);
  if (x == LEAST_INT && y == -1) return refuse(fault, EXCEEDS_64_BITS);
  return semirings::floordiv_int<i64>(x, y);
}
CALL i64 mod_int(i64 x, i64 y, u32 &fault) {
  return y == 0 ? refuse(fault, DIVIDES_BY_ZERO) : semirings::mod_int<i64>(x, y);
}
DEVICE i64 neg_int(i64 x, u32 &fault) { return sub_int(0, x, fault); }
DEVICE i64 abs_int(i64 x, u32 &fault) { return x < 0 ? neg_int(x, fault) : x; }
CALL i64 pow_int(i64 x, i64 y, u32 &fault) {
  if (y < 0) return refuse(fault, OUT_OF_DOMAIN);
  i64 power = 1;
  while (true) {
    if (y & 1) power = mul_int(power, x, fault);
    y >>= 1;
    if (!y || fault) return power;
    x = mul_int(x, x, fault);
  }
}
DEVICE i64 lshift_int(i64 x, i64 y, u32 &fault) {
  if (y < 0) return refuse(fault, NEGATIVE_SHIFT);
  if (x == 0) return 0;
  if (y > 62) { return x == -1 && y == 63 ? LEAST_INT : refuse(fault, EXCEEDS_64_BITS); }
  const i64 z = i64(u64(x) << y);
  return z >> y != x ? refuse(fault, EXCEEDS_64_BITS) : z;
}
DEVICE i64 rshift_int(i64 x, i64 y, u32 &fault) {
  if (y < 0) return refuse(fault, NEGATIVE_SHIFT);
  return x >> least(y, i64(63));
}

// --- functions on floating-point numbers --------------------------------------------------------

DEVICE double truediv_float(double x, double y, u32 &fault) {
  return y == 0 ? double(refuse(fault, DIVIDES_BY_ZERO)) : x / y;
}
CALL double floordiv_float(double x, double y, u32 &fault) {
  return y == 0 ? double(refuse(fault, DIVIDES_BY_ZERO)) : semirings::floordiv_float(x, y);
}
CALL double mod_float(double x, double y, u32 &fault) {
  return y == 0 ? double(refuse(fault, DIVIDES_BY_ZERO)) : semirings::mod_float(x, y);
}

/// Checks and returns `result`, which is f(x) for a function f of Python's module math. If x is
/// finite and `result` is infinite, reports a fault: OUT_OF_RANGE if `may_exceed` is true, because
/// the exact result is too large; otherwise OUT_OF_DOMAIN, because x is outside the domain of f. If
/// only `result` is NaN, reports OUT_OF_DOMAIN.
DEVICE double math_result(double result, double x, bool may_exceed, u32 &fault) {
  if (semirings::is_nan(result) && !semirings::is_nan(x)) refuse(fault, OUT_OF_DOMAIN);
  if (semirings::is_inf(result) && semirings::is_finite(x))
    refuse(fault, may_exceed ? OUT_OF_RANGE : OUT_OF_DOMAIN);
  return result;
}
CALL double pow_float(double x, double y, u32 &fault) {
  if (x == 0 && y < 0) return double(refuse(fault, ZERO_TO_NEGATIVE_POWER));
  if (x < 0 && semirings::is_finite(x) && semirings::is_finite(y) && y != floor(y))
    return double(refuse(fault, COMPLEX_POWER));
  const double z = pow(x, y);
  const bool is_exact = !semirings::is_finite(x) || !semirings::is_finite(y);
  if (semirings::is_inf(z) && !is_exact) refuse(fault, OUT_OF_RANGE);
  return z;
}

#define MATH_FUNCTION(name, may_exceed)                \
  CALL double math_##name(double x, u32 &fault) {      \
    return math_result(name(x), x, may_exceed, fault); \
  }
MATH_FUNCTION(sqrt, false)
MATH_FUNCTION(exp, true)
MATH_FUNCTION(log, false)
MATH_FUNCTION(log2, false)
MATH_FUNCTION(log10, false)
MATH_FUNCTION(sin, false)
MATH_FUNCTION(cos, false)
MATH_FUNCTION(tan, false)
MATH_FUNCTION(asin, false)
MATH_FUNCTION(acos, false)
MATH_FUNCTION(atan, false)
MATH_FUNCTION(sinh, true)
MATH_FUNCTION(cosh, true)
MATH_FUNCTION(tanh, false)
MATH_FUNCTION(log1p, false)
MATH_FUNCTION(expm1, true)
MATH_FUNCTION(cbrt, false)
MATH_FUNCTION(erf, false)
MATH_FUNCTION(erfc, false)
MATH_FUNCTION(asinh, false)
MATH_FUNCTION(acosh, false)
MATH_FUNCTION(atanh, false)
#undef MATH_FUNCTION

DEVICE bool is_pole_of_gamma(double x) { return x <= 0 && x == floor(x); }
CALL double math_gamma(double x, u32 &fault) {
  if (is_pole_of_gamma(x)) return double(refuse(fault, OUT_OF_DOMAIN));
  return math_result(tgamma(x), x, true, fault);
}
CALL double math_lgamma(double x, u32 &fault) {
  if (semirings::is_inf(x)) return fabs(x);
  if (is_pole_of_gamma(x)) return double(refuse(fault, OUT_OF_DOMAIN));
  return math_result(lgamma(x), x, true, fault);
}
CALL double math_fmod(double x, double y, u32 &fault) {
  return math_result(fmod(x, y), x + y, false, fault);
}
CALL double math_remainder(double x, double y, u32 &fault) {
  return math_result(remainder(x, y), x + y, false, fault);
}
DEVICE double math_nextafter(double x, double y, u32 &) { return nextafter(x, y); }
DEVICE double math_ldexp(double x, i64 y, u32 &) { return ldexp(x, int(y)); }

CALL i64 math_gcd(i64 x, i64 y, u32 &fault) {
  u64 a = x < 0 ? 0 - u64(x) : u64(x), b = y < 0 ? 0 - u64(y) : u64(y);
  while (b) {
    const u64 rest = a % b;
    a = b;
    b = rest;
  }
  return a >> 63 ? refuse(fault, EXCEEDS_64_BITS) : i64(a);
}
CALL i64 math_isqrt(i64 x, u32 &fault) {
  if (x < 0) return refuse(fault, OUT_OF_DOMAIN);
  u64 root = u64(sqrt(double(x)));
  while (root * root > u64(x)) --root;
  while ((root + 1) * (root + 1) <= u64(x)) ++root;
  return i64(root);
}
CALL i64 math_comb(i64 x, i64 y, u32 &fault) {
  if (x < 0 || y < 0) return refuse(fault, OUT_OF_DOMAIN);
  if (y > x) return 0;
  i64 z = 1;
  for (i64 i = 0; i < least(y, x - y) && !fault; ++i) {
    const i64 shared = math_gcd(z, i + 1, fault);
    z = mul_int(z / shared, (x - i) / ((i + 1) / shared), fault);
  }
  return z;
}
CALL i64 math_perm(i64 x, i64 y, u32 &fault) {
  if (x < 0 || y < 0) return refuse(fault, OUT_OF_DOMAIN);
  if (y > x) return 0;
  i64 z = 1;
  for (i64 i = 0; i < y && !fault; ++i) z = mul_int(z, x - i, fault);
  return z;
}

/// Converts a float without a fractional part to an int.
DEVICE i64 whole_to_int(double x, u32 &fault) {
  if (semirings::is_nan(x)) return refuse(fault, NAN_TO_INT);
  if (semirings::is_inf(x)) return refuse(fault, INFINITY_TO_INT);
  constexpr double END = 9223372036854775808.0;  // 2^63
  if (x >= END || x < -END) return refuse(fault, EXCEEDS_64_BITS);
  return i64(x);
}
DEVICE i64 truncate_to_int(double x, u32 &fault) { return whole_to_int(trunc(x), fault); }
DEVICE i64 round_to_int(double x, u32 &fault) { return whole_to_int(rint(x), fault); }
DEVICE i64 floor_to_int(double x, u32 &fault) { return whole_to_int(floor(x), fault); }
DEVICE i64 ceil_to_int(double x, u32 &fault) { return whole_to_int(ceil(x), fault); }

// --- functions on all types ---------------------------------------------------------------------

template <class T> DEVICE T python_min(T x, T y) { return y < x ? y : x; }
template <class T> DEVICE T python_max(T x, T y) { return y > x ? y : x; }

/// Returns the value of an entry as a Python number: a bool, an int or a float.
template <class T> DEVICE auto python_number(T x, u32 &fault) {
  if constexpr (is_same<T, bool>::value) {
    return x;
  } else if constexpr (is_float<T>::value) {
    return double(x);
  } else if constexpr (is_same<T, u64>::value) {
    return x >> 63 ? refuse(fault, EXCEEDS_64_BITS) : i64(x);
  } else {
    return i64(x);
  }
}

/// Converts a Python number to the type T of an entry. If the number does not fit, reports the
/// fault DOES_NOT_FIT.
template <class T, class X> DEVICE T fit(X x, u32 &fault) {
  if constexpr (is_same<T, bool>::value || is_same<X, bool>::value) {
    return convert<T>(x);
  } else if constexpr (is_float<T>::value) {
    const T value = T(x);
    if constexpr (is_float<X>::value) {
      if (semirings::is_inf(value) && !semirings::is_inf(x)) refuse(fault, DOES_NOT_FIT);
    }
    return value;
  } else {
    // A float x is compared with `end`, which is the largest T plus 1. This power of two is exact
    // as a double; the largest integers of 64 bits are not.
    constexpr bool has_sign = T(-1) < T(0);
    constexpr int bits = 8 * sizeof(T) - has_sign;
    if constexpr (is_float<X>::value) {
      const double end = bits == 64 ? 18446744073709551616.0 : double(u64(1) << (bits & 63));
      const double whole = trunc(x);
      if (!(whole < end && whole >= (has_sign ? -end : 0.0))) return T(refuse(fault, DOES_NOT_FIT));
      return T(whole);
    } else {
      const T value = T(x);
      if (i64(value) != x || (!has_sign && x < 0)) refuse(fault, DOES_NOT_FIT);
      return value;
    }
  }
}

/// Returns the position, from 0 to n - 1, that a Python index refers to. A negative index counts
/// from the end. If the index is out of range, reports the fault `kind`.
DEVICE i64 position_of(i64 index, i64 n, ScalarFault kind, u32 &fault) {
  if (index < -n || index >= n) return refuse(fault, kind);
  return index < 0 ? index + n : index;
}

}  // namespace graphla
#endif
