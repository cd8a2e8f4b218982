"""The Protocol of backends, and the lookup of a backend by device.

A backend computes each operation on one kind of device. It takes and returns storage
(`graphla.formats`), typed operators, and arrays of its own device; it never sees a store, a mask
view, a Matrix or a Vector. No function changes its inputs, unless `in_place` is set.
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
    """The costs of a matrix-vector product; the unit is the cost of one entry that pull gathers.

    Measured by benchmarks/direction.py (CPU) and benchmarks/direction_gpu.py.
    """

    push_entry: float  # one entry scattered by push; `config.push_cost` overrides it
    push_first: float  # the cost of such an entry if any term suffices for an output
    push_ordered: float  # the cost of such an entry if sums have a fixed order
    pull_row: float  # one row visited by pull, in addition to its entries
    stopping: float  # factor for the expected entries of a pull that may stop early
    transpose_entry: float  # building the other form of the matrix, per entry
    push_start: float = 0.0  # fixed cost of a push
    pull_start: float = 0.0
    transpose_start: float = 0.0
    small: int = 4096  # a product that reads fewer entries always uses the existing form


class Backend(Protocol):
    """The operations that each backend computes.

    A parameter of type `Any` is a SparseVector or a Csr, and the result is of the same type.
    """

    MERGE_PRICE: int  # cost of a merge, in entries, in addition to those that it rewrites

    costs: Costs

    # --- arrays: NumPy's functions accept them on any device (NEP 13, NEP 18) -------------------
    def asarray(self, values: Any, dtype: Any = None) -> Array:
        """Return `values` as an array of this device, copied only if necessary."""
        ...

    def to_host(self, array: Array) -> Any:
        """Return `array` as a numpy.ndarray."""
        ...

    def full(self, size: int, value: Any, dtype: Any) -> Array:
        """Return a new array of `size` elements that all have one value."""
        ...

    def repeat(self, value: Any, size: int) -> Array:
        """Return `size` copies of a NumPy scalar, as an iso array, which must not be written."""
        ...

    def arange(self, size: int, dtype: Any) -> Array:
        """Return the array 0, 1, ..., size - 1."""
        ...

    def owns(self, array: Array) -> bool:
        """Return whether the array owns its memory, may be written, and shares it with no other."""
        ...

    # --- forms --------------------------------------------------------------------------------
    def sort(self, v: SparseVector) -> SparseVector:
        """Return the entries of v in order of index."""
        ...

    def to_sparse(self, v: AnyVector) -> SparseVector: ...
    def to_bitmap(self, v: AnyVector) -> BitmapVector: ...
    def transpose(self, a: Csr) -> Csr: ...
    def row_of_entry(self, a: Csr) -> Array:
        """Return the row of each entry, int32."""
        ...

    def build_vector(
        self, size: int, indices: Array, values: Array, dup_op: TypedBinaryOp | None
    ) -> SparseVector:
        """Build from entries in any order. dup_op combines duplicates; None raises an error."""
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
    # side "mxv": w(o) = (+)_k mult(A(o, k), u(k)); side "vxm": w(o) = (+)_k mult(u(k), A(k, o)).
    def pull(
        self,
        rows: Csr,
        u: DenseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """Gather each output o that the mask allows from the entries a(o, k) of row o of `rows`."""
        ...

    def push(
        self,
        columns: Csr,
        u: SparseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """Scatter each entry u(k) to the outputs o in row k of `columns`."""
        ...

    def count_edges(self, a: Csr, rows: Array) -> int:
        """Return the number of entries in the given rows of a."""
        ...

    def nonempty_rows(self, a: Csr) -> int:
        """Return an upper bound on the number of rows with entries in matrix a."""
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
        """C<mask> = A (+).(x) B. `bt` is B by columns, if that form exists. Under a mask, `b` may
        be None if `bt` is given; a result of None then means that the product needs `b`."""
        ...

    def kronecker(self, a: Csr, b: Csr, op: TypedBinaryOp) -> Csr: ...

    # --- entry by entry (V = SparseVector sorted, or Csr) --------------------------------------
    def union(self, a: Any, b: Any, op: TypedBinaryOp, left: Any = None, right: Any = None) -> Any:
        """Apply op to pairs; keep a lone entry, or combine it with the fill value if given."""
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
        """Combine v and w, one of them dense; return None if sparse forms would be cheaper."""
        ...

    def cast(self, a: Any, dtype: Any) -> Any:
        """Cast the values to a NumPy dtype without warnings; iso values stay iso."""
        ...

    def apply(self, a: Any, op: TypedUnaryOp) -> Any:
        """Apply op to each value; `a` may also be a BitmapVector or a FullVector."""
        ...

    def apply_bound(self, a: Any, op: TypedBinaryOp, scalar: Any, side: str) -> Any:
        """Apply op(scalar, x) (`side` "left") or op(x, scalar) ("right") to each value x."""
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
        """Sort two or more values (of op's dtype, not iso) by op; also return their old positions.

        Each segment indptr[s]..indptr[s + 1] is sorted separately; without indptr there is one
        segment. Positions count from the start of `values`; they are int32 if there are fewer than
        2^31 values, otherwise int64. op(x, y) is true if x sorts before y. The sort is stable, and
        NaN is last. If op is not an order, the result is some permutation.
        """
        ...

    # --- whole traversals: one launch, or one compiled loop (see `requests`) ---------------------
    def find_symmetry(self, a: Csr) -> Symmetry:
        """Return whether a square matrix has the pattern, and the values, of its transpose.

        This takes about one pass over the entries. The pass ends early if a counterpart is missing.
        """
        ...

    def plan(self, out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
        """Return the precomputed data that traversals use in addition to the forms of a matrix.

        A full plan may reuse parts of `before`, a light plan, if one is given.
        """
        ...

    def plan_cost(self, out: Csr, into: Csr) -> float:
        """Return the approximate seconds that a full plan takes; infinity if it never pays off."""
        ...

    def transpose_plan(self, plan: Plan, out: Csr, into: Csr) -> Plan:
        """Return the plan of the transpose of a matrix with this plan.

        `out` and `into` are the forms of the transpose.
        """
        ...

    def bfs(self, request: Search) -> BfsResult:
        """Return the level of each vertex, and its parent on a path from the nearest start."""
        ...

    def closure(self, request: Closure) -> ClosureResult:
        """Return the least fixpoint of x = x ⊕ xA, or the result after `limit` products."""
        ...

    def multi_source_bfs(self, request: MultiSearch) -> MultiSearchResult:
        """Return the levels of a search from each of k starts, or how far each search reaches."""
        ...

    def dependencies(self, request: Dependencies) -> DependenciesResult | None:
        """Return the dependencies on shortest paths; None if the device has no loop for them."""
        ...

    # --- reductions ----------------------------------------------------------------------------
    def reduce_rows(self, a: Csr, monoid: TypedMonoid) -> SparseVector | BitmapVector:
        """w(i) = ⊕ of row i; a row without entries has no entry in w."""
        ...

    def reduce(self, values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
        """Combine all (present) values into a NumPy scalar; without any, return the identity."""
        ...

    # --- indices: None means all, in order -----------------------------------------------------
    def find(self, a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
        """Return where entry i (or (i, j)) is, or would be inserted, and whether it exists."""
        ...

    def element(self, a: AnyVector | Csr, i: int, j: int = 0) -> Any:
        """Return the value at i (or (i, j)) as a NumPy scalar; None if there is no entry."""
        ...

    def extract_vector(self, v: AnyVector, indices: Array | None) -> SparseVector: ...
    def extract_matrix(self, a: Csr, rows: Array | None, columns: Array | None) -> Csr: ...

    # --- the write rule ------------------------------------------------------------------------
    # t may have entries that the mask forbids. Callers prepare what assign needs beyond this rule.
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
        """C<mask, replace> = accum(C, T), of numpy dtype `dtype`; may write into c if in_place."""
        ...

    def one_entry(self, size: int, i: int, value: Any) -> SparseVector:
        """Return the vector with the single entry v(i) = value, a NumPy scalar of its dtype."""
        ...

    def set_element(self, v: DenseVector, i: int, value: Any) -> DenseVector:
        """Set v(i) = value, a scalar of v's dtype, in place; None deletes the entry."""
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

    # --- the parts of a graph ------------------------------------------------------------------
    # `out` is a square matrix by rows, `into` the same by columns: the same object if the matrix is
    # known to be symmetric. A function returns None if the device has no loop that is faster than
    # the matrix operations.
    def components(self, out: Csr, into: Csr | None) -> Array | None:
        """Return, for each vertex, the smallest vertex of its weak component, as int64[n].

        `into` is None if that form does not exist.
        """
        ...

    def strong_components(self, out: Csr, columns: Callable[[], Csr]) -> Array | None:
        """Return, for each vertex, the smallest vertex of its strong component, as int64[n].

        `columns` returns the matrix by columns, which is built only if the backend calls it.
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

    # --- communities and sets; matrices have symmetric patterns and values ------------------------
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
        """Return the smallest color that no neighbor with a larger number has, as int32[n]."""
        ...

    def match(self, a: Csr, words: Array) -> Array | None:
        """Return the mate of each vertex as int32; a vertex without a mate has a negative number.

        Edges with larger values are taken first. Among equal values, edges with a larger hash of
        the words of both ends are taken first.
        """
        ...

    def pagerank(self, request: PageRank) -> Ranks | None:
        """Return the ranks after the last round."""
        ...


class Streams(Protocol):
    """The order of work on a device that works asynchronously to the host (not the CPU)."""

    def resolve_device(self, device: str) -> str:
        """Return the full name of a device."""
        ...

    def Stamp(self) -> Any:
        """Return a stamp of the current point of the current stream; new storage keeps it."""
        ...

    def add_stamp(self, stamps: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the stamps of a store to which a form has just been added."""
        ...

    def merge_stamps(self, stamps: tuple[Any, ...], others: Iterable[Any]) -> tuple[Any, ...]:
        """Return the stamps of a store that may share memory with others."""
        ...

    def foreign_stamps(self, operands: Iterable[Any]) -> list[Any]:
        """Return those stamps of the operands that belong to streams other than the current one."""
        ...

    def wait_for(self, stamps: tuple[Any, ...]) -> bool:
        """Make the current stream wait until storage with these stamps is complete.

        Return whether a stamp belongs to another stream.
        """
        ...

    def make_owners_wait(self, stamps: Iterable[Any]) -> None:
        """Make each stream whose memory the current stream has used wait until that use is done."""
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
        """Return a device array of any library as an array of this backend, without a copy."""
        ...

    def truths(self, array: Array) -> Array:
        """Return an array with truth values as bytes 0 and 1."""
        ...

    def overlap(self, one: Array, other: Array) -> bool:
        """Return whether two arrays share an allocation or overlap."""
        ...

    def copy_to_current(self, array: Array) -> Array:
        """Return a copy of the array on the current card."""
        ...


@cache
def backend(device: str) -> Backend:
    """Return the backend of a device, which is imported at the first call."""
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
    """Return the full name of a device: "cuda" is the current card, such as "cuda:0"."""
    return device if device == "cpu" else streams(device).resolve_device(device)


def default_device() -> str:
    """Return the device on which a new matrix or vector is stored."""
    return resolve_device(config.device)
