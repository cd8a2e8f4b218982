"""Graph algorithms. Each file defines its algorithm as a loop of a few GraphBLAS operations."""

from graphla.algorithms._shared.power_iteration import ConvergenceError
from graphla.algorithms.all_parents import AllParents, all_parents
from graphla.algorithms.all_shortest_paths import all_shortest_paths, shortest_paths
from graphla.algorithms.assortativity import (
    attribute_assortativity,
    degree_assortativity,
    numeric_assortativity,
)
from graphla.algorithms.astar import astar_path
from graphla.algorithms.average_path_length import average_path_length
from graphla.algorithms.bellman_ford import bellman_ford, negative_cycle
from graphla.algorithms.betweenness import betweenness, edge_betweenness
from graphla.algorithms.bfs import Traversal, bfs
from graphla.algorithms.biconnected import articulation_points, biconnected_components, bridges
from graphla.algorithms.bipartite import NotBipartite, is_bipartite, two_color
from graphla.algorithms.bipartite_matching import hopcroft_karp_matching
from graphla.algorithms.closeness import closeness
from graphla.algorithms.clustering import average_clustering, clustering, transitivity
from graphla.algorithms.coloring import greedy_color
from graphla.algorithms.complement import complement
from graphla.algorithms.components import component_count, connected_components, is_connected
from graphla.algorithms.condensation import Condensation, condensation
from graphla.algorithms.cores import core_numbers, k_core, k_corona, k_crust, k_shell
from graphla.algorithms.dag_longest_path import dag_longest_path, dag_longest_path_length
from graphla.algorithms.degree import degree, in_degree, out_degree
from graphla.algorithms.density import density
from graphla.algorithms.descendants import ancestors, descendants
from graphla.algorithms.diameter import center, diameter, periphery, radius
from graphla.algorithms.distances import all_pairs_lengths, bfs_levels
from graphla.algorithms.eccentricity import eccentricity
from graphla.algorithms.efficiency import global_efficiency, local_efficiency
from graphla.algorithms.eigenvector import eigenvector
from graphla.algorithms.find_cycle import HasCycle, find_cycle
from graphla.algorithms.force_atlas2 import forceatlas2_layout
from graphla.algorithms.generalized_degree import generalized_degree
from graphla.algorithms.greedy_modularity_communities import greedy_modularity_communities
from graphla.algorithms.harmonic import harmonic
from graphla.algorithms.hits import Hits, hits
from graphla.algorithms.incidence import incidence_matrix
from graphla.algorithms.independent_set import maximal_independent_set
from graphla.algorithms.k_edge_components import k_edge_components
from graphla.algorithms.katz import katz
from graphla.algorithms.label_propagation import label_propagation
from graphla.algorithms.label_propagation_communities import (
    asyn_lpa_communities,
    label_propagation_communities,
)
from graphla.algorithms.laplacian import (
    directed_combinatorial_laplacian_matrix,
    directed_laplacian_matrix,
    laplacian_matrix,
    normalized_laplacian_matrix,
)
from graphla.algorithms.layers import layers
from graphla.algorithms.leiden import leiden
from graphla.algorithms.links import (
    adamic_adar,
    common_neighbors,
    preferential_attachment,
    resource_allocation,
)
from graphla.algorithms.louvain import louvain
from graphla.algorithms.lowest_common_ancestors import lowest_common_ancestors
from graphla.algorithms.matching import maximal_matching
from graphla.algorithms.maximum_flow import (
    MaximumFlow,
    MinimumCut,
    UnboundedFlow,
    maximum_flow,
    minimum_cut,
)
from graphla.algorithms.minimax import MinimaxPaths, minimax_path
from graphla.algorithms.modularity import modularity
from graphla.algorithms.modularity_matrix import modularity_matrix
from graphla.algorithms.neighbor_degree import average_neighbor_degree
from graphla.algorithms.neighborhood import neighborhood
from graphla.algorithms.onion_layers import onion_layers
from graphla.algorithms.pagerank import pagerank
from graphla.algorithms.partition_quality import PartitionQuality, partition_quality
from graphla.algorithms.path_count import path_count
from graphla.algorithms.projection import projected_graph
from graphla.algorithms.random_walks import node2vec_walks, random_walks
from graphla.algorithms.reachable import reachable, transitive_closure
from graphla.algorithms.reciprocity import overall_reciprocity, reciprocity
from graphla.algorithms.reliable import ReliablePaths, most_reliable_path
from graphla.algorithms.rich_club import rich_club
from graphla.algorithms.shortest_path import NoPath, shortest_path, shortest_path_length
from graphla.algorithms.similarity import cosine, jaccard, overlap
from graphla.algorithms.spanning_forest import spanning_forest
from graphla.algorithms.spectral_layout import spectral_layout
from graphla.algorithms.square_clustering import square_clustering
from graphla.algorithms.sssp import ShortestPaths, sssp
from graphla.algorithms.strong_components import is_strongly_connected, strong_components
from graphla.algorithms.structural_holes import constraint, effective_size
from graphla.algorithms.topological_sort import (
    is_directed_acyclic_graph,
    topological_generations,
    topological_sort,
)
from graphla.algorithms.transitive_reduction import transitive_reduction
from graphla.algorithms.triadic_census import triadic_census
from graphla.algorithms.triangles import triangle_count, triangles
from graphla.algorithms.truss import k_truss, truss_numbers
from graphla.algorithms.voterank import voterank
from graphla.algorithms.widest import WidestPaths, widest_path

