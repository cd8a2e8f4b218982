"""Draw the levels of one traversal, and the time of each level.

python benchmarks/bfs.py kron-24 --trace kron-24 --json docs/images/levels.json
python benchmarks/draw_levels.py docs/images/levels.json docs/images/levels.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

COLORS = {"push": "#d9822b", "pull": "#2b6cb0"}
INK, GREY, PALE = "#1c2530", "#66707c", "#d4dae1"


def short(count: float) -> str:
    """Format 12345 as 12.3 k."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:g}"


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw a breadth-first search level by level. The upper chart shows, on a log scale, the number
    of vertices in the frontier and the number of edges out of them. The lower chart shows the time
    of each level."""
    levels = found["levels"]
    microseconds = [1e6 * level["seconds"] for level in levels]
    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(9, 5.4), height_ratios=(3, 1.1), layout="constrained"
    )
    _amounts(above, levels)
    total = max(1e6 * found["seconds"], sum(microseconds))
    _times(below, levels, microseconds, total)
    figure.suptitle(
        f"{found['graph']}: one breadth-first search, {len(levels)} levels in {total:,.0f} µs",
        color=INK,
        x=0.01,
        ha="left",
        weight="bold",
    )
    figure.savefig(path, dpi=110)


def _amounts(axes: Any, levels: list[dict[str, Any]]) -> None:
    for k, level in enumerate(levels):
        color = COLORS[_direction(level)]
        for shift, key, alpha in ((-0.2, "nvals_in", 1.0), (0.2, "nvals_out", 0.45)):
            amount = max(level[key], 1)
            axes.bar(k + shift, amount, 0.38, color=color, alpha=alpha)
            axes.text(k + shift, amount * 1.3, short(level[key]), ha="center", size=8, color=INK)
    axes.set_yscale("log")
    axes.set_ylim(0.7, 12 * max(max(x["nvals_in"], x["nvals_out"]) for x in levels))
    axes.set_xticks(
        range(len(levels)), [f"level {k}\n{x['direction']}" for k, x in enumerate(levels)]
    )
    axes.set_title(
        "vertices of the frontier (dark) and edges out of them (light)",
        size=9,
        color=GREY,
        loc="left",
    )
    _plain(axes)


def _times(
    axes: Any, levels: list[dict[str, Any]], microseconds: list[float], total: float
) -> None:
    blocks = [(f"{k}", COLORS[_direction(level)]) for k, level in enumerate(levels)]
    rest = total - sum(microseconds)
    begin = 0.0
    for (name, color), width in zip([*blocks, ("", GREY)], [*microseconds, rest], strict=True):
        axes.barh(0, width, 0.8, begin, color=color, edgecolor="white")
        if width > total / 40:
            where = begin + width / 2
            axes.text(where, 0, name, ha="center", va="center", color="white", weight="bold")
            axes.text(where, -0.62, f"{width:.1f}", ha="center", va="center", size=8, color=INK)
        begin += width
    axes.set_xlim(0, total)
    axes.set_ylim(-0.85, 0.5)
    axes.set_yticks([])
    axes.set_xlabel("microseconds", size=9, color=GREY)
    legend = (("push", 0.58), ("pull", 0.65), ("before the first level, and results", 0.72))
    for name, x in legend:
        color = COLORS.get(name, GREY)
        axes.text(x, 1.1, f"■ {name}", color=color, transform=axes.transAxes, size=9)
    axes.set_title("what each level cost", size=9, color=GREY, loc="left")
    _plain(axes)


def _direction(level: dict[str, Any]) -> str:
    return "pull" if level["direction"].startswith("pull") else "push"


def _plain(axes: Any) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
    axes.tick_params(colors=GREY, labelsize=8, length=0)
    if axes.get_yscale() == "log":
        axes.minorticks_off()
        axes.yaxis.grid(True, color=PALE, linewidth=0.5)
        axes.set_axisbelow(True)


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    found = json.loads(source.read_text())
    draw(found.get("trace") or found, target)
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
