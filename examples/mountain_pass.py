"""Which mountain pass is the lowest? Minimize the maximum height along a path, then its length.

A step from a cell of the terrain to its neighbor is an edge. For the shortest path, the weight
of an edge is its length, and lengths add up (min.+). For the lowest path, the weight of an edge is
the height of its higher end, and only the maximum along the path counts (min.max). The script then
finds the shortest path that visits only cells not higher than the pass, which a mask selects.

python examples/mountain_pass.py
"""

import numpy as np
import picture

import graphla as gl
from graphla import Matrix, Vector
from graphla.algorithms import minimax_path, sssp

SIDE, STEP = 240, 25.0  # cells per side of the map, and meters between adjacent cells


def terrain(rng: np.random.Generator) -> np.ndarray:
    """Return heights in meters: a sum of many waves, where longer waves have larger amplitudes."""
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(SIDE), np.fft.rfftfreq(SIDE), indexing="ij"))
    spectrum = np.fft.rfft2(rng.normal(size=(SIDE, SIDE))) / np.maximum(frequency, 1 / SIDE) ** 1.9
    height = np.fft.irfft2(spectrum, (SIDE, SIDE))
    return 400 + 2600 * (height - height.min()) / np.ptp(height)


height = terrain(np.random.default_rng(16))
z = height.ravel()
n = z.size
rows, columns, _ = gl.generators.grid(SIDE, SIDE).to_coo(values=False)
start, goal = 8 * SIDE + 8, n - 8 * SIDE - 9
length = np.hypot(STEP, z[rows] - z[columns])
A = Matrix.from_coo(rows, columns, length, nrows=n, ncols=n)
H = Matrix.from_coo(rows, columns, np.maximum(z[rows], z[columns]), nrows=n, ncols=n)

# h = h min (h min.max H), until h no longer changes. At the goal, h is the height of the pass.
highest = minimax_path(H, start).heights[goal].value
not_higher = Vector.from_dense(z <= highest)

paths = {}
for what, mask in (("shortest", None), ("lowest", not_higher.V)):
    # d⟨z ≤ h⟩ = d min (d min.+ A)
    distance, parents = sssp(A, start, parents=True, mask=mask)
    path = [goal]
    while path[-1] != start:
        path.append(parents[path[-1]].value)
    paths[what] = path
    meters = distance[goal].value
    print(f"{what:<9}{meters / 1000:6.2f} km, highest point {z[path].max():,.0f} m")


def draw(axes):
    axes.imshow(height, cmap="terrain", vmin=-600, vmax=3100)
    axes.contour(height, levels=12, colors="black", linewidths=0.3)
    for (what, path), color in zip(paths.items(), ("black", "crimson"), strict=True):
        y, x = np.divmod(path, SIDE)
        top = int(z[path].argmax())
        axes.plot(
            x, y, color=color, linewidth=2, label=f"{what}: highest point {z[path].max():,.0f} m"
        )
        axes.plot(x[top], y[top], "^", color=color, markersize=10)
    axes.legend(loc="lower left")
    picture.bare(axes, "The shortest path, and the path with the lowest highest point")


picture.save("mountain_pass", draw, wide=7.5, high=7.5)
