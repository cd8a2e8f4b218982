"""Which members belong together? Compare communities with the split of Zachary's karate club.

The teacher and the president of a karate club quarreled, and the club split in two. W. W. Zachary
(1977) had already recorded which members met outside the club. Louvain's method uses only these
edges, and finds groups with more edges inside than expected by chance, that is, with high
modularity.

python examples/clubs.py
"""

import numpy as np
import picture

import graphla as gl
from graphla import Vector
from graphla.algorithms import louvain, modularity

TEACHER, PRESIDENT = 0, 33
WITH_THE_TEACHER = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21]

A = gl.datasets.load("karate")
n = A.nrows
split = np.full(n, PRESIDENT)
split[WITH_THE_TEACHER] = TEACHER

found = louvain(A, seed=1)
groups = found.to_dense()
for what, parts in (("Louvain", found), ("real split", Vector.from_dense(split))):
    count = np.unique(parts.to_dense()).size
    print(f"{what:<15}{count} groups, modularity {modularity(A, parts):.3f}")

print("\nLouvain's group       members with the teacher   members with the president")
for group in np.unique(groups):
    inside = split[groups == group]
    teacher, president = np.sum(inside == TEACHER), np.sum(inside == PRESIDENT)
    print(f"group of member {group:>2}{teacher:>27}{president:>29}")


def spring(A: gl.Matrix, rounds: int = 300) -> np.ndarray:
    """Return a position for each vertex: a spring layout (Fruchterman and Reingold, 1991)."""
    edges = A.to_dense(fill_value=0).astype(bool)
    points = np.random.default_rng(3).normal(size=(A.nrows, 2))
    for heat in np.linspace(0.3, 0.001, rounds):
        apart = points[:, np.newaxis] - points
        distance = np.maximum(np.hypot(*apart.T), 1e-3)
        force = 0.06 / distance**2 - edges * distance
        step = (apart * force[..., np.newaxis]).sum(1)
        length = np.maximum(np.hypot(*step.T), 1e-9)[:, np.newaxis]
        points += step / length * np.minimum(length, heat)
    return points


def draw(axes):
    points = spring(A)
    rows, columns, _ = A.to_coo(values=False)
    for u, v in zip(rows, columns, strict=True):
        inside = groups[u] == groups[v]
        axes.plot(*points[[u, v]].T, color=picture.GREY if inside else picture.LIGHT, zorder=1)
    for member in range(n):
        number = int(np.flatnonzero(np.unique(groups) == groups[member])[0])
        shape = "o" if split[member] == TEACHER else "s"
        size = 420 if member in (TEACHER, PRESIDENT) else 190
        axes.scatter(*points[member], size, picture.COLORS[number], marker=shape, zorder=2)
        axes.text(*points[member], str(member), ha="center", va="center", color="white", size=8)
    picture.bare(axes, "Color: Louvain's group. Circles: members who stayed with the teacher")


picture.save("clubs", draw, wide=8, high=7)
