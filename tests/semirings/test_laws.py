"""Verify that laws hold in their declared domains only, and that `check` finds broken laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printing import names

from semirings import binary, monoid, semiring, unary
from semirings.dtypes import ALL, BOOL, DataType
from semirings.exceptions import InvalidValue
from semirings.laws import (
    EVERYWHERE,
    NOWHERE,
    ROUNDED,
    STATEMENTS,
    UNIT,
    Domain,
    Law,
    check,
    declared,
    holds,
)
from semirings.laws.statement import algebra, breaks, broken, law_names
from semirings.trace import where

OPERATORS, MONOIDS, SEMIRINGS = names(binary), names(monoid), names(semiring)
TRUE_SEMIRINGS = [
    *("plus_times", "min_plus", "max_plus", "min_times", "max_times", "min_max", "max_min"),
    *("min_first", "min_second", "max_first", "max_second", "any_first", "any_second", "any_pair"),
    *("lor_land", "land_lor", "lxor_land", "lxnor_lor", "eq_lor"),
    *("bor_band", "band_bor", "bxor_band", "bxnor_bor"),
]


def typed_things() -> list[Any]:
    """Return every built-in closed operator, monoid and semiring, once for each of its dtypes."""
    found = []
    for module, listed in ((binary, OPERATORS), (monoid, MONOIDS), (semiring, SEMIRINGS)):
        for name in listed:
            thing = getattr(module, name)
            for dtype in thing.types:
                typed = thing[dtype]
                if typed.type == dtype and algebra(typed) is not None:
                    found.append(typed)
    return found


def values(dtype: DataType, domain: Domain) -> st.SearchStrategy[Any]:
    """Return a Hypothesis strategy that draws values of `dtype` in `domain`, including boundary
    values."""
    low, high = domain.bounds(dtype)
    kind = dtype.np_type.kind
    width: Any = dtype.bits
    if kind == "b":
        return st.booleans()
    if kind == "f" and domain.nan:
        return st.floats(width=width)
    if kind == "f":
        inside = st.floats(low, high, allow_nan=False, width=width)
        return inside.filter(lambda x: bool(domain.contains(dtype, x)))
    return st.integers(low, high)


def label(typed: Any) -> str:
    return f"{type(typed).__name__} {typed.name}[{typed.return_type}]"


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_a_declared_law_holds_inside_its_domain(dtype: DataType):
    """All laws of the dtype with the same domain share the drawn operands."""
    by_domain: dict[Domain, list[tuple[Any, Law]]] = {}
    for typed in typed_things():
        for law in declared(typed) if typed.return_type == dtype else ():
            if law.domain is not NOWHERE:
                by_domain.setdefault(law.domain, []).append((typed, law))
    for domain, held in by_domain.items():
        _holds_on(dtype, domain, held)


def _holds_on(dtype: DataType, domain: Domain, held: list[tuple[Any, Law]]) -> None:
    rows = st.lists(st.tuples(*[values(dtype, domain)] * 3), min_size=1, max_size=40)

    @given(rows)
    @settings(max_examples=max(10, settings().max_examples // 5))
    def holds_on(operands: list[tuple[Any, ...]]) -> None:
        columns = np.array(operands, dtype.np_type).T
        for typed, law in held:
            chosen = tuple(columns[: STATEMENTS[law.name].arity])
            a = algebra(typed)
            assert a is not None
            wrong = np.flatnonzero(broken(a, law.name, chosen, domain.agreement))
            assert not wrong.size, (
                f"{label(typed)} is declared {law.name} {domain}, but is not at "
                f"{tuple(x[wrong[0]] for x in chosen)}"
            )

    holds_on()


def test_the_counterexample_of_a_law_violates_it_and_lies_outside_its_domain():
    wrong = []
    for typed in typed_things():
        a = algebra(typed)
        assert a is not None
        for law in declared(typed):
            if law.domain is EVERYWHERE:
                assert law.counterexample is None, (label(typed), law)
                continue
            if law.counterexample is None:
                wrong.append(f"{label(typed)} {law.name}: none recorded")
                continue
            inside = all(law.domain.contains(typed.return_type, x) for x in law.counterexample)
            if inside and law.domain.agreement == "exact":
                wrong.append(f"{label(typed)} {law.name}: {law.counterexample} is inside")
            if not breaks(a, law.name, law.counterexample, EVERYWHERE):
                wrong.append(f"{label(typed)} {law.name}: {law.counterexample} does not break it")
    assert not wrong, "\n".join(wrong)


def test_every_built_in_monoid_declares_all_laws_of_monoids():
    for name in MONOIDS:
        for dtype in getattr(monoid, name).types:
            typed = getattr(monoid, name)[dtype]
            assert {law.name for law in declared(typed)} == set(law_names(typed)), label(typed)


def test_a_monoid_is_associative_and_commutative_and_has_an_identity():
    for typed in (thing for thing in typed_things() if hasattr(thing, "identity")):
        for law in declared(typed):
            if law.name in ("commutative", "associative", "identity"):
                is_any = typed.is_any and law.name == "identity"
                assert law.domain is not NOWHERE or is_any, (label(typed), law)


def test_monoids_marked_idempotent_declare_the_idempotent_law():
    for typed in (thing for thing in typed_things() if hasattr(thing, "identity")):
        # On BOOL, plus and times are lor and land, which are idempotent.
        is_logic = typed.return_type is BOOL and typed.name in ("plus", "times")
        assert holds(typed, "idempotent") == (typed.is_idempotent or is_logic), label(typed)


def test_each_law_that_an_operator_does_not_declare_has_a_counterexample():
    """A law must be declared if the search finds no counterexample."""
    missed = []
    for typed in typed_things():
        known = {law.name for law in declared(typed)}
        undeclared = [name for name in law_names(typed) if name not in known]
        for finding in (
            check(typed, laws=undeclared, domain=EVERYWHERE).findings if undeclared else ()
        ):
            if finding.ok:
                missed.append(f"{finding.thing} {finding.law}")
    assert not missed, "\n".join(sorted(set(missed)))


@pytest.mark.parametrize("name", TRUE_SEMIRINGS)
def test_each_semiring_in_the_mathematical_sense_is_distributive_on_some_domain_of_every_dtype(
    name: str,
):
    op = semiring.from_string(name)
    closed = [dtype for dtype in op.types if algebra(op[dtype]) is not None]
    assert closed
    for dtype in closed:
        laws = {law.name: law.domain for law in declared(op, dtype)}
        assert laws["left_distributive"] is not NOWHERE, dtype
        assert laws["right_distributive"] is not NOWHERE, dtype


def test_the_function_named_holds_confirms_the_laws_that_kernels_rely_on():
    assert holds(monoid.plus, "associative", "INT64")
    assert not holds(monoid.plus, "associative", "FP64")
    assert holds(monoid.plus, "associative", "FP64", on=ROUNDED)
    assert holds(monoid.min, "selective", "FP32")
    assert holds(semiring.lor_land, "distributive", "BOOL")
    assert holds(semiring.min_plus, "distributive", "FP64", on=UNIT)
    assert not holds(semiring.min_plus, "distributive", "FP64")
    assert holds(semiring.min_plus, "idempotent", "FP64")
    assert not holds(semiring.plus_min, "distributive", "INT64")
    assert not holds(semiring.any_secondi, "distributive", "INT64")


def test_a_user_defined_operator_declares_no_laws():
    mine = binary.register_anonymous(lambda x, y: x + y, "plus")
    assert declared(mine, "INT64") == ()
    assert not holds(mine, "associative", "INT64")


def test_a_monoid_registered_by_a_user_declares_no_laws_and_is_checked():
    bad = monoid.register_new("rminus", binary.rminus, 0)
    try:
        assert declared(bad, "INT64") == ()
        assert not check(bad, "INT64").ok
    finally:
        delattr(monoid, "rminus")
        binary.rminus.monoid = None


def test_the_function_check_shows_the_smallest_counterexample():
    report = check(binary.minus, "INT64", laws=["commutative", "associative"])
    assert not report.ok
    assert [finding.counterexample for finding in report.broken] == [(0, 1), (0, 0, 1)]
    assert "x ⊕ y = y ⊕ x breaks at x = 0, y = 1: -1 against 1" in str(report)
    with pytest.raises(InvalidValue, match=r"commutative .*BROKEN"):
        report.raise_if_broken()


def test_the_function_check_accepts_a_correct_user_defined_monoid():
    gcd_like = binary.register_anonymous(lambda x, y: x | y, "either_bits")
    mine = monoid.register_anonymous(gcd_like, 0)
    report = check(mine, "UINT8")
    assert report.ok, report
    report.raise_if_broken()


def test_the_function_check_finds_a_wrong_identity():
    plus = binary.register_anonymous(lambda x, y: x + y, "my_plus")
    report = check(monoid.register_anonymous(plus, 1), "INT32")
    assert [(finding.law, finding.counterexample) for finding in report.broken] == [
        ("identity", (0,))
    ]


def test_the_function_check_shrinks_a_counterexample_that_is_far_from_zero():
    odd = binary.register_anonymous(lambda x, y: where(x > 1000, x - y, x + y), "odd")
    report = check(odd, "INT64", laws=["commutative"])
    assert report.findings[0].counterexample == (1, 1001)
    assert check(odd, "INT64", laws=["commutative"], domain=UNIT).ok


def test_the_function_check_finds_a_multiply_operator_that_does_not_distribute_over_the_monoid():
    minus_ish = binary.register_anonymous(lambda x, y: x * y + 1, "off_by_one")
    mine = semiring.register_anonymous(monoid.plus, minus_ish)
    report = check(mine, "INT16")
    assert {finding.law for finding in report.broken} == {
        "left_distributive",
        "right_distributive",
    }
    assert all(finding.counterexample == (0, 0, 0) for finding in report.broken)


def test_the_function_check_reports_the_domain_where_a_law_holds():
    times = binary.register_anonymous(lambda x, y: x * y, "my_times")
    mine = semiring.register_anonymous(monoid.max, times)
    report = check(mine, "FP64")
    assert report.ok
    findings = {finding.law: finding for finding in report.findings}
    assert findings["left_distributive"].domain is not EVERYWHERE
    assert "breaks outside, at x = -1.0, y = 0.0, z = 1.0" in str(findings["left_distributive"])
    assert not check(mine, "FP64", domain=EVERYWHERE).ok


def test_the_function_check_accepts_an_object_if_only_laws_that_are_not_required_fail():
    either = monoid.register_anonymous(binary.register_anonymous(lambda x, y: x | y, "either"), 0)
    assert check(either, "INT8", domain=UNIT).ok
    mean = binary.register_anonymous(lambda x, y: (x + y) / 2, "mean")
    report = check(mean, "FP64", domain=UNIT)
    assert report.ok
    assert "associative        does not hold" in str(report)
    assert check(monoid.plus, "INT8", domain=UNIT).ok
    assert not check(monoid.plus, "INT8", laws=["idempotent"], domain=UNIT).ok


def test_the_function_check_accepts_names_of_operators_and_checks_all_dtypes_by_default():
    assert check("min_plus", "FP64").ok
    report = check("lor_land")
    assert report.ok
    assert str(report).startswith("lor")


def test_the_function_check_rejects_an_unknown_law_and_an_unknown_name():
    with pytest.raises(InvalidValue, match="laws has 'comutative', but should be among"):
        check(binary.plus, "INT64", laws=["comutative"])
    with pytest.raises(InvalidValue, match="should name"):
        check("no_such_thing")


@pytest.mark.parametrize("thing", [None, 3, unary.abs, unary.abs["INT8"], lambda x, y: x])
def test_the_function_named_check_rejects_objects_for_which_no_laws_are_defined(thing):
    with pytest.raises(TypeError, match=r"thing is .*, but it should be a binary operator, monoid"):
        check(thing)


def test_the_function_check_reports_that_an_operator_is_not_closed():
    assert "not closed" in str(check(binary.eq, "FP64"))


@pytest.mark.parametrize("name", MONOIDS)
def test_every_built_in_monoid_passes_its_check(name: str):
    check(getattr(monoid, name)).raise_if_broken()


def test_a_domain_covers_another_domain_if_it_contains_all_values_of_the_other_domain():
    for dtype in ALL:
        assert EVERYWHERE.covers(EVERYWHERE, dtype)
        assert EVERYWHERE.covers(UNIT, dtype)
        assert not NOWHERE.covers(UNIT, dtype)
        assert UNIT.covers(EVERYWHERE, dtype) == (dtype is BOOL)
