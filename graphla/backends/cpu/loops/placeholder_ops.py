"""Placeholder definitions of operators (plus_times on float64).

Loops import these placeholders, so that each file of loops is a valid Python file. Before Numba
compiles a loop, the loader replaces the placeholders with the operators that a call needs.
"""

import numpy as np

IS_ANY = False
"""Whether the monoid is `any`, so that a sum is its first term."""
HAS_TERMINAL = False
"""Whether a sum may stop before its last term, because no term changes the value TERMINAL."""
TERMINAL = 0.0
IDENTITY = 0.0
U_FULL = False
"""Whether the vector is full, so that `u_present` is not read."""
IS_VECTOR = False
"""Whether the operands are vectors. In this case, each row of the loop is a range of the vector,
and the position of an entry is (index, 0)."""
HAS_ACCUM = False
"""Whether accum combines a new value with an existing entry; if not, the value replaces it."""
LEAST = False
"""Whether a vertex with several possible parents must get the smallest of them."""


IS_SHARED = False
"""Whether several threads run the loop on the same arrays."""
HAS_SUPPORT = False
"""Whether the loop counts the triangles of each edge in addition to the total."""
HAS_PARENTS = False
"""Whether the loop writes parents."""
RANGES = 1
"""Number of ranges of vertices that the loop processes at the same time."""
INFINITE = np.inf
"""The largest value of the dtype, which stands for a missing value."""


def add(x, y):
    """Return x (+) y, for the monoid (+)."""
    return x + y


def product(x, y, i, k, j):
    """Return the term that A(i, k) and B(k, j) contribute to C(i, j), in the monoid's dtype."""
    return x * y


def term(a, u, o, k):
    """Return the term of output o for index k.

    `u` is the value of the vector at k, and `a` is the value of the matrix entry for o and k.
    """
    return a * u


def combine(x, y, i, j):
    """Return op(x, y) at (i, j)."""
    return x + y


def left_alone(x, fill, i, j):
    """Return the result at (i, j), where only the left operand has an entry, namely x.

    `fill` is the value that may replace the missing entry of the right operand.
    """
    return x


def right_alone(y, fill, i, j):
    """Return the result at (i, j), where only the right operand has an entry, namely y.

    `fill` is the value that may replace the missing entry of the left operand.
    """
    return y


def lift(x):
    """Return x cast to the dtype of the result."""
    return x


def before(x, y):
    """Return whether x sorts before y."""
    return x < y


def selects(x, i, j, thunk):
    """Return whether to keep the entry x at (i, j)."""
    return True


def accumulate(c, t, i):
    """Return accum(c, t) at index i of a vector, in the dtype of c."""
    return c + t


def overflows(a, u):
    """Return whether the product of the integers u and a overflows."""
    return False


def beyond(best, delta):
    """Return the value that is worse than `best` by `delta`.

    This is best + delta if smaller values are better. If this value does not fit in the dtype,
    return the worst value of the dtype.
    """
    return best + delta


def wider(delta):
    """Return about twice `delta`, the bucket width."""
    return delta * 2


def narrower(delta):
    """Return half of `delta`, the bucket width."""
    return delta / 2


def bucket(value, base, width):
    """Return the number of the bucket of a value that is at least `base`."""
    return int((value - base) * width)


def called(function):
    """Decorate a function that Numba compiles only once, for all its calls.

    Without this decorator, Numba inlines each call of a function that takes arrays, and compiles
    the function again each time. A call of a decorated function copies the descriptors of its array
    arguments, so the function should process at least a whole row.
    """
    return function


def local_array(size, dtype):
    """Return a new array of a constant size, which exists during one call of the loop."""
    return np.empty(size, dtype)


def compare_and_swap(array, index, old, new):
    """Atomically set array[index] to `new` if it equals `old`, and return whether it did."""
    is_equal = array[index] == old
    if is_equal:
        array[index] = new
    return is_equal


def exchange(array, index, new):
    """Atomically set array[index] to `new`, and return its previous value."""
    old = array[index]
    array[index] = new
    return old


def fetch_add(array, index, value):
    """Atomically add a number to array[index], and return its previous value."""
    old = array[index]
    array[index] = old + value
    return old


def fetch_or(array, index, value):
    """Atomically set the bits of `value` in array[index], and return its previous value."""
    old = array[index]
    array[index] = old | value
    return old


def watch(array, index):
    """Yield to other threads, and then return array[index]. Loops call this while they wait for
    another thread."""
    return array[index]


def call_entry(entry, arguments, thread):
    """Call the function at the address `entry` with the address of its arguments and a thread
    number, and return its result."""
    return 0


def wait_while(array, index, value):
    """Sleep while the lower half of array[index] equals `value`, until `wake` is called.

    The function may also return earlier.
    """
    return 0


def wake(array, index, count):
    """Wake up to `count` threads that sleep in `wait_while` for this element."""
    return 0


def view(address, size, dtype):
    """Return the array of `size` elements of a dtype that begins at an address."""
    return np.empty(size, dtype)


def call(address, a, b, c, d, w, r):
    """Call the function at an address, and return its value."""
    return 0


def prefetch(address):
    """Load the memory at an address into the cache, without waiting for it."""


def prefetch_element(array, index):
    """Load array[index] into the cache, without waiting for it."""
