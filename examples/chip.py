"""How are the wires of a chip routed? Lee's algorithm: one breadth-first search per wire in a maze.

A chip is a grid of cells. Blocks are obstacles, and so is each wire once it has been placed. The
router searches from one pin until it reaches the other, and goes back along the parents (C. Y. Lee,
*An Algorithm for Path Connections and Its Applications*, 1961). The maze is not a separate graph:
it is the grid under a mask.

python examples/chip.py
"""

import numpy as np
import picture

import graphla as gl
from graphla import Vector
from graphla.algorithms import bfs

WIDE, HIGH, BLOCKS, NETS = 120, 80, 14, 22

rng = np.random.default_rng(2)
A = gl.generators.grid(HIGH, WIDE)  # A[i, j] is present if cells i and j are adjacent
taken = np.zeros((HIGH, WIDE), bool)
for _ in range(BLOCKS):
    top, left = rng.integers((HIGH - 12, WIDE - 16))
    taken[top : top + rng.integers(4, 12), left : left + rng.integers(4, 16)] = True
blocks = taken.copy()

free = np.flatnonzero(~taken)
pins = rng.choice(free, (NETS, 2), replace=False)
pins = pins[np.argsort(np.abs(np.diff(pins % WIDE)) + np.abs(np.diff(pins // WIDE)), axis=0)[:, 0]]
taken.ravel()[pins] = True  # a wire must not cross the pins of another wire

wires = []
for pin, goal in pins:
    taken.ravel()[[pin, goal]] = False
    # The mask selects the free cells, so the search visits only these.
    levels, parents = bfs(A, pin, parents="least", mask=~Vector.from_dense(taken.ravel()).V)
    wire = [int(goal)]
    while wire[-1] != pin and goal in parents:
        wire.append(parents[wire[-1]].value)
    if len(wire) > 1:
        wires.append(wire)
        print(f"{pin:>5} to {goal:>5}: {levels[goal].value:>3} cells of wire")
    else:
        print(f"{pin:>5} to {goal:>5}: no path is left")
    taken.ravel()[[pin, goal, *wire]] = True

print(f"{len(wires)} of {NETS} nets are wired, with {sum(map(len, wires)) - len(wires):,} cells")


def draw(axes):
    axes.imshow(blocks, cmap="Greys", vmin=0, vmax=3)
    for number, wire in enumerate(wires):
        y, x = np.divmod(wire, WIDE)
        color = picture.COLORS[number % len(picture.COLORS)]
        axes.plot(x, y, color=color, linewidth=2)
        axes.plot(x[[0, -1]], y[[0, -1]], "s", color=color, markersize=4)
    missed = np.array([pin for pin in pins if not any(pin[0] in wire for wire in wires)])
    if missed.size:
        axes.plot(missed.ravel() % WIDE, missed.ravel() // WIDE, "x", color=picture.INK)
    picture.bare(axes, f"{len(wires)} of {NETS} nets are wired, each along the shortest free path")


picture.save("chip", draw, wide=9, high=6.2)
