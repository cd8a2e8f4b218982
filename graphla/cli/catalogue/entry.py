"""The class `Algorithm`: what the command line needs to know about one algorithm.

Most of it is derived from the function that implements the algorithm: the options from its
parameters, the formula and the explanation from its docstring, and the output from its result. So
no text is written twice.
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

AnswerMaker = Callable[[Graph, Any, Namespace], Answer]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One subcommand."""

    function: str  # the name of a function in graphla.algorithms
    computes: str
    values: tuple[str, ...]  # the names of the results
    command: str = ""  # name of the subcommand; by default the function's name
    story: str = ""  # explanation in the help text; by default taken from the function's docstring
    formula: str = ""  # formula in the help text; by default the docstring's first line
    examples: tuple[str, ...] = ()
    # The function that turns a result into an answer to print; None stands for findings.answer.
    make_answer: AnswerMaker | None = None
    words: dict[str, str] = field(default_factory=dict)  # help texts that override the defaults
    hides: tuple[str, ...] = ()  # parameters that do not become options
    # Arguments that are passed to the function in every call.
    fixed: dict[str, Any] = field(default_factory=dict)
    bench: dict[str, Any] = field(default_factory=dict)  # arguments in `graphla bench`
    # "pairs" if the result has an entry for every pair of vertices, "neighbors" if it has an entry
    # for every pair of vertices with a common neighbor. The size of the result is estimated from
    # this.
    fills: Literal["", "pairs", "neighbors"] = ""

    @property
    def name(self) -> str:
        """The name of the subcommand."""
        return self.command or self.function.replace("_", "-")

    @property
    def run(self) -> Callable[..., Any]:
        """The function in graphla.algorithms that the subcommand calls."""
        return getattr(algorithms, self.function)

    @property
    def graph_options(self) -> GraphOptions:
        """The options that were passed to the function's decorator `graph_algorithm`."""
        return self.run.graph_options  # pyright: ignore[reportFunctionMemberAccess]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters of the function that become options."""
        _, *others = inspect.signature(self.run).parameters.values()
        hidden = {*_NO_OPTIONS, *self.hides, *self.fixed}
        return {each.name: each for each in others if each.name not in hidden}

    @property
    def teaches(self) -> tuple[str, str]:
        """The explanation and the formula that the help text shows, as a pair of strings."""
        first, *paragraphs = _paragraphs(self.run)
        story = self.story or "\n\n".join(paragraphs)
        return story, self.formula or first

    def answer(self, graph: Graph, found: Any, options: Namespace) -> Answer:
        """Return the answer to print and save, given the result `found` of the function."""
        if self.make_answer is not None:
            return self.make_answer(graph, found, options)
        return findings.answer(graph, found, self.values, options.top)


def _paragraphs(function: Callable[..., Any]) -> list[str]:
    """Return the paragraphs of a function's docstring before its first section."""
    text = inspect.cleandoc(function.__doc__ or "").split("\nArgs:\n")[0].replace("`", "")
    return [each for each in text.strip().split("\n\n") if each]
