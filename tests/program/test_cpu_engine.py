"""The engine for the CPU computes what the dictionaries compute."""

from __future__ import annotations

import plain_numba
import pytest
from hypothesis import given
from programs import Case, assume_outcome, cases

from graphla.backends.cpu.program import ProgramTuning
from graphla.backends.tuning import using
from graphla.program import cpu

pytest.importorskip("numba")


@pytest.mark.parametrize("tuning", [ProgramTuning(), ProgramTuning(0, 0, 0, 0, 1, 1)])
@given(case=cases())
def test_the_printed_program_agrees_with_dictionaries(case: Case, tuning: ProgramTuning):
    with using(tuning):
        assume_outcome(case, lambda *given: cpu.run(*given, plain_numba.load))
