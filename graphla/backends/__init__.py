"""The Protocol that all backends implement, and the lookup of a backend by device.

A backend computes each operation on one kind of device. It takes and returns storage
(`graphla.formats`), typed operators, and arrays of its own device; it is never passed a store, a
mask view, a Matrix or a Vector. No function changes its inputs, unless `in_place` is set.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from graphla import cards
from graphla.backends.requests import (
    BfsResult,
    Closure,
    ClosureResult,
    CommunityMoves,
    Dependencies,
    DependenciesResult,
    EarlyStop,
    Level,
    MultiSearch,
    MultiSearchResult,
    PageRank,
    Ranks,
    Reach,
    Search,
    Symmetry,
)
from graphla.settings import check_device, config
from semirings.exceptions import DeviceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from graphla.formats import (
        AnyVector,
        Array,
        BitmapVector,
        Csr,
        DenseVector,
        MatrixMask,
        Plan,
        SparseVector,
        VectorMask,
    )
    from semirings.operators import (
        TypedBinaryOp,
        TypedIndexUnaryOp,
        TypedSelectOp,
        TypedUnaryOp,
    )
    from semirings.structures import TypedMonoid, TypedSemiring


__all__ = [
    "Backend",
    "BfsResult",
    "Closure",
    "ClosureResult",
    "Costs",
    "Dependencies",
    "DependenciesResult",
    "EarlyStop",
    "Level",
    "MultiSearch",
    "MultiSearchResult",
    "Reach",
    "Search",
    "Side",
    "Streams",
    "Symmetry",
    "backend",
    "default_device",
    "resolve_device",
    "streams",
]

Side = Literal["mxv", "vxm"]


class Costs(NamedTuple):
    """The costs of the parts of a matrix-vector product, relative to gathering one entry in a pull.

    Measured by benchmarks/direction.py (CPU) and benchmarks/direction_gpu.py.
    """

    push_entry: float  # scattering one entry in a push; `config.push_cost` overrides it
    push_first: float  # scattering one entry if an output may be any one of its terms
    push_ordered: float  # scattering one entry if sums have a fixed order
    pull_row: float  # visiting one row in a pull, in addition to its entries
    stopping: float  # factor on the expected number of entries in a pull with early stops
    transpose_entry: float  # building CSC from CSR or vice versa, per entry
    push_start: float = 0.0  # fixed cost of a push
    pull_start: float = 0.0
    transpose_start: float = 0.0
    small: int = 4096  # a product that reads fewer entries never builds another form


class Backend(Protocol):
    """The operations that each backend computes.

    A parameter of type `Any` is a SparseVector or a Csr, and the result is of the same type.
    """

    MERGE_PRICE: int  # fixed cost of a merge; the unit is the cost of writing one entry

    costs: Costs

    # --- arrays, which NumPy functions accept on any device (NEP 13, NEP 18) ---------------------
    def asarray(self, values: Any, dtype: Any = None) -> Array:
        """Return `values` as an array of this device, copied only if necessary."""
        ...

    def to_host(self, array: Array) -> Any:
        """Return `array` as a numpy.ndarray."""
        ...

    def full(self, size: int, value: Any, dtype: Any) -> Array:
        """Return a new array of `size` elements that are all equal to `value`."""
        ...

    def repeat(self, value: Any, size: int) -> Array:
        """Return `size` copies of a NumPy scalar, as an iso array, which must not be written."""
        ...

    def arange(self, size: int, dtype: Any) -> Array:
        """Return the array 0, 1, ..., size - 1."""
        ...

    def owns(self, array: Array) -> bool:
        """Return whether the array owns its memory, is writable, and shares the memory with no
        other array."""
        ...

    # --- forms --------------------------------------------------------------------------------
    def sort(self, v: SparseVector) -> SparseVector:
        """Return v with its entries sorted by index."""
        ...

    def to_sparse(self, v: AnyVector) -> SparseVector: ...
    def to_bitmap(self, v: AnyVector) -> BitmapVector: ...
    def transpose(self, a: Csr) -> Csr: ...
    def row_of_entry(self, a: Csr) -> Array:
        """Return the row of each entry, as int32."""
        ...

    def build_vector(
        self, size: int, indices: Array, values: Array, dup_op: TypedBinaryOp | None
    ) -> SparseVector:
        """Build a vector from entries in any order. Combine duplicates with dup_op, or raise an
        error if it is None."""
        ...

    def build_matrix(
        self,
        nrows: int,
        ncols: int,
        rows: Array,
        columns: Array,
        values: Array,
        dup_op: TypedBinaryOp | None,
    ) -> Csr: ...

    # --- products -----------------------------------------------------------------------------
    # Side "mxv": w(o) = (+)_k mult(A(o, k), u(k)). Side "vxm": w(o) = (+)_k mult(u(k), A(k, o)).
    def pull(
        self,
        rows: Csr,
        u: DenseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """Compute each output o that the mask allows from the entries in row o of `rows`."""
        ...

    def push(
        self,
        columns: Csr,
        u: SparseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """For each entry u(k), add its terms to the outputs o for which row k of `columns` has an
        entry."""
        ...

    def count_edges(self, a: Csr, rows: Array) -> int:
        """Return the number of entries in the given rows of a."""
        ...

    def nonempty_rows(self, a: Csr) -> int:
        """Return an upper bound on the number of rows of `a` that have entries."""
        ...

    def longest_row(self, a: Csr) -> int:
        """Return an upper bound on the number of entries in a row of a."""
        ...

    def mxm(
        self,
        a: Csr,
        b: Csr | None,
        semiring: TypedSemiring,
        mask: MatrixMask | None,
        bt: Csr | None,
    ) -> Csr | None:
        """C<mask> = A (+).(x) B. `bt` is B in CSC form, if that form exists. With a mask and `bt`,
        `b` may be None; if the product then turns out to need `b`, the result is None."""
        ...

    def kronecker(self, a: Csr, b: Csr, op: TypedBinaryOp) -> Csr: ...

    # --- element-wise operations on sorted SparseVectors or on Csr matrices ----------------------
    def union(self, a: Any, b: Any, op: TypedBinaryOp, left: Any = None, right: Any = None) -> Any:
        """Apply op where both operands have an entry. Where only one has an entry, keep it, or
        combine it with the fill value for the other operand if one is given."""
        ...

    def intersection(self, a: Any, b: Any, op: TypedBinaryOp) -> Any: ...
    def combine(
        self,
        v: AnyVector,
        w: AnyVector,
        op: TypedBinaryOp,
        how: Literal["union", "intersection"],
        left: Any = None,
        right: Any = None,
    ) -> AnyVector | None:
        """Combine v and w, of which at least one is dense. Return None if sparse forms would be
        cheaper."""
        ...

    def cast(self, a: Any, dtype: Any) -> Any:
        """Cast the values to a NumPy dtype without warnings; iso values stay iso."""
        ...

    def apply(self, a: Any, op: TypedUnaryOp) -> Any:
        """Apply op to each value; `a` may also be a BitmapVector or a FullVector."""
        ...

    def apply_bound(self, a: Any, op: TypedBinaryOp, scalar: Any, side: str) -> Any:
        """Return op(scalar, x) for each value x if `side` is "left", or op(x, scalar) if it is
        "right"."""
        ...

    def apply_index(self, a: Any, op: TypedIndexUnaryOp, thunk: Any) -> Any: ...
    def select(self, a: Any, op: TypedSelectOp, thunk: Any) -> Any: ...
    def keep(self, a: Any, flags: Array) -> Any:
        """Return the flagged entries."""
        ...

    # --- orders ---------------------------------------------------------------------------------
    def sort_by(
        self, values: Array, indptr: Array | None, op: TypedBinaryOp
    ) -> tuple[Array, Array]:
        """Sort at least two values by op. Return the sorted values and their old positions.

        The values have op's dtype and are not iso. Each segment indptr[s]..indptr[s + 1] is sorted
        separately; without indptr there is a single segment. Positions are relative to the start of
        `values`. They are int32 if there are fewer than 2^31 values, otherwise int64. op(x, y) is
        true if x sorts before y. The sort is stable, and NaN is last. If op is not an ordering, the
        result is an arbitrary permutation.
        """
        ...

    # --- traversals that are one launch or one compiled loop (see `requests`) --------------------
    def find_symmetry(self, a: Csr) -> Symmetry:
        """Return whether a square matrix has the same pattern and the same values as its transpose.

        This takes about one pass over the entries. The pass ends early if a counterpart is missing.
        """
        ...

    def plan(self, out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
        """Return the precomputed data that traversals use in addition to CSR and CSC.

        If `before`, a light plan, is given, a full plan may reuse parts of it.
        """
        ...

    def plan_cost(self, out: Csr, into: Csr) -> float:
        """Return the approximate time to build a full plan, in seconds; infinity if it never pays
        off."""
        ...

    def transpose_plan(self, plan: Plan, out: Csr, into: Csr) -> Plan:
        """Return the plan for the transpose of a matrix, given the plan of the matrix.

        `out` and `into` are the transpose in CSR and CSC form.
        """
        ...

    def bfs(self, request: Search) -> BfsResult:
        """Return the level of each vertex and its parent, which is on a path from the nearest
        start."""
        ...

    def closure(self, request: Closure) -> ClosureResult:
        """Return the least fixpoint of x = x ⊕ xA, or the result after `limit` products."""
        ...

    def multi_source_bfs(self, request: MultiSearch) -> MultiSearchResult:
        """Return the levels of the searches from k starts, or only the totals of each search."""
        ...

    def dependencies(self, request: Dependencies) -> DependenciesResult | None:
        """Return the dependencies on shortest paths, or None if the device does not implement
        this."""
        ...

    # --- reductions ----------------------------------------------------------------------------
    def reduce_rows(self, a: Csr, monoid: TypedMonoid) -> SparseVector | BitmapVector:
        """w(i) = ⊕ of row i. If row i has no entries, neither has w(i)."""
        ...

    def reduce(self, values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
        """Combine all values (or all present values) into a NumPy scalar. If there are none, return
        the identity."""
        ...

    # --- look-ups and extraction; None as an index array means all indices -----------------------
    def find(self, a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
        """Return the position of the entry at i, or at (i, j), and whether it exists. If it does
        not, the position is where it would be inserted."""
        ...

    def element(self, a: AnyVector | Csr, i: int, j: int = 0) -> Any:
        """Return the value at i, or at (i, j), as a NumPy scalar; None if there is no entry."""
        ...

    def extract_vector(self, v: AnyVector, indices: Array | None) -> SparseVector: ...
    def extract_matrix(self, a: Csr, rows: Array | None, columns: Array | None) -> Csr: ...

    # --- the write rule ------------------------------------------------------------------------
    # t may have entries that the mask does not allow. Callers do what `assign` needs beyond this
    # rule.
    def write_vector(
        self,
        c: AnyVector,
        t: AnyVector,
        mask: VectorMask | None,
        accum: TypedBinaryOp | None,
        replace: bool,
        dtype: Any,
        *,
        in_place: bool = False,
    ) -> AnyVector:
        """C<mask, replace> = accum(C, T), with numpy dtype `dtype`. If in_place, c may be
        overwritten."""
        ...

    def one_entry(self, size: int, i: int, value: Any) -> SparseVector:
        """Return the vector with the single entry v(i) = value, a NumPy scalar of its dtype."""
        ...

    def set_element(self, v: DenseVector, i: int, value: Any) -> DenseVector:
        """Set v(i) = value in place, where value is a scalar of v's dtype; None deletes the
        entry."""
        ...

    def write_matrix(
        self,
        c: Csr,
        t: Csr,
        mask: MatrixMask | None,
        accum: TypedBinaryOp | None,
        replace: bool,
        dtype: Any,
    ) -> Csr: ...

    # --- components, cores and forests -----------------------------------------------------------
    # `out` is a square matrix in CSR form, and `into` is the same matrix in CSC form. They are the
    # same object if the matrix is known to be symmetric. A function returns None if the device has
    # no implementation that is faster than the matrix operations.
    def components(self, out: Csr, into: Csr | None) -> Array | None:
        """Return, for each vertex, the smallest vertex of its weak component, as int64[n].

        `into` is None if the CSC form does not exist.
        """
        ...

    def strong_components(self, out: Csr, columns: Callable[[], Csr]) -> Array | None:
        """Return, for each vertex, the smallest vertex of its strong component, as int64[n].

        `columns` returns the matrix in CSC form. It is built only if the backend calls this
        function.
        """
        ...

    def cores(self, out: Csr, into: Csr | None) -> Array | None:
        """Return the core number of each vertex as int64[n].

        The core number is the largest k such that the vertex belongs to a set in which every vertex
        has at least k edges to the set. The edges of a vertex are the entries of its row and,
        unless `into` is None, also the entries of its column. There are no self-loops.
        """
        ...

    def forest(self, upper: Csr, is_maximum: bool) -> Array | None:
        """Return which entries of an upper triangle form a spanning forest, as bool[nvals].

        The forest has the minimum weight or, if `is_maximum`, the maximum weight. Among edges of
        equal weight the first entry is preferred. No value is NaN, and no entry is on the diagonal.
        """
        ...

    # --- communities, colorings and matchings (of symmetric matrices), and ranks -----------------
    def propagate_labels(self, links: Csr, labels: Array, rounds: int) -> Array | None:
        """Return the labels after `rounds` rounds, as int32.

        In each round every vertex takes the label with the largest sum of weights among its
        neighbors. If sums are equal, it takes the smallest label.
        """
        ...

    def move_communities(self, request: CommunityMoves) -> Array:
        """Return the community of each vertex, as int32, after moves that raise the modularity."""
        ...

    def color(self, a: Csr, numbers: Array) -> Array | None:
        """Return the color of each vertex, as int32[n]: the smallest color that no neighbor with a
        larger number has."""
        ...

    def match(self, a: Csr, words: Array) -> Array | None:
        """Return the mate of each vertex in a matching, as int32; negative for unmatched vertices.

        Edges are taken in order of decreasing value. Among equal values, the edge with the larger
        hash is taken first; the hash is computed from the words of both ends.
        """
        ...

    def pagerank(self, request: PageRank) -> Ranks | None:
        """Return the ranks after the last round."""
        ...


class Streams(Protocol):
    """Functions that order the work on a device that runs asynchronously, such as a GPU."""

    def resolve_device(self, device: str) -> str:
        """Return the full name of a device."""
        ...

    def Stamp(self) -> Any:
        """Return a stamp that marks the current point in the current stream. It is kept with new
        storage."""
        ...

    def add_stamp(self, stamps: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the new stamps of a store to which another form has just been added."""
        ...

    def merge_stamps(self, stamps: tuple[Any, ...], others: Iterable[Any]) -> tuple[Any, ...]:
        """Return the stamps of a store that may share memory with others."""
        ...

    def foreign_stamps(self, operands: Iterable[Any]) -> list[Any]:
        """Return those stamps of the operands that belong to streams other than the current one."""
        ...

    def wait_for(self, stamps: tuple[Any, ...]) -> bool:
        """Make the current stream wait until storage with these stamps is complete.

        Return whether any of the stamps belongs to another stream.
        """
        ...

    def make_owners_wait(self, stamps: Iterable[Any]) -> None:
        """Make each stream whose memory the current stream has used wait until the current stream
        is done."""
        ...

    def enter_device(self, device: str) -> Any:
        """Make a device the current one; return the state that `leave` restores."""
        ...

    def leave_device(self, before: Any) -> None: ...
    def wait(self) -> None:
        """Wait until the current stream has finished its work."""
        ...

    def explain(self, error: BaseException, name: str, device: str) -> Exception | None:
        """Return the exception that explains an error of this device, or None to keep the error."""
        ...

    def adopt(self, array: Any) -> Array:
        """Return a device array from any library as an array of this backend, without a copy."""
        ...

    def truths(self, array: Array) -> Array:
        """Return a Boolean array in which each true element is stored as the byte 1."""
        ...

    def overlap(self, one: Array, other: Array) -> bool:
        """Return whether two arrays overlap or use the same allocation."""
        ...

    def copy_to_current(self, array: Array) -> Array:
        """Return a copy of the array on the current card."""
        ...


@cache
def backend(device: str) -> Backend:
    """Return the backend of a device. It is imported at the first call."""
    check_device("device", device)
    kind = device.partition(":")[0]
    if kind == "cuda":
        why = cards.find_problem()
        if why:
            raise DeviceUnavailable(f'the device "{device}" cannot be used: {why}')
    return cast(Backend, import_module(f"graphla.backends.{kind}.backend"))


@cache
def streams(device: str) -> Streams:
    """Return the streams of a device other than "cpu"."""
    backend(device)
    return cast(Streams, import_module("graphla.backends.cuda.streams"))


def resolve_device(device: str) -> str:
    """Return the full name of a device. For "cuda" this is the current card, such as "cuda:0"."""
    return device if device == "cpu" else streams(device).resolve_device(device)


def default_device() -> str:
    """Return the device on which a new matrix or vector is stored."""
    return resolve_device(config.device)
