"""A drawn function computes the same when it runs plainly and when its loops are programs."""

from __future__ import annotations

import re
import warnings
from typing import Any

from hypothesis import assume, given
from sources import Source, call, compare, has_large_number, sources

import graphla as gl
from graphla.program import interpreter, running
from graphla.program.checking import check
from graphla.program.ir import Program
from graphla.program.running import Arguments, Engine, Outcome

REFUSALS = re.compile("changes a vector that a list contains|in too many combinations")
"""The reasons for which a drawn loop may run as Python."""


class Checked:
    """An engine that checks each program before another engine runs it."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.programs = engine, 0

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        check(program)
        self.programs += 1
        return self.engine.run(program, arguments)


def check_source(source: Source, engine: Engine) -> None:
    """Compare a drawn function with the same function under `gl.jit`, run by an engine."""
    expected = call(source, source.function())
    assume(not has_large_number(expected))
    function = gl.jit(source.function(), fallback=True)
    with warnings.catch_warnings(record=True) as caught, running.use(engine):
        warnings.simplefilter("always")
        found = call(source, function)
    compare(found, expected)
    refused = [str(each.message) for each in caught if "runs as Python" in str(each.message)]
    assert all(map(REFUSALS.search, refused)), refused


@given(sources())
def test_a_function_computes_the_same_plainly_and_by_the_interpreter(source: Source):
    check_source(source, Checked(interpreter))
