"""How far can you travel in n minutes? Draw isochrones of New York City's roads.

The dataset lists the two crossings that each road joins, but not the travel time, so each road gets
a random time from 10 to 40 seconds. The script computes the shortest travel times from one
crossing, and divides them into bands.

python examples/isochrones.py [MINUTES]
"""

import sys

import numpy as np
import picture
from demo import map_of

import graphla as gl
from graphla import Matrix, binary
from graphla.algorithms import bfs, sssp

minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
roads = gl.datasets.load("road-NY")
n = roads.nrows
rows, columns, _ = roads.to_coo(values=False)
once = rows < columns
rows, columns = rows[once], columns[once]
seconds = np.random.default_rng(1).integers(10, 40, rows.size, endpoint=True)
A = Matrix.from_coo(rows, columns, seconds, nrows=n, ncols=n)
A << binary.any(A | A.T)  # both directions

home = 140960  # the crossing with the most roads
# d = d min (d min.+ A)
minute = sssp(A, home).distances.to_dense() / 60
print(f"crossings that can be reached from crossing {home}")
for band in np.linspace(minutes / 6, minutes, 6):
    inside = np.count_nonzero(minute <= band)
    print(f"in {band:3.0f} minutes: {inside:>8,}, {inside / n:6.1%} of all")


def draw(axes):
    from matplotlib.collections import LineCollection

    points = map_of(roads, bfs(roads, home).levels)
    axes.plot(*points[minute > minutes].T, ",", color="#d4d8de")
    near = np.flatnonzero(np.maximum(minute[rows], minute[columns]) <= minutes)
    lines = list(np.stack([points[rows[near]], points[columns[near]]], axis=1))
    shades = {"array": minute[rows[near]], "cmap": "turbo_r", "clim": (0, minutes)}
    drawn = axes.add_collection(LineCollection(lines, linewidths=0.5, **shades))
    axes.plot(*points[home], "o", color="black", markersize=5)
    axes.figure.colorbar(drawn, ax=axes, label="minutes", shrink=0.5)
    picture.bare(
        axes, f"New York: {minutes:g} minutes from one crossing (computed layout, not a map)"
    )


picture.save("isochrones", draw, wide=9, high=6.6)
