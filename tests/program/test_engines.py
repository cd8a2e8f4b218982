"""For random programs, each engine gives the same results as the dictionary engine."""

from __future__ import annotations

from hypothesis import given
from programs import Case, assume_outcome, cases

from graphla.program import interpreter


@given(cases())
def test_the_interpreter_agrees_with_the_dictionary_engine(case: Case):
    assume_outcome(case, interpreter.run)
