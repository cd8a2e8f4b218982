"""List every kernel and the values of its template parameters, for the compile campaign.

A row selects an instance of a kernel: an operator, a dtype, an architecture, and a value for each
template parameter. The parameter value `own` stands for the dtype of the operator.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from covering import Row, covering

sys.path.append(str(Path(__file__).parents[1]))  # pytest adds this path itself
from devices import use_cuda

use_cuda()  # a kernel's constants are in its host module, which imports CuPy

import graphla  # noqa: E402
from graphla.backends.cuda import (  # noqa: E402
    betweenness,
    closure,
    coloring,
    communities,
    components,
    matching,
    multi_source_bfs,
    pagerank,
    sort,
    spgemm,
    spgemm_masked,
    spmspv,
    spmv,
)
from graphla.compilers import cuda_ops, nvrtc  # noqa: E402
from semirings import binary, indexunary, monoid, select, semiring, unary  # noqa: E402
from semirings.dtypes import ALL, DataType  # noqa: E402

nvrtc.register(Path(graphla.__file__).parent / "ladder")


ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_120")
MAIN = "sm_90"
"""The architecture for which `make test` compiles a sample of every kernel's instances."""
OTHERS = tuple(name for name in ARCHITECTURES if name != MAIN)

OWN = "own"
MANY = 16
"""Maximum number of parameter combinations that are all compiled for a semiring in NAMED.

If more combinations are valid, only enough of them are compiled to cover all pairs of values.
"""

FLAGS = (False, True)
OFFSET = tuple(map(np.dtype, ("i4", "i8")))
KEPT = (0, 1, 2)  # the values UNREAD, ISO and EACH in device.cuh
STORED = (OWN, *map(np.dtype, ("?", "i1", "u2", "i8", "u8", "f4", "f8")))
"""Dtypes of stored values: the operator's own, and one of each width and kind."""

SEMIRINGS = (
    ("plus_times", "mxv"),
    ("min_plus", "mxv"),
    ("max_second", "vxm"),
    ("lor_land", "vxm"),
    ("any_pair", "mxv"),
    ("any_secondi", "mxv"),
    ("any_secondi", "vxm"),
    ("min_first", "vxm"),
    ("plus_pair", "mxv"),
    ("plus_minus", "vxm"),
    ("min_firstj", "vxm"),
    ("times_second", "mxv"),
    ("bxor_band", "mxv"),
    ("band_bor", "vxm"),
    ("lxnor_lor", "mxv"),
)
"""Semirings, each with the product (mxv or vxm) for which it is compiled.

Together they cover all kinds of ⊗, and all three ways in which several threads apply ⊕ to the same
element: a hardware atomic, compare-and-swap, and a plain store.
"""

NAMED = {
    "plus_times": ("FP32", "FP64", "INT64"),
    "min_plus": ("FP32", "INT32"),
    "max_plus": ("FP64",),
    "max_min": ("INT32",),
    "lor_land": ("BOOL",),
    "any_pair": ("BOOL",),
    "any_secondi": ("INT32",),
    "min_first": ("UINT32",),
    "plus_pair": ("INT64",),
    "plus_second": ("FP32",),
    "min_secondi": ("INT64",),
    "bor_band": ("UINT64",),
}
"""Twelve semirings that algorithms use; compiled with all values of the other parameters.
"""

CLOSING = ("min_plus", "max_min", "min_first", "lor_land", "bor_band")
"""Semirings for closures.

Together they cover each format in which the kernel stores the state of a vertex, both for values
that can overflow and for values that cannot overflow.
"""

MONOIDS = ("plus", "times", "min", "max", "any", "lor", "land", "lxnor", "bor", "band", "bxor")
BINARY = ("plus", "minus", "truediv", "second", "pair", "min", "pow", "eq", "secondi", "firstj")
COMPARISONS = ("lt", "gt", "ne")
ACCUMS = ("plus", "minus", "times", "min", "first", "second", "land", "secondi", "pow")
UNARY = ("abs", "minv", "sqrt", "one", "positionj1", "bnot")
INDEXUNARY = ("colindex", "diagindex", "valuegt")
BOUND = ("minus", "pow", "secondi")
SELECT = ("tril", "diag", "valuegt", "valuene", "rowle")
"""Select operators for which kernels are compiled. Each list above is for another kind of operator.

The lists contain only a sample of the operators. test_compile.py compiles every operator for every
dtype, in small kernels.
"""


