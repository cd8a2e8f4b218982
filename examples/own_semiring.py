"""Define your own semiring in two lines, check its laws, and run a graph algorithm over it.

How credible is a rumor? Each edge states how much one person trusts another, from 0 to 1.
Along a chain of people, doubts add up (trusts of 0.9 and 0.8 leave 0.7), and among several chains
the most trusted one counts. So the addition is max, and the multiplication is the conjunction of
Łukasiewicz logic: (x and y) = max(0, x + y - 1).

python examples/own_semiring.py
"""

from graphla import Matrix, Vector, binary, closure, monoid, replace, semiring
from semirings import laws, where

doubts_add = binary.register_new("doubts_add", lambda x, y: where(x + y > 1, x + y - 1, 0))
max_doubts = semiring.register_new("max_doubts_add", monoid.max, doubts_add)

print(laws.check(max_doubts, "FP64", laws=["distributive"], domain=laws.UNIT))

people = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn"]
trust = [
    (0, 1, 0.9), (1, 2, 0.8), (2, 5, 0.5), (0, 3, 0.95), (3, 4, 0.75), (4, 5, 0.9), (1, 4, 0.875),
]  # fmt: skip
rows, columns, values = zip(*trust, strict=True)
A = Matrix.from_coo(rows, columns, values, nrows=len(people), ncols=len(people))

belief = Vector(float, len(people))
belief[0] = 1  # Ada saw the event herself, so she fully believes the rumor
told = belief.dup()
while told.nvals:
    # Each person in `told` tells the rumor to acquaintances. People pass the rumor on in the next
    # round only if they now believe it more than before.
    told << max_doubts(told @ A)
    no_news = binary.le(told & belief).new()
    told(~no_news.V, replace) << told
    # b⟨t⟩ = t
    belief(told.S) << told

# One call of `closure` computes the same result: the smallest vector b for which
# b = b max (b max.doubts A) and b = 1 for Ada.
start = Vector.from_coo([0], [1.0], size=len(people))
belief_at_once, from_whom = closure(start, A, max_doubts, parents=True)
assert belief_at_once.isequal(belief)

for person, value in belief.to_dict().items():
    told_by = people[from_whom[person].value]
    print(f"{people[person]:<5} believes the rumor with {value:.3f}, heard from {told_by}")
