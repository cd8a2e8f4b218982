"""Labeled graphs: `Graph`, and results that use the labels of its vertices."""

from graphla.graph.graph import Graph
from graphla.graph.labelled import LabelledMatrix, LabelledVector
from graphla.graph.labels import Labels

__all__ = ["Graph", "LabelledMatrix", "LabelledVector", "Labels"]