# --- the operators of a kernel -------------------------------------------------------------------


def typed(module: Any, name: str, dtype: DataType) -> Any:
    """Return the operator for a dtype, or None if the operator does not support the dtype."""
    op = getattr(module, name)
    return op[dtype] if dtype in op.types else None


def _products(name: tuple[str, str], dtype: DataType) -> Any:
    ring = typed(semiring, name[0], dtype)
    return ring and (cuda_ops.matrix_vector, ring, name[1])


def _closes(name: str, dtype: DataType) -> Any:
    ring = typed(semiring, name, dtype)
    return ring and (cuda_ops.closure, ring, dtype.bits != 32)


def _matrices(name: tuple[str, str], dtype: DataType) -> Any:
    ring = typed(semiring, name[0], dtype)
    return ring and (cuda_ops.matrix_matrix, ring)


def _folds(name: str, dtype: DataType) -> Any:
    op = typed(monoid, name, dtype)
    return op and (cuda_ops.reduction, op)


def _joins(name: str, dtype: DataType) -> Any:
    op = typed(binary, name, dtype)
    return op and (cuda_ops.entry_by_entry, op)


def _compares(name: str, dtype: DataType) -> Any:
    op = typed(binary, name, dtype)
    return op and (cuda_ops.comparison, op)


def _pairs(name: str, dtype: DataType) -> Any:
    op = typed(binary, name, dtype)
    return op and (cuda_ops.kronecker, op)


def _writes(name: str | None, dtype: DataType) -> Any:
    if name is None:
        return cuda_ops.accumulation, None, dtype
    op = typed(binary, name, dtype)
    return op and (cuda_ops.accumulation, op, dtype)


def _maps(name: tuple[Any, str], dtype: DataType) -> Any:
    module, op = name[0], typed(name[0], name[1], dtype)
    if op is None:
        return None
    return (cuda_ops.bound_operator, op, "left") if module is binary else (cuda_ops.mapping, op)


OPERATORS = {
    "matrix_vector": (SEMIRINGS, _products),
    "matrix_matrix": (SEMIRINGS, _matrices),
    "closure": (CLOSING, _closes),
    "reduction": (MONOIDS, _folds),
    "entry_by_entry": (BINARY, _joins),
    "kronecker": (BINARY, _pairs),
    "comparison": (COMPARISONS, _compares),
    "accumulation": ((None, *ACCUMS), _writes),
    "mapping": (
        (
            *((unary, name) for name in UNARY),
            *((indexunary, name) for name in INDEXUNARY),
            *((binary, name) for name in BOUND),
        ),
        _maps,
    ),
    "select": (tuple((select, name) for name in SELECT), _maps),
}
"""The operators to compile, and the functions that return their specs.

Each key is the name of a function of `compilers.cuda_ops`. Each value is a pair: a tuple of
operators, and a function that returns the *spec* for an operator and a dtype. A spec is a tuple of
the function of `cuda_ops` and its arguments. It determines the operators of the compiled kernel.
"""


# --- the kernels ---------------------------------------------------------------------------------


@cache
def _spec(operators: str, operator: Any, dtype: DataType | None) -> Any:
    return (
        (cuda_ops.nothing,) if operators == "nothing" else OPERATORS[operators][1](operator, dtype)
    )


