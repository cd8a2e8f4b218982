"""Measure unions on a GPU: the sum of two sparse vectors or of two matrices.

    python benchmarks/union_gpu.py [LARGEST]

The script times the whole call of the backend, until the host knows the number of entries. The
memory pool is warm, and the kernels are loaded. Each row of the output is for one pair of operand
sizes. Each column is for one overlap: the fraction of the indices of the shorter operand that also
occur in the other operand. The longest vector has 10^LARGEST entries (LARGEST is 8 unless given).
Each union is verified before it is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import cupy
import graphs
from clock import Events, describe_card, take_turns

import graphla as gl
from graphla import Matrix, binary, datasets
from graphla.backends import backend
from graphla.formats import Csr, SparseVector
from semirings.dtypes import lookup_dtype

Union = Callable[[Any, Any, Any], Any]

MEETING = (0.0, 0.5, 1.0)
UNEQUAL = ((7, 3), (3, 7), (8, 6))
"""Pairs of unequal sizes, given as exponents: (7, 3) means 10^7 and 10^3 entries."""
BY_TURNS = 4
"""The gaps between consecutive indices in the union of two random vectors are random integers from
1 to 2 * BY_TURNS - 2, with mean BY_TURNS - 1/2."""


def vectors(many: int, few: int, meeting: float, dtype: str) -> tuple[Any, Any]:
    """Return random vectors a and b with `many` and `few` entries.

    `meeting` is the fraction of the indices of b that also occur in a.
    """
    rng = cupy.random.RandomState(many + few)
    both = int(few * meeting)
    count = many + few - both
    gaps = rng.randint(1, 2 * BY_TURNS - 1, count, dtype=cupy.int32)
    places = cupy.cumsum(gaps, dtype=cupy.int32)
    whose = rng.permutation(count) if few else cupy.arange(count)
    in_both, of_few = whose < both, whose < few
    a = places[~of_few | in_both]
    b = places[of_few]
    size = int(places[-1]) + 1
    x, y = (_values(rng, each.size, dtype) for each in (a, b))
    return SparseVector(size, a, x), SparseVector(size, b, y)


def matrices(dtype: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield a name and two matrices for each union to measure.

    Some matrices have long rows, others short rows. In some unions the patterns of the two matrices
    are nearly equal, in others they are different.
    """
    gl.config.device = "cuda"
    pairs = graphs.kron_pairs(20)
    n = 1 << 20
    A = Matrix.from_coo(*pairs, 1, dtype=dtype, nrows=n, ncols=n, dup_op=binary.first)
    yield "kron 20 directed, its transpose", _csr(A, dtype), _csr(A.T.new(), dtype)
    for name, B in {
        "mesh 2048 x 2048": graphs.grid(2048, 2048, 0.1),
        "road-NY": datasets.load("road-NY"),
    }.items():
        csr = _csr(B, dtype)
        yield f"{name}, shifted by one", _shift(csr, 0), _shift(csr, 1)


def _csr(A: Any, dtype: str) -> Any:
    csr = A._read().csr
    values = _values(cupy.random.RandomState(7), csr.indices.size, dtype)
    return Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, values)


def _shift(a: Any, columns: int) -> Any:
    """Return a copy of `a` that has one more column, and whose entries are moved to the right.

    `columns` is the number of columns by which they are moved: 0 or 1.
    """
    return Csr(a.nrows, a.ncols + 1, a.indptr, a.indices + columns, a.values)


def _values(rng: Any, count: int, dtype: str) -> Any:
    return rng.random_sample(count).astype(lookup_dtype(dtype).np_type)


def verify(a: Any, b: Any, c: Any) -> None:
    """Check that c is the union of a and b: compare its positions and the sum of its values."""
    keys = cupy.concatenate([_keys(each) for each in (a, b)])
    assert cupy.array_equal(_keys(c), cupy.unique(keys)), "the union has other places"
    wanted = float(a.values.sum(dtype="f8") + b.values.sum(dtype="f8"))
    assert abs(float(c.values.sum(dtype="f8")) - wanted) <= 1e-6 * wanted, "its sum is wrong"


def _keys(a: Any) -> Any:
    if isinstance(a, SparseVector):
        return a.indices
    ends = cupy.zeros(a.indices.size + 1, cupy.int64)
    cupy.add.at(ends, a.indptr[1:-1], 1)
    return cupy.cumsum(ends)[:-1] << 32 | a.indices


def times(contenders: dict[str, Union], a: Any, b: Any, dtype: str) -> str:
    """Return a text with the median time of each contender on the device, in microseconds.

    `contenders` maps the name of each implementation to a function that computes a union.
    """
    op = binary.plus[dtype]
    for union in contenders.values():
        verify(a, b, union(a, b, op))
    found = take_turns(
        Events(),
        {
            name: lambda _, union=union: union(a, b, op)  # type: ignore[misc]
            for name, union in contenders.items()
        },
        [0],
    )
    return " / ".join(f"{1e3 * median(each.device):.0f}" for each in found.values())


def main(contenders: dict[str, Union], largest: int = 8) -> None:
    """Print one row for each pair of vector sizes, then one for each pair of matrices."""
    print(describe_card())
    print(f"microseconds of {' / '.join(contenders)}")
    sizes = [(n, n) for n in range(3, largest + 1)] + [x for x in UNEQUAL if max(x) <= largest]
    for dtype in ("FP32", "FP64"):
        for one, other in sizes:
            if dtype == "FP64" and min(one, other) < min(6, largest):
                continue
            row = f"10^{one} + 10^{other} {dtype}"
            columns = []
            for meeting in MEETING:
                many, few = vectors(10 ** max(one, other), 10 ** min(one, other), meeting, dtype)
                a, b = (many, few) if one >= other else (few, many)
                columns.append(f"{meeting:.0%} {times(contenders, a, b, dtype)}")
            print(f"  {row:<20}", " | ".join(columns), flush=True)
        for name, a, b in matrices(dtype):
            print(f"  {name} {dtype}: {a.nvals:,} + {b.nvals:,}:", end=" ")
            print(times(contenders, a, b, dtype), flush=True)


if __name__ == "__main__":
    main({"union": backend("cuda").union}, int(sys.argv[1]) if len(sys.argv) > 1 else 8)
