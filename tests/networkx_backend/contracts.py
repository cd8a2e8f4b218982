"""Check results that may differ from NetworkX's and still be correct.

Each function name maps to a check, which compares graphla's result with that of NetworkX. A
function that is not listed must return an equal result (see `agreement.difference`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from networkx_backend.agreement import difference

Check = Callable[[Any, Any, dict[str, Any]], Any]
"""Takes both results and the arguments by name; returns a description of a problem, or None."""


def in_any_order(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept lists with the same elements in any order. The elements must be hashable or sets."""
    bags = [sorted(map(_key, each), key=repr) for each in (expected, found)]
    return None if bags[0] == bags[1] else f"expected {expected!r} in any order, found {found!r}"


def of_one_seed(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any result of the same type: for the same seed, NetworkX returns another result."""
    return None if type(expected) is type(found) else f"expected {expected!r}, found {found!r}"


def maximal_independent(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any maximal independent set of nodes that contains the argument `nodes`."""
    G, chosen = arguments["G"], set(found)
    inside = any(v in chosen for u in chosen for v in G[u])
    complete = all(u in chosen or any(v in chosen for v in G[u]) for u in G)
    has_all = set(arguments.get("nodes") or ()) <= chosen and len(chosen) == len(found)
    return None if has_all and complete and not inside else f"not a maximal set: {found!r}"


def within(tolerance: float) -> Check:
    """Accept numbers that differ by less than a tolerance, or by the argument `tol` of the call."""

    def check(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
        tol = arguments.get("tol")
        n = max(1, len(expected)) if isinstance(expected, Mapping) else 1
        bound = tolerance if tol is None else max(2 * n * tol, 1e-9)
        if not isinstance(expected, Mapping) or not isinstance(found, Mapping):
            return difference(expected, found, bound)
        if expected.keys() != found.keys():
            return f"expected the keys {list(expected)}, found {list(found)}"
        far = [key for key in expected if not abs(expected[key] - found[key]) <= bound]
        return f"values of {far} differ by more than {bound}" if far else None

    return check


def matching(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept a matching of the same size."""
    G = arguments["G"]
    wrong = [u for u, v in found.items() if found.get(v) != u or not G.has_edge(u, v)]
    if wrong:
        return f"{wrong[0]!r} is matched wrongly"
    return None if len(found) == len(expected) else f"{len(expected)} nodes, not {len(found)}"


def flow_value(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept the same value as in NetworkX; with a cutoff, any value that reaches the cutoff."""
    cutoff = arguments["kwargs"].get("cutoff")
    if cutoff is not None and cutoff <= found <= expected:
        return None
    return difference(expected, found)


def flow(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept a flow of the same value that respects the capacities."""
    G, capacity = arguments["flowG"], arguments["capacity"]
    (value, _), (other, flows) = expected, found
    if (problem := flow_value(value, other, arguments)) is not None:
        return problem
    excess = dict.fromkeys(G, 0)
    for u in G:
        for v, f in flows[u].items():
            if not 0 <= f <= G[u][v].get(capacity, f):
                return f"the flow from {u!r} to {v!r} is {f}"
            excess[u] -= f
            excess[v] += f
    ends = {arguments["_s"]: -other, arguments["_t"]: other}
    far = [v for v in G if abs(excess[v] - ends.get(v, 0)) > 1e-9 * max(1, abs(value))]
    return f"flow is not conserved at {far}" if far else None


def hub_scores(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept hub and authority scores within the tolerance, of either sign if not normalized."""
    check = within(1e-7)
    for one, other in zip(expected, found, strict=True):
        one = one if arguments["normalized"] else {v: abs(x) for v, x in one.items()}
        if (problem := check(one, other, arguments)) is not None:
            return problem
    return None


def edge_sets(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept lists of undirected edges in any order; the two ends of an edge may be swapped."""
    sets = [{frozenset(map(frozenset, part)) for part in each} for each in (expected, found)]
    same = sets[0] == sets[1] and len(expected) == len(found)
    return None if same else f"expected {expected!r} in any order, found {found!r}"


def longest_path(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept another path of the same length in the graph."""
    G, weight = arguments["G"], arguments["weight"]

    def length(path: Any) -> float:
        edges = [G[u][v] for u, v in pairwise(path)]
        edges = [max(each.values(), key=_weight) if G.is_multigraph() else each for each in edges]
        return sum(map(_weight, edges))

    def _weight(data: Any) -> Any:
        return data.get(weight, arguments["default_weight"])

    same = length(expected) == length(found)
    return None if same else f"expected {expected!r} or as long a path, found {found!r}"


def communities(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any partition whose modularity is not much lower than that of NetworkX."""
    G, options = arguments["G"], {key: arguments[key] for key in ("weight", "resolution")}
    if not nx.community.is_partition(G, found):
        return f"not a partition: {found!r}"
    if nx.is_empty(G) or isinstance(expected, NotImplementedError):
        return None
    theirs, ours = (nx.community.modularity(G, each, **options) for each in (expected, found))
    far = ours < theirs - 0.05 - 0.1 * abs(theirs)
    return f"expected a modularity of {theirs}, found {ours}" if far else None


def connected_communities(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any partition into connected communities, and a ValueError if `max_level` <= 0."""
    G, level = arguments["G"], arguments.get("max_level")
    if level is not None and level <= 0:
        return None if isinstance(found, ValueError) else f"expected ValueError, found {found!r}"
    apart = [part for part in found if not nx.is_connected(G.subgraph(part))]
    problem = communities(expected, found, arguments)
    return f"not connected: {apart[0]!r}" if apart else problem


def of_each_level(check: Check) -> Check:
    """Return a check for lists of partitions.

    The returned check accepts a list if all items are partitions, and if `check` accepts the last
    item. `check` compares the last item with the last partition of NetworkX.
    """

    def check_levels(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
        G = arguments["G"]
        if not all(nx.community.is_partition(G, each) for each in found):
            return f"not partitions: {found!r}"
        last = expected if isinstance(expected, NotImplementedError) else expected[-1]
        return check(last, found[-1], arguments)

    return check_levels


def frequent_labels(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any partition in which each node's community is most frequent among its neighbors."""
    G, weight = arguments["G"], arguments["weight"]
    if not nx.community.is_partition(G, found):
        return f"not a partition: {found!r}"
    part_of = {v: k for k, part in enumerate(found) for v in part}
    for v in G:
        counts: Counter[int] = Counter()
        for w in nx.all_neighbors(G, v) if weight is None else G[v]:
            data = G[v][w] if weight is not None else {}
            counts[part_of[w]] += data.get(weight, 1) if not G.is_multigraph() else 0
        if counts and not G.is_directed() and counts[part_of[v]] < max(counts.values()):
            return f"{v!r} is not in a most frequent community of its neighbors"
    return None


def positions(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any finite positions, because rounding differences grow with each round."""
    if list(expected) != list(found):
        return f"expected the nodes {list(expected)}, found {list(found)}"
    shapes = {x.shape for x in (*expected.values(), *found.values())}
    are_finite = all(np.isfinite(x).all() for x in found.values())
    return None if len(shapes) <= 1 and are_finite else f"not valid positions: {found!r}"


def lowest_ancestor(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any common ancestor without a descendant that is also a common ancestor."""
    G, ends = arguments["G"], (arguments["node1"], arguments["node2"])
    if expected == found:
        return None
    common = set.intersection(*(nx.ancestors(G, v) | {v} for v in ends))
    is_lowest = found in common and not nx.descendants(G, found) & common
    return None if is_lowest else f"{found!r} is not a lowest common ancestor of {ends!r}"


def lowest_ancestors(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any lowest common ancestor of each pair."""
    if {frozenset(pair) for pair, _ in expected} != {frozenset(pair) for pair, _ in found}:
        return f"expected the pairs {expected!r}, found {found!r}"
    for (u, v), ancestor in found:
        ends = {"G": arguments["G"], "node1": u, "node2": v}
        if (problem := lowest_ancestor(None, ancestor, ends)) is not None:
            return problem
    return None


def negative_cycle(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any closed walk of negative weight that the source reaches."""
    G, weight = arguments["G"], arguments["weight"]
    reached = nx.descendants(G, arguments["source"]) | {arguments["source"]}
    if found[0] != found[-1] or not reached.issuperset(found):
        return f"not a cycle that the source reaches: {found!r}"
    total = sum(_least_weight(G, u, v, weight) for u, v in pairwise(found))
    return None if total < 0 else f"the weight of {found!r} is {total}"


def predecessors(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept other predecessors on shortest paths of the same lengths."""
    G, weight = arguments["G"], arguments["weight"]
    (before, lengths), (other, others) = expected, found
    if (problem := difference(lengths, others)) is not None:
        return problem
    for u, parents in before.items():
        if parents.keys() != other.get(u, {}).keys():
            return f"expected the keys {list(parents)} for {u!r}, found {other.get(u)!r}"
        for v, p in other[u].items():
            path = others[u][p] + _least_weight(G, p, v, weight)
            if (problem := difference(others[u][v], path)) is not None:
                return f"{p!r} does not precede {v!r} on a shortest path from {u!r}: {problem}"
    return None


def shortest_paths(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept other paths of the same lengths from each node to each other node."""
    G, weight = arguments["G"], arguments["weight"]
    for (u, paths), (v, others) in zip(expected, found, strict=True):
        if u != v or paths.keys() != others.keys():
            return f"expected the paths {paths} from {u!r}, found {others} from {v!r}"
        for w, path in paths.items():
            both: Any = [
                sum(_least_weight(G, *edge, weight) for edge in pairwise(each))
                for each in (path, others[w])
                if (each[0], each[-1]) == (u, w)
            ]
            if len(both) < 2 or difference(*both) is not None:
                return f"expected {path} or as short a path, found {others[w]}"
    return None


def _least_weight(G: Any, u: Any, v: Any, weight: Any) -> Any:
    """Return the least weight of the edges from u to v."""
    edges = G[u][v].values() if G.is_multigraph() else [G[u][v]]
    return min(data.get(weight, 1) for data in edges)


def coloring(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept a coloring that the strategy allows.

    The coloring must equal that of NetworkX if the strategy resolves ties by the order of the
    nodes. Otherwise, unless colors were interchanged, each node must have neighbors of all smaller
    colors.
    """
    G, name = arguments["G"], str(arguments["strategy"])
    if any(part in name for part in ("largest_first", "DSATUR")):
        return difference(expected, found)
    if found.keys() != expected.keys():
        return f"expected the keys {list(expected)}, found {list(found)}"
    for v in G:
        near = {found[w] for w in G[v] if w != v}
        is_least = arguments["interchange"] or near.issuperset(range(found[v]))
        if found[v] in near or not is_least:
            return f"not a greedy coloring at {v!r}: {found!r}"
    return None


def _key(part: Any) -> Any:
    unordered = isinstance(part, Iterable) and not isinstance(part, str | bytes | tuple)
    return sorted(map(repr, part)) if unordered else repr(part)


CONTRACTS: dict[str, Check] = {
    "all_pairs_bellman_ford_path": shortest_paths,
    "all_pairs_lowest_common_ancestor": lowest_ancestors,
    "asyn_lpa_communities": frequent_labels,
    "fast_label_propagation_communities": frequent_labels,
    "label_propagation_communities": in_any_order,
    "leiden_communities": connected_communities,
    "leiden_partitions": of_each_level(connected_communities),
    "louvain_communities": communities,
    "louvain_partitions": of_each_level(communities),
    "maximal_independent_set": maximal_independent,
    "eppstein_matching": matching,
    "find_negative_cycle": negative_cycle,
    "floyd_warshall_predecessor_and_distance": predecessors,
    "forceatlas2_layout": positions,
    "greedy_color": coloring,
    "hits": hub_scores,
    "hopcroft_karp_matching": matching,
    "maximum_flow": flow,
    "maximum_flow_value": flow_value,
    "minimum_cut_value": flow_value,
    "biconnected_component_edges": edge_sets,
    "connected_components": in_any_order,
    "dag_longest_path": longest_path,
    "k_edge_components": in_any_order,
    "kosaraju_strongly_connected_components": in_any_order,
    "lowest_common_ancestor": lowest_ancestor,
    "pagerank": within(1e-6),
}
