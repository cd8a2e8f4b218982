"""Find four kinds of best path with the same function: the semiring defines what "best" means.

A truck delivers goods in a small town. For each two-way street we know its length in meters, the
height of its lowest bridge, its steepest slope in percent, and the probability that it is open.

python examples/routes.py
"""

from math import inf

from graphla import Matrix, Vector, binary, closure, semiring

PLACES = ["depot", "mill", "market", "bridge", "school", "harbor"]
STREETS = [  # from, to, length (m), bridge height (m), slope (%), probability of being open
    (0, 1, 400, 3.0, 2, 0.99), (0, 2, 250, 2.5, 8, 0.90), (1, 3, 300, 3.9, 3, 0.95),
    (2, 3, 200, 2.5, 6, 0.80), (2, 4, 600, 3.8, 1, 0.99), (3, 5, 350, 2.8, 9, 0.70),
    (4, 5, 300, 3.6, 4, 0.98), (1, 4, 900, 4.2, 5, 0.97),
]  # fmt: skip
BEST = [  # each item: title, unit, column of STREETS after `from, to`, semiring, value at the depot
    ("shortest", "m", 0, semiring.min_plus, 0.0),
    ("tallest load", "m", 1, semiring.max_min, inf),
    ("least steep", "%", 2, semiring.min_max, -inf),
    ("most reliable", "", 3, semiring.max_times, 1.0),
]

n, depot, harbor = len(PLACES), PLACES.index("depot"), PLACES.index("harbor")
rows, columns, *numbers = zip(*STREETS, strict=True)
no_market = ~Vector.from_coo([PLACES.index("market")], True, size=n).S

for what, unit, k, op, nowhere in BEST:
    A = Matrix.from_coo(rows, columns, numbers[k], dtype=float, nrows=n, ncols=n)
    A << binary.any(A | A.T)
    start = Vector.from_coo([depot], [nowhere], size=n)

    # x = start ⊕ x A, the least solution; and the predecessor of each vertex on its best path
    best, parent = closure(start, A, op, parents=True)

    path = [harbor]
    while path[-1] != depot:
        path.append(parent[path[-1]].value)
    around = closure(start, A, op, mask=no_market).values
    names = " - ".join(PLACES[v] for v in reversed(path))
    print(f"{what:<14}{best[harbor].value:>7.4g} {unit:2} via {names}")
    print(f"{'':<14}{around[harbor].value:>7.4g} {unit:2} without the market")
