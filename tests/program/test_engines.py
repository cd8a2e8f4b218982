"""Each engine computes what the dictionaries compute, for random programs."""

from __future__ import annotations

from hypothesis import given
from programs import Case, assume_outcome, cases

from graphla.program import interpreter


@given(cases())
def test_the_interpreter_agrees_with_dictionaries(case: Case):
    assume_outcome(case, interpreter.run)
