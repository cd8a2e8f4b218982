"""Set the Hypothesis profile and the test device; provide fixtures for all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from devices import DEVICE, has_card, use_cuda
from effort import (
    PROFILE,
    choose_cases,
    is_full,
    number_of_cases,
    number_of_examples,
    parameters,
)
from hypothesis import HealthCheck, settings
from hypothesis.control import current_build_context
from hypothesis.strategies import booleans
from records import RECORDS, digests, keep

import graphla as gl
from graphla.backends.tuning import using

# In a background job of a shell, SIGINT is ignored, and the tests of Ctrl-C would hang.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if DEVICE == "cuda":
    use_cuda()
gl.config.device = DEVICE

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile(
    "nightly", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=slow
)
settings.register_profile(
    "quick", max_examples=20, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile(
    "card", max_examples=40, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.register_profile(
    "simulated", max_examples=4, deadline=None, derandomize=True, suppress_health_check=slow
)
settings.load_profile(PROFILE)


@pytest.fixture(scope="module", params=["cuda"] if DEVICE == "cuda" else ["numpy", "numba"])
def loops(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run each test of a module once with NumPy and, if Numba is installed, once with compiled
    loops. On CUDA, run it once."""
    if request.param == "numba":
        pytest.importorskip("numba")
    with gl.config.set(compiled=request.param == "numba", threads=2):
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Apply the limits of the tables in effort.py, and skip tests that the device cannot run."""
    if not is_full() and not has_card():
        leave_cases_out(config, items)
        for item in items:
            limit_examples(item)
    for item in items:
        record_some_examples(item)
        if item.get_closest_marker("gpu") and not has_card():
            item.add_marker(pytest.mark.skip(reason="needs a card"))
        if item.get_closest_marker("cpu") and DEVICE != "cpu":
            item.add_marker(pytest.mark.skip(reason="holds on the CPU alone"))


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection.

    Otherwise, the collector's scans of the tests take 20% of the time of a run with Numba.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def leave_cases_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only as many cases of each parametrized test as the table in effort.py allows."""
    cases: dict[str, dict[str, Any]] = {}
    for item in items:
        if item.get_closest_marker("full"):
            # pytest will deselect tests marked `full`, so they do not use up the limit of cases
            continue
        if number_of_cases(item.nodeid) is not None and hasattr(item, "callspec"):
            cases.setdefault(item.nodeid.partition("[")[0], {})[item.nodeid] = parameters(item)
    for test, known in cases.items():
        most = number_of_cases(test)
        kept = choose_cases(known, len(known) if most is None else most)
        dropped = [item for item in items if item.nodeid in known.keys() - kept]
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


def limit_examples(item: Any) -> None:
    """Limit a property test to the number of examples that effort.py allows."""
    function = getattr(item, "obj", None)
    if not hasattr(function, "hypothesis"):
        return
    default = settings.default
    assert function is not None and default is not None
    own = getattr(function, "_hypothesis_internal_use_settings", default)
    most = min(own.max_examples, default.max_examples, number_of_examples(item.nodeid))
    function._hypothesis_internal_use_settings = settings(own, max_examples=most)


def record_some_examples(item: Any) -> None:
    """Wrap a property test: for each example, Hypothesis decides whether it runs inside a
    `gl.Recorder`."""
    function = getattr(item, "obj", None)
    handle = getattr(function, "hypothesis", None)
    if handle is None or hasattr(handle.inner_test, "is_recorded"):
        return
    if hasattr(function, "hypothesis_explicit_examples"):
        # Explicit examples (@example) provide all arguments, so nothing can be drawn for them.
        return
    test = handle.inner_test

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        is_recorded = current_build_context().data.draw(booleans())
        with gl.Recorder() if is_recorded else nullcontext():
            test(*args, **kwargs)

    run.is_recorded = True  # pyright: ignore[reportAttributeAccessIssue]
    handle.inner_test = run


@pytest.fixture(autouse=DEVICE == "cuda" and not has_card())
def schedule(request: pytest.FixtureRequest) -> Iterator[None]:
    """Seed the simulator's thread schedule with the test name, so that each test is reproducible.

    Compiled loops use few threads, because at each barrier the simulator switches to each thread.
    """
    from simulator import machine

    from graphla.backends.cuda.program import ProgramTuning

    if "GRAPHLA_SIMULATOR_SEED" not in os.environ:
        machine.seed = crc32(request.node.nodeid.encode())
    with using(ProgramTuning(block=64, cluster=4)):
        yield


# --- test outcomes ------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--outcomes", metavar="FILE", help="write the outcome of each test to this file"
    )


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--outcomes")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Outcomes(Path(file)))


class _Outcomes:
    """A pytest plugin that writes the outcome of each test to a file. The outcome is the worst one
    among the test's setup, call and teardown."""

    def __init__(self, file: Path):
        self.file = file
        self.found: dict[str, str] = {}
        self.sources = digests()

    def pytest_runtest_logreport(self, report: Any) -> None:
        says = report.when == "call" or report.outcome != "passed"
        if says and self.found.get(report.nodeid) != "failed":
            self.found[report.nodeid] = report.outcome

    def pytest_sessionfinish(self) -> None:
        keep(self.file, self.found, self.sources)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print a line if the sources have changed since the recorded run of the GPU tests."""
    if stale := RECORDS["gpu"].staleness():
        terminalreporter.write_line(stale)
