"""Describe the backend `graphla` to NetworkX.

`import networkx` imports this module to read the description, so this module may import only the
standard library. Its table lists the NetworkX functions that graphla supports. `graphla.networkx`
imports the implementation of a function when the function is first called. The documentation and
the tests read the same table.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class Function(NamedTuple):
    """How graphla supports one NetworkX function.

    Attributes:
        target: the implementation: "module.function" in the package `graphla.networkx`.
        cost: the cost class, a key of `graphla.networkx.costs.LEAST_EDGES`. It determines how many
            edges a graph must have to be converted.
        rule: the function in `graphla.networkx.rules` that rejects arguments that graphla does
            not support; "" if graphla supports all arguments.
        note: the differences from NetworkX as sentences; "" if there are none.
    """

    target: str
    cost: str
    rule: str = ""
    note: str = ""


FUNCTIONS: dict[str, Function] = {
    # --- centrality -----------------------------------------------------------------------------
    "betweenness_centrality": Function(
        "centrality.betweenness_centrality", "all_pairs", "attribute_weight"
    ),
    "betweenness_centrality_subset": Function(
        "centrality.betweenness_centrality_subset", "linear", "attribute_weight"
    ),
    "closeness_centrality": Function("centrality.closeness_centrality", "all_pairs", "distance"),
    "degree_centrality": Function("centrality.degree_centrality", "local"),
    "edge_betweenness_centrality": Function(
        "centrality.edge_betweenness_centrality", "all_pairs", "attribute_weight"
    ),
    "eigenvector_centrality": Function(
        "centrality.eigenvector_centrality", "iterations", "attribute_weight"
    ),
    "eigenvector_centrality_numpy": Function(
        "centrality.eigenvector_centrality_numpy", "iterations", "attribute_weight"
    ),
    "harmonic_centrality": Function("centrality.harmonic_centrality", "all_pairs", "distance"),
    "hits": Function(
        "centrality.hits",
        "iterations",
        note="The result agrees with NetworkX's within the tolerance `tol`. No value is negative.",
    ),
    "in_degree_centrality": Function("centrality.in_degree_centrality", "local"),
    "katz_centrality": Function("centrality.katz_centrality", "iterations", "attribute_weight"),
    "out_degree_centrality": Function("centrality.out_degree_centrality", "local"),
    "pagerank": Function(
        "centrality.pagerank",
        "iterations",
        "attribute_weight",
        "The result agrees with NetworkX's within the tolerance `tol`.",
    ),
    # --- clustering -----------------------------------------------------------------------------
    "average_clustering": Function("clustering.average_clustering", "products", "attribute_weight"),
    "clustering": Function("clustering.clustering", "products", "attribute_weight"),
    "generalized_degree": Function("clustering.generalized_degree", "products"),
    "square_clustering": Function("clustering.square_clustering", "products"),
    "transitivity": Function("clustering.transitivity", "products"),
    "triangles": Function("clustering.triangles", "products"),
    # --- colorings ------------------------------------------------------------------------------
    "greedy_color": Function(
        "colorings.greedy_color",
        "linear",
        "greedy_color",
        "A user-defined function as `strategy` is rejected. Ties between nodes are resolved by "
        "node order; in some strategies of NetworkX, they depend on the iteration order of a set.",
    ),
    # --- communities ----------------------------------------------------------------------------
    "asyn_lpa_communities": Function(
        "communities.asyn_lpa_communities",
        "iterations",
        "attribute_weight",
        "The same seed gives different communities than in NetworkX.",
    ),
    "fast_label_propagation_communities": Function(
        "communities.fast_label_propagation_communities",
        "iterations",
        "attribute_weight",
        "A node keeps its label if no other label is more frequent among its neighbors.",
    ),
    "greedy_modularity_communities": Function(
        "communities.greedy_modularity_communities", "products", "attribute_weight"
    ),
    "inter_community_edges": Function("communities.inter_community_edges", "linear"),
    "inter_community_non_edges": Function("communities.inter_community_non_edges", "linear"),
    "intra_community_edges": Function("communities.intra_community_edges", "linear"),
    "is_partition": Function("communities.is_partition", "local"),
    "label_propagation_communities": Function(
        "communities.label_propagation_communities", "iterations"
    ),
    "leiden_communities": Function(
        "communities.leiden_communities",
        "build",
        "attribute_weight",
        "Each community is connected. NetworkX itself does not implement this function.",
    ),
    "leiden_partitions": Function(
        "communities.leiden_partitions",
        "build",
        "attribute_weight",
        "Each community is connected. NetworkX itself does not implement this function.",
    ),
    "louvain_communities": Function(
        "communities.louvain_communities",
        "iterations",
        "attribute_weight",
        "The same seed gives different communities than in NetworkX, of about equal modularity.",
    ),
    "louvain_partitions": Function(
        "communities.louvain_partitions",
        "iterations",
        "attribute_weight",
        "The same seed gives different communities than in NetworkX, of about equal modularity.",
    ),
    "modularity": Function("communities.modularity", "linear", "attribute_weight"),
    "partition_quality": Function("communities.partition_quality", "linear"),
    # --- components -----------------------------------------------------------------------------
    "articulation_points": Function("components.articulation_points", "linear"),
    "attracting_components": Function("components.attracting_components", "linear"),
    "biconnected_component_edges": Function("components.biconnected_component_edges", "linear"),
    "biconnected_components": Function("components.biconnected_components", "linear"),
    "bridge_components": Function("components.bridge_components", "linear"),
    "bridges": Function("components.bridges", "linear"),
    "condensation": Function("components.condensation", "linear"),
    "connected_components": Function("components.connected_components", "search"),
    "has_bridges": Function("components.has_bridges", "linear"),
    "is_attracting_component": Function("components.is_attracting_component", "linear"),
    "is_biconnected": Function("components.is_biconnected", "linear"),
    "is_connected": Function("components.is_connected", "search"),
    "is_semiconnected": Function("components.is_semiconnected", "linear"),
    "is_strongly_connected": Function("components.is_strongly_connected", "linear"),
    "is_weakly_connected": Function("components.is_weakly_connected", "search"),
    "k_edge_components": Function("components.k_edge_components", "products"),
    "kosaraju_strongly_connected_components": Function(
        "components.kosaraju_strongly_connected_components", "linear"
    ),
    "node_connected_component": Function("components.node_connected_component", "search"),
    "number_attracting_components": Function("components.number_attracting_components", "linear"),
    "number_connected_components": Function("components.number_connected_components", "search"),
    "number_strongly_connected_components": Function(
        "components.number_strongly_connected_components", "linear"
    ),
    "number_weakly_connected_components": Function(
        "components.number_weakly_connected_components", "search"
    ),
    "strongly_connected_components": Function("components.strongly_connected_components", "linear"),
    "weakly_connected_components": Function("components.weakly_connected_components", "search"),
    # --- cuts -----------------------------------------------------------------------------------
    "boundary_expansion": Function("cuts.boundary_expansion", "local"),
    "conductance": Function("cuts.conductance", "local"),
    "cut_size": Function("cuts.cut_size", "local"),
    "edge_expansion": Function("cuts.edge_expansion", "local"),
    "mixing_expansion": Function("cuts.mixing_expansion", "local"),
    "node_expansion": Function("cuts.node_expansion", "local"),
    "normalized_cut_size": Function("cuts.normalized_cut_size", "local"),
    "volume": Function("cuts.volume", "local"),
    # --- conversions ----------------------------------------------------------------------------
    "from_dict_of_lists": Function("conversions.from_dict_of_lists", "build"),
    "from_numpy_array": Function("conversions.from_numpy_array", "build"),
    "from_pandas_adjacency": Function("conversions.from_pandas_adjacency", "build"),
    "from_pandas_edgelist": Function(
        "conversions.from_pandas_edgelist",
        "build",
        "",
        "For a multigraph, NetworkX builds the graph, and graphla converts it.",
    ),
    "from_scipy_sparse_array": Function("conversions.from_scipy_sparse_array", "build"),
    "is_empty": Function("conversions.is_empty", "local"),
    "is_isolate": Function("conversions.is_isolate", "local"),
    "isolates": Function("conversions.isolates", "local"),
    "number_of_isolates": Function("conversions.number_of_isolates", "local"),
    "number_of_selfloops": Function("conversions.number_of_selfloops", "local"),
    "to_numpy_array": Function("conversions.to_numpy_array", "local"),
    "to_pandas_adjacency": Function("conversions.to_pandas_adjacency", "local"),
    "to_pandas_edgelist": Function("conversions.to_pandas_edgelist", "local"),
    "to_scipy_sparse_array": Function("conversions.to_scipy_sparse_array", "local"),
    # --- cores ----------------------------------------------------------------------------------
    "core_number": Function("cores.core_number", "linear"),
    "k_core": Function("cores.k_core", "linear"),
    "k_corona": Function("cores.k_corona", "linear"),
    "k_crust": Function("cores.k_crust", "linear"),
    "k_shell": Function("cores.k_shell", "linear"),
    "k_truss": Function("cores.k_truss", "products"),
    "onion_layers": Function("cores.onion_layers", "linear"),
    # --- cycles ---------------------------------------------------------------------------------
    "find_cycle": Function("cycles.find_cycle", "linear"),
    # --- functions on directed acyclic graphs ---------------------------------------------------
    "all_pairs_lowest_common_ancestor": Function(
        "dag.all_pairs_lowest_common_ancestor", "products"
    ),
    "ancestors": Function("dag.ancestors", "search"),
    "dag_longest_path": Function("dag.dag_longest_path", "linear"),
    "dag_longest_path_length": Function("dag.dag_longest_path_length", "linear"),
    "descendants": Function("dag.descendants", "search"),
    "has_cycle": Function("dag.has_cycle", "linear"),
    "is_aperiodic": Function("dag.is_aperiodic", "linear"),
    "is_directed_acyclic_graph": Function("dag.is_directed_acyclic_graph", "linear"),
    "lexicographical_topological_sort": Function("dag.lexicographical_topological_sort", "linear"),
    "lowest_common_ancestor": Function("dag.lowest_common_ancestor", "products"),
    "topological_generations": Function("dag.topological_generations", "linear"),
    "topological_sort": Function("dag.topological_sort", "linear"),
    "transitive_closure": Function("dag.transitive_closure", "products"),
    "transitive_closure_dag": Function("dag.transitive_closure_dag", "products"),
    "transitive_reduction": Function("dag.transitive_reduction", "products"),
    # --- flow -----------------------------------------------------------------------------------
    "eppstein_matching": Function(
        "flow.hopcroft_karp_matching",
        "linear",
        note="If there are several maximum matchings, graphla may return a different one.",
    ),
    "hopcroft_karp_matching": Function(
        "flow.hopcroft_karp_matching",
        "linear",
        note="If there are several maximum matchings, graphla may return a different one.",
    ),
    "maximum_flow": Function(
        "flow.maximum_flow",
        "products",
        note="Every `flow_func` of NetworkX is accepted, but graphla uses its own method. If there "
        "are several maximum flows, graphla may return a different one. If `cutoff` is given, the "
        "value of the flow is at most `cutoff`.",
    ),
    "maximum_flow_value": Function(
        "flow.maximum_flow_value",
        "products",
        note="Every `flow_func` of NetworkX is accepted, but graphla uses its own method.",
    ),
    "minimum_cut": Function(
        "flow.minimum_cut",
        "products",
        note="Every `flow_func` of NetworkX is accepted, but graphla uses its own method.",
    ),
    "minimum_cut_value": Function(
        "flow.maximum_flow_value",
        "products",
        note="Every `flow_func` of NetworkX is accepted, but graphla uses its own method.",
    ),
    # --- layouts --------------------------------------------------------------------------------
    "forceatlas2_layout": Function(
        "layouts.forceatlas2_layout",
        "all_pairs",
        "forceatlas2_layout",
        "Rounding differences grow with each round, so the positions agree with those of NetworkX "
        "only if there are few rounds.",
    ),
    # --- link prediction ------------------------------------------------------------------------
    "adamic_adar_index": Function("links.adamic_adar_index", "products"),
    "cn_soundarajan_hopcroft": Function("links.cn_soundarajan_hopcroft", "products"),
    "common_neighbor_centrality": Function(
        "links.common_neighbor_centrality", "all_pairs", "given_pairs"
    ),
    "jaccard_coefficient": Function("links.jaccard_coefficient", "products"),
    "preferential_attachment": Function("links.preferential_attachment", "products"),
    "ra_index_soundarajan_hopcroft": Function("links.ra_index_soundarajan_hopcroft", "products"),
    "resource_allocation_index": Function("links.resource_allocation_index", "products"),
    "within_inter_cluster": Function("links.within_inter_cluster", "products"),
    # --- matrices -------------------------------------------------------------------------------
    "adjacency_matrix": Function("matrices.adjacency_matrix", "linear"),
    "adjacency_spectrum": Function("matrices.adjacency_spectrum", "all_pairs"),
    "directed_combinatorial_laplacian_matrix": Function(
        "matrices.directed_combinatorial_laplacian_matrix", "all_pairs"
    ),
    "directed_laplacian_matrix": Function("matrices.directed_laplacian_matrix", "products"),
    "directed_modularity_matrix": Function("matrices.modularity_matrix", "linear"),
    "incidence_matrix": Function("matrices.incidence_matrix", "linear"),
    "laplacian_matrix": Function("matrices.laplacian_matrix", "linear"),
    "laplacian_spectrum": Function("matrices.laplacian_spectrum", "all_pairs"),
    "modularity_matrix": Function("matrices.modularity_matrix", "linear"),
    "modularity_spectrum": Function("matrices.modularity_spectrum", "all_pairs"),
    "normalized_laplacian_matrix": Function("matrices.normalized_laplacian_matrix", "linear"),
    "normalized_laplacian_spectrum": Function(
        "matrices.normalized_laplacian_spectrum", "all_pairs"
    ),
    # --- paths ----------------------------------------------------------------------------------
    "all_pairs_all_shortest_paths": Function(
        "paths.all_pairs_all_shortest_paths",
        "all_pairs",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "all_pairs_bellman_ford_path": Function(
        "paths.all_pairs_bellman_ford_path",
        "all_pairs",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "all_pairs_bellman_ford_path_length": Function(
        "paths.all_pairs_bellman_ford_path_length",
        "all_pairs",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "all_pairs_dijkstra": Function(
        "paths.all_pairs_dijkstra",
        "all_pairs",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "all_pairs_dijkstra_path": Function(
        "paths.all_pairs_dijkstra_path",
        "all_pairs",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "all_pairs_dijkstra_path_length": Function(
        "paths.all_pairs_dijkstra_path_length",
        "all_pairs",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "all_pairs_shortest_path": Function("paths.all_pairs_shortest_path", "all_pairs"),
    "all_pairs_shortest_path_length": Function("paths.all_pairs_shortest_path_length", "all_pairs"),
    "all_shortest_paths": Function(
        "paths.all_shortest_paths",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "astar_path": Function(
        "paths.astar_path",
        "local",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "astar_path_length": Function(
        "paths.astar_path_length",
        "local",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "average_shortest_path_length": Function(
        "paths.average_shortest_path_length", "all_pairs", "attribute_weight"
    ),
    "bellman_ford_path": Function(
        "paths.bellman_ford_path",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "bellman_ford_path_length": Function(
        "paths.bellman_ford_path_length",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "bellman_ford_predecessor_and_distance": Function(
        "paths.bellman_ford_predecessor_and_distance",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "bidirectional_dijkstra": Function(
        "paths.bidirectional_dijkstra",
        "search",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "bidirectional_shortest_path": Function("paths.bidirectional_shortest_path", "local"),
    "dijkstra_path": Function(
        "paths.dijkstra_path",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "dijkstra_path_length": Function(
        "paths.dijkstra_path_length",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "dijkstra_predecessor_and_distance": Function(
        "paths.dijkstra_predecessor_and_distance",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "find_negative_cycle": Function("paths.find_negative_cycle", "linear", "attribute_weight"),
    "floyd_warshall": Function("paths.floyd_warshall", "all_pairs", "attribute_weight"),
    "floyd_warshall_numpy": Function("paths.floyd_warshall_numpy", "all_pairs", "attribute_weight"),
    "floyd_warshall_predecessor_and_distance": Function(
        "paths.floyd_warshall_predecessor_and_distance", "all_pairs", "attribute_weight"
    ),
    "goldberg_radzik": Function(
        "paths.goldberg_radzik",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "has_path": Function("paths.has_path", "local"),
    "johnson": Function("paths.johnson", "all_pairs", "attribute_weight"),
    "multi_source_dijkstra": Function(
        "paths.multi_source_dijkstra",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "multi_source_dijkstra_path": Function(
        "paths.multi_source_dijkstra_path",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "multi_source_dijkstra_path_length": Function(
        "paths.multi_source_dijkstra_path_length",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "negative_edge_cycle": Function("paths.negative_edge_cycle", "linear", "attribute_weight"),
    "predecessor": Function("paths.predecessor", "search"),
    "shortest_path": Function(
        "paths.shortest_path",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "shortest_path_length": Function(
        "paths.shortest_path_length",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_all_shortest_paths": Function(
        "paths.single_source_all_shortest_paths",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_bellman_ford": Function(
        "paths.single_source_bellman_ford",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_bellman_ford_path": Function(
        "paths.single_source_bellman_ford_path",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_bellman_ford_path_length": Function(
        "paths.single_source_bellman_ford_path_length",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_dijkstra": Function(
        "paths.single_source_dijkstra",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_dijkstra_path": Function(
        "paths.single_source_dijkstra_path",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_dijkstra_path_length": Function(
        "paths.single_source_dijkstra_path_length",
        "linear",
        note="If `weight` is a function, it is called for every edge before the search.",
    ),
    "single_source_shortest_path": Function("paths.single_source_shortest_path", "search"),
    "single_source_shortest_path_length": Function(
        "paths.single_source_shortest_path_length", "search"
    ),
    "single_target_shortest_path": Function("paths.single_target_shortest_path", "search"),
    "single_target_shortest_path_length": Function(
        "paths.single_target_shortest_path_length", "search"
    ),
    # --- relabeling -----------------------------------------------------------------------------
    "convert_node_labels_to_integers": Function(
        "relabeling.convert_node_labels_to_integers", "local", "own_class"
    ),
    "ego_graph": Function("relabeling.ego_graph", "local", "own_class"),
    "is_negatively_weighted": Function("relabeling.is_negatively_weighted", "local"),
    "relabel_nodes": Function("relabeling.relabel_nodes", "local", "relabel_nodes"),
    "to_dict_of_lists": Function("relabeling.to_dict_of_lists", "local"),
    # --- traversal ------------------------------------------------------------------------------
    "bfs_edges": Function("traversal.bfs_edges", "search"),
    "bfs_layers": Function("traversal.bfs_layers", "search"),
    "bfs_predecessors": Function("traversal.bfs_predecessors", "search"),
    "bfs_successors": Function("traversal.bfs_successors", "search"),
    "bfs_tree": Function("traversal.bfs_tree", "linear"),
    "descendants_at_distance": Function("traversal.descendants_at_distance", "local"),
    "dfs_edges": Function("traversal.dfs_edges", "search"),
    "dfs_postorder_nodes": Function("traversal.dfs_postorder_nodes", "search"),
    "dfs_predecessors": Function("traversal.dfs_predecessors", "search"),
    "dfs_preorder_nodes": Function("traversal.dfs_preorder_nodes", "search"),
    "dfs_successors": Function("traversal.dfs_successors", "search"),
    "dfs_tree": Function("traversal.dfs_tree", "linear"),
    "generic_bfs_edges": Function(
        "traversal.generic_bfs_edges",
        "search",
        "generic_bfs_edges",
        "The argument `neighbors` (a function) is rejected.",
    ),
    # --- trees ----------------------------------------------------------------------------------
    "is_arborescence": Function("trees.is_arborescence", "linear"),
    "is_branching": Function("trees.is_branching", "linear"),
    "is_forest": Function("trees.is_forest", "linear"),
    "is_tree": Function("trees.is_tree", "search"),
    "maximum_spanning_edges": Function("trees.maximum_spanning_edges", "linear"),
    "maximum_spanning_tree": Function("trees.maximum_spanning_tree", "linear"),
    "minimum_spanning_edges": Function("trees.minimum_spanning_edges", "linear"),
    "minimum_spanning_tree": Function("trees.minimum_spanning_tree", "linear"),
    # --- assortativity ----------------------------------------------------------------------------
    "attribute_assortativity_coefficient": Function(
        "assortativity.attribute_assortativity_coefficient", "linear"
    ),
    "attribute_mixing_dict": Function("assortativity.attribute_mixing_dict", "linear"),
    "attribute_mixing_matrix": Function("assortativity.attribute_mixing_matrix", "linear"),
    "average_degree_connectivity": Function(
        "assortativity.average_degree_connectivity", "linear", "simple_weight"
    ),
    "average_neighbor_degree": Function(
        "assortativity.average_neighbor_degree", "linear", "simple_weight"
    ),
    "degree_assortativity_coefficient": Function(
        "assortativity.degree_assortativity_coefficient", "linear", "attribute_weight"
    ),
    "degree_mixing_dict": Function(
        "assortativity.degree_mixing_dict", "linear", "attribute_weight"
    ),
    "degree_mixing_matrix": Function(
        "assortativity.degree_mixing_matrix", "linear", "attribute_weight"
    ),
    "degree_pearson_correlation_coefficient": Function(
        "assortativity.degree_pearson_correlation_coefficient", "linear", "attribute_weight"
    ),
    "node_attribute_xy": Function("assortativity.node_attribute_xy", "linear"),
    "numeric_assortativity_coefficient": Function(
        "assortativity.numeric_assortativity_coefficient", "linear"
    ),
    # --- bipartite --------------------------------------------------------------------------------
    "bipartite_average_clustering": Function(
        "bipartite.average_clustering", "products", "undirected"
    ),
    "bipartite_betweenness_centrality": Function(
        "bipartite.betweenness_centrality", "all_pairs", "simple"
    ),
    "bipartite_closeness_centrality": Function("bipartite.closeness_centrality", "all_pairs"),
    "bipartite_degree_centrality": Function("bipartite.degree_centrality", "local"),
    "collaboration_weighted_projected_graph": Function(
        "bipartite.collaboration_weighted_projected_graph", "products"
    ),
    "color": Function("bipartite.color", "search"),
    "density": Function("bipartite.density", "local"),
    "generic_weighted_projected_graph": Function(
        "bipartite.generic_weighted_projected_graph", "products"
    ),
    "is_bipartite": Function("bipartite.is_bipartite", "search"),
    "is_bipartite_node_set": Function("bipartite.is_bipartite_node_set", "linear"),
    "latapy_clustering": Function("bipartite.latapy_clustering", "products", "undirected"),
    "node_redundancy": Function("bipartite.node_redundancy", "products", "undirected"),
    "overlap_weighted_projected_graph": Function(
        "bipartite.overlap_weighted_projected_graph", "products"
    ),
    "projected_graph": Function("bipartite.projected_graph", "products", "projected_graph"),
    "robins_alexander_clustering": Function(
        "bipartite.robins_alexander_clustering", "products", "undirected"
    ),
    "sets": Function("bipartite.sets", "search"),
    "weighted_projected_graph": Function("bipartite.weighted_projected_graph", "products"),
    # --- distances --------------------------------------------------------------------------------
    "barycenter": Function("distances.barycenter", "all_pairs", "barycenter"),
    "center": Function("distances.center", "all_pairs"),
    "diameter": Function("distances.diameter", "all_pairs"),
    "eccentricity": Function("distances.eccentricity", "all_pairs"),
    "gutman_index": Function("distances.gutman_index", "all_pairs", "attribute_weight"),
    "harmonic_diameter": Function("distances.harmonic_diameter", "all_pairs"),
    "hyper_wiener_index": Function("distances.hyper_wiener_index", "all_pairs", "attribute_weight"),
    "periphery": Function("distances.periphery", "all_pairs"),
    "radius": Function("distances.radius", "all_pairs"),
    "schultz_index": Function("distances.schultz_index", "all_pairs", "attribute_weight"),
    "wiener_index": Function("distances.wiener_index", "all_pairs", "attribute_weight"),
    # --- structure --------------------------------------------------------------------------------
    "complement": Function("structure.complement", "products", "simple"),
    "constraint": Function("structure.constraint", "products", "attribute_weight"),
    "effective_size": Function(
        "structure.effective_size",
        "products",
        "attribute_weight",
        "Multigraphs are rejected. If the graph is directed or has weights, `nodes` must be given.",
    ),
    "efficiency": Function("structure.efficiency", "local"),
    "global_efficiency": Function("structure.global_efficiency", "all_pairs"),
    "is_dominating_set": Function("structure.is_dominating_set", "linear"),
    "local_efficiency": Function("structure.local_efficiency", "products"),
    "maximal_independent_set": Function(
        "structure.maximal_independent_set",
        "linear",
        "",
        "The same seed gives a different set than in NetworkX.",
    ),
    "maximal_matching": Function("structure.maximal_matching", "linear"),
    "overall_reciprocity": Function("structure.overall_reciprocity", "linear"),
    "reciprocity": Function("structure.reciprocity", "linear"),
    "reverse": Function("structure.reverse", "local", "reverse"),
    "rich_club_coefficient": Function(
        "structure.rich_club_coefficient",
        "linear",
        "",
        "With `normalized=True`, NetworkX's code performs the random edge swaps on a copy of the "
        "graph.",
    ),
    "s_metric": Function("structure.s_metric", "linear"),
    "triadic_census": Function("structure.triadic_census", "products"),
    "voterank": Function(
        "structure.voterank",
        "products",
        "",
        "Among nodes whose votes are equal up to rounding, the first one is chosen.",
    ),
}
"""Maps each function's dispatch name in NetworkX to its entry. The entries are grouped by the
module of their implementation, and sorted by name within each group."""

_AUTOCONFIG = {
    "NETWORKX_BACKEND_PRIORITY_ALGOS": "graphla",
    "NETWORKX_FALLBACK_TO_NX": "True",
    "NETWORKX_CACHE_CONVERTED_GRAPHS": "True",
}


def get_info() -> dict[str, Any]:
    """Return the description of the backend in the form that NetworkX defines.

    If the environment variable `GRAPHLA_AUTOCONFIG` is "True", also give graphla priority for
    algorithms, enable the fallback to NetworkX, and enable the cache of converted graphs. A
    variable that the user has set keeps its value.
    """
    if os.environ.get("GRAPHLA_AUTOCONFIG", "").strip().lower() == "true":
        _configure()
    return {
        "backend_name": "graphla",
        "project": "graphla",
        "package": "graphla",
        "short_summary": "Graph algorithms as sparse matrix operations, on CPUs and GPUs.",
        "default_config": {"device": None, "min_edges": None},
        "functions": {name: _describe(each) for name, each in FUNCTIONS.items()},
    }


def _describe(function: Function) -> dict[str, str]:
    return {"additional_docs": function.note} if function.note else {}


def _configure() -> None:
    """Set the environment variables that NetworkX reads after its call of `get_info`."""
    for name, value in _AUTOCONFIG.items():
        # NetworkX reads NETWORKX_BACKEND_PRIORITY only if the variable for algorithms is not set.
        if name.endswith("_ALGOS") and "NETWORKX_BACKEND_PRIORITY" in os.environ:
            continue
        os.environ.setdefault(name, value)
