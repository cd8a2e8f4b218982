"""Repulsion between all pairs of vertices.

The vertices are processed in blocks. For each other vertex, the innermost loop adds its force to
all vertices of the block, so that the compiler can use vector instructions without changing the
order of any sum.
"""

import numpy as np

BLOCK = 64
FINISHED, STOPPED = range(2)


def repel(
    x,
    y,
    z,
    mass,
    size,
    out_x,
    out_y,
    out_z,
    kept_stop,
    first,
    last,
    has_size,
):
    """Add up m(j) (p(i) - p(j)) / d(i, j)² for each i from `first` to `last` - 1.

    If `has_size` is true, the radii of both vertices are subtracted from their distance.
    """
    for start in range(first, last, BLOCK):
        if kept_stop[0]:
            return STOPPED
        end = min(start + BLOCK, last)
        for j in range(x.size):
            xj, yj, zj, mj, sj = x[j], y[j], z[j], mass[j], size[j]
            for i in range(start, end):
                dx, dy, dz = x[i] - xj, y[i] - yj, z[i] - zj
                square = dx * dx + dy * dy + dz * dz
                if has_size:
                    gap = np.sqrt(square) - size[i] - sj
                    square = gap * gap
                # The vertex itself adds 0, because its differences are 0.
                factor = mj / (square + (i == j))
                out_x[i] += factor * dx
                out_y[i] += factor * dy
                out_z[i] += factor * dz
    return FINISHED
