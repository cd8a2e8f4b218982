"""Save the picture that an example draws as out/NAME.png, if matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

INK, GREY, LIGHT = "#222831", "#8a93a6", "#e8ebf0"
COLORS = ("#ef476f", "#118ab2", "#ffb703", "#06a77d", "#8338ec", "#fb8500", "#073b4c", "#b5179e")


def save(name: str, draw: Callable[[Any], None], *, wide: float = 8, high: float = 6) -> None:
    """Call `draw` with matplotlib axes, and save the picture."""
    try:
        import matplotlib
    except ImportError:
        print("picture   none: it needs matplotlib (pip install graphla[plot])")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(wide, high), layout="constrained")
    draw(axes)
    path = Path("out") / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"picture   {path}")


def bare(axes: Any, title: str) -> None:
    """Set the title, hide the frame and the ticks of the plot, and scale x and y equally."""
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, color=INK)
