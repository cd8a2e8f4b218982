"""What a loop is written against: here plus_times on float64, so that each file runs as Python."""

IS_ANY = False
"""Whether the monoid is `any`: the first value found will do."""
HAS_TERMINAL = False
"""Whether a fold that reached TERMINAL may stop."""
TERMINAL = 0.0
IDENTITY = 0.0
U_FULL = False
"""Whether every entry of the vector is there, so that `u_present` is not read."""
IS_VECTOR = False
"""Whether the rows are stretches of one vector, whose entries lie at (index, 0)."""
HAS_ACCUM = False
"""Whether an entry that is there already is accumulated into, or replaced."""
LEAST = False
"""Whether of all possible parents the least is wanted."""


def add(x, y):
    """The monoid."""
    return x + y


def product(x, y, i, k, j):
    """What A(i, k) and B(k, j) contribute to C(i, j), of the monoid's type."""
    return x * y


def term(a, u, o, k):
    """What matrix entry a, between k and o, and u(k) contribute to output o."""
    return a * u


def combine(x, y, i, j):
    """op(x, y) at (i, j)."""
    return x + y


def left_alone(x, fill, i, j):
    """What becomes of an entry that the right operand lacks, for which `fill` may stand."""
    return x


def right_alone(y, fill, i, j):
    """What becomes of an entry that the left operand lacks, for which `fill` may stand."""
    return y


def lift(x):
    """A value as the type of the result."""
    return x


def before(x, y):
    """Whether x goes before y."""
    return x < y


def accumulate(c, t, i):
    """accum(c, t) at index i of a vector, as the type of c."""
    return c + t


def overflows(a, u):
    """Whether the product of an integer u by a does not fit."""
    return False


def beyond(best, delta):
    """What is worse than the best by delta; the worst value there is, at most."""
    return best + delta


def wider(delta):
    """A delta about twice as large."""
    return delta * 2


def narrower(delta):
    """A delta half as large."""
    return delta / 2
