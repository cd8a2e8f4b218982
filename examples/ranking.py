"""Who should meet whom? For each member of the karate club, rank the most similar strangers.

The similarity of two strangers is a fraction: the number of friends they share, divided by the
number of people who are friends of at least one of them. Fractions are compared exactly, without
rounding: a/b > c/d if a·d > c·b. Between equal fractions, the one with more common friends comes
first. `top_k` sorts by this user-defined comparison; an entry of the matrix packs both numbers of a
fraction. Equal entries keep the order of their vertices.

python examples/ranking.py
"""

from graphla import Matrix, binary, datasets, select
from graphla.semiring import plus_pair

FEW = 3
BITS = 32
LOW = (1 << BITS) - 1


def comes_before(x, y):
    """Return whether the fraction x comes before the fraction y in the ranking.

    Each fraction is stored as one integer: the numerator times 2^32, plus the denominator.
    """
    a, b, c, d = x >> BITS, x & LOW, y >> BITS, y & LOW
    return (a * d > c * b) | ((a * d == c * b) & (a > c))


A = datasets.load("karate")
n = A.nrows
friends = A.reduce_rowwise("count").new()

# S⟨¬A⟩ = A plus.pair A: the number of friends that two strangers share. The diagonal is dropped.
shared = Matrix("INT64", n, n)
shared(~A.S) << plus_pair(A @ A)
shared << select.offdiag(shared)

# The number of people who are friends of i or of j (or of both) is d(i) + d(j) - S(i, j), where
# d(i) is the number of friends of i.
either = binary.plus(binary.first(friends & shared) & binary.second(shared & friends))
packed = binary.plus(shared * (1 << BITS) & (either - shared)).new()

best, who = packed.top_k(FEW, comes_before)
_, busiest = friends.top_k(12)
print(f"{packed.nvals:,} ordered pairs of strangers have a friend in common\n")
print("member  friends   should meet (friends in common / friends of at least one)")
fractions, strangers, known = best.to_dicts(), who.to_dicts(), friends.to_dict()
for member in busiest.to_dict().values():
    row = zip(strangers[member].values(), fractions[member].values(), strict=True)
    told = "".join(f"{other:>8} ({x >> BITS}/{x & LOW})" for other, x in row)
    print(f"{member:>6}{known[member]:>9}{told}")

(x,), (member,) = (v.to_dict().values() for v in best[:, 0].top_k(1, comes_before))
alike = f"{member} and {strangers[member][0]}, who share {x >> BITS} of {x & LOW} friends"
print(f"\nThe most similar strangers: {alike}.")
