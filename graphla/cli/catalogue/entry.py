"""An entry of the table of algorithms: what the command line adds to what the function provides.

The options are the function's parameters, the formula and the story are the function's docstring,
and the output is the function's result, so that no text is written twice.
"""

from __future__ import annotations

import inspect
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from graphla import algorithms
from graphla.algorithms._shared.graph_algorithm import GraphOptions
from graphla.cli import findings
from graphla.cli.answers import Answer
from graphla.graph import Graph

_NO_OPTIONS = ("mask", "directed", "undirected", "dtype", "e", "sp", "usebounds")

Teller = Callable[[Graph, Any, Namespace], Answer]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One subcommand."""

    function: str  # the name of a function in graphla.algorithms
    computes: str
    values: tuple[str, ...]  # the names of the results
    command: str = ""  # by default the function's name
    story: str = ""  # by default the paragraphs of its docstring
    formula: str = ""  # by default its first line
    examples: tuple[str, ...] = ()
    tell: Teller | None = None  # by default findings.answer
    words: dict[str, str] = field(default_factory=dict)  # help texts that replace the usual ones
    hides: tuple[str, ...] = ()  # parameters that do not become options
    fixed: dict[str, Any] = field(default_factory=dict)  # arguments of every call
    bench: dict[str, Any] = field(default_factory=dict)  # arguments in `graphla bench`
    fills: Literal["", "pairs", "neighbors"] = ""  # which pairs the result has an entry for

    @property
    def name(self) -> str:
        """The name of the subcommand."""
        return self.command or self.function.replace("_", "-")

    @property
    def run(self) -> Callable[..., Any]:
        """The function of graphla.algorithms."""
        return getattr(algorithms, self.function)

    @property
    def told(self) -> GraphOptions:
        """The options of the function's decorator `graph_algorithm`."""
        return self.run.graph_options  # pyright: ignore[reportFunctionMemberAccess]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters of the function that become options."""
        _, *others = inspect.signature(self.run).parameters.values()
        hidden = {*_NO_OPTIONS, *self.hides, *self.fixed}
        return {each.name: each for each in others if each.name not in hidden}

    @property
    def teaches(self) -> tuple[str, str]:
        """The story, and the formula."""
        first, *paragraphs = _paragraphs(self.run)
        story = self.story or "\n\n".join(paragraphs)
        return story, self.formula or first

    def answer(self, graph: Graph, found: Any, options: Namespace) -> Answer:
        """Return the answer for the function's result."""
        if self.tell is not None:
            return self.tell(graph, found, options)
        return findings.answer(graph, found, self.values, options.top)


def _paragraphs(function: Callable[..., Any]) -> list[str]:
    """Return the paragraphs of a function's docstring before its first section."""
    text = inspect.cleandoc(function.__doc__ or "").split("\nArgs:\n")[0].replace("`", "")
    return [each for each in text.strip().split("\n\n") if each]