@dataclass(frozen=True, eq=False)
class Kernel:
    """A `__global__` template: its file, its kind of operators, and the values of each parameter.

    Hot kernels (`is_hot`) keep every value in registers on sm_90: they use no stack and no spills.
    """

    file: str
    name: str
    operators: str
    parameters: Mapping[str, tuple[Any, ...]]
    is_hot: bool = False

    @property
    def label(self) -> str:
        return f"{self.file}:{self.name}"

    def factors(self) -> dict[str, Any]:
        """Return the possible values of each factor. A row selects one value of each factor.

        The factors are the operator, its dtype, the template parameters, and the architecture.
        """
        chosen: dict[str, Any] = dict(self.parameters)
        if self.operators != "nothing":
            chosen = {"operator": OPERATORS[self.operators][0], "dtype": ALL, **chosen}
        return {**chosen, "architecture": ARCHITECTURES}

    def spec(self, row: Row) -> Any:
        """Return the spec (see OPERATORS) of the operator and the dtype that the row selects.

        Return None if the operator does not support this dtype.
        """
        return _spec(self.operators, row.get("operator"), row.get("dtype"))

    def allows(self, row: Row) -> bool:
        """Return whether the row, which may be partial, is a valid combination."""
        if self.operators != "nothing" and not {"operator", "dtype"} <= row.keys():
            return True
        spec = self.spec(row)
        return spec is not None and (row.keys() < self.factors().keys() or self.obeys(spec, row))

    def obeys(self, spec: tuple[Any, ...], row: Row) -> bool:
        """Return whether the parameter values in `row` are valid together."""
        return self.name not in RULES or RULES[self.name](spec, row)

    @cache  # noqa: B019 (one entry per kernel)
    def covering(self) -> list[Instance]:
        """Return instances that together contain every pair of values of any two parameters."""
        return [self.instance(row) for row in covering(self.factors(), self.allows)]

    def named(self) -> Iterator[Instance]:
        """Yield instances for each semiring in NAMED, with all combinations of parameter values.

        If there are more than MANY valid combinations, only some of them are used (see `_with`).
        Successive instances cycle through the architectures.
        """
        if self.operators not in ("matrix_vector", "matrix_matrix"):
            return
        rest = {name: _own_alone(values) for name, values in self.parameters.items()}
        turns = itertools.cycle(ARCHITECTURES)
        for base in _named_operators():
            for row in self._with(base, rest):
                yield self.instance({**row, "architecture": next(turns)})

    def _with(self, base: Row, rest: Mapping[str, tuple[Any, ...]]) -> list[Row]:
        """Return rows that add values of the parameters in `rest` to the row `base`.

        `base` selects an operator and a dtype. The result has one row for each combination of
        values that graphla itself might request. If there are more than MANY such combinations, the
        result is a smaller list, which still contains every pair of values.
        """
        spec = self.spec(base)

        def comes_up(row: Row) -> bool:
            return len(row) < len(rest) or (_is_asked_for(spec, row) and self.obeys(spec, row))

        product = (dict(zip(rest, row, strict=True)) for row in itertools.product(*rest.values()))
        rows = [row for row in product if comes_up(row)]
        return [{**base, **row} for row in (covering(rest, comes_up) if len(rows) > MANY else rows)]

    @cache  # noqa: B019 (one entry per kernel)
    def sample(self) -> list[Instance]:
        """Return a sample of the kernel's instances for the main architecture.

        The sample contains every value of each factor, and each semiring in NAMED with each dtype
        listed there. For the kernel `cast_values`, the sample contains every pair of dtypes. All
        instances that the method `few` returns are in the sample.
        """
        return [self.instance(row) for row in self._sampled()]

    def few(self) -> list[Instance]:
        """Return the instances that `make test` compiles for the main architecture.

        They are a subset of the sample. The subset contains every value of each template parameter
        and a dtype of each `kind` (see `_with_kind`). If the kernel is hot, the subset contains
        each semiring in NAMED. It may lack other operators, because test_compile.py also compiles
        each operator for each dtype, in small kernels.
        """
        factors = {*self.parameters, "kind"}
        if self.is_hot and self.operators in ("matrix_vector", "matrix_matrix"):
            factors.add("operator")
        held = {
            self.instance(row): {
                (name, value) for name, value in _with_kind(row).items() if name in factors
            }
            for row in self._sampled()
        }
        wanted = set().union(*held.values())
        wanted -= {("operator", name) for name in SEMIRINGS if name[0] not in NAMED}
        chosen = []
        while wanted:
            chosen.append(max(held, key=lambda each: len(held[each] & wanted)))
            wanted -= held[chosen[-1]]
        return chosen

    @cache  # noqa: B019 (one entry per kernel)
    def _sampled(self) -> list[Row]:
        factors = self.factors()
        factors["architecture"] = (MAIN,)
        apart = () if self.name == "cast_values" else set(factors)
        return [*covering(factors, self.allows, apart), *self._sampled_semirings()]

    def _sampled_semirings(self) -> list[Row]:
        """Return rows of this kernel whose operators are the semirings in NAMED.

        The remaining values form combinations that graphla itself might request.
        """
        if self.operators not in ("matrix_vector", "matrix_matrix"):
            return []
        rest = {name: _own_alone(values) for name, values in self.parameters.items()}

        def comes_up(row: Row) -> bool:
            if len(row) <= len(rest):
                return True
            row = dict(row)
            spec = self.spec({**row, **row.pop("named")})
            return _is_asked_for(spec, row) and self.obeys(spec, row)

        rows = covering({"named": _named_operators(), **rest}, comes_up, {"named", *rest})
        return [{**row, **row.pop("named"), "architecture": MAIN} for row in rows]

    def elsewhere(self, architecture: str) -> Instance:
        """Return the instance of this kernel that `make test` compiles for `architecture`.

        The architecture is one of OTHERS.
        """
        rows = self.sample()
        turn = crc32(f"{self.label} {architecture}".encode())
        return replace(rows[turn % len(rows)], architecture=architecture)

    def campaign(self) -> list[Instance]:
        """Return the instances that `make test-full` compiles, including those of `make test`."""
        others = map(self.elsewhere, OTHERS)
        return [*self.covering(), *self.named(), *self.sample(), *others]

    def instance(self, row: Row) -> Instance:
        """Return the instance with the operator and the parameter values in `row`."""
        spec = self.spec(row)
        own = spec[1].type.np_type if len(spec) > 1 and spec[1] is not None else None
        own = spec[2].np_type if own is None and len(spec) > 2 else own
        arguments = tuple(own if row[name] is OWN else row[name] for name in self.parameters)
        return Instance(self, spec, arguments, row["architecture"])


