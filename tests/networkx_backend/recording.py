"""A pytest plugin that compares each dispatched call in NetworkX's tests with plain NetworkX.

The plugin replaces the method through which NetworkX calls a backend in its tests. The environment
variable `GRAPHLA_RECORD` names the file for the counts.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from copy import copy, deepcopy
from io import BytesIO, StringIO
from itertools import islice, tee
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import backends as nx_backends

from _graphla_networkx import FUNCTIONS
from networkx_backend.agreement import difference
from networkx_backend.contracts import CONTRACTS

backends: Any = nx_backends
LONGEST = 100_000
"""Maximum number of items read from an iterator."""

SHOWN = 5
"""Number of differences that are kept for each function."""


class Recorder:
    """Counts the calls of each function, and keeps examples of differences.

    Attributes:
        counts: for each function, how many calls there were, how many graphla answered, and how
            many answers differed.
        touched: the tests in which graphla answered a call.
        failed: the tests that failed.
    """

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = defaultdict(
            lambda: {"calls": 0, "answered": 0, "differing": 0}
        )
        self.examples: dict[str, list[str]] = defaultdict(list)
        self.refusals: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.touched: set[str] = set()
        self.failed: list[str] = []
        self.passed = 0
        self.test = ""
        self.is_plain = False
        self.of_networkx: Any = backends._dispatchable._convert_and_call_for_tests

    def run(
        self, function: Any, backend: str, args: Any, kwargs: Any, *, fallback_to_nx: bool = False
    ) -> Any:
        """Answer a call in a test with the backend, or with NetworkX if the backend rejects it."""
        if self.is_plain:
            return function.orig_func(*args, **kwargs)
        if function.name not in FUNCTIONS:
            return self.of_networkx(function, backend, args, kwargs, fallback_to_nx=fallback_to_nx)
        counts = self.counts[function.name]
        counts["calls"] += 1
        (args, kwargs), spare = duplicate(args, kwargs)
        try:
            loaded = backends._load_backend(backend)
            if (reason := loaded.can_run(function.name, args, kwargs)) is not True:
                raise NotImplementedError(reason)
            options: dict[str, Any] = {"use_cache": False, "mutations": None}
            there = function._convert_arguments(backend, args, kwargs, **options)
            found = self.outcome(getattr(loaded, function.name), there, passes=NotImplementedError)
        except NotImplementedError as refusal:
            self.refusals[function.name][str(refusal)[:200]] += 1
            return function.orig_func(*spare[0], **spare[1])
        counts["answered"] += 1
        self.touched.add(self.test)
        if function._will_call_mutate_input(args, kwargs):
            return _pass_on(found)
        self.is_plain = True
        try:
            expected = self.outcome(function.orig_func, spare)
        finally:
            self.is_plain = False
        self.compare(function, spare, expected, found)
        returns_graphs = function._returns_graph and not isinstance(expected, BaseException)
        return _pass_on(expected if returns_graphs else found)

    def outcome(self, call: Any, arguments: Any, passes: Any = ()) -> Any:
        """Return the result of a call (an iterator as a list), or the exception that it raised."""
        args, kwargs = arguments
        try:
            result = call(*args, **kwargs)
            return items_of(result) if isinstance(result, Iterator) else result
        except passes:
            raise
        except Exception as error:
            return error

    def compare(self, function: Any, arguments: Any, expected: Any, found: Any) -> None:
        """Compare the two results, and count a difference if they differ."""
        args, kwargs = arguments
        check, both_fine = CONTRACTS.get(function.name), True
        expected, found = (getattr(each, "error", None) or each for each in (expected, found))
        for each in (expected, found):
            # NetworkX itself does not implement some functions.
            lacks = isinstance(expected, NotImplementedError)
            both_fine &= lacks or not isinstance(each, BaseException)
        try:
            if check is not None and both_fine:
                bound = function.__signature__.bind(*args, **kwargs)
                bound.apply_defaults()
                problem = check(expected, found, bound.arguments)
            else:
                problem = difference(expected, found)
        except Exception as error:
            problem = f"the comparison fails: {error!r}"
        if problem is not None:
            self.counts[function.name]["differing"] += 1
            if len(self.examples[function.name]) < SHOWN:
                self.examples[function.name].append(f"{self.test}: {problem}"[:1000])

    # --- the hooks of pytest ----------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Remember the running test."""
        self.test = nodeid

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember the outcome of a test."""
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1

    def pytest_sessionfinish(self) -> None:
        """Write the counts."""
        found = {
            "counts": self.counts,
            "examples": self.examples,
            "refusals": self.refusals,
            "touched": sorted(self.touched),
            "failed": self.failed,
            "passed": self.passed,
            "networkx": nx.__version__,
        }
        Path(os.environ["GRAPHLA_RECORD"]).write_text(json.dumps(found, indent=1))


class Items(list[Any]):
    """The items of an iterator, and the exception that ended the iteration, if any."""


def items_of(iterator: Iterator[Any]) -> Items:
    """Return the items of an iterator."""
    items = Items()
    try:
        items.extend(islice(iterator, LONGEST))
    except NotImplementedError:
        raise
    except Exception as error:
        items.append(error)
    return items


def replay(items: Items) -> Iterator[Any]:
    """Yield the items again, and raise the exception that ended the iterator."""
    for item in items:
        if isinstance(item, BaseException):
            raise item
        yield item


def duplicate(args: Any, kwargs: Any) -> Any:
    """Return the arguments twice, with independent iterators and random generators."""
    pairs = [_pair(each) for each in args]
    named = {name: _pair(each) for name, each in kwargs.items()}
    return [
        (tuple(pair[k] for pair in pairs), {name: pair[k] for name, pair in named.items()})
        for k in (0, 1)
    ]


def _pair(given: Any) -> Any:
    if isinstance(given, np.random.RandomState):
        return given, deepcopy(given)
    if isinstance(given, BytesIO | StringIO | Random | np.random.Generator):
        return given, copy(given)
    is_text = hasattr(given, "read")
    return tee(given) if isinstance(given, Iterator) and not is_text else (given, given)


def _pass_on(outcome: Any) -> Any:
    """Pass the outcome of a call on to the test: return the result or raise the exception."""
    if isinstance(outcome, BaseException):
        raise outcome
    if isinstance(outcome, Items):
        return replay(outcome)
    return backends._load_backend("graphla").convert_to_nx(outcome)


def pytest_configure(config: Any) -> None:
    """Make NetworkX's tests call the recorder."""
    if not os.environ.get("GRAPHLA_RECORD"):
        return
    recorder = Recorder()
    config.pluginmanager.register(recorder)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.run(self, *args, **kwargs)

    backends._dispatchable._convert_and_call_for_tests = call
