"""Test that the tables in effort.py name existing tests, and that cases are chosen correctly."""

from pathlib import Path

import pytest
from effort import (
    CASES,
    EXAMPLES,
    SIMULATED_CASES,
    choose_cases,
    number_of_cases,
    number_of_examples,
    parameters,
)
from hypothesis import given
from hypothesis import strategies as st

TESTS = Path(__file__).parent


@pytest.mark.parametrize("prefix", sorted({*EXAMPLES, *CASES, *SIMULATED_CASES} - {""}))
def test_each_prefix_in_the_effort_tables_matches_at_least_one_test(prefix):
    file, _, function = prefix.partition("::")
    assert (TESTS / file).exists()
    assert not function or f"\ndef {function}" in (TESTS / file).read_text()


def test_the_longest_matching_prefix_determines_the_number_of_examples():
    assert number_of_examples("tests/test_plan.py::test_x") == EXAMPLES[""]
    assert number_of_examples("tests/ladder/test_plan.py::test_x") == EXAMPLES["ladder/"]
    assert number_of_cases("tests/test_plan.py::test_x[1]") is None


def test_a_test_with_zero_cases_is_left_out(monkeypatch):
    monkeypatch.setitem(CASES, "test_plan.py::test_x", 0)
    assert number_of_cases("tests/test_plan.py::test_x[1]") == 0
    assert choose_cases({"test_x[1]": [1]}, 0) == set()


@given(st.dictionaries(st.text(max_size=4), st.lists(st.integers(0, 4))), st.integers(0, 30))
def test_the_chosen_cases_cover_every_parameter_value_if_enough_are_chosen(cases, most):
    chosen = choose_cases(cases, most)
    assert chosen <= cases.keys() and len(chosen) == min(most, len(cases))
    held = {value for name in chosen for value in cases[name]}
    every = {value for values in cases.values() for value in values}
    assert held == every or most < len(every)


@pytest.mark.parametrize("x", [1, 2])
@pytest.mark.parametrize(("y", "z"), [(3, "a"), (4, "a")])
def test_cases_with_equal_arguments_have_equal_parameters(request, x, y, z):
    found = dict(parameters(request.node))
    assert found == {"x": f"{x}", "y": f"{y}", "z": "'a'"}
