"""How much of a load arrives if each road is only so wide, and takes a toll?

Each road of New York gets a random capacity from 100 to 1000 tons. A load that enters a road is cut
to its capacity, and pays one ton for the use of the road. So a detour over wider roads pays off
only if it is short. For every crossing, the loop finds the largest load that can arrive there. It
works with a semiring of its own: the addition is max, and the multiplication is min(load, capacity)
- 1.

No library has a function for this. The loop is a few statements, and `gl.jit` makes it one kernel.

python examples/toll.py
"""

from inspect import unwrap
from itertools import pairwise
from time import perf_counter

import numpy as np

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace, semiring
from graphla.algorithms import bfs, widest_path
from semirings import where

jit = getattr(gl, "jit", lambda function: function)
TOLL = 1

pay = binary.register_anonymous(lambda load, width: where(load < width, load, width) - TOLL)
largest = semiring.register_anonymous(monoid.max, pay)


@jit
def loads(A: Matrix, source: int, load: int) -> Vector:
    """Return the largest load that can arrive at each crossing, if `load` leaves `source`."""
    n = A.nrows
    best, news, old = Vector(int, n), Vector(int, n), Vector(bool, n)
    best[source] = news[source] = load
    while news.nvals:
        # n = n max.pay A. Only crossings at which more than before arrives pass it on.
        news << largest(news @ A)
        old << binary.le(news & best)
        news(~old.V, replace) << news.select(">", 0)
        best(news.S) << news
    return best


def time_of(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


roads = gl.datasets.load("road-NY")
n = roads.nrows
rows, columns, _ = roads.to_coo(values=False)
once = rows < columns
widths = np.random.default_rng(1).integers(100, 1000, int(once.sum()), endpoint=True)
A = Matrix.from_coo(rows[once], columns[once], widths, nrows=n, ncols=n)
A << binary.any(A | A.T)  # both directions

load, start, end = 1000, 140960, 154408  # from the crossing with the most roads
best = loads(A, start, load)
print(f"of {load:,} tons, some arrive at {best.nvals:,} of {n:,} crossings")


def path_along(parents: Vector) -> list[int]:
    """Return the path from `start` to `end`; `parents` holds the crossing before each crossing."""
    path = [end]
    while path[-1] != start:
        path.append(parents[path[-1]].value)
    return path[::-1]


def best_path() -> list[int]:
    """Return a path on which the largest load arrives. Each step back chooses the best neighbor."""
    path = [end]
    while path[-1] != start:
        arriving = pay(best & A[:, path[-1]].new()).new().to_dict()
        path.append(max(arriving, key=lambda k: arriving[k]))
    return path[::-1]


left = load
print(f"\n{'to ' + str(end):<14}{'roads':>7}{'narrowest':>11}{'arrives':>9}")
for name, path in {
    "fewest roads": path_along(bfs(A, start).parents),
    "widest": path_along(widest_path(A, start, parents=True).parents),
    "best": best_path(),
}.items():
    along, left = [A[u, v].value for u, v in pairwise(path)], load
    for width in along:
        left = max(0, min(left, width) - TOLL)
    print(f"{name:<14}{len(along):7}{min(along):11}{left:9}")
assert left == best[end].value

assert best.isequal(unwrap(loads)(A, start, load))
plain, compiled = (time_of(lambda f=f: f(A, start, load)) for f in (unwrap(loads), loads))
print(f"\nthe loads took {1e3 * plain:.1f} ms plain, {1e3 * compiled:.1f} ms with gl.jit")
