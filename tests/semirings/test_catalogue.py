"""Tests of the operator catalog: its contents, lookup by name, registration and errors."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import semirings
from semirings import binary, dtypes, indexunary, monoid, op, select, semiring, unary
from semirings.dtypes import ALL, BOOL, FP64, INT64, DataType
from semirings.exceptions import DomainMismatch, UdfParseError
from semirings.trace import where

STANDARD: dict[ModuleType, str] = {
    unary: "identity ainv minv lnot abs bnot",
    binary: "lor land lxor lxnor bor band bxor bxnor eq ne gt lt ge le pair "
    "first second min max plus minus times cdiv",
    indexunary: "rowindex colindex diagindex tril triu diag offdiag colle colgt rowle rowgt "
    "valueeq valuene valuelt valuele valuegt valuege",
    monoid: "plus times min max lor land lxor lxnor",
    semiring: "plus_times min_plus max_plus min_times max_times min_max max_min plus_min "
    "min_first min_second max_first max_second lor_land land_lor lxor_land lxnor_lor",
}
NEEDED: dict[ModuleType, str] = {
    unary: "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh floor ceil round trunc signum cbrt isnan isinf isfinite one erf lgamma",
    binary: "any firsti secondi firstj secondj floordiv truediv pow hypot rminus rtruediv "
    "iseq isne atan2 fmod remainder",
    select: "tril triu diag offdiag colle colgt rowle rowgt valueeq valuegt",
    monoid: "any band bor bxor bxnor eq",
    semiring: "any_pair any_secondi any_firsti any_first any_second plus_pair plus_first "
    "plus_second min_secondi bor_band",
}


def operator_names(module: ModuleType) -> list[str]:
    return [
        name
        for name in dir(module)
        if not name.startswith("_") and hasattr(getattr(module, name), "types")
    ]


@pytest.mark.parametrize(
    ("module", "count"), [(unary, 6), (binary, 23), (indexunary, 17), (monoid, 8), (semiring, 16)]
)
def test_all_operators_of_the_graphblas_c_api_exist(module: ModuleType, count: int):
    names = STANDARD[module].split()
    assert len(set(names)) == count
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("module", NEEDED)
def test_all_operators_that_algorithms_need_exist(module: ModuleType):
    assert [name for name in NEEDED[module].split() if not hasattr(module, name)] == []


@pytest.mark.parametrize("module", [unary, binary, indexunary, select, monoid, semiring])
def test_every_operator_is_a_module_attribute_under_its_own_name(module: ModuleType):
    for name in operator_names(module):
        thing = getattr(module, name)
        assert name in vars(module), f"{name} is not a real attribute, so no editor completes it"
        assert thing is getattr(module, thing.name)
        assert thing.name in repr(thing)


@pytest.mark.parametrize("module", [unary, binary, indexunary, select, monoid, semiring])
def test_an_operator_has_one_typed_operator_for_each_listed_dtype(module: ModuleType):
    for name in operator_names(module):
        thing = getattr(module, name)
        for dtype, result in thing.types.items():
            typed = thing[dtype]
            assert typed is thing[dtype.name] is thing[dtype.np_type]
            assert typed.return_type == result, f"{name}[{dtype}]"
            assert dtype in thing


def test_common_semirings_are_attributes_of_the_package():
    for name in ("plus_times", "min_plus", "lor_land", "any_pair", "any_secondi", "min_first"):
        assert getattr(semirings, name) is getattr(semiring, name)
        assert name in dir(semirings)


def test_tab_completion_lists_operators_but_no_imported_names():
    assert {"min_plus", "any_secondi", "from_string"} <= set(dir(semiring))
    assert {"plus", "first", "register_new"} <= set(dir(binary))
    for module in (unary, binary, indexunary, select, monoid, semiring):
        public = {name for name in vars(module) if not name.startswith("_")}
        others = public - set(operator_names(module)) - {"annotations", "SIGNS", "adopt", "numpy"}
        functions = {"from_string", "register_new", "register_anonymous", "where"}
        if module is select:
            functions |= {"value", "row", "column", "index"}
        assert others <= functions


def test_each_valid_pair_of_a_monoid_and_an_operator_gives_a_semiring():
    for name in ("max_second", "plus_iseq", "bxor_bor", "times_firstj", "min_hypot"):
        found = getattr(semiring, name)
        assert found is getattr(semiring, name) is semiring.from_string(name)
        assert found.name == name
        assert found.monoid is getattr(monoid, name.split("_")[0])
        assert found.binaryop is getattr(binary, name.split("_")[1])


def test_an_unknown_operator_name_is_rejected():
    with pytest.raises(AttributeError, match="plus_nothing"):
        _ = semiring.plus_nothing
    with pytest.raises(AttributeError, match="minus_times"):
        _ = semiring.minus_times
    for module in (unary, binary, indexunary, select, monoid, semiring):
        with pytest.raises(ValueError, match="no_such_thing"):
            module.from_string("no_such_thing")


def test_the_function_from_string_finds_operators_by_name_or_symbol():
    assert binary.from_string("plus") is binary.plus
    assert binary.from_string("+") is binary.plus
    assert binary.from_string("plus[INT64]") is binary.plus[INT64]
    assert binary.from_string("//") is binary.floordiv
    assert unary.from_string("-") is unary.ainv
    assert monoid.from_string("&") is monoid.land or monoid.from_string("&") is monoid.band
    assert semiring.from_string("min_plus[FP64]") is semiring.min_plus[FP64]
    assert semiring.from_string("min.plus") is semiring.min_plus
    assert select.from_string("tril") is select.tril
    assert op.from_string("min_plus") is semiring.min_plus


def test_an_operator_can_be_looked_up_by_any_name_of_a_dtype():
    assert binary.plus["FP64"] is binary.plus[FP64] is binary.plus[float] is binary.plus["float64"]
    assert semiring.min_plus[int].return_type == INT64
    assert binary.plus["INT32", "FP32"].return_type == FP64


def test_two_dtypes_are_promoted_as_in_numpy_2():
    for a in ALL:
        for b in ALL:
            expected = np.promote_types(a.np_type, b.np_type)
            assert dtypes.unify(a, b).np_type == expected
            assert binary.plus[a, b].return_type.np_type == expected


def test_the_operators_first_and_second_keep_the_dtype_of_the_operand_that_they_return():
    for a in ALL:
        for b in ALL:
            assert binary.first[a, b].return_type == a
            assert binary.second[a, b].return_type == b


def test_a_dtype_that_an_operator_does_not_support_is_rejected():
    with pytest.raises(DomainMismatch, match=r"band.*FP64"):
        _ = binary.band["FP64"]
    assert "FP64" not in binary.band
    assert "INT64" in binary.band
    with pytest.raises(ValueError, match="dtype"):
        _ = binary.plus["nothing"]


def test_requesting_an_operator_for_a_pair_of_dtypes_does_not_change_the_one_for_equal_dtypes():
    assert indexunary.valuegt["INT32", "FP64"].thunk_type == FP64
    assert indexunary.valuegt["INT32"].thunk_type == "INT32"
    assert binary.first["INT32", "FP64"].type2 == FP64
    assert binary.first["INT32"].type2 == "INT32"
    assert semiring.any_second["INT8", "FP64"].return_type == FP64
    assert semiring.any_second["INT8"].return_type == "INT8"


def test_operators_can_be_called_on_scalars_and_arrays():
    assert binary.plus(1, 2) == 3
    assert unary.sqrt(np.float64(9)) == 3
    np.testing.assert_array_equal(binary.min(np.arange(4), 2), [0, 1, 2, 2])
    np.testing.assert_array_equal(monoid.max([1, 5], [4, 2]), [4, 5])


class Recorded:
    """An argument that intercepts operators through `__apply_operator__`."""

    def __apply_operator__(self, op: Any, *args: Any, **options: Any) -> tuple[Any, ...]:
        return op, args, options


def test_an_argument_may_intercept_the_call_of_an_operator():
    x = Recorded()
    for thing in (unary.abs, binary.plus, monoid.min, semiring.min_plus, select.tril):
        assert thing(x, 2) == (thing, (x, 2), {})
    assert binary.plus(1, x, left_default=0) == (binary.plus, (1, x), {"left_default": 0})
    assert binary.plus["INT64"](x) == (binary.plus["INT64"], (x,), {})


def test_a_user_can_define_each_kind_of_operator_in_one_line():
    clip = unary.register_anonymous(lambda x: where(x > 1, 1, x), "clip")
    assert clip(5) == 1
    smaller = binary.register_anonymous(lambda x, y: where(x < y, x, y), "smaller")
    assert smaller(2, 3) == 2
    least = monoid.register_anonymous(smaller, np.inf)
    assert least["FP64"].identity == np.inf
    mine = semiring.register_anonymous(least, binary.plus)
    assert mine["FP64"].monoid is least["FP64"]
    below = indexunary.register_anonymous(lambda x, i, j, thunk: i > j + thunk, "below")
    assert below["INT64"].return_type == BOOL
    kept = select.register_anonymous(lambda x, i, j, thunk: x > thunk, "kept")
    assert kept["INT64"].return_type == BOOL


@pytest.mark.parametrize(
    ("module", "function"),
    [
        (unary, lambda x: x + 1),
        (binary, lambda x, y: x - 2 * y),
        (indexunary, lambda x, i, j, thunk: i + j + thunk),
        (select, lambda x, i, j, thunk: i + j > thunk),
    ],
)
def test_the_function_register_new_adds_a_module_attribute_and_rejects_a_duplicate_name(
    module: ModuleType, function: Any
):
    name = f"of_a_test_{module.__name__.rpartition('.')[2]}"
    module.register_new(name, function)
    try:
        found = getattr(module, name)
        assert found.name == name
        assert name in dir(module)
        assert module.from_string(name) is found
        assert pickle.loads(pickle.dumps(found)) is found
        with pytest.raises((ValueError, AttributeError, KeyError), match=name):
            module.register_new(name, function)
    finally:
        for listed in {module, indexunary if module is select else module}:
            delattr(listed, name)


def test_the_error_about_branching_on_a_traced_value_suggests_the_function_named_where():
    def branch(x: Any, y: Any) -> Any:
        return x if x > y else y

    def chained(x: Any, y: Any) -> Any:
        return 0 < x < y

    def both(x: Any, y: Any) -> Any:
        return (x > 0) and (y > 0)

    def looped(x: Any, y: Any) -> Any:
        while x > y:
            x = x - 1
        return x

    for function in (branch, chained, both, looped):
        with pytest.raises(UdfParseError, match=r"\bwhere\b"):
            binary.register_anonymous(function)["INT64"]


def test_conversion_of_a_traced_value_to_a_python_number_is_rejected():
    for function in (lambda x: float(x), lambda x: int(x), lambda x: range(10)[x]):
        with pytest.raises((UdfParseError, TypeError)):
            unary.register_anonymous(function)["INT64"]


def test_a_function_with_the_wrong_number_of_parameters_is_rejected():
    with pytest.raises((UdfParseError, TypeError, ValueError)):
        binary.register_anonymous(lambda x: x)["INT64"]
    with pytest.raises((TypeError, ValueError)):
        unary.register_anonymous(_anything(3))


def test_a_monoid_needs_a_binary_operator_and_a_semiring_needs_a_monoid():
    with pytest.raises((TypeError, ValueError), match="binary"):
        monoid.register_anonymous(_anything(unary.abs), 0)
    with pytest.raises((TypeError, ValueError), match="monoid"):
        semiring.register_anonymous(_anything(binary.plus), binary.times)


@pytest.mark.parametrize("identity", [None, "0", 1j, [0], {"INT8": "0"}])
def test_an_identity_that_is_not_a_number_is_rejected_at_registration(identity):
    with pytest.raises(TypeError, match=r"identity is .*, but it should be a number"):
        monoid.register_anonymous(binary.hypot, identity)
    with pytest.raises(TypeError, match="terminal is "):
        monoid.register_anonymous(binary.hypot, 0, terminal="none")


@pytest.mark.parametrize("name", [3, None, "", "a b", "a..b"])
def test_an_invalid_name_is_rejected(name):
    with pytest.raises(ValueError, match=f"name is {name!r}, but"):
        binary.register_new(name, lambda x, y: x - y)


def _anything(x: Any) -> Any:
    """Return x typed as Any, so that the type checker accepts it as an invalid argument."""
    return x


def everything() -> list[Any]:
    return [
        getattr(module, name)
        for module in (unary, binary, indexunary, select, monoid, semiring)
        for name in operator_names(module)
    ]


def test_every_operator_is_the_same_object_after_pickling():
    for thing in everything():
        assert pickle.loads(pickle.dumps(thing)) is thing
    for thing in (unary.abs, binary.plus, select.tril, monoid.min, semiring.min_plus):
        assert pickle.loads(pickle.dumps(thing["INT64"])) is thing["INT64"]
    found = semiring.from_string("max_hypot")
    assert pickle.loads(pickle.dumps(found)) is found


def test_the_ufunc_of_a_monoid_gives_the_same_result_as_its_operator():
    for name in operator_names(monoid):
        thing = getattr(monoid, name)
        for dtype in thing.types:
            typed = thing[dtype]
            if typed.ufunc is None or typed.type != dtype:
                continue
            x = np.array([0, 1, 1, 0, 1, 3, 2, 7]).astype(dtype.np_type)
            expected = x[0]
            for value in x[1:]:
                expected = typed.binaryop.numpy(expected, value)
            folded = typed.ufunc.reduceat(x, [0]).astype(dtype.np_type)
            assert folded[0] == expected, f"{name}[{dtype}]"


def test_operators_on_numpy_arrays_issue_no_warnings_and_return_the_declared_dtype():
    edges = [0, 1, 2, 255, 127, -1, -128, np.inf, -np.inf, np.nan, 1e300] * 3
    for name in operator_names(binary):
        for dtype in getattr(binary, name).types:
            typed = getattr(binary, name)[dtype]
            if typed.is_positional:
                continue
            with np.errstate(all="ignore"):
                x = np.array(edges).astype(typed.type.np_type)
                y = np.array(edges[::-1]).astype(typed.type2.np_type)
            with np.errstate(all="raise"):
                result = typed.numpy(x[:, None], y[None, :])
            assert result.dtype == typed.return_type.np_type, f"{name}[{dtype}]"
            assert result.shape == (len(edges), len(edges))


def test_an_operator_reports_which_of_its_operands_are_read():
    assert (binary.first[INT64].reads_x, binary.first[INT64].reads_y) == (True, False)
    assert (binary.second[INT64].reads_x, binary.second[INT64].reads_y) == (False, True)
    assert (binary.pair[INT64].reads_x, binary.pair[INT64].reads_y) == (False, False)
    assert (binary.plus[INT64].reads_x, binary.plus[INT64].reads_y) == (True, True)
    assert binary.secondi[INT64].is_positional
    assert not binary.secondi[INT64].reads_y
    assert not binary.plus[INT64].is_positional


@pytest.mark.parametrize(
    ("name", "expected"), [("firsti", 10), ("firstj", 20), ("secondi", 30), ("secondj", 40)]
)
def test_positional_operators_return_the_index_that_their_name_states(name: str, expected: int):
    typed = getattr(binary, name)[FP64]
    assert typed.return_type == INT64
    arguments = [np.array([v]) for v in (1.5, 10, 20, 2.5, 30, 40)]
    assert typed.numpy(*arguments).tolist() == [expected]


def test_importing_semirings_imports_only_numpy():
    program = (
        "import sys, numpy; before = set(sys.modules); import semirings, semirings.laws; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - set(sys.stdlib_module_names) - {'semirings', 'numpy'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


# Comparison with python-graphblas, if it is installed

DTYPES: dict[str, DataType] = {dtype.name: dtype for dtype in ALL}


def theirs() -> Any:
    return pytest.importorskip("graphblas", reason="python-graphblas is not installed")


KINDS = ["unary", "binary", "indexunary", "select", "monoid", "semiring"]
SIGNED = ("INT8", "INT16", "INT32", "INT64")
NUMBERS = (*SIGNED, "UINT8", "UINT16", "UINT32", "UINT64", "FP32", "FP64")
# Names omitted on purpose: operators on complex numbers, objects that are not operators, and the
# functions of `select` that take a whole expression.
NOT_TAKEN = {
    "unary": {"carg", "cimag", "conj", "creal"},
    "binary": {"cmplx"},
    "select": {"column", "index", "row", "value"},
    "semiring": {"get_semiring"},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_every_operator_of_python_graphblas_exists(kind: str):
    names = {name for name in dir(getattr(theirs(), kind)) if not name.startswith("_")}
    names -= {"numpy", "ss"} | NOT_TAKEN.get(kind, set())
    ours = getattr(semirings, kind)
    assert sorted(name for name in names if not hasattr(ours, name)) == []


def stated_difference(kind: str, name: str, dtype: str) -> bool:
    """Return whether the dtype of a result intentionally differs from that in python-graphblas."""
    add, _, multiply = name.partition("_") if kind == "semiring" else ("", "", name)
    # The result of a positional operator is INT64 for every dtype of the values.
    if multiply.startswith(("first", "second")) and multiply[-1] in "ij1":
        return dtype == "INT32"
    # Bitwise results of signed integers stay signed; they are not cast to an unsigned dtype.
    if add in ("band", "bor", "bxor", "bxnor"):
        return dtype in SIGNED
    # eq is a monoid only on BOOL, and we do not cast numbers to BOOL implicitly.
    return (
        add == "eq"
        and multiply in ("first", "second", "pair", "land", "lor", "lxor")
        and (dtype in NUMBERS)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_result_dtypes_match_python_graphblas_except_for_listed_differences(kind: str):
    module = getattr(theirs(), kind)
    wrong = []
    for name in operator_names(getattr(semirings, kind)):
        types = getattr(getattr(semirings, kind), name).types
        for dtype, result in getattr(getattr(module, name, None), "types", {}).items():
            if str(dtype).startswith("FC") or stated_difference(kind, name, str(dtype)):
                continue
            found = types.get(DTYPES[str(dtype)])
            if str(found) != str(result):
                wrong.append(f"{name}[{dtype}]: {found}, not {result}")
    assert not wrong, "\n".join(wrong)


def test_requesting_an_operator_with_a_thunk_dtype_leaves_the_plain_operator_unchanged():
    other = select.valuege["INT16", "FP64"]
    assert select.valuege["INT16"] is select.valuege["INT16", "INT16"] is not other


# --- NumPy's names ------------------------------------------------------------------------------

COMPLEX = {"conj", "conjugate"}
OMITTED = COMPLEX | {"spacing", "nextafter", "gcd", "lcm"}


@pytest.mark.parametrize("kind", ["unary", "binary", "monoid", "semiring"])
@pytest.mark.filterwarnings("ignore")
def test_the_numpy_namespaces_have_the_same_names_as_python_graphblas(kind: str):
    names = {name for name in dir(getattr(theirs(), kind).numpy) if not name.startswith("_")}
    ours = getattr(semirings, kind).numpy
    omitted = {name for name in names if any(each in name for each in OMITTED)}
    assert sorted(name for name in names - omitted if not hasattr(ours, name)) == []
    if kind != "semiring":  # semirings omit some pairs of incompatible dtypes
        assert {name for name in dir(ours) if not name.startswith("_")} == names - omitted


def numpy_values(dtype: DataType) -> np.ndarray:
    if dtype.is_float:
        ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -2.5, 1e-3, 700.0, -3.25]
        return np.array(ends, dtype.np_type)
    if dtype is BOOL:
        return np.array([False, True])
    info = np.iinfo(dtype.np_type)
    whole = [0, 1, 2, 3, 7, 100, *([-1, -2, -7] if info.min else [])]
    return np.array(whole, dtype.np_type)


@pytest.mark.parametrize("kind", ["unary", "binary"])
@pytest.mark.parametrize("dtype", ["INT8", "INT64", "UINT8", "UINT64", "FP32", "FP64"])
def test_operators_with_numpy_names_compute_what_numpy_computes(kind: str, dtype: str):
    x = numpy_values(dtypes.lookup_dtype(dtype))
    arrays = [x] if kind == "unary" else [part.ravel() for part in np.meshgrid(x, x)]
    for name, each in vars(getattr(semirings, kind).numpy).items():
        if dtype not in each:
            continue
        typed = each[dtype]
        given = arrays
        if name in ("left_shift", "right_shift"):
            # a shift by the width of the dtype or more is undefined
            given = [arrays[0], np.abs(arrays[1]) % 8]
        elif name == "ldexp":
            given = [arrays[0], np.clip(np.nan_to_num(arrays[1]), -9, 9).astype(np.int32)]
            typed = each[dtype, "INT32"]
        elif name in ("power", "mod", "remainder", "fmod", "floor_divide", "reciprocal"):
            kept = (arrays[-1] > 0) if not typed.type.is_float else np.ones(arrays[0].size, bool)
            given = [part[kept] for part in arrays]
        # NumPy computes such a function of small integers in FP16 or FP32; the library uses FP64.
        is_floating = typed.return_type.is_float and not typed.type.is_float
        asked = [part.astype(np.float64) for part in given[:2]] if is_floating else given
        asked = [asked[0], given[1]] if name == "ldexp" else asked
        with np.errstate(all="ignore"):
            expected = np.asarray(getattr(np, name)(*asked)).astype(typed.return_type.np_type)
        found = typed.numpy(*given)
        label = f"{kind}.numpy.{name}[{dtype}]"
        if typed.return_type.is_float:
            same = (found == expected) | (np.isnan(found) & np.isnan(expected))
            with np.errstate(all="ignore"):
                ulps = np.abs(found - expected) / np.spacing(np.abs(expected))
            apart = np.where(same, 0, ulps)
            assert apart.max() <= typed.ulps, label
            zeros = found == 0
            assert (np.signbit(found) == np.signbit(expected))[zeros].all(), label
        else:
            assert np.array_equal(found, expected), label


def test_numpy_names_and_common_names_give_the_same_semiring_object():
    assert semiring.numpy.add_multiply is semiring.plus_times
    assert semirings.op.numpy.maximum_add is semiring.max_plus
    assert semiring.numpy.bitwise_and_floor_divide.binaryop is binary.floordiv
    for each in (
        unary.numpy.rint,
        binary.numpy.fmax,
        monoid.numpy.fmin,
        semiring.numpy.fmax_fmod,
        semiring.numpy.logaddexp_add["FP32"],
    ):
        assert repr(pickle.loads(pickle.dumps(each))) == repr(each)
    assert unary.from_string("numpy.RINT") is unary.numpy.rint
    with pytest.raises(AttributeError, match="numpy has no attribute 'add_nothing'"):
        semiring.numpy.add_nothing
