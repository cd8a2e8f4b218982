// Functions that generated operators call where C++17 lacks a function or differs from NumPy.
// With NVRTC, this file includes nothing; with g++, it includes math.h.
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

// Returns x - n * y exactly, where n is the integer nearest to x / y (as in fdlibm). We do not call
// remainder() of glibc, because for subnormal y it returns some zeros with the wrong sign.
template <class T> SEMIRINGS_FUNCTION T ieee_remainder(T x, T y) {
  if (y == 0 || y != y || !is_finite(x)) return (T)SEMIRINGS_NAN;
  if (!is_finite(y)) return x;
  const T divisor = y < 0 ? -y : y, half = divisor * (T)0.5;
  T rest = x < 0 ? -x : x;
  if (is_finite(divisor + divisor)) rest = fmod_of(rest, divisor + divisor);
  if (half + half != divisor) {
    if (rest + rest > divisor) {
      rest -= divisor;
      if (rest + rest >= divisor) rest -= divisor;
    }
  } else if (rest > half) {
    rest -= divisor;
    if (rest >= half) rest -= divisor;
  }
  const T sign = copysign_of((T)1, x);
  return rest == 0 ? copysign_of(rest, x) : sign * rest;
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

template <class T, class U> SEMIRINGS_FUNCTION T shl_int(T x, T n) {
  return n >= 0 && n < (T)(8 * sizeof(T)) ? (T)((U)x << n) : (T)0;
}
template <class T, class U> SEMIRINGS_FUNCTION T shl_uint(T x, T n) {
  return n < (T)(8 * sizeof(T)) ? (T)((U)x << n) : (T)0;
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
