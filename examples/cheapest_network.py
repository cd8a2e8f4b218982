"""What is the cheapest network that connects Europe's capitals? Find a minimum spanning forest.

Any two cities can be joined at a fixed price per kilometer. The minimum spanning forest connects
them all with the smallest total length: it leaves out the longest edge of every cycle. The vertices
of the Graph, and of the result, are labeled with the cities.

python examples/cheapest_network.py
"""

from typing import Any

import numpy as np
import picture

from graphla import Graph, Matrix, select
from graphla.algorithms import spanning_forest

CITIES = {  # for each city, its latitude and its longitude in degrees
    "Amsterdam": (52.4, 4.9), "Athens": (38.0, 23.7), "Belgrade": (44.8, 20.5),
    "Berlin": (52.5, 13.4), "Bern": (46.9, 7.4), "Bratislava": (48.1, 17.1),
    "Brussels": (50.9, 4.4), "Bucharest": (44.4, 26.1), "Budapest": (47.5, 19.0),
    "Copenhagen": (55.7, 12.6), "Dublin": (53.3, -6.3), "Helsinki": (60.2, 24.9),
    "Kyiv": (50.5, 30.5), "Lisbon": (38.7, -9.1), "Ljubljana": (46.1, 14.5),
    "London": (51.5, -0.1), "Madrid": (40.4, -3.7), "Oslo": (59.9, 10.8),
    "Paris": (48.9, 2.4), "Prague": (50.1, 14.4), "Riga": (56.9, 24.1), "Rome": (41.9, 12.5),
    "Sarajevo": (43.9, 18.4), "Skopje": (42.0, 21.4), "Sofia": (42.7, 23.3),
    "Stockholm": (59.3, 18.1), "Tallinn": (59.4, 24.8), "Tirana": (41.3, 19.8),
    "Vienna": (48.2, 16.4), "Vilnius": (54.7, 25.3), "Warsaw": (52.2, 21.0),
    "Zagreb": (45.8, 16.0),
}  # fmt: skip
EARTH = 6371.0  # km

names = list(CITIES)
latitude, longitude = np.radians(list(CITIES.values())).T
# The great-circle distance between each pair of cities, from the cosine of the angle between them.
cosine = np.outer(np.sin(latitude), np.sin(latitude)) + np.outer(
    np.cos(latitude), np.cos(latitude)
) * np.cos(longitude[:, np.newaxis] - longitude)
km = EARTH * np.arccos(np.clip(cosine, -1, 1))
A = select.offdiag(Matrix.from_dense(km)).new()
G = Graph(A, labels=names)

forest: Any = spanning_forest(G).to_dicts()
edges = sorted(
    (length, a, b) for a, others in forest.items() for b, length in others.items() if a < b
)
for length, a, b in edges:
    print(f"{a:<11} - {b:<11}{length:7,.0f} km")
total = sum(length for length, _, _ in edges)
print(f"{total:,.0f} km connect all {len(G)} cities; all pairs together: {km.sum() / 2:,.0f} km")


def draw(axes):
    places = {name: (0.62 * y, x) for name, (x, y) in CITIES.items()}
    for _, a, b in edges:
        line = zip(places[a], places[b], strict=True)
        axes.plot(*line, color=picture.COLORS[1], linewidth=2, zorder=1)
    axes.scatter(*zip(*places.values(), strict=True), 30, picture.COLORS[0], zorder=2)
    for name, place in places.items():
        x = -32 if name == "Vienna" else 4
        y = -11 if name in ("Zagreb", "Tirana", "Budapest", "Skopje") else 4
        axes.annotate(name, place, (x, y), textcoords="offset points", size=8)
    picture.bare(axes, f"The cheapest network of {len(G)} capitals: {total:,.0f} km")


picture.save("cheapest_network", draw, wide=8, high=7)
