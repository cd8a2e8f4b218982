"""How far does an epidemic spread before everyone has recovered, and what does vaccination change?

Each day, a person with k ill neighbors falls ill with probability 1 - 0.9^k. After five days the
person recovers, and cannot fall ill again. This is the SIR model (W. Kermack and A. McKendrick,
1927), with a fixed recovery time, on a network of contacts. Random numbers are hashes of the
person and the day, so every run gives the same result.

Graph libraries have no function for this model. The loop consists of a few statements, and `gl.jit`
compiles it to one kernel.

python examples/epidemic.py
"""

from inspect import unwrap
from time import perf_counter

import numpy as np

import graphla as gl
from graphla import Matrix, Vector, binary, indexunary, replace
from graphla.semiring import plus_pair

jit = getattr(gl, "jit", lambda function: function)
ILL_FOR = 5  # days
PRIME = 2**31 - 1


def hash_to_unit_interval(_, person, __, day):
    x = (person * 48271 + day * 1299709 + 12345) % PRIME
    x = (x * x + 40503 * x) % PRIME
    return (x * x + 69621 * x) % PRIME / PRIME


draw = indexunary.register_anonymous(hash_to_unit_interval)
# Return whether a person with k ill neighbors falls ill, given a random number from 0 to 1.
catches = binary.register_anonymous(lambda k, luck: 0.9**k < luck)


@jit
def infect(A: Matrix, first: int, immune: Vector) -> Vector:
    """Return the day on which each person fell ill. Person `first` is ill on day 0.

    A person with an entry in `immune` does not fall ill.
    """
    n, day = A.nrows, 0
    infected, ill, everyone = Vector(int, n), Vector(int, n), Vector(bool, n)
    exposed, caught, luck = Vector(int, n), Vector(bool, n), Vector(float, n)
    everyone << True
    infected[first] = 0
    ill[first] = ILL_FOR  # `ill` holds the days until recovery of each ill person
    while ill.nvals:
        day += 1
        luck << draw(everyone, day)
        exposed(~infected.S & ~immune.S, replace) << plus_pair(ill @ A)
        caught << catches(exposed & luck)
        infected(caught.V) << day
        ill << binary.minus(ill, 1)
        ill << ill.select(">", 0)
        ill(caught.V) << ILL_FOR
    return infected


def time_of(call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


n = 20_000
A = gl.generators.watts_strogatz(n, 8, 0.1, seed=1)
# Everyone except person 0, who falls ill first, may be vaccinated.
order = np.random.default_rng(1).permutation(np.arange(1, n))
print(f"{n:,} people with 8 contacts each, {ILL_FOR} days ill\n")
print(f"{'vaccinated':>10}{'fall ill':>10}{'of the others':>15}{'worst day':>11}{'last day':>10}")
for share in (0.0, 0.1, 0.2, 0.3, 0.4):
    immune = Vector.from_coo(order[: int(share * n)], True, size=n)
    infected = infect(A, 0, immune)
    per_day = np.bincount(infected.to_coo()[1])
    ill, others = infected.nvals / n, infected.nvals / (n - immune.nvals)
    worst, last = per_day.argmax(), per_day.size - 1
    print(f"{share:10.0%}{ill:10.1%}{others:15.1%}{worst:11}{last:10}")
    assert infected.isequal(unwrap(infect)(A, 0, immune))

immune = Vector(bool, n)
plain, compiled = (time_of(lambda f=f: f(A, 0, immune)) for f in (unwrap(infect), infect))
print(
    f"\nThe first row took {1e3 * plain:.1f} ms without gl.jit, {1e3 * compiled:.1f} ms with gl.jit"
)
