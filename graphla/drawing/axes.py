"""The matplotlib Axes that a picture is drawn on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphla.io.files import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#2b2f36"
GRAY = "#9aa1ab"
PALE = "#d5d9df"


def given_or_new(ax: Any, size: tuple[float, float]) -> Axes:
    """Return `ax` if it is given, otherwise the Axes of a new figure of this size in inches.

    Raises:
        PackageMissing: matplotlib is not installed.
        TypeError: `ax` is not an Axes.
    """
    import_optional("matplotlib", "plot", "drawing")
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be a matplotlib Axes, not a {type(ax).__name__}")
    return ax
