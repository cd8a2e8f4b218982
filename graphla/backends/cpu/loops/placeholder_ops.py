"""Placeholders that make each loop a valid Python file: plus_times on float64."""

IS_ANY = False
"""Whether the monoid is `any`, so that the first value suffices."""
HAS_TERMINAL = False
"""Whether a sum may end early, when it reaches TERMINAL."""
TERMINAL = 0.0
IDENTITY = 0.0
U_FULL = False
"""Whether the vector is full, so that `u_present` is not read."""
IS_VECTOR = False
"""Whether the rows are ranges of one vector; the position of an entry is then (index, 0)."""
HAS_ACCUM = False
"""Whether a new value is combined with an existing entry by accum or replaces the entry."""
LEAST = False
"""Whether the smallest of all possible parents is required."""


def add(x, y):
    """Return x (+) y, for the monoid (+)."""
    return x + y


def product(x, y, i, k, j):
    """Return the term that A(i, k) and B(k, j) contribute to C(i, j), as the monoid's type."""
    return x * y


def term(a, u, o, k):
    """Return the term of u(k) and the matrix entry `a` that joins k and output o."""
    return a * u


def combine(x, y, i, j):
    """Return op(x, y) at (i, j)."""
    return x + y


def left_alone(x, fill, i, j):
    """Return the result for an entry of only the left operand; `fill` may replace the right one."""
    return x


def right_alone(y, fill, i, j):
    """Return the result for an entry of only the right operand; `fill` may replace the left one."""
    return y


def lift(x):
    """Return x as the type of the result."""
    return x


def before(x, y):
    """Return whether x sorts before y."""
    return x < y


def accumulate(c, t, i):
    """Return accum(c, t) at index i of a vector, as the type of c."""
    return c + t


def overflows(a, u):
    """Return whether the product of the integers u and a overflows."""
    return False


def beyond(best, delta):
    """Return the value worse than `best` by delta; if there is none, return the worst value."""
    return best + delta


def wider(delta):
    """Return a delta about twice as large."""
    return delta * 2


def narrower(delta):
    """Return a delta half as large."""
    return delta / 2
