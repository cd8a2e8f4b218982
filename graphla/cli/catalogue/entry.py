"""One line of the table of algorithms: what the command line knows that the function does not say.

Its options are the function's parameters, its formula and story the function's docstring, what it
shows is what the function gives: so none of it is written twice.
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

    function: str  # of graphla.algorithms
    computes: str
    values: tuple[str, ...]  # what the results are called
    command: str = ""  # by default the function's name
    story: str = ""  # by default the paragraphs of its docstring
    formula: str = ""  # by default its first line
    examples: tuple[str, ...] = ()
    tell: Teller | None = None  # by default as findings.answer does
    words: dict[str, str] = field(default_factory=dict)  # on options that need other words
    hides: tuple[str, ...] = ()  # parameters that are no options
    fixed: dict[str, Any] = field(default_factory=dict)  # arguments of every call
    bench: dict[str, Any] = field(default_factory=dict)  # arguments in `graphla bench`
    fills: Literal["", "pairs", "neighbours"] = ""  # the result has an entry for each pair of them

    @property
    def name(self) -> str:
        """The command."""
        return self.command or self.function.replace("_", "-")

    @property
    def run(self) -> Callable[..., Any]:
        """The function."""
        return getattr(algorithms, self.function)

    @property
    def told(self) -> GraphOptions:
        """What the function is told to be."""
        return self.run.graph_options  # pyright: ignore[reportFunctionMemberAccess]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Those of the function that are options."""
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
        """What it found, told."""
        if self.tell is not None:
            return self.tell(graph, found, options)
        return findings.answer(graph, found, self.values, options.top)


def _paragraphs(function: Callable[..., Any]) -> list[str]:
    """Return the paragraphs of its docstring before the first section."""
    text = inspect.cleandoc(function.__doc__ or "").split("\nArgs:\n")[0].replace("`", "")
    return [each for each in text.strip().split("\n\n") if each]
