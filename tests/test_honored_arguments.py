"""Test that the arguments `sort`, `how`, `lazy` and `is_udt` are either honored or rejected."""

from __future__ import annotations

import numpy as np
import pytest

import graphla as gl
from graphla import Matrix, binary, indexunary, monoid, select, semiring, unary
from semirings.exceptions import InvalidValue, NotImplementedException, UdfParseError


def by_columns() -> Matrix:
    """Return a matrix that is stored only in CSC."""
    return Matrix.from_csc([0, 2, 3], [0, 2, 1], [5, 6, 7], nrows=3)


def test_the_method_to_coo_without_sorting_uses_the_format_that_is_already_stored():
    A = by_columns()
    rows, columns, values = A.to_coo(sort=False)
    assert not A._store.has_csr
    assert (rows.tolist(), columns.tolist()) == ([0, 2, 1], [0, 0, 1])
    assert values.tolist() == [5, 6, 7]
    only = A.to_coo(sort=False, rows=False, values=False)
    assert only[0] is None and only[1].tolist() == [0, 0, 1] and only[2] is None
    edges, values = A.to_edgelist(sort=False)
    assert edges.tolist() == [[0, 0], [2, 0], [1, 1]] and not A._store.has_csr
    rows, columns, _ = A.to_coo()
    assert rows.tolist() == [0, 1, 2] and columns.tolist() == [0, 1, 0]
    assert np.array_equal(A.to_edgelist()[0], np.column_stack([rows, columns]))


@pytest.mark.parametrize("name", ["to_csr", "to_csc", "to_dcsr", "to_dcsc"])
def test_exports_to_compressed_formats_reject_the_option_to_leave_indices_unsorted(name):
    with pytest.raises(InvalidValue, match=f"sort is False, but {name} always sorts"):
        getattr(by_columns(), name)(sort=False)


def branches(x, *_):
    return x if x else -x


MODULES = {"unary": unary, "binary": binary, "indexunary": indexunary, "select": select}


@pytest.mark.parametrize("kind", MODULES)
def test_a_lazy_operator_is_traced_when_it_is_first_used(kind):
    module = MODULES[kind]
    with pytest.raises(UdfParseError):
        module.register_new(f"eager_{kind}", branches)
    op = module.register_new(f"lazy_{kind}", branches, lazy=True)
    try:
        assert getattr(module, f"lazy_{kind}") is op
        with pytest.raises(UdfParseError):
            op["INT64"]
    finally:  # delete the operator, because other tests inspect all operators of a module
        for each in (module, indexunary):
            vars(each).pop(f"lazy_{kind}", None)


@pytest.mark.parametrize("kind", MODULES)
def test_operators_on_user_defined_dtypes_are_rejected(kind):
    module, said = MODULES[kind], "is_udt is True, but must be False"
    with pytest.raises(NotImplementedException, match=said):
        module.register_new(f"udt_{kind}", lambda *args: args[0], is_udt=True)
    with pytest.raises(NotImplementedException, match=said):
        module.register_anonymous(lambda *args: args[0], is_udt=True)


def test_registering_a_lazy_monoid_or_semiring_is_rejected():
    with pytest.raises(NotImplementedException, match="a monoid looks up its parts at once"):
        monoid.register_new("lazy_monoid", "plus", 0, lazy=True)
    with pytest.raises(NotImplementedException, match="a semiring looks up its parts at once"):
        semiring.register_new("lazy_semiring", "plus", "times", lazy=True)


def test_the_method_wait_returns_the_object_itself():
    v = gl.Vector.from_dense([1, 2])
    for x in (v, v + v, v.reduce(), by_columns()):
        assert x.wait() is x is x.wait("complete")


@pytest.mark.parametrize("x", [gl.Scalar.from_value(3), gl.Vector.from_dense([1]).reduce()])
def test_scalars_and_masks_and_recorders_have_a_notebook_representation(x):
    assert "3" in x._repr_html_() or "INT64" in x._repr_html_()
    mask = gl.Vector.from_dense([1, 2]).S
    assert "&lt;mask Vector.S, size 2&gt;" in mask._repr_html_()
    with gl.Recorder() as recorder:
        gl.Vector.from_dense([1, 2]).reduce().new()
    assert recorder._repr_html_().startswith("<pre>operation")
