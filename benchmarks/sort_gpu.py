"""Compare our merge sort on a GPU, which accepts any comparison, with CuPy's sorts of numbers.

    python benchmarks/sort_gpu.py [LARGEST]

The timed region is a whole call with its output, with a warm memory pool and loaded kernels. Our
sort (`backend.sort_by`) returns the sorted values and their original positions. `cupy.argsort` and
`cupy.lexsort` return only the positions (int64), and `cupy.sort` only the values. All three compare
numbers only. To sort within rows, CuPy runs the stable `argsort` twice: by value and then by row.
The longest vector has 2^LARGEST entries (LARGEST is 26 unless given). Each of our results is
verified before it is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import cupy
from clock import Events, describe_card, take_turns

from graphla import binary
from graphla.backends import backend
from semirings.operators import TypedBinaryOp

ordered = backend("cuda").sort_by

Contenders = dict[str, Callable[[Any], Any]]


def plain(op: TypedBinaryOp, indptr: Any = None) -> Contenders:
    """Return the contenders by name: our sort and CuPy's sorts.

    If `indptr` is given, they sort the numbers within each row. Otherwise they sort all numbers.
    """
    ours: Contenders = {"ours": lambda x: ordered(x, indptr, op)}
    if indptr is None:
        return {
            **ours,
            "argsort": lambda x: x.argsort(),
            "lexsort": lambda x: cupy.lexsort(x[None]),
            "sort": cupy.sort,
        }
    rows = rows_of(indptr)

    def twice(x: Any) -> Any:
        """Sort all numbers by value, and then stably by row. Each row is then sorted by value."""
        by_value = x.argsort()
        return by_value[rows[by_value].argsort()]

    return {
        **ours,
        "argsort": twice,
        "lexsort": lambda x: cupy.lexsort(cupy.stack((x, rows.astype(x.dtype)))),
    }


def rows_of(indptr: Any) -> Any:
    """Return the row number of each entry."""
    starts = cupy.zeros(int(indptr[-1]) + 1, cupy.int32)
    cupy.add.at(starts, indptr[1:-1], 1)
    return starts[:-1].cumsum(dtype=cupy.int32)


def verify(x: Any, indptr: Any, op: TypedBinaryOp) -> None:
    """Check our sort: each row must contain the same values before and after the sort.

    If the comparison is `lt`, also check that the values are in order and that the sort is stable.
    """
    values, places = ordered(x, indptr, op)
    assert bool((x[places] == values).all())
    rows = cupy.zeros(x.size, cupy.int32) if indptr is None else rows_of(indptr)
    assert bool((rows[places] == rows).all())
    assert bool((cupy.sort(places) == cupy.arange(x.size)).all())
    joined = rows[1:] == rows[:-1]
    if op is binary.lt[op.type]:
        falls, equal = values[1:] < values[:-1], values[1:] == values[:-1]
        assert not bool((joined & (falls | equal & (places[1:] < places[:-1]))).any())


def row(title: str, x: Any, op: TypedBinaryOp, contenders: Contenders, indptr: Any = None) -> None:
    """Measure the contenders on one input, and print a line of results.

    The line contains the time of each contender in milliseconds, our time divided by that of the
    faster of `argsort` and `lexsort`, and the number of keys that our sort sorts per second.
    """
    verify(x, indptr, op)
    times = {name: median(t.device) for name, t in take_turns(Events(), contenders, [x]).items()}
    cells = "".join(f"{name:>9}{each:9.3f}" for name, each in times.items())
    others = [each for name, each in times.items() if name in ("argsort", "lexsort")]
    ratio = f"{times['ours'] / min(others):6.2f} x" if others else " " * 8
    print(f"{title:<34}{cells} {ratio}{x.size / times['ours'] / 1e6:8.2f} Gkeys/s", flush=True)


def drawn(count: int, dtype: str = "FP32") -> Any:
    """Return `count` random numbers of this dtype.

    Floating-point numbers are in [0, 1). Integers are distributed over the range of the dtype.
    """
    rng = cupy.random.RandomState(1)
    kept = binary.lt[dtype].type.np_type
    if kept.kind == "f":
        return rng.random_sample(count, dtype=kept)
    bits = rng.randint(0, 1 << 31, -(-count * kept.itemsize // 4), dtype=cupy.int32)
    return bits.view(kept)[:count]


def skewed(count: int) -> Any:
    """Return an indptr with many short rows and a few long ones, as in a graph with hubs."""
    rng = cupy.random.RandomState(2)
    sizes = (6 * rng.random_sample(count // 8) ** -1.1).astype(cupy.int64)
    ends = sizes.cumsum()
    return cupy.concatenate((cupy.zeros(1), ends[ends <= count])).astype(cupy.int32)


def even(count: int, length: int) -> Any:
    """Return an indptr whose rows all have this length."""
    return cupy.arange(0, count + 1, length, dtype=cupy.int32)


def main() -> None:
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 26
    count = 1 << min(24, largest)
    print(describe_card())
    print("ms on the device; ours gives values and places")
    lt = binary.lt["FP32"]
    for power in range(10, largest + 1, 2):
        x = drawn(1 << power)
        row(f"2^{power} FP32", x, lt, plain(lt))
    for dtype in ("UINT8", "INT32", "INT64", "FP64"):
        lt = binary.lt[dtype]
        row(f"{count:,} {dtype}", drawn(count, dtype), lt, plain(lt))
    lt, x = binary.lt["FP32"], drawn(count)
    row(f"{count:,} FP32, in order already", cupy.sort(x), lt, plain(lt))
    for name, indptr in {
        "rows of 16": even(count, 16),
        "rows of 1,024": even(count, 1 << 10),
        "rows of 65,536": even(count, 1 << 16),
        "rows of a graph with hubs": skewed(count),
    }.items():
        row(f"{name}, FP32", x[: int(indptr[-1])], lt, plain(lt, indptr), indptr)
    print("comparisons that the libraries do not take")
    for name, dtype, before in (
        ("by magnitude", "FP32", lambda x, y: abs(x) < abs(y)),
        (
            "as fractions",
            "INT64",
            lambda x, y: (x >> 32) * (y & 0xFFFFFFFF) < (y >> 32) * (x & 0xFFFFFFFF),
        ),
    ):
        op = binary.register_anonymous(before)[dtype]
        x = drawn(count, dtype)
        row(f"{count:,} {dtype} {name}", x, op, {"ours": lambda x, op=op: ordered(x, None, op)})


if __name__ == "__main__":
    main()
