"""Pictures of graphs and matrices, drawn with matplotlib: `draw` and `spy`."""

from graphla.drawing.density import spy
from graphla.drawing.network import draw

__all__ = ["draw", "spy"]