__all__ = [
    "AllParents",
    "Condensation",
    "ConvergenceError",
    "HasCycle",
    "Hits",
    "MaximumFlow",
    "MinimaxPaths",
    "MinimumCut",
    "NoPath",
    "NotBipartite",
    "PartitionQuality",
    "ReliablePaths",
    "ShortestPaths",
    "Traversal",
    "UnboundedFlow",
    "WidestPaths",
    "adamic_adar",
    "all_pairs_lengths",
    "all_parents",
    "all_shortest_paths",
    "ancestors",
    "articulation_points",
    "astar_path",
    "asyn_lpa_communities",
    "attribute_assortativity",
    "average_clustering",
    "average_neighbor_degree",
    "average_path_length",
    "bellman_ford",
    "betweenness",
    "bfs",
    "bfs_levels",
    "biconnected_components",
    "bridges",
    "center",
    "closeness",
    "clustering",
    "common_neighbors",
    "complement",
    "component_count",
    "condensation",
    "connected_components",
    "constraint",
    "core_numbers",
    "cosine",
    "dag_longest_path",
    "dag_longest_path_length",
    "degree",
    "degree_assortativity",
    "density",
    "descendants",
    "diameter",
    "directed_combinatorial_laplacian_matrix",
    "directed_laplacian_matrix",
    "eccentricity",
    "edge_betweenness",
    "effective_size",
    "eigenvector",
    "find_cycle",
    "forceatlas2_layout",
    "generalized_degree",
    "global_efficiency",
    "greedy_color",
    "greedy_modularity_communities",
    "harmonic",
    "hits",
    "hopcroft_karp_matching",
    "in_degree",
    "incidence_matrix",
    "is_bipartite",
    "is_connected",
    "is_directed_acyclic_graph",
    "is_strongly_connected",
    "jaccard",
    "k_core",
    "k_corona",
    "k_crust",
    "k_edge_components",
    "k_shell",
    "k_truss",
    "katz",
    "label_propagation",
    "label_propagation_communities",
    "laplacian_matrix",
    "layers",
    "leiden",
    "local_efficiency",
    "louvain",
    "lowest_common_ancestors",
    "maximal_independent_set",
    "maximal_matching",
    "maximum_flow",
    "minimax_path",
    "minimum_cut",
    "modularity",
    "modularity_matrix",
    "most_reliable_path",
    "negative_cycle",
    "neighborhood",
    "node2vec_walks",
    "normalized_laplacian_matrix",
    "numeric_assortativity",
    "onion_layers",
    "out_degree",
    "overall_reciprocity",
    "overlap",
    "pagerank",
    "partition_quality",
    "path_count",
    "periphery",
    "preferential_attachment",
    "projected_graph",
    "radius",
    "random_walks",
    "reachable",
    "reciprocity",
    "resource_allocation",
    "rich_club",
    "shortest_path",
    "shortest_path_length",
    "shortest_paths",
    "spanning_forest",
    "spectral_layout",
    "square_clustering",
    "sssp",
    "strong_components",
    "topological_generations",
    "topological_sort",
    "transitive_closure",
    "transitive_reduction",
    "transitivity",
    "triadic_census",
    "triangle_count",
    "triangles",
    "truss_numbers",
    "two_color",
    "voterank",
    "widest_path",
]


def __dir__() -> list[str]:
    return list(__all__)
