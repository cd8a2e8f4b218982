"""Who matters in a network of votes? Compare in-degree, PageRank, HITS and betweenness.

600 members vote for people they trust: mostly members of their own camp, and members who already
have many votes. The network is generated from a seed. Each measure answers a different question:
- votes: how many members trust you?
- PageRank: are the members who trust you trusted themselves?
- authority (HITS): do good voters trust you? hub: do you vote for good members?
- betweenness: are you on the shortest paths from other members to each other?

python examples/who_matters.py
"""

import numpy as np
import picture

from graphla import Matrix, Vector
from graphla.algorithms import betweenness, hits, pagerank
from graphla.monoid import plus

MEMBERS, CAMPS, VOTES = 600, 3, 6


def election(rng: np.random.Generator) -> tuple[Matrix, np.ndarray]:
    """Return the votes of an election as a matrix, and the camp of each member.

    The members vote one after another. Each vote for a member makes further votes for this member
    more likely.
    """
    camp = rng.choice(CAMPS, MEMBERS, p=[0.5, 0.3, 0.2])
    trust = rng.pareto(2.0, MEMBERS) + 0.2
    voters, members = [], []
    for voter in rng.permutation(MEMBERS):
        likely = trust * np.where(camp == camp[voter], 1.0, 0.04)
        likely[voter] = 0
        chosen = rng.choice(MEMBERS, VOTES, replace=False, p=likely / likely.sum())
        trust[chosen] += 0.5
        voters += [voter] * VOTES
        members += chosen.tolist()
    A = Matrix.from_coo(voters, members, True, nrows=MEMBERS, ncols=MEMBERS)
    return A, camp


def dense(x: Vector) -> np.ndarray:
    return x.to_dense(fill_value=0)


A, camp = election(np.random.default_rng(11))
hubs, authorities = hits(A, max_iter=1000)
scores = {
    "votes": dense(A.reduce_columnwise(plus["INT64"]).new()).astype(float),
    "PageRank": dense(pagerank(A)),
    "authority": dense(authorities),
    "hub": dense(hubs),
    "betweenness": dense(betweenness(A)),
}
print("The top ten of each measure (member and camp)\n")
print("".join(f"{what:>14}" for what in scores))
tops = {what: np.argsort(-score, kind="stable")[:10] for what, score in scores.items()}
for place in range(10):
    row = (f"{top[place]} {'ABC'[camp[top[place]]]}" for top in tops.values())
    print("".join(f"{member:>14}" for member in row))

print("\nSimilarity of the orders (Spearman's rank correlation)\n")
ranks = np.array([score.argsort(kind="stable").argsort(kind="stable") for score in scores.values()])
alike = np.atleast_2d(np.corrcoef(ranks))
print(" " * 14 + "".join(f"{what:>14}" for what in scores))
for what, row in zip(scores, alike, strict=True):
    print(f"{what:>14}" + "".join(f"{value:14.2f}" for value in row))


def draw(axes):
    for number in range(CAMPS):
        inside = camp == number
        x, y = scores["PageRank"][inside], scores["betweenness"][inside]
        axes.scatter(x, y, 14, picture.COLORS[number], label=f"camp {'ABC'[number]}")
    for member in {*tops["PageRank"][:5], *tops["betweenness"][:5]}:
        axes.annotate(str(member), (scores["PageRank"][member], scores["betweenness"][member]))
    axes.set_xlabel("PageRank: trusted by trusted members")
    axes.set_ylabel("betweenness: trust passes through them")
    axes.set_title("Importance by two measures", color=picture.INK)
    axes.legend()


picture.save("who_matters", draw)
