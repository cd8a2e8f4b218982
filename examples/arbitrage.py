"""Can you make a profit by exchanging money through several currencies and back to the first?

Exchange rates multiply, and logarithms turn products into sums: let each edge have the weight
-log(rate). A cycle of exchanges makes a profit if the product of its rates is above 1, that is, if
the sum of its weights is below 0. Bellman-Ford finds such a cycle, or, if there is none, the best
sequence of exchanges from one currency to another. The rates are fictitious. They are consistent,
except that one rate is slightly too high.

python examples/arbitrage.py
"""

from itertools import pairwise
from math import exp, log
from typing import Any

from graphla import Graph
from graphla.algorithms import bellman_ford, negative_cycle

WORTH = {"EUR": 1.0, "USD": 0.92, "GBP": 1.17, "CHF": 1.04, "JPY": 0.0061, "SEK": 0.087}
FEE = 0.001


def rates(mistake: float) -> dict[tuple[str, str], float]:
    fair = {(a, b): WORTH[a] / WORTH[b] * (1 - FEE) for a in WORTH for b in WORTH if a != b}
    fair["CHF", "SEK"] *= 1 + mistake
    return fair


for mistake in (0.002, 0.006):
    rate = rates(mistake)
    G = Graph.from_edges([(a, b, -log(value)) for (a, b), value in rate.items()], directed=True)
    print(f"\nThe rate from CHF to SEK is {mistake:.1%} too high:")
    cycle: Any = negative_cycle(G)
    if cycle is None:
        # d = d min (d min.+ A)
        distance = bellman_ford(G, "EUR").distances.to_dict()
        print("  no cycle makes a profit; 100 EUR buy")
        for money, d in distance.items():
            direct = 100 * rate.get(("EUR", money), 1)
            print(f"  {100 * exp(-d):12,.2f} {money} at best, {direct:12,.2f} directly")
        continue
    purse = 1000.0
    for a, b in pairwise(cycle):
        purse *= rate[a, b]
        print(f"  {a} to {b}: {purse:12,.2f} {b}")
    print(f"  1,000 {cycle[0]} become {purse:,.2f} {cycle[0]}")