@dataclass(frozen=True)
class Instance:
    """One instance of a kernel's template, for one architecture."""

    kernel: Kernel
    spec: tuple[Any, ...]
    arguments: tuple[Any, ...]
    architecture: str

    @property
    def label(self) -> str:
        words = ", ".join(map(nvrtc.written, self.arguments))
        return f"{self.kernel.label}<{cuda_ops.describe(self.spec)}, {words}>"


def _with_kind(row: Row) -> Row:
    """Return a copy of a kernel's row with an additional item `kind`, which describes the dtype.

    `kind` is a tuple: the width of the dtype in bytes, whether the dtype is a floating-point dtype,
    and whether the dtype is BOOL. A row without a dtype is returned unchanged.
    """
    if "dtype" not in row:
        return row
    dtype = row["dtype"].np_type
    return {**row, "kind": (dtype.itemsize, dtype.kind == "f", dtype.kind == "b")}


def _is_asked_for(spec: tuple[Any, ...], row: Row) -> bool:
    """Return whether graphla itself would ever request a kernel with these parameter values.

    This is the case under three conditions. An operand is marked as unread if and only if the
    semiring does not read it. The kernel stops after the first term of a row if and only if the
    monoid is `any`. All offsets have the same width.
    """
    ring = spec[1]
    reads_a, reads_u = ring.binaryop.reads_x, ring.binaryop.reads_y
    if spec[2:] == ("vxm",):
        reads_a, reads_u = reads_u, reads_a
    reads = {"KEPT_A": reads_a, "KEPT_U": reads_u, "KEPT_X": reads_a, "KEPT_Y": reads_u}
    kept = all((row[name] != KEPT[0]) == is_read for name, is_read in reads.items() if name in row)
    widths = {value for name, value in row.items() if "Offset" in name}
    return (
        kept and len(widths) < 2 and ("ENDS" not in row or (row["ENDS"] != 0) == ring.monoid.is_any)
    )


def _named_operators() -> list[Row]:
    """Return the operator and the dtype of each named semiring, alternating between mxv and vxm."""
    return [
        {"operator": (name, side), "dtype": _lookup(dtype)}
        for name, dtypes in NAMED.items()
        for dtype, side in zip(dtypes, itertools.cycle(("mxv", "vxm")), strict=False)
    ]


