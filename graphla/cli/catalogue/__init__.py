"""The table of algorithms, with everything that the command line needs to know about each."""

from graphla.cli.catalogue.centrality import CENTRALITY
from graphla.cli.catalogue.cohesion import COHESION
from graphla.cli.catalogue.distances import DISTANCES
from graphla.cli.catalogue.entry import Algorithm
from graphla.cli.catalogue.groups import GROUPS
from graphla.cli.catalogue.parts import PARTS
from graphla.cli.catalogue.paths import PATHS
from graphla.cli.catalogue.structure import STRUCTURE

ALGORITHMS = (*PATHS, *DISTANCES, *CENTRALITY, *PARTS, *COHESION, *STRUCTURE, *GROUPS)

__all__ = ["ALGORITHMS", "Algorithm"]
