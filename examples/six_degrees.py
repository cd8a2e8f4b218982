"""Why is everybody only about six handshakes away? Rewire a few edges and measure the distances.

People form a ring, and each person knows the ten nearest people: friends of friends are often
friends, and people on the other side are far away. Now a few of the edges are rewired to random
people. Long before friends of friends stop being friends, all distances are short (D. J. Watts and
S. H. Strogatz, *Collective dynamics of "small-world" networks*, 1998).

python examples/six_degrees.py
"""

import numpy as np
import picture

from graphla import Matrix, binary, monoid
from graphla.algorithms import average_clustering, average_path_length, bfs

PEOPLE, FRIENDS = 500, 10
REWIRED = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def small_world(share: float, rng: np.random.Generator) -> Matrix:
    """Return a ring of which about the fraction `share` of the edges is rewired at random."""
    one = np.repeat(np.arange(PEOPLE), FRIENDS // 2)
    other = (one + np.tile(np.arange(1, FRIENDS // 2 + 1), PEOPLE)) % PEOPLE
    moved = rng.random(one.size) < share
    other[moved] = (one[moved] + rng.integers(1, PEOPLE, moved.sum())) % PEOPLE
    A = Matrix.from_coo(one, other, True, nrows=PEOPLE, ncols=PEOPLE, dup_op="any")
    return binary.any(A | A.T).new()  # acquaintance is mutual


rng = np.random.default_rng(6)
lengths, clusterings = [], []
print(f"{'rewired':>8}{'average distance':>18}{'farthest from 0':>17}{'clustering':>12}")
for share in REWIRED:
    A = small_world(share, rng)
    lengths.append(average_path_length(A))
    clusterings.append(average_clustering(A))
    farthest = bfs(A, 0).levels.reduce(monoid.max).value
    print(f"{share:8.2%}{lengths[-1]:18.2f}{farthest:17}{clusterings[-1]:12.3f}")


def draw(axes):
    for line, mark, what in ((lengths, "o", "average distance"), (clusterings, "s", "clustering")):
        axes.plot(REWIRED[1:], np.array(line[1:]) / line[0], f"-{mark}", label=what)
    axes.set_xscale("log")
    axes.set_xlabel("fraction of rewired edges")
    axes.set_ylabel("relative to the ring")
    axes.set_title("A small world: short distances, and still clustered", color=picture.INK)
    axes.grid(color=picture.LIGHT)
    axes.legend()


picture.save("six_degrees", draw)
