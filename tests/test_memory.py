"""Test that arrays too large for host memory are rejected before they are allocated."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import memory
from graphla.backends.cpu.layout import offsets_of_few
from graphla.cli import main

HUGE = 2**31 - 1
OFFSETS = 4 * 2**31  # bytes

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
pytestmark = pytest.mark.cpu


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Limit the address space of this process to 2 GiB more than it uses now."""
    resource = pytest.importorskip("resource")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**31, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


def npz_edges() -> io.BytesIO:
    file = io.BytesIO()
    np.savez(file, src=[0], dst=[1], n=HUGE, directed=True)
    file.seek(0)
    return file


HEADER = "%%MatrixMarket matrix coordinate pattern general\n"
TOO_LARGE = {
    "empty": lambda: gl.Matrix(int, HUGE, 1),
    "coo": lambda: gl.Matrix.from_coo([0], [0], nrows=HUGE, ncols=1),
    "transpose": lambda: gl.Matrix.from_coo([0], [5], nrows=1, ncols=HUGE).to_csc(),
    "mtx": lambda: gl.io.mmread(io.StringIO(f"{HEADER}{HUGE} {HUGE} 1\n1 1\n")),
    "npz": lambda: gl.io.read_npz(npz_edges()),
    "dimacs": lambda: gl.io.read_dimacs(io.StringIO(f"p sp {HUGE} 1\na 1 2 3\n")),
    "metis": lambda: gl.io.read_metis(io.StringIO(f"{HUGE} 1\n2\n1\n")),
    "edge list": lambda: gl.io.read_edgelist(io.StringIO("0 1\n"), n=HUGE),
}


@linux
@pytest.mark.parametrize("build", TOO_LARGE.values(), ids=TOO_LARGE)
def test_the_error_about_offsets_too_large_for_memory_states_the_needed_and_the_available_bytes(
    build, little_memory
):
    with pytest.raises(gl.exceptions.OutOfMemory) as caught:
        build()
    message = str(caught.value)
    assert f"2,147,483,647 {'columns' if 'columns' in message else 'rows'}" in message
    assert f"need {OFFSETS:,} bytes of memory, but" in message
    free = int(message.partition(", but ")[2].split()[0].replace(",", ""))
    assert 2**30 < free <= 2**31


@linux
def test_the_available_memory_is_positive_and_at_most_the_physical_memory():
    free = memory.available()
    total = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemTotal:")
    )
    assert free is not None
    assert 0 < free <= total


@linux
def test_a_command_rejects_a_graph_with_too_many_vertices_for_its_results(
    tmp_path, capsys, little_memory
):
    (tmp_path / "a.mtx").write_text(f"{HEADER}100000000 100000000 1\n1 2\n")
    assert main(["info", str(tmp_path / "a.mtx")]) == 1
    assert "the 100,000,000 vertices of " in capsys.readouterr().err


@linux
def test_a_graph_too_large_for_the_symmetry_check_is_rejected(little_memory):
    A = gl.Matrix.from_coo([0], [1], nrows=150_000_000, ncols=150_000_000)
    with pytest.raises(gl.exceptions.OutOfMemory, match="the comparison of 150,000,000 rows with"):
        gl.Graph(A)


def test_allocations_that_fit_are_not_rejected():
    memory.require(0, "nothing")
    memory.require(memory.SMALL, "a few megabytes")
    with pytest.raises(gl.exceptions.OutOfMemory, match=r"all numbers need 1,\d{3},.* bytes"):
        memory.require(2**80, "all numbers")


@given(
    st.integers(0, 8).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1)) if n else st.just([]))
    )
)
def test_each_offset_counts_the_entries_in_earlier_rows(case):
    nrows, rows = case[0], np.sort(np.array(case[1], np.int64))
    expected = [int((rows < r).sum()) for r in range(nrows + 1)]
    assert offsets_of_few(rows, nrows).tolist() == expected
