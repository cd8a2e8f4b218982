"""Test Matrix Market files: reading, error messages with line numbers, and exact round trips."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from data_files import DATA, LAGRAPH, MALFORMED, corrupted, files, needs_data
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import Table
from strategies import matrix, same, symmetric, tables

import graphla as gl
from graphla import formats
from graphla.io import ParseError, mmread, mmwrite
from graphla.io import files as io_files

BAD_LINES = {
    **dict.fromkeys(["1", "2", "3", "4", "5", "6", "_format"], 1),
    **dict.fromkeys(["7", "15", "16", "_skew"], 2),
    **{"8": 4, "9": 4, "10": 6, "11": 5, "12": 5, "13": 7, "14": 8},
    **{"_bool": 10, "_int8": 8, "_int16": 8, "_int32": 8, "_uint8": 9, "_uint16": 9, "_uint32": 9},
}
HEAD = "%%MatrixMarket matrix coordinate "
WELL_FORMED = [*files(LAGRAPH, "*.gz"), *files(DATA / "graphblast", "*.gz")]
WELL_FORMED += [*files(DATA / "gunrock", "*.gz"), *files(DATA / "gap", "*.gz")]


def text(A: gl.Matrix | gl.Vector, **options: Any) -> str:
    file = io.BytesIO()
    mmwrite(file, A, **options)
    return file.getvalue().decode()


def parse(written: str, **options: Any) -> gl.Matrix:
    return mmread(io.StringIO(written), **options)


def exactly(A: gl.Matrix, B: gl.Matrix) -> None:
    """Assert that shape, dtype, indices and the bits of every value are equal."""
    assert (A.nrows, A.ncols, A.dtype) == (B.nrows, B.ncols, B.dtype)
    for one, other in zip(A.to_coo(), B.to_coo(), strict=True):
        assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


# --- files from other programs --------------------------------------------------------------------
@needs_data
def test_every_malformed_file_has_an_expected_error():
    assert len(files(MALFORMED, "*.gz")) == len(BAD_LINES) == 25


@needs_data
@pytest.mark.parametrize("block", [1 << 24, 16])
@pytest.mark.parametrize("kind", BAD_LINES)
def test_every_malformed_file_is_rejected_with_its_name_and_line(kind, block, monkeypatch):
    monkeypatch.setattr(io_files, "BLOCK", block)
    path = MALFORMED / f"mangled{kind}.mtx.gz"
    with pytest.raises(ParseError) as caught:
        mmread(path)
    assert caught.value.file == str(path)
    assert caught.value.line == BAD_LINES[kind]
    assert str(caught.value).startswith(f"{path}, line {BAD_LINES[kind]}: ")


@needs_data
@pytest.mark.parametrize("path", WELL_FORMED, ids=lambda path: path.name)
def test_reading_any_well_formed_file_gives_the_same_matrix_as_scipy(path: Path):
    if path.name == "complex.mtx.gz":
        with pytest.raises(ParseError, match="line 1: the field is complex"):
            mmread(path)
        return
    has_duplicates = path.name in ("test_mesh.mtx.gz", "test_mis.mtx.gz", "4.mtx.gz", "4w.mtx.gz")
    if has_duplicates:
        with pytest.raises(ParseError, match="given twice"):
            mmread(path)
    A = mmread(path, dup_op="first" if has_duplicates else None)
    try:
        expected: Any = scipy.io.mmread(path, spmatrix=False)
    except (ValueError, OverflowError):
        # SciPy cannot read this file. Other tests check its entries.
        return
    rows, columns, values = A.to_coo()
    assert (A.nrows, A.ncols) == expected.shape
    if not scipy.sparse.issparse(expected):
        assert A.nvals == expected.size
        assert np.array_equal(values, expected[rows, columns])
        return
    pattern = scipy.sparse.coo_array((np.ones(expected.nnz), expected.coords), expected.shape)
    by_rows = pattern.tocsr().tocoo()
    assert np.array_equal(rows, by_rows.row)
    assert np.array_equal(columns, by_rows.col)
    if not has_duplicates:
        expected = expected.tocsr()
        expected.sort_indices()
        assert np.array_equal(values, expected.data.astype(values.dtype), equal_nan=True)


@needs_data
@pytest.mark.parametrize(
    ("name", "dtype", "least", "greatest"),
    [
        ("matrix_bool", "BOOL", False, True),
        ("matrix_int8", "INT8", -128, 127),
        ("matrix_int64", "INT64", -9223372036854775800, 2**63 - 1),
        ("matrix_uint16", "UINT16", 0, 2**16 - 1),
        ("matrix_uint64", "UINT64", 0, 2**64 - 1),
        ("matrix_fp32", "FP32", -np.inf, np.inf),
        ("matrix_fp64", "FP64", -np.inf, np.inf),
    ],
)
def test_the_type_declared_in_a_file_becomes_the_dtype(name, dtype, least, greatest):
    A = mmread(LAGRAPH / f"{name}.mtx.gz")
    values = A.to_coo()[2]
    assert A.dtype == dtype
    assert (values.min(), values.max()) == (least, greatest)
    assert A.nvals == 12


@needs_data
def test_files_without_a_header_and_with_comments_among_the_entries_are_read():
    exactly(mmread(LAGRAPH / "full_noheader.mtx.gz"), mmread(LAGRAPH / "full.mtx.gz"))
    west = mmread(LAGRAPH / "west0067.mtx.gz")
    exactly(mmread(LAGRAPH / "west0067_noheader.mtx.gz"), west)
    exactly(mmread(LAGRAPH / "west0067_jumbled.mtx.gz"), west)


@needs_data
@pytest.mark.parametrize("name", ["bcsstk13", "skew_fp64", "matrix_fp64", "structure", "karate"])
def test_a_matrix_read_from_a_file_is_unchanged_after_writing_and_reading(name):
    A = mmread(LAGRAPH / f"{name}.mtx.gz")
    exactly(parse(text(A)), A)
    exactly(parse(text(A, symmetry="general")), A)


# --- round trips --------------------------------------------------------------------------------
@given(tables())
def test_a_matrix_is_unchanged_after_writing_and_reading(table: Table):
    A = matrix(table)
    exactly(parse(text(A)), A)
    same(parse(text(A)), table)


@given(symmetric())
def test_only_half_of_a_symmetric_matrix_is_written(table: Table):
    A = matrix(table)
    written = text(A)
    if not any(x != x for x in table.entries.values()):
        assert "symmetric\n" in written
        listed = sum(i >= j for i, j in table.entries)
        assert len(written.splitlines()) == 3 + listed
    exactly(parse(written), A)


@given(symmetric(np.dtype(np.int32)))
def test_only_half_of_a_skew_symmetric_matrix_is_written_on_request(table: Table):
    entries = {(i, j): x * np.sign(i - j) for (i, j), x in table.entries.items()}
    assume(all(x != np.iinfo(np.int32).min for x in entries.values()))
    table = Table(table.shape, table.dtype, {at: np.int32(x) for at, x in entries.items()})
    A = matrix(table)
    written = text(A, symmetry="skew-symmetric")
    assert "skew-symmetric\n" in written
    exactly(parse(written), A)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1), st.sampled_from([np.float32, np.float64]))
def test_floats_are_written_with_enough_digits_to_read_back_exactly(bits, kind):
    values = np.array(bits, np.uint32).view(np.float32).astype(kind)
    values = np.where(np.isnan(values), kind(0.1), values) / kind(3)
    A = gl.Matrix.from_coo(np.arange(values.size), np.zeros(values.size, int), values)
    exactly(parse(text(A)), A)


def test_a_vector_is_written_as_one_column():
    v = gl.Vector.from_coo([1, 3], [1.5, -2.0], size=5)
    A = parse(text(v))
    assert (A.nrows, A.ncols) == (5, 1)
    assert A.to_dicts() == {1: {0: 1.5}, 3: {0: -2.0}}


def test_other_libraries_can_read_the_written_files():
    A = gl.Matrix.from_coo([0, 2, 1], [1, 0, 2], [1.5, np.inf, -2e-300], nrows=3, ncols=4)
    theirs: Any = scipy.io.mmread(io.BytesIO(text(A).encode()), spmatrix=False)
    assert np.array_equal(theirs.toarray(), gl.io.to_scipy_sparse(A).toarray())


def test_reading_in_blocks_of_any_size_gives_the_same_matrix(monkeypatch):
    A = gl.generators.uniform(40, 200, weights=(-5, 5), symmetric=False)
    written = text(A, comment="one\ntwo").replace("\n7 ", "\n% a comment\n\n7 ")
    for block in (1, 7, 64, 1000):
        monkeypatch.setattr(io_files, "BLOCK", block)
        exactly(parse(written), A)


# --- input that the reader accepts --------------------------------------------------------------
@pytest.mark.parametrize(
    "written",
    [
        HEAD + "real general\n2 2 2\n1 1 1.5\n2 1 -2\n",
        HEAD + "real general\n2 2 2\n1 1 1.5\n2 1 -2",
        HEAD.upper() + "REAL General\n2 2 2\n1 1 1.5\n2 1 -2\n",
        "\ufeff" + HEAD + "real general\n2 2 2\n1 1 1.5\n2 1 -2\n",
        HEAD + "real general\r\n%\r\n2 2 2\r\n1 1 1.5\r\n\r\n2 1 -2\r\n",
        HEAD
        + "real general\n%\n\n%%GraphBLAS type double\n\n2 2 2\n\n1\t1  +1.5 \n %c\n2 1 -2.\n\n%",
        "2 2 2\n1 1 15e-1\n2 1 -2\n",
        "\n\n2 2 2\n2 1 -2E0\n1 1 1.5\n",
    ],
)
def test_spacing_and_letter_case_and_comments_and_line_ends_do_not_change_the_result(written):
    A = parse(written)
    assert A.dtype == "FP64"
    assert A.to_dicts() == {0: {0: 1.5}, 1: {0: -2.0}}


def test_a_matrix_read_from_a_pattern_file_stores_one_value_for_all_entries():
    A = parse(HEAD + "pattern symmetric\n3 3 2\n2 1\n3 3\n")
    assert A.dtype == "BOOL"
    assert A.to_dicts() == {0: {1: True}, 1: {0: True}, 2: {2: True}}
    assert formats.is_iso(A._read().csr.values)
    typed = parse(HEAD + "pattern general\n%%GraphBLAS type int16_t\n1 1 1\n1 1\n")
    assert typed.dtype == "INT16"
    assert typed.to_dicts() == {0: {0: 1}}


def test_integers_are_read_as_int64_unless_a_value_requires_uint64():
    assert parse(HEAD + f"integer general\n1 2 2\n1 1 -3\n1 2 {2**63 - 1}\n").dtype == "INT64"
    A = parse(HEAD + f"integer general\n1 2 2\n1 1 3\n1 2 {2**64 - 1}\n")
    assert A.dtype == "UINT64"
    assert A.to_dicts() == {0: {0: 3, 1: 2**64 - 1}}
    with pytest.raises(ParseError, match=r"line 3: value is '9223372036854775808', outside int64"):
        parse(HEAD + f"integer general\n1 2 2\n1 1 {2**63}\n1 2 -3\n")
    array = "%%MatrixMarket matrix array integer general\n"
    assert parse(array + f"1 2\n3\n{2**63}\n").dtype == "UINT64"


def test_reading_an_array_file_gives_an_entry_for_every_element():
    array = "%%MatrixMarket matrix array integer "
    full = parse(array + "general\n2 3\n1\n2\n3\n4\n5\n6\n")
    assert full.to_dense().tolist() == [[1, 3, 5], [2, 4, 6]]
    half = parse(array + "symmetric\n2 2\n1\n2\n3\n")
    assert half.to_dense().tolist() == [[1, 2], [2, 3]]
    skew = parse(array + "skew-symmetric\n3 3\n1\n2\n3\n")
    assert skew.to_dense().tolist() == [[0, -1, -2], [1, 0, -3], [2, 3, 0]]
    assert skew.nvals == 9


def test_duplicates_in_a_file_are_rejected_unless_the_argument_dup_op_combines_them():
    twice = HEAD + "integer general\n2 2 3\n1 2 5\n% c\n2 2 1\n1 2 7\n"
    with pytest.raises(ParseError, match=r"line 6: entry \(1, 2\) is given twice"):
        parse(twice)
    assert parse(twice, dup_op=gl.binary.plus).to_dicts() == {0: {1: 12}, 1: {1: 1}}
    assert parse(twice, dup_op="max").to_dicts() == {0: {1: 7}, 1: {1: 1}}
    both = HEAD + "integer symmetric\n2 2 2\n1 2 5\n2 1 7\n"
    with pytest.raises(ParseError, match=r"line 4: entry \(2, 1\) of a symmetric matrix"):
        parse(both)
    assert parse(both, dup_op="first").to_dicts() == {0: {1: 5}, 1: {0: 5}}
    skew = HEAD + "integer skew-symmetric\n2 2 2\n1 2 5\n2 1 7\n"
    assert parse(skew, dup_op="plus").to_dicts() == {0: {1: -2}, 1: {0: 2}}


def test_text_files_and_binary_files_and_compressed_files_are_accepted(tmp_path):
    written = HEAD + "integer general\n1 1 1\n1 1 7\n"
    path = tmp_path / "a.mtx.gz"
    path.write_bytes(gzip.compress(written.encode()))
    plain_name = tmp_path / "compressed_all_the_same.mtx"
    plain_name.write_bytes(path.read_bytes())
    with path.open("rb") as compressed, gzip.open(path, "rt") as opened:
        for source in (path, str(path), plain_name, compressed, opened, io.StringIO(written)):
            assert mmread(source).to_dicts() == {0: {0: 7}}


# --- input that the reader rejects --------------------------------------------------------------
@pytest.mark.parametrize(
    ("written", "line", "problem"),
    [
        ("", 1, "the file is empty"),
        ("% no header\n1 1 0\n", 1, "should start with a header"),
        ("%%MatrixMarkt matrix coordinate real general\n1 1 0\n", 1, "should start with"),
        (HEAD + "real\n1 1 0\n", 1, "should be '%%MatrixMarket matrix"),
        ("%%MatrixMarket vector coordinate real general\n", 1, "the object is 'vector'"),
        (HEAD + "complex hermitian\n", 1, "no dtype here holds complex"),
        (HEAD + "pattern skew-symmetric\n", 1, "pattern values cannot be"),
        (HEAD + "real general\n", 1, "ends before its size line"),
        (HEAD + "real general\n% c\n", 2, "ends before its size line"),
        (HEAD + "real general\n1 1\n", 2, "should be: rows columns entries"),
        (HEAD + "real general\n1 1 -1\n", 2, "should be: rows columns entries"),
        (HEAD + "real general\n1 1 1.0\n", 2, "should be: rows columns entries"),
        (HEAD + "real general\n2147483648 1 0\n", 2, "2147483648 rows, but should be fewer"),
        (HEAD + "real general\n1 1 0 0\n", 2, "should be: rows columns entries"),
        (HEAD + "real general\n1 1 " + "9" * 30 + "\n", 2, "beyond any file"),
        (HEAD + "real general\n1 1 99999999999\n1 1 1\n", 3, "ends after 1 of the 99999999999"),
        (HEAD + "real general\n%%GraphBLAS type int\n1 1 0\n", 2, "the type is 'int'"),
        (HEAD + "real general\n%%GraphBLAS type\n1 1 0\n", 2, "the type is ''"),
        (
            HEAD + "real general\n%%GraphBLAS type bool\n%%GraphBLAS type float\n1 1 0\n",
            3,
            "an earlier line says BOOL",
        ),
        (HEAD + "real general\n2 2 1\n1 1\n", 3, "has 2 fields where 3 are expected"),
        (HEAD + "real general\n2 2 1\n1 1 1 1\n", 3, "has 4 fields where 3 are expected"),
        (HEAD + "pattern general\n2 2 1\n1 1 1\n", 3, "has 3 fields where 2 are expected"),
        (HEAD + "real general\n2 2 1\n1 1 1.2.3\n", 3, "'1.2.3', which is not a number"),
        (HEAD + "real general\n2 2 1\n1 1 3%\n", 3, "'3%', which is not a number"),
        (HEAD + "real general\n2 2 1\n1 1 1e999\n", 3, "'1e999', too large for float64"),
        (HEAD + "real general\n2 2 2\n1 1 inf\n2 2 1e999\n", 4, "too large for float64"),
        (
            HEAD + "real general\n%%GraphBLAS type float\n2 2 1\n1 1 1e39\n",
            4,
            "too large for float32",
        ),
        (HEAD + "real general\n2 2 1\n1.0 1 1\n", 3, "row is '1.0', which is not an integer"),
        (HEAD + "integer general\n2 2 1\n1 1 1.0\n", 3, "value is '1.0', which is not an integer"),
        (HEAD + "integer general\n2 2 1\n1 1 inf\n", 3, "value is 'inf', which is not an integer"),
        (HEAD + "integer general\n2 2 1\n1 1 " + "9" * 25 + "\n", 3, "outside int64"),
        (HEAD + "real general\n2 2 1\n0 1 1\n", 3, "the row is 0, outside of 1 to 2"),
        (HEAD + "real general\n2 2 1\n1 3 1\n", 3, "the column is 3, outside of 1 to 2"),
        (HEAD + "real general\n2 2 1\n1 -1 1\n", 3, "the column is -1, outside of 1 to 2"),
        (HEAD + "real general\n2 2 1\n" + "9" * 20 + " 1 1\n", 3, "outside int64"),
        (HEAD + "real general\n0 2 1\n1 1 1\n", 3, "the row is 1, outside of 1 to 0"),
        (HEAD + "real general\n2 2 1\n1 1 1\n% c\n2 2 1\n", 5, "more entries than the 1 announced"),
        (HEAD + "real general\n2 2 1\n1 1 1\ngarbage\n", 4, "has 1 fields where 3"),
        (HEAD + "real skew-symmetric\n2 2 1\n1 1 1\n", 3, "on the diagonal"),
        (
            HEAD + "integer skew-symmetric\n%%GraphBLAS type int8_t\n2 2 1\n2 1 -128\n",
            4,
            "whose negative does not fit INT8",
        ),
        (HEAD + "real general\n2 2 1\n1 1 1\x002\n", 3, "not a number"),
        ("%%MatrixMarket matrix array real general\n2 1\n1\n", 3, "ends after 1 of the 2 entries"),
        ("%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n", 5, "more entries than the 2"),
        ("%%MatrixMarket matrix array real general\n2 1\n1 2\n", 3, "has 2 fields where 1"),
        ("%%MatrixMarket matrix array real symmetric\n2 1\n1\n2\n", 2, "2 rows and 1 columns"),
    ],
)
def test_the_error_about_an_invalid_file_names_the_line(written, line, problem):
    with pytest.raises(ParseError) as caught:
        parse(written)
    assert problem in caught.value.problem
    assert caught.value.line == line
    assert isinstance(caught.value, ValueError)


def test_damaged_compressed_files_are_rejected_with_a_line_number(tmp_path):
    path = tmp_path / "a.mtx.gz"
    whole = gzip.compress(text(gl.generators.uniform(100, 2000)).encode())
    for data in (whole[: len(whole) // 2], whole[:-8] + bytes(8), b"\x1f\x8bnonsense"):
        path.write_bytes(data)
        with pytest.raises(ParseError, match="damaged or ends too early"):
            mmread(path)


def test_missing_files_and_wrong_arguments_are_rejected(tmp_path):
    with pytest.raises(FileNotFoundError):
        mmread(tmp_path / "none.mtx")
    with pytest.raises(gl.exceptions.InvalidValue, match="engine is 'fast'"):
        mmread(tmp_path / "none.mtx", "fast")


GOOD = [
    HEAD
    + "real general\n%%GraphBLAS type double\n% c\n4 3 4\n1 1 3.5\n2 2 -1e3\n4 1 inf\n3 3 .5\n",
    HEAD + "integer symmetric\n4 4 4\n1 1 3\n2 1 -7\n4 3 12\n\n3 3 0\n",
    HEAD + "pattern general\n3 12 3\n1 1\n2 12\n3 7\n",
    HEAD + "integer skew-symmetric\n%%GraphBLAS type int8_t\n3 3 2\n2 1 127\n3 1 -4\n",
    "%%MatrixMarket matrix array real symmetric\n2 2\n1.25\n-3\n10\n",
    "3 2 2\n1 1 2.5\n3 2 8\n",
]


@given(st.sampled_from(GOOD), st.data())
def test_a_corrupted_file_is_read_with_its_declared_shape_or_rejected_with_a_line_number(
    good, data
):
    written = corrupted(good, data)
    lines = [line for line in written.splitlines() if line.strip() and line.lstrip()[0] != "%"]
    said = lines[0].split() if lines else []
    assume(
        all(len(word) < 6 for word in said[:2])
    )  # limit the declared shape, so that the matrix fits in memory
    try:
        A = parse(written)
    except ParseError as error:
        assert error.file == "<file object>"
        assert error.line is not None
        assert 0 <= error.line <= written.count("\n") + 1
    else:
        assert [str(A.nrows), str(A.ncols)] == [str(int(word)) for word in said[:2]]
        exactly(parse(text(A)), A)


# --- the writer ---------------------------------------------------------------------------------
def test_a_file_is_replaced_only_after_everything_is_written(tmp_path, monkeypatch):
    A = gl.generators.path(4)
    path = tmp_path / "a.mtx"
    mmwrite(path, A)
    before = path.read_bytes()

    def fails(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr("graphla.io.matrix_market.lines_of", fails)
    with pytest.raises(MemoryError):
        mmwrite(path, gl.generators.path(5))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_error_about_a_path_that_cannot_be_written_names_the_path(tmp_path):
    path = tmp_path / "none" / "a.mtx"
    with pytest.raises(FileNotFoundError) as caught:
        mmwrite(path, gl.generators.path(4))
    assert caught.value.filename == str(path)


def test_the_output_to_a_gz_file_is_compressed_and_deterministic(tmp_path):
    A = gl.generators.uniform(30, 50, weights=(1, 9))
    one, other = tmp_path / "a.mtx.gz", tmp_path / "b.mtx.gz"
    mmwrite(one, A)
    mmwrite(other, A)
    assert one.read_bytes()[:2] == b"\x1f\x8b"
    assert one.read_bytes() == other.read_bytes()
    exactly(mmread(one), A)


@pytest.mark.parametrize(
    ("name", "magic"), [("a.MTX.GZ", b"\x1f\x8b"), ("a.mtx.bz2", b"BZh"), ("a.mtx.xz", b"\xfd7zXZ")]
)
def test_the_extension_of_a_written_file_determines_its_compression(name, magic, tmp_path):
    A = gl.generators.uniform(30, 50, weights=(1, 9))
    gl.io.write(tmp_path / name, A)
    assert (tmp_path / name).read_bytes().startswith(magic)
    exactly(gl.io.read(tmp_path / name), A)


def test_the_options_comment_and_field_and_precision_are_applied():
    A = gl.Matrix.from_coo([0], [0], [1 / 3], nrows=2, ncols=2)
    written = text(A, comment="%GraphBLAS type bool\nsecond", precision=3, symmetry="general")
    assert written.splitlines() == [
        "%%MatrixMarket matrix coordinate real general",
        "%%GraphBLAS type double",
        "% %GraphBLAS type bool",
        "% second",
        "2 2 1",
        "1 1 0.333",
    ]
    assert parse(text(A, field="pattern")).to_dicts() == {0: {0: 1.0}}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"field": "integer"}, "field is 'integer'"),
        ({"field": "complex"}, "field is 'complex'"),
        ({"symmetry": "hermitian"}, "symmetry is 'hermitian'"),
        ({"symmetry": "symmetric"}, "but the matrix is not"),
        ({"symmetry": "skew-symmetric"}, "but the matrix is not"),
        ({"engine": "fast"}, "engine is 'fast'"),
    ],
)
def test_the_writer_rejects_options_that_contradict_the_matrix(options, problem):
    A = gl.Matrix.from_coo([0], [1], [0.5], nrows=2, ncols=2)
    with pytest.raises(gl.exceptions.InvalidValue, match=problem):
        text(A, **options)
