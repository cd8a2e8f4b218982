"""A backend computes each operation on one kind of device: what it must offer, how it is found.

A backend takes and returns storage (`graphla.formats`), typed operators, and arrays of its own
device; it never sees a form, a mask view or a noun. Every function leaves its inputs as they were,
except where `in_place` is said.
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
    """What a matrix-vector product costs, in units of one entry gathered by pull.

    Measured by benchmarks/direction.py (CPU) and benchmarks/direction_gpu.py.
    """

    push_entry: float  # one entry scattered by push; `config.push_cost` stands before it
    push_first: float  # the same, where any term will do for an output
    push_ordered: float  # the same, where the order of a sum is kept
    pull_row: float  # one row visited by pull, whatever it holds
    stopping: float  # one entry expected of a pull that stops early: often it stops sooner
    transpose_entry: float  # one entry of the other form of the matrix, where it must be made first
    push_start: float = 0.0  # any push, of however few entries
    pull_start: float = 0.0
    transpose_start: float = 0.0
    small: int = 4096  # in a matrix of fewer entries what is at hand is what is quickest


class Backend(Protocol):
    """What each backend computes.

    Where a parameter is `Any`, a SparseVector or a Csr is meant, and the same kind comes back.
    """

    MERGE_PRICE: int  # what merging sparse vectors costs, in entries, beside those rewritten

    costs: Costs

    # --- arrays: NumPy's functions take them on any device (NEP 13, NEP 18) ---------------------
    def asarray(self, values: Any, dtype: Any = None) -> Array:
        """`values` as an array of this device, copied only if it must be."""
        ...

    def to_host(self, array: Array) -> Any:
        """`array` as a numpy.ndarray."""
        ...

    def full(self, size: int, value: Any, dtype: Any) -> Array:
        """A new array of `size` times one value."""
        ...

    def arange(self, size: int, dtype: Any) -> Array:
        """0, 1, ..., size - 1."""
        ...

    def owns(self, array: Array) -> bool:
        """Whether the array's memory is its own, may be written, and is seen by no other array."""
        ...

    # --- forms --------------------------------------------------------------------------------
    def sort(self, v: SparseVector) -> SparseVector:
        """The entries of v in order of index."""
        ...

    def to_sparse(self, v: AnyVector) -> SparseVector: ...
    def to_bitmap(self, v: AnyVector) -> BitmapVector: ...
    def transpose(self, a: Csr) -> Csr: ...
    def row_of_entry(self, a: Csr) -> Array:
        """The row of each entry, int32."""
        ...

    def build_vector(
        self, size: int, indices: Array, values: Array, dup_op: TypedBinaryOp | None
    ) -> SparseVector:
        """Entries in any order, equal indices folded by dup_op from the left; refused if None."""
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
        """Row o of `rows` holds the a(o,k) of output o: gather over what the mask allows."""
        ...

    def push(
        self,
        columns: Csr,
        u: SparseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """Row k of `columns` holds the outputs o that u(k) reaches: scatter along u's entries."""
        ...

    def count_edges(self, a: Csr, rows: Array) -> int:
        """How many entries the given rows of a hold."""
        ...

    def nonempty_rows(self, a: Csr) -> int:
        """How many rows of a may have entries; a bound is enough."""
        ...

    def longest_row(self, a: Csr) -> int:
        """How many entries a row of a may hold; a bound is enough."""
        ...

    def mxm(
        self,
        a: Csr,
        b: Csr | None,
        semiring: TypedSemiring,
        mask: MatrixMask | None,
        bt: Csr | None,
    ) -> Csr | None:
        """C<mask> = A (+).(x) B. `bt`, B by columns, is there if it is already built; `b` may be
        missing beside it under a mask: then None says that C cannot, or should not, do without."""
        ...

    def kronecker(self, a: Csr, b: Csr, op: TypedBinaryOp) -> Csr: ...

    # --- entry by entry (V = SparseVector sorted, or Csr) --------------------------------------
    def union(self, a: Any, b: Any, op: TypedBinaryOp, left: Any = None, right: Any = None) -> Any:
        """op where both are; one side alone passes, or meets `left`/`right` where given (union)."""
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
        """The same, where v or w is dense; None where it costs less to make both sparse."""
        ...

    def cast(self, a: Any, dtype: Any) -> Any:
        """Any storage with its values `astype` of a numpy dtype (iso stays iso, nothing warns)."""
        ...

    def apply(self, a: Any, op: TypedUnaryOp) -> Any:
        """Value by value; `a` may be a BitmapVector or FullVector as well."""
        ...

    def apply_bound(self, a: Any, op: TypedBinaryOp, scalar: Any, side: str) -> Any:
        """`side` "left": op(scalar, x); "right": op(x, scalar). Else as apply."""
        ...

    def apply_index(self, a: Any, op: TypedIndexUnaryOp, thunk: Any) -> Any: ...
    def select(self, a: Any, op: TypedSelectOp, thunk: Any) -> Any: ...
    def keep(self, a: Any, flags: Array) -> Any:
        """The entries that are flagged."""
        ...

    # --- orders ---------------------------------------------------------------------------------
    def sort_by(
        self, values: Array, indptr: Array | None, op: TypedBinaryOp
    ) -> tuple[Array, Array]:
        """The values (two or more, of op's dtype, not iso) in the order of op, and where each was.

        Each segment indptr[s]..indptr[s + 1] by itself, or all where indptr is None; the places are
        those among all values, int32 below 2^31 values, else int64. op(x, y) is true where x goes
        before y; where neither does, they keep their order; NaN is last. Of an op that is no order
        some permutation comes back.
        """
        ...

    # --- whole traversals: one launch, or one compiled loop (see `requests`) ---------------------
    def find_symmetry(self, a: Csr) -> Symmetry:
        """Return whether a square matrix has the pattern, and the values, of its transpose.

        This takes about one pass over the entries. The pass ends early if a counterpart is missing.
        """
        ...

    def plan(self, out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
        """Return what traversals need in addition to both forms of a matrix, from its pattern.

        `before` is a light plan, if there is one, of which a full plan may take over parts.
        """
        ...

    def plan_cost(self, out: Csr, into: Csr) -> float:
        """Return about how many seconds a full plan takes; infinite if none is to be made."""
        ...

    def transpose_plan(self, plan: Plan, out: Csr, into: Csr) -> Plan:
        """Return the plan of the transpose of a matrix with this plan; `out` and `into` are the
        transpose's."""
        ...

    def bfs(self, request: Search) -> BfsResult:
        """Return the edges from the nearest start to each vertex, and the last of them."""
        ...

    def closure(self, request: Closure) -> ClosureResult:
        """Return the least fixpoint of x = x ⊕ xA, or the result of `limit` products."""
        ...

    def multi_source_bfs(self, request: MultiSearch) -> MultiSearchResult:
        """Return the levels of a search from each of k starts, or how far each search came."""
        ...

    def dependencies(self, request: Dependencies) -> DependenciesResult | None:
        """Return the dependencies on shortest paths; None if the device has no loop for them."""
        ...

    # --- reductions ----------------------------------------------------------------------------
    def reduce_rows(self, a: Csr, monoid: TypedMonoid) -> SparseVector | BitmapVector:
        """w(i) = the fold of row i; a row without entries has none."""
        ...

    def reduce(self, values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
        """The fold of all values, or of those present, a NumPy scalar; the identity for none."""
        ...

    # --- indices: None means all, in order -----------------------------------------------------
    def find(self, a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
        """Which entry is at i (or at (i, j)), or would come after it, and whether it is there."""
        ...

    def element(self, a: AnyVector | Csr, i: int, j: int = 0) -> Any:
        """The value at i (or at (i, j)) as a NumPy scalar; None where there is no entry."""
        ...

    def extract_vector(self, v: AnyVector, indices: Array | None) -> SparseVector: ...
    def extract_matrix(self, a: Csr, rows: Array | None, columns: Array | None) -> Csr: ...

    # --- the write rule ------------------------------------------------------------------------
    # t may have entries that the mask forbids; what assign adds to the rule is made above.
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
        """The vector whose one entry is v(i) = value, a NumPy scalar of its dtype."""
        ...

    def set_element(self, v: DenseVector, i: int, value: Any) -> DenseVector:
        """v(i) = value, a scalar of v's dtype, in v's own arrays; None deletes."""
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
    # `out` is a square matrix by rows and `into` the same by columns: one object if the matrix is
    # known to be symmetric. A verb returns None if the device has no loop better than the algebra.
    def components(self, out: Csr, into: Csr | None) -> Array | None:
        """Return, for each vertex, the least vertex of its weak component, as int64[n].

        `into` is None if that form does not exist.
        """
        ...

    def strong_components(self, out: Csr, columns: Callable[[], Csr]) -> Array | None:
        """Return, for each vertex, the least vertex of its strong component, as int64[n].

        `columns` makes the matrix by columns. A backend that does not read the columns does not
        call it, so that they are not made.
        """
        ...

    def cores(self, out: Csr, into: Csr | None) -> Array | None:
        """Return the core number of each vertex as int64[n].

        It is the greatest k such that the vertex belongs to a set of vertices that each have at
        least k edges within the set. The edges of a vertex are the entries of its row and, unless
        `into` is None, also the entries of its column. There are no self-loops.
        """
        ...

    def forest(self, upper: Csr, is_maximum: bool) -> Array | None:
        """Return which entries of an upper triangle form a spanning forest, as bool[nvals].

        The forest has the least weight or, if `is_maximum`, the greatest; of equal weights the
        first entry is taken. No value is NaN, and no entry is on the diagonal.
        """
        ...

    # --- communities and sets; matrices have symmetric patterns and values ------------------------
    def propagate_labels(self, links: Csr, labels: Array, rounds: int) -> Array | None:
        """Return the labels, int32, after `rounds` rounds.

        In each round every vertex takes the label with the greatest sum of weights among its
        neighbors; of equal sums the least label.
        """
        ...

    def move_communities(self, request: CommunityMoves) -> Array:
        """Return the community of each vertex, int32, after moves that raise the modularity."""
        ...

    def color(self, a: Csr, numbers: Array) -> Array | None:
        """Return the least color that no neighbor with a greater number has, as int32[n]."""
        ...

    def match(self, a: Csr, words: Array) -> Array | None:
        """Return the mate of each vertex, int32, or a negative number.

        Edges of greater value are taken first; of equal values those with the greater hash of the
        words of both ends.
        """
        ...

    def pagerank(self, request: PageRank) -> Ranks | None:
        """Return the ranks after the last round."""
        ...


class Streams(Protocol):
    """The order of work on a device that does it while the host goes on (not the CPU)."""

    def resolve_device(self, device: str) -> str:
        """The full name of one of its devices."""
        ...

    def Stamp(self) -> Any:
        """The moment that the current stream has come to: who makes storage keeps it."""
        ...

    def add_stamp(self, stamps: tuple[Any, ...]) -> tuple[Any, ...]:
        """The stamps of forms that have just got another form."""
        ...

    def merge_stamps(self, stamps: tuple[Any, ...], others: Iterable[Any]) -> tuple[Any, ...]:
        """Stamps for forms that may share memory with others."""
        ...

    def foreign_stamps(self, operands: Iterable[Any]) -> list[Any]:
        """The stamps of these forms that are of other streams than the current one."""
        ...

    def wait_for(self, stamps: tuple[Any, ...]) -> bool:
        """The current stream waits until storage with these stamps is made.

        Whether some of it is of another stream.
        """
        ...

    def make_owners_wait(self, stamps: Iterable[Any]) -> None:
        """Streams whose memory the current one has used wait for that."""
        ...

    def enter_device(self, device: str) -> Any:
        """Makes a device the current one; gives what `leave_device` goes back to."""
        ...

    def leave_device(self, before: Any) -> None: ...
    def wait(self) -> None:
        """Wait until the current stream has done its work."""
        ...

    def explain(self, error: BaseException, name: str, device: str) -> Exception | None:
        """What a user should read for an error of this device; None to let it be."""
        ...

    def adopt(self, array: Any) -> Array:
        """An array of any library on a card as one of ours, without a copy."""
        ...

    def truths(self, array: Array) -> Array:
        """The same, truth values as bytes 0 and 1."""
        ...

    def overlap(self, one: Array, other: Array) -> bool:
        """Whether they lie in one allocation, or over one another."""
        ...

    def copy_to_current(self, array: Array) -> Array:
        """A copy on the card that is current."""
        ...


@cache
def backend(device: str) -> Backend:
    """The backend of a device, imported at the first call."""
    check_device("device", device)
    kind = device.partition(":")[0]
    if kind == "cuda":
        why = cards.missing()
        if why:
            raise DeviceUnavailable(f'the device "{device}" cannot be used: {why}')
    return cast(Backend, import_module(f"graphla.backends.{kind}.backend"))


@cache
def streams(device: str) -> Streams:
    """The streams of a device other than "cpu"."""
    backend(device)
    return cast(Streams, import_module("graphla.backends.cuda.streams"))


def resolve_device(device: str) -> str:
    """A device by its full name: "cuda" is the current card, "cuda:0" for example."""
    return device if device == "cpu" else streams(device).resolve_device(device)


def default_device() -> str:
    """Where a new matrix or vector is to live."""
    return resolve_device(config.device)
