"""An entry of the table of algorithms: what the command line needs to know about one function.

Most of it comes from the function itself: options from its parameters, the formula and the
explanation from its docstring, and the output from its result. So no text is written twice.
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
    command: str = ""  # name of the subcommand; by default the function's name
    story: str = ""  # explanation; by default the paragraphs of the function's docstring
    formula: str = ""  # by default the first line of the docstring
    examples: tuple[str, ...] = ()
    tell: Teller | None = None  # makes the answer from the result; by default findings.answer
    words: dict[str, str] = field(default_factory=dict)  # help texts that replace the usual ones
    hides: tuple[str, ...] = ()  # parameters that do not become options
    fixed: dict[str, Any] = field(default_factory=dict)  # arguments passed in every call
    bench: dict[str, Any] = field(default_factory=dict)  # arguments in `graphla bench`
    fills: Literal["", "pairs", "neighbors"] = ""  # pairs for which the result has an entry

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
        """The options given to the function's decorator `graph_algorithm`."""
        return self.run.graph_options  # pyright: ignore[reportFunctionMemberAccess]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters of the function that become options."""
        _, *others = inspect.signature(self.run).parameters.values()
        hidden = {*_NO_OPTIONS, *self.hides, *self.fixed}
        return {each.name: each for each in others if each.name not in hidden}

    @property
    def teaches(self) -> tuple[str, str]:
        """The explanation (`story`) and the formula for the help text."""
        first, *paragraphs = _paragraphs(self.run)
        story = self.story or "\n\n".join(paragraphs)
        return story, self.formula or first

    def answer(self, graph: Graph, found: Any, options: Namespace) -> Answer:
        """Turn the result of the function into an answer to print and save."""
        if self.tell is not None:
            return self.tell(graph, found, options)
        return findings.answer(graph, found, self.values, options.top)


def _paragraphs(function: Callable[..., Any]) -> list[str]:
    """Return the paragraphs of a function's docstring before its first section."""
    text = inspect.cleandoc(function.__doc__ or "").split("\nArgs:\n")[0].replace("`", "")
    return [each for each in text.strip().split("\n\n") if each]
