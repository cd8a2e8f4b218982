"""The rungs of the ladder (BFS strategies), keyed by name.

Each rung has a description, an algebraic statement, and a class for each device on which it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from graphla.ladder.rung import Rung
from semirings.exceptions import DeviceUnavailable, InvalidValue


@dataclass(frozen=True, slots=True)
class Strategy:
    """One rung of the ladder: a strategy of breadth-first search, and the classes that run it.

    Attributes:
        name: the name of the strategy.
        idea: one sentence on how the strategy works.
        algebra: the statement of sparse linear algebra that each level evaluates.
        cpu: "module.Class" of the implementation on the CPU; empty if there is none.
        cuda: "module.Class" of the implementation on a GPU; empty if there is none.
    """

    name: str
    idea: str
    algebra: str
    cpu: str = ""
    cuda: str = ""

    def runs_on(self, device: str) -> bool:
        """Return whether there is an implementation for the device."""
        return bool(self._place(device))

    def rung(self, device: str) -> type[Rung]:
        """Return the class that runs this strategy on the device."""
        place = self._place(device)
        if not place:
            able = ", ".join(name for name, other in STRATEGIES.items() if other.runs_on(device))
            raise DeviceUnavailable(
                f"{self.name} needs a GPU, and A is on {device}: A.to('cuda') puts it there; "
                f"those that run on {device} are {able}"
            )
        module, name = place.split(".")
        return getattr(import_module(f"graphla.ladder.{module}"), name)

    def _place(self, device: str) -> str:
        return self.cpu if device == "cpu" else self.cuda


def lookup(name: object) -> Strategy:
    """Return the strategy with this name."""
    found = STRATEGIES.get(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidValue(f"strategy is {name!r}, but the rungs are {', '.join(STRATEGIES)}")
    return found


_LADDER = (
    Strategy(
        "sequential",
        "a queue on one CPU thread: two arrays that are swapped at each level",
        "SpMSpV, serial",
        cpu="sequential.Sequential",
        cuda="sequential.Sequential",
    ),
    Strategy(
        "vertex-push",
        "a thread per vertex; vertices of the last level label their neighbors",
        "masked SpMV by rows, dense frontier",
        cpu="in_numpy.VertexPush",
        cuda="vertex_push.VertexPush",
    ),
    Strategy(
        "vertex-pull",
        "a thread per unreached vertex, which looks for an in-neighbor in the last level",
        "masked SpMV by columns with early exit",
        cpu="in_numpy.VertexPull",
        cuda="vertex_pull.VertexPull",
    ),
    Strategy(
        "direction-optimised",
        "push while the frontier is small, pull while it is large, by Beamer's rule",
        "masked SpMV by rows, or by columns with early exit",
        cpu="in_numpy.DirectionOptimised",
        cuda="direction_optimised.DirectionOptimised",
    ),
    Strategy(
        "edge-centric",
        "a thread per edge; edges out of the last level label unreached targets",
        "masked SpMV of a list of edges (COO)",
        cpu="in_numpy.EdgeCentric",
        cuda="edge_centric.EdgeCentric",
    ),
    Strategy(
        "edge-tuned",
        "levels in bytes; an undirected edge is one word, in squares that fit a cache",
        "masked SpMV, blocked COO",
        cpu="in_numpy.EdgeTuned",
        cuda="edge_tuned.EdgeTuned",
    ),
    Strategy(
        "frontier-queue",
        "a thread per vertex of a list; claims by compare and swap, one counter for the next list",
        "SpMSpV by rows",
        cuda="frontier_queue.FrontierQueue",
    ),
    Strategy(
        "privatised-queue",
        "a list per block in shared memory; each block reserves one range of the next list",
        "SpMSpV by rows",
        cuda="privatised_queue.PrivatisedQueue",
    ),
    Strategy(
        "hierarchical-queue",
        "lists of groups of lanes, merged into the block's list, then into the next list",
        "SpMSpV by rows",
        cuda="hierarchical_queue.HierarchicalQueue",
    ),
    Strategy(
        "small-frontier",
        "one block runs level after level while the frontier fits; otherwise a privatized queue",
        "the loop of SpMSpV, inside the kernel",
        cuda="small_frontier.SmallFrontier",
    ),
    Strategy(
        "hubs-apart",
        "a list of vertices, and a list of pieces of long rows with a warp per piece",
        "SpMSpV, long rows cut into pieces",
        cuda="hubs_apart.HubsApart",
    ),
    Strategy(
        "closure",
        "the whole search in one launch, push or pull at each level",
        "the fixpoint",
        cpu="closure.Closure",
        cuda="closure.Closure",
    ),
)

STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _LADDER}
"""All strategies, keyed by name, from the bottom of the ladder to the top."""
