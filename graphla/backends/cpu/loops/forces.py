"""Repulsion between all pairs of vertices.

The vertices are processed in blocks. For each vertex of the graph, the innermost loop adds the
force from this vertex to all vertices of the block, so that the compiler can use vector
instructions without changing the order of any sum. The coordinates and sums of a block are stored
in one array, at fixed offsets that the compiler knows: otherwise it would have to assume that
writing a sum may change a coordinate.
"""

import numpy as np

BLOCK = np.uint64(64)
SCRATCH = np.uint64(7) * BLOCK
AT_2, AT_3, AT_4, AT_5, AT_6 = [np.uint64(k) * BLOCK for k in range(2, 7)]
FINISHED, STOPPED = range(2)


def repel(
    points,
    mass,
    size,
    out_sums,
    kept_blocks,
    kept_stop,
    part,
    first,
    last,
    has_size,
):
    """Write Σ m(j) (p(i) - p(j)) / d(i, j)² over all j for each i from `first` to `last` - 1.

    If `has_size` is true, the radii of both vertices are subtracted from their distance. Each part
    of the loop uses its own SCRATCH elements of `kept_blocks`. `points` and `out_sums` hold all
    first coordinates, then all second ones and all third ones.
    """
    n = np.uint64(mass.size)
    twice = n + n
    base, last = np.uint64(part) * SCRATCH, np.uint64(last)
    for begin in range(first, last, BLOCK):
        if kept_stop[0]:
            return STOPPED
        start = np.uint64(begin)
        count = min(BLOCK, last - start)
        for k in range(count):
            b = base + k
            kept_blocks[b] = points[start + k]
            kept_blocks[b + BLOCK] = points[start + k + n]
            kept_blocks[b + AT_2] = points[start + k + twice]
            kept_blocks[b + AT_3] = size[start + k]
            kept_blocks[b + AT_4] = 0.0
            kept_blocks[b + AT_5] = 0.0
            kept_blocks[b + AT_6] = 0.0
        for j in range(n):
            xj, yj, zj = points[j], points[j + n], points[j + twice]
            mj, sj = mass[j], size[j]
            own = j - start
            # The vertex itself adds 0, because its differences are 0. The 1 that is added to its
            # squared distance only prevents a division by 0.
            if has_size:
                for k in range(count):
                    b = base + k
                    dx = kept_blocks[b] - xj
                    dy = kept_blocks[b + BLOCK] - yj
                    dz = kept_blocks[b + AT_2] - zj
                    gap = np.sqrt(dx * dx + dy * dy + dz * dz) - kept_blocks[b + AT_3] - sj
                    factor = mj / (gap * gap + (k == own))
                    kept_blocks[b + AT_4] += factor * dx
                    kept_blocks[b + AT_5] += factor * dy
                    kept_blocks[b + AT_6] += factor * dz
            else:
                for k in range(count):
                    b = base + k
                    dx = kept_blocks[b] - xj
                    dy = kept_blocks[b + BLOCK] - yj
                    dz = kept_blocks[b + AT_2] - zj
                    factor = mj / (dx * dx + dy * dy + dz * dz + (k == own))
                    kept_blocks[b + AT_4] += factor * dx
                    kept_blocks[b + AT_5] += factor * dy
                    kept_blocks[b + AT_6] += factor * dz
        for k in range(count):
            b = base + k
            out_sums[start + k] = kept_blocks[b + AT_4]
            out_sums[start + k + n] = kept_blocks[b + AT_5]
            out_sums[start + k + twice] = kept_blocks[b + AT_6]
    return FINISHED
