"""How much of a load arrives if each street has a limited capacity and takes one ton as a toll?

The streets of a city form a grid from which some streets are missing. Each street has a random
capacity from 100 to 1000 tons. A load that enters a street is reduced to the capacity of the
street, and loses one ton as a toll. So a detour over wider streets pays off only if it is short.
For every crossing, the loop finds the largest load that can arrive there. The example defines a
semiring for this: the addition is max, and the multiplication is min(load, capacity) minus the
toll.

Graph libraries have no function for this problem. The loop consists of a few statements, and
`gl.jit` compiles it to one kernel.

python examples/toll.py
"""

from inspect import unwrap
from itertools import pairwise
from time import perf_counter

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
    """Return the largest load that can arrive at each crossing if `load` starts at `source`."""
    n = A.nrows
    best, news, old = Vector(int, n), Vector(int, n), Vector(bool, n)
    best[source] = news[source] = load
    while news.nvals:
        # n = n max.pay A. Only crossings whose largest load has grown take part in the next round.
        news << largest(news @ A)
        old << binary.le(news & best)
        news(~old.V, replace) << news.select(">", 0)
        best(news.S) << news
    return best


def time_of(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


A = gl.generators.grid(150, 150, drop=0.1, seed=1, weights=(100, 1000), dtype=int)
load, start, end = 1000, 0, 75 * 150 + 75  # from a corner to the center
best = loads(A, start, load)
print(
    f"{load:,} tons leave crossing {start}; some arrive at {best.nvals:,} of {A.nrows:,} crossings"
)


def path_along(parents: Vector) -> list[int]:
    """Return the path from `start` to `end`, given the predecessor of each crossing."""
    path = [end]
    while path[-1] != start:
        path.append(parents[path[-1]].value)
    return path[::-1]


def best_path() -> list[int]:
    """Return a path on which the largest load arrives, by stepping back to the best neighbor."""
    path = [end]
    while path[-1] != start:
        arriving = pay(best & A[:, path[-1]].new()).new().to_dict()
        path.append(max(arriving, key=lambda k: arriving[k]))
    return path[::-1]


left = load
print(f"\n{'to ' + str(end):<14}{'streets':>7}{'narrowest':>11}{'arrives':>9}")
for name, path in {
    "fewest": path_along(bfs(A, start, parents="least").parents),
    "widest": path_along(widest_path(A, start, parents=True).parents),
    "best": best_path(),
}.items():
    along, left = [A[u, v].value for u, v in pairwise(path)], load
    for width in along:
        left = max(0, min(left, width) - TOLL)
    print(f"{name:<14}{len(along):9}{min(along):11}{left:9}")
assert left == best[end].value

plain, compiled = (time_of(lambda f=f: f(A, start, load)) for f in (unwrap(loads), loads))
print(f"\nThe loads took {1e3 * plain:.1f} ms without gl.jit, {1e3 * compiled:.1f} ms with gl.jit")