def _own_alone(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return (OWN,) if OWN in values else values


def _lookup(name: str) -> DataType:
    return next(dtype for dtype in ALL if dtype.name == name)


def in_the_sources() -> dict[tuple[str, str], dict[str, str]]:
    """Return the template parameters of each kernel, as {(file, kernel): {parameter: kind}}.

    The function reads the CUDA sources. The kind of a parameter is the word before the parameter's
    name, such as "class" or "bool".
    """
    bounds = r"(?:(?:__launch_bounds__|(?:BFS_IN_)?CLUSTERS?)\([^)]*\)\s+)*"
    pattern = re.compile(
        r"template\s*<([^{};]*?)>\s*(?:static\s+)?__global__\s+"
        rf"{bounds}void\s+{bounds}(\w+)\s*\(",
    )
    found = {}
    for file, source in nvrtc.sources().items():
        if file == "prelude.cuh":  # this file contains no kernel
            continue
        text = re.sub(r"//[^\n]*", "", source)
        for match in pattern.finditer(text):
            words = [word.split("=")[0].split() for word in match[1].split(",")]
            found[file, match[2]] = {name: kind for kind, name in words}
        alone = len(re.findall(r"__global__", text))
        ours = sum(name == file for name, _ in found)
        assert alone == ours, f"{file} has {alone} kernels, {ours} of them as templates"
    return found


DOMAINS = {
    r"\w*Offset[ABCM]?|Place": OFFSET,
    r"Stored[XY]?|[ABCTUV]": STORED,
    r"KEPT(_\w)?|\w_KEPT": KEPT,
    r"To|From|Z": tuple(dtype.np_type for dtype in ALL),
    r"Word": tuple(map(np.dtype, ("u1", "u2", "u4", "u8"))),
    r"Key": tuple(map(np.dtype, ("u4", "u8"))),
    r"Level": tuple(map(np.dtype, ("u1", "i4"))),
    r"Row|Column": tuple(map(np.dtype, ("i4", "i8"))),
    r"MASK": (0, 1, 2),  # the kinds of mask that gathering.cuh and assign.cu define
    r"WHERE": (0, 1, 2),  # the values DENSE, LISTED and BY_ROWS in rows.cuh
    r"FILL": (
        0,
        1,
        2,
        3,
    ),  # combinations of the bits FILL_RIGHT and FILL_LEFT in ewise_union.cu
    r"HOW": (0, 1, 2),  # the values INTERSECTION, UNION and FILLED_UNION in ewise_dense.cu
    r"HELD": (0, 1, 2),  # the values IN_BITMAP, IN_FULL and WITH_HUBS in gathering.cuh
    r"ENDS": (0, 1, 2),  # the values AT_LAST, AT_FIRST and AT_PRESENCE in gathering.cuh
    r"RULE": (0, 1),  # the values POPULAR and GAINING in communities.cu
    r"CLUSTER": (1, 16),  # the cluster sizes that backends/cuda/bfs.py chooses from
    r"WAY": (0, 1, 2, 3, 4, 5),  # the values CLAIM to EXPAND in spmspv.cu
}
"""For each regular expression, the values of the template parameters whose names match it.

SPECIAL overrides these values for individual kernels.
"""

OPERATORS_OF = {
    "select.cu": dict.fromkeys(("flag_entries", "select_few"), "select"),
    "ewise_union.cu": {"merge_entries": "accumulation", "fill_entries": "accumulation"},
    "ewise_intersect.cu": {"meet_entries": "accumulation", "pair_entries": "accumulation"},
    "reduce.cu": dict.fromkeys(
        ("fold_parts", "fold_repeated", "fold_rows_at_once", "fold_strips", "close_rows"),
        "reduction",
    ),
    "ewise_dense.cu": {"combine_dense": "accumulation", "meet_dense": "accumulation"},
    "spgemm_plan.cu": {"one_term": "matrix_matrix"},
    "spgemm_dot.cu": {"dot_products": "matrix_matrix"},
    "spgemm_hash.cu": {"make_few": "matrix_matrix"},
    "spgemm_masked.cu": {"masked_rows": "matrix_matrix"},
    "spgemm_expand_sort.cu": {"expand_rows": "matrix_matrix", "add_runs": "matrix_matrix"},
    "spgemm_dense.cu": {"make_tiles": "matrix_matrix"},
    "kronecker.cu": {"kronecker_entries": "kronecker", "one_pair": "kronecker"},
    "apply.cu": {"map_values": "mapping", "map_entries": "mapping"},
    "assign.cu": {"scatter_entries": "accumulation", "write_indices": "accumulation"},
    "spmv.cu": dict.fromkeys(("pull_rows", "pull_chunks", "join_chunks"), "matrix_vector"),
    "matvec.cu": {"constant_term": "matrix_vector"},
    "spmspv.cu": dict.fromkeys(("push_columns", "push_alone", "push_tiles"), "matrix_vector"),
    "convert.cu": {"fold_runs": "accumulation"},
    "sort.cu": dict.fromkeys(("sort_tiles", "merge_tiles", "leave_as_they_came"), "comparison"),
    "closure.cu": {"close_over": "closure"},
}
"""The kind of operator of each kernel, as a key of `OPERATORS`. Other kernels have no operator."""

HOT = {
    *("map_values", "move_flagged", "scatter_entries", "write_indices"),
    *("pull_rows", "pull_chunks", "push_columns", "push_tiles"),
    *("dot_products", "make_few", "masked_rows"),
    *("sort_tiles", "merge_tiles"),
}
"""Kernels that must keep all values in registers, because they dominate the time of an operation.

Kernels that run a whole traversal are not in the set, because they need more values than a thread
has registers. They only have to stay within the limits in resources.json.
"""

SORT_THREADS = sort.TUNING.threads
SORT_ITEMS = (sort.TUNING.items, sort.TUNING.wide_items)
SORT_TILES = tuple(SORT_THREADS * items for items in SORT_ITEMS)
SORT_STRIDES = tuple(stride for tile in SORT_TILES for stride in (tile, tile - tile // 8))

SPECIAL: dict[tuple[str, str], tuple[Any, ...]] = {
    **dict.fromkeys((("count_few", "BITS"), ("make_few", "BITS")), (5, 7, 9, 11)),
    **dict.fromkeys(
        (("count_few", "GROUP"), ("make_few", "GROUP"), ("move_few", "GROUP")), (4, 8, 32)
    ),
    **dict.fromkeys((("count_few", "MASK"), ("make_few", "MASK")), (0, 1)),
    **dict.fromkeys((("count_tiles", "MASK"), ("make_tiles", "MASK")), (0, 1)),
    **dict.fromkeys((("count_tiles", "BITS"), ("make_tiles", "BITS")), (10, 11)),
    ("expand_rows", "MASK"): (0, 1),
    ("brandes", "SUMMED"): (0, 1),
    ("brandes", "TOLD"): (0, 1),
    ("settle_ranks", "T"): tuple(map(np.dtype, ("f4", "f8"))),
    ("settle_ranks", "TURN"): (0, 1),
    **dict.fromkeys(
        (
            *((f"choose_by_{what}", "KEPT") for what in ("lanes", "tables", "blocks")),
            ("choose_mates", "KEPT"),
        ),
        (1, 2),
    ),
    ("dot_products", "BITS"): (10,),
    **dict.fromkeys((("sort_tiles", "THREADS"), ("merge_tiles", "THREADS")), (SORT_THREADS,)),
    **dict.fromkeys((("sort_tiles", "ITEMS"), ("merge_tiles", "ITEMS")), tuple(set(SORT_ITEMS))),
    ("find_seams", "TILE"): SORT_TILES,
    **dict.fromkeys(
        tuple((name, "STRIDE") for name in ("find_seams", "sort_tiles", "merge_tiles")),
        SORT_STRIDES,
    ),
    ("search_small", "CLUSTER"): (16,),
    ("search_small", "THREADS"): (512, 1024),
    **dict.fromkeys(
        (("edge_tuned", "Edge"), ("edge_paths", "Edge")), tuple(map(np.dtype, ("u4", "u8")))
    ),
    ("edge_paths", "Distance"): tuple(map(np.dtype, ("i4", "i8", "f4", "f8"))),
    ("close_over", "A"): (OWN, np.dtype("i4")),
    ("close_over", "T"): (OWN, np.dtype("i8")),
    ("privatised_queue", "ROOM"): (2048,),
    ("hierarchical_queue", "GROUPS"): (4,),
    ("hierarchical_queue", "ROOM"): (512,),
    ("hierarchical_queue", "BLOCK_ROOM"): (2048,),
    ("small_frontier", "ROOM"): (4096,),
    **dict.fromkeys((("hubs_begin", "HUB"), ("hubs_apart", "HUB")), (64,)),
    **dict.fromkeys((("hubs_begin", "PIECE"), ("hubs_apart", "PIECE")), (256,)),
}
"""Allowed values of individual parameters, keyed by (kernel name, parameter name)."""

CONSTANTS: dict[str, Any] = {
    "betweenness.cu": betweenness.TUNING,
    "closure.cu": closure.TUNING,
    "multi_source_bfs.cu": multi_source_bfs.TUNING,
    "communities.cu": communities.LAYOUT,
    "coloring.cu": coloring.TUNING,
    "components.cu": components.TUNING,
    "matching.cu": matching.TUNING,
    "pagerank.cu": pagerank.TUNING,
    "spmspv.cu": spmspv.TUNING,
    "spmv.cu": spmv.TUNING,
    **dict.fromkeys(("spgemm_hash.cu", "spgemm_dense.cu"), spgemm.TUNING),
    **dict.fromkeys(("spgemm_dot.cu", "spgemm_masked.cu"), spgemm_masked.TUNING),
}
"""For each CUDA file, the constants that its kernels are compiled with."""

RULES: dict[str, Callable[[Any, Row], bool]] = {
    **dict.fromkeys(
        ("count_few", "make_few"),
        lambda spec, row: (row["BITS"], row["GROUP"]) in spgemm.TUNING.few,
    ),
    # kernels cache hub columns only if the vector is full and every row reads its values
    **dict.fromkeys(
        ("pull_rows", "pull_chunks"),
        lambda spec, row: (
            row["HELD"] != 2
            or (row["KEPT_U"] == 2 and row["ENDS"] == 0 and row.get("MASK", 0) == 0)
        ),
    ),
    # 64-bit path lengths may be computed in 32-bit arithmetic. The near-far method needs a monoid
    # that selects the smaller or the larger of two values.
    "close_over": lambda spec, row: (
        (row["T"] is OWN or (row["operator"], row["dtype"].name) == ("min_plus", "INT32"))
        and (row["HOW"] != 1 or cuda_ops.order_of(spec[1].monoid) != 0)
    ),
    "find_seams": lambda spec, row: 0 < row["TILE"] - row["STRIDE"] <= row["TILE"] // 8,
    **dict.fromkeys(("sort_tiles", "merge_tiles"), lambda spec, row: _is_tile(spec, row)),
    # A tile of sums must fit into a block's shared memory.
    "make_tiles": lambda spec, row: row["BITS"] == (10 if spec[1].monoid.type.bits == 64 else 11),
}
"""For each kernel, a function that tells whether a complete row is valid."""


def _is_tile(spec: tuple[Any, ...], row: Row) -> bool:
    """Return whether the tile size suits the width of the keys and the stride suits the tile."""
    items = SORT_ITEMS[spec[1].type.bits == 64]
    tile = SORT_THREADS * items
    return row["ITEMS"] == items and row["STRIDE"] in (tile, tile - tile // 8)


def _kernels() -> Iterator[Kernel]:
    for (file, name), parameters in in_the_sources().items():
        operators = OPERATORS_OF.get(file, {}).get(name, "nothing")
        domains = {
            word: _domain(name, word, kind, operators)
            for word, kind in parameters.items()
            if word != "Op"
        }
        yield Kernel(file, name, operators, domains, name in HOT)


def _domain(kernel: str, parameter: str, kind: str, operators: str) -> tuple[Any, ...]:
    """Return the values of a parameter, or an empty tuple if no table lists it."""
    named = (may for pattern, may in DOMAINS.items() if re.fullmatch(pattern, parameter))
    found = SPECIAL.get((kernel, parameter)) or next(named, None)
    if found is None:
        return FLAGS if kind == "bool" else ()
    return found[1:] if operators == "nothing" and found[0] is OWN else found


KERNELS = tuple(_kernels())
