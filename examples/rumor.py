"""When does a rumor die out? People stop telling it once many of their neighbors know it.

Each day, each person who tells the rumor tells it to all neighbors. A person who hears it k times
on one day believes it with probability 1 - 0.8^k, and tells it from the next day on. A person who
tells it, and has k neighbors who know it already, stops with probability 1 - 0.9^k. The model is a
variant of that of D. Maki and M. Thompson (1973). Random numbers are hashes of the person and the
day, so every run gives the same result.

Graph libraries have no function for this model. The loop consists of a few statements, and `gl.jit`
compiles it to one kernel.

python examples/rumor.py
"""

from inspect import unwrap
from time import perf_counter

import numpy as np

import graphla as gl
from graphla import Matrix, Vector, binary, indexunary, replace
from graphla.semiring import plus_pair

jit = getattr(gl, "jit", lambda function: function)
PRIME = 2**31 - 1


def hash_to_unit_interval(_, person, __, day):
    x = (person * 48271 + day * 1299709 + 12345) % PRIME
    x = (x * x + 40503 * x) % PRIME
    return (x * x + 69621 * x) % PRIME / PRIME


draw = indexunary.register_anonymous(hash_to_unit_interval)
# Both functions return whether at least one of k attempts succeeds, given a random number from 0 to
# 1. An attempt succeeds with probability 0.2 in `believes`, and with probability 0.1 in `is_bored`.
believes = binary.register_anonymous(lambda k, luck: 0.8**k < luck)
is_bored = binary.register_anonymous(lambda k, luck: 0.9**k < luck)


@jit
def spread(A: Matrix, first: int) -> Vector:
    """Return the day on which each person believed the rumor. Person `first` starts it on day 0."""
    n, day = A.nrows, 0
    heard, telling, everyone = Vector(int, n), Vector(bool, n), Vector(bool, n)
    told, met, luck = Vector(int, n), Vector(int, n), Vector(float, n)
    convinced, bored = Vector(bool, n), Vector(bool, n)
    everyone << True
    heard[first] = 0
    telling[first] = True
    while telling.nvals:
        day += 1
        luck << draw(everyone, day)
        told(~heard.S, replace) << plus_pair(telling @ A)
        met(telling.S, replace) << plus_pair(A @ heard)
        convinced << believes(told & luck)
        bored << is_bored(met & luck)
        telling(~bored.V, replace) << telling
        telling(convinced.V) << True
        heard(convinced.V) << day
    return heard


def time_of(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


n = 20_000
print(f"{n:,} people with 6 neighbors each; some neighbors are far away\n")
print(f"{'far away':>8}{'hear it':>10}{'last on day':>14}{'most on one day':>18}")
for share in (0.0, 0.02, 0.05, 0.1, 0.2, 1.0):
    A = gl.generators.watts_strogatz(n, 6, share, seed=1)
    heard = spread(A, 0)
    per_day = np.bincount(heard.to_coo()[1])
    print(f"{share:8.0%}{heard.nvals / n:10.1%}{per_day.size - 1:14}{per_day.max():18,}")
    assert heard.isequal(unwrap(spread)(A, 0))

plain, compiled = (time_of(lambda f=f: f(A, 0)) for f in (unwrap(spread), spread))
print(
    f"\nThe last row took {1e3 * plain:.1f} ms without gl.jit, {1e3 * compiled:.1f} ms with gl.jit"
)
