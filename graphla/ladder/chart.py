"""Draw a comparison as a bar chart with one bar per strategy (matplotlib)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphla.ladder.rows import Comparison
from semirings.exceptions import InvalidValue

INK, GREY, PALE = "#1c2530", "#66707c", "#e3e7ec"
BAR, FASTEST = "#9db4cc", "#d9662b"
DECADES = 20.0
"""The scale is logarithmic if the fastest speed exceeds the slowest by more than this factor."""


def engineering(value: float, unit: str = "", digits: int = 3) -> str:
    """Format 12,345 as "12.3 k", or as "12.3 kB" if the unit is "B". Integers below 1,000 are not
    rounded."""
    if isinstance(value, int) and abs(value) < 1000:
        return f"{value} {unit}".rstrip()
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size * (1 - 0.5 * 10**-digits):
            return f"{_round(value / size, digits)} {prefix}{unit}"
    return f"{_round(value, digits)} {unit}".rstrip()


def _round(value: float, digits: int) -> str:
    text = f"{value:#.{digits}g}"
    return text.rstrip(".") if "e" not in text else f"{value:.0f}"


def needs_matplotlib() -> None:
    """Raise InvalidValue if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        raise InvalidValue(
            "a chart needs matplotlib, which is not installed: pip install 'graphla[plot]'"
        ) from None
    matplotlib.use("Agg")


def save(found: Comparison, path: str | Path, title: str) -> None:
    """Save the chart as a PNG. Bars show harmonic means of TEPS, and whiskers the slowest and
    fastest search."""
    needs_matplotlib()
    from matplotlib import pyplot

    rows = list(found)
    figure, axes = pyplot.subplots(figsize=(8.4, 1.5 + 0.42 * len(rows)), layout="constrained")
    try:
        _draw(axes, found)
        figure.suptitle(title, x=0.015, ha="left", color=INK, weight="bold", size=13)
        n, m = engineering(found.vertices), engineering(found.entries)
        axes.set_title(
            f"{n} vertices, {m} entries; {found.machine}", loc="left", color=GREY, size=9.5
        )
        figure.savefig(path, dpi=130, format="png")
    finally:
        pyplot.close(figure)


def _draw(axes: Any, found: Comparison) -> None:
    from matplotlib.ticker import EngFormatter

    rows, fastest = list(found), found.fastest
    places = range(len(rows))
    means = [row.harmonic_mean for row in rows]
    axes.barh(
        places, means, 0.68, color=[FASTEST if row is fastest else BAR for row in rows], zorder=2
    )
    whiskers = [
        [row.harmonic_mean - row.minimum for row in rows],
        [row.maximum - row.harmonic_mean for row in rows],
    ]
    axes.errorbar(
        means, places, xerr=whiskers, fmt="none", ecolor=INK, elinewidth=1, capsize=3, zorder=3
    )
    most = max(row.maximum for row in rows)
    is_log = most > DECADES * min(means)
    if is_log:
        least = min(row.minimum for row in rows)
        axes.set_xscale("log")
        axes.set_xlim(least / 2, most * (most / least) ** 0.18)
    else:
        axes.set_xlim(0, most * 1.2)
    axes.set_ylim(len(rows) - 0.45, -0.6)
    for place, row in zip(places, rows, strict=True):
        few = len(row.seconds) < len(found.sources)
        axes.annotate(
            engineering(row.harmonic_mean) + few * f"  ({len(row.seconds)} of the sources)",
            (row.maximum, place),
            (7, 0),
            textcoords="offset points",
            va="center",
            size=9.5,
            color=FASTEST if row is fastest else INK,
            weight="bold" if row is fastest else "normal",
        )
    axes.set_yticks(places, [row.strategy for row in rows], size=10, color=INK)
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel(
        f"TEPS: {found.counted}, per second{' (scale of powers)' if is_log else ''}\n"
        f"bars: harmonic mean over {len(found.sources)} sources; whiskers: slowest and fastest",
        size=9,
        color=GREY,
        loc="left",
    )
    axes.minorticks_off()
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
    axes.tick_params(axis="both", length=0)
    axes.tick_params(axis="x", colors=GREY, labelsize=9)
    axes.xaxis.grid(True, color=PALE, linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
