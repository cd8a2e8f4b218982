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
    Forces,
    GreedyMergers,
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
    """The costs of the parts of a matrix-vector product, in units of the cost of reading one entry
    in a pull.

    They were measured by benchmarks/direction.py (CPU) and benchmarks/direction_gpu.py.
    """

    # cost of adding one entry to an output in a push; `config.push_cost` overrides it
    push_entry: float
    # Cost of adding one entry to an output in a push with the monoid `any`. An output may then be
    # any one of its terms, such as the first.
    push_first: float
    # Cost of adding one entry to an output in a push whose terms must be added in a fixed order,
    # because results must be deterministic.
    push_ordered: float
    pull_row: float  # cost of visiting one row in a pull, without the cost of its entries
    # A pull may stop before the end of a row if further terms cannot change the sum. In this case,
    # the estimated number of entries that it reads is multiplied by this factor.
    stopping: float
    transpose_entry: float  # cost per entry of building CSC from CSR, or CSR from CSC
    push_start: float = 0.0  # fixed cost of a push
    pull_start: float = 0.0
    transpose_start: float = 0.0
    # If the matrix has fewer entries than this, a product does not estimate costs: it uses the
    # existing form (CSR or CSC) that suits the format of the vector.
    small: int = 4096


class Backend(Protocol):
    """The operations that each backend computes.

    A parameter of type `Any` is a SparseVector or a Csr, and the result is of the same type.
    """

    # fixed cost of merging two sparse vectors; the unit is the cost of writing one entry
    MERGE_PRICE: int

    costs: Costs

    # --- arrays. NumPy functions also accept arrays of GPUs (NEP 13, NEP 18). -------------------
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
        """Return a read-only array of `size` elements that stores its common value, a NumPy scalar,
        only once."""
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
    # In these products, `side` says which operand of `mult` is the entry of A. With side "mxv",
    # w(o) = (+)_k mult(A(o, k), u(k)). With side "vxm", w(o) = (+)_k mult(u(k), A(k, o)).
    def pull(
        self,
        rows: Csr,
        u: DenseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """For each output o that the mask allows, compute the product, over the semiring, of row o
        of the matrix `rows` and the vector u."""
        ...

    def push(
        self,
        columns: Csr,
        u: SparseVector,
        semiring: TypedSemiring,
        side: Side,
        mask: VectorMask | None,
    ) -> SparseVector | BitmapVector:
        """Multiply each entry u(k) by the entries of row k of the matrix `columns`. If such an
        entry is in column o, add the product to output o."""
        ...

    def count_edges(self, a: Csr, rows: Array) -> int:
        """Return the number of entries in the given rows of the matrix `a`."""
        ...

    def nonempty_rows(self, a: Csr) -> int:
        """Return an upper bound on the number of rows of `a` that have entries."""
        ...

    def longest_row(self, a: Csr) -> int:
        """Return an upper bound on the number of entries in any row of the matrix `a`."""
        ...

    def mxm(
        self,
        a: Csr,
        b: Csr | None,
        semiring: TypedSemiring,
        mask: MatrixMask | None,
        bt: Csr | None,
    ) -> Csr | None:
        """C<mask> = A (+).(x) B. `b` is B in CSR form, and `bt` is B in CSC form, or None if that
        form does not exist. If both a mask and `bt` are given, `b` may be None. The function
        returns None if the product needs `b`, but `b` is None."""
        ...

    def kronecker(self, a: Csr, b: Csr, op: TypedBinaryOp) -> Csr: ...

    # --- element-wise operations on two sorted SparseVectors or two Csr matrices -----------------
    def union(self, a: Any, b: Any, op: TypedBinaryOp, left: Any = None, right: Any = None) -> Any:
        """Apply op where both operands have an entry. Where only one operand has an entry, the
        result is that entry or, if the other operand has a fill value, op of the entry and this
        fill value. `left` and `right` are the fill values of `a` and `b`."""
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
        """Combine two vectors, at least one of which is dense, with the operator `op`. Return None
        if it is cheaper to convert both vectors to sparse form and combine them."""
        ...

    def cast(self, a: Any, dtype: Any) -> Any:
        """Cast the values to a NumPy dtype without warnings.

        If one stored element represents all values, the result is stored in this way too.
        """
        ...

    def apply(self, a: Any, op: TypedUnaryOp) -> Any:
        """Apply op to each value; `a` may also be a BitmapVector or a FullVector."""
        ...

    def apply_bound(self, a: Any, op: TypedBinaryOp, scalar: Any, side: str) -> Any:
        """For each value x, return op(scalar, x) if `side` is "left", or op(x, scalar) if `side` is
        "right"."""
        ...

    def apply_index(self, a: Any, op: TypedIndexUnaryOp, thunk: Any) -> Any: ...
    def select(self, a: Any, op: TypedSelectOp, thunk: Any) -> Any: ...
    def keep(self, a: Any, flags: Array) -> Any:
        """Return the entries of `a` whose flag is true."""
        ...

    # --- orders ---------------------------------------------------------------------------------
    def sort_by(
        self, values: Array, indptr: Array | None, op: TypedBinaryOp
    ) -> tuple[Array, Array]:
        """Sort at least two values by op. Return the sorted values and their old positions.

        The values have op's dtype, and each value has its own element in the array, even if all are
        equal. Each segment, the positions indptr[s] to indptr[s + 1] - 1, is sorted separately;
        without indptr all values form a single segment. The returned positions are relative to the
        start of `values`, not of the segment. They are int32 if there are fewer than 2^31 values,
        otherwise int64. op(x, y) is true if x sorts before y. The sort is stable, and NaN comes
        last. If op is not an ordering, the result is an arbitrary permutation.
        """
        ...

    # --- traversals; each one runs in one kernel launch or one compiled loop (see `requests`) ---
    def find_symmetry(self, a: Csr) -> Symmetry:
        """Return whether a square matrix has the same pattern as its transpose, and whether it also
        has the same values.

        The cost is about one pass over the entries. The pass ends early if the backend finds an
        entry (i, j) without a counterpart (j, i).
        """
        ...

    def plan(self, out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
        """Return the plan of a matrix: precomputed data that traversals use in addition to CSR and
        CSC.

        If `full` is set, the plan is a full plan, which takes longer to build and makes traversals
        faster; otherwise it is a light plan. `before` is None or the light plan of the same matrix;
        the full plan may reuse parts of it.
        """
        ...

    def plan_cost(self, out: Csr, into: Csr) -> float:
        """Return the approximate time to build a full plan, in seconds, or infinity if a full plan
        never saves enough time to be worth building."""
        ...

    def transpose_plan(self, plan: Plan, out: Csr, into: Csr) -> Plan:
        """Return the plan for the transpose of a matrix, given the plan of the matrix.

        `out` and `into` are the CSR and CSC forms of the transpose.
        """
        ...

    def bfs(self, request: Search) -> BfsResult:
        """Return the level and the parent of each vertex.

        The level of v is the number of edges on a shortest path from the nearest start vertex to v.
        The parent of v is the vertex before v on such a path.
        """
        ...

    def closure(self, request: Closure) -> ClosureResult:
        """Return the least fixpoint of x = x ⊕ xA, or the value of x after `limit` products."""
        ...

    def distances(self, a: Csr, x: Csr) -> Csr | None:
        """Return X min (X min.+ A) min (X min.+ A²) min ..., the closure of each row of X.

        Return None if the device does not implement this. The values of both matrices have the same
        dtype, and none is negative or NaN. No sum of the weights on a path without cycles
        overflows.
        """
        ...

    def multi_source_bfs(self, request: MultiSearch) -> MultiSearchResult:
        """Run one search from each of k start vertices, and return the levels of each search.

        If the request asks for no levels, return three numbers for each search instead: how many
        vertices it reaches, and the sum and the maximum of their levels.
        """
        ...

    def dependencies(self, request: Dependencies) -> DependenciesResult | None:
        """Return the dependencies of Brandes' algorithm, added up over all sources. Return None if
        the device does not implement this.

        The dependency of a source s on a vertex or an edge x is the sum, over all other vertices t,
        of the fraction of the shortest paths from s to t that contain x.
        """
        ...

    # --- reductions ----------------------------------------------------------------------------
    def reduce_rows(self, a: Csr, monoid: TypedMonoid) -> SparseVector | BitmapVector:
        """w(i) = ⊕ of the values in row i. If row i has no entries, w has no entry at i."""
        ...

    def reduce(self, values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
        """Reduce the values to a NumPy scalar with the monoid. If the flags `present` are given,
        reduce only the values whose flag is set. If there are no such values, return the
        identity."""
        ...

    # --- look-ups and extraction; if an index array is None, all indices are extracted -----------
    def find(self, a: SparseVector | Csr, i: int, j: int = 0) -> tuple[int, bool]:
        """Return the position of an entry in the array of indices, and whether the entry exists.

        The entry is at index i of a vector, or at (i, j) of a matrix. If the entry does not exist,
        the position is the one at which it would be inserted.
        """
        ...

    def element(self, a: AnyVector | Csr, i: int, j: int = 0) -> Any:
        """Return the value of a vector at i, or of a matrix at (i, j), as a NumPy scalar. Return
        None if the entry does not exist."""
        ...

    def extract_vector(self, v: AnyVector, indices: Array | None) -> SparseVector: ...
    def extract_matrix(self, a: Csr, rows: Array | None, columns: Array | None) -> Csr: ...

    # --- the write rule ------------------------------------------------------------------------
    # `write_vector` and `write_matrix` compute C<mask, replace> = accum(C, T). T may have entries
    # that the mask does not allow. Their callers handle a write to a region C(I, J).
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
        """C<mask, replace> = accum(C, T). The values of the result have the NumPy dtype `dtype`. If
        `in_place` is set, the arrays of C may be overwritten."""
        ...

    def one_entry(self, size: int, i: int, value: Any) -> SparseVector:
        """Return the vector with the single entry v(i) = value, a NumPy scalar of its dtype."""
        ...

    def set_element(self, v: DenseVector, i: int, value: Any) -> DenseVector:
        """Set v(i) = value in place, where `value` is a scalar of v's dtype. If `value` is None,
        delete the entry at i."""
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
    # In these functions, `out` is a square matrix in CSR form, and `into` is the same matrix in CSC
    # form. They are the same object if the matrix is known to be symmetric. A function returns None
    # if the device has no implementation that is faster than a sequence of matrix operations.
    def components(self, out: Csr, into: Csr | None) -> Array | None:
        """Return, for each vertex, the smallest vertex of its weak component, as int64[n].

        `out` is the matrix in CSR form, and `into` is the matrix in CSC form, or None if that form
        does not exist.
        """
        ...

    def strong_components(self, out: Csr, columns: Callable[[], Csr]) -> Array | None:
        """Return, for each vertex, the smallest vertex of its strong component, as int64[n].

        `columns()` returns the matrix in CSC form, which is built if it does not exist yet.
        """
        ...

    def cores(self, out: Csr, into: Csr | None) -> Array | None:
        """Return the core number of each vertex as int64[n].

        The core number is the largest k such that the vertex belongs to a set of vertices in which
        each vertex has at least k edges to vertices of the set. The edges of a vertex are the
        entries of its row and, unless `into` is None, also the entries of its column. The matrix
        must not have self-loops.
        """
        ...

    def forest(self, upper: Csr, is_maximum: bool) -> Array | None:
        """Return, as bool[nvals], which entries of an upper triangular matrix form a spanning
        forest.

        The forest has the minimum weight or, if `is_maximum`, the maximum weight. Among edges of
        equal weight, the one whose entry comes first is preferred. No value is NaN, and no entry is
        on the diagonal.
        """
        ...

    def count_triangles(self, a: Csr) -> int | None:
        """Return the number of triangles of a symmetric matrix; self-loops are ignored."""
        ...

    def trusses(self, a: Csr, k: int | None) -> Array | None:
        """Return the truss number of the edge of each entry, as int32[nvals].

        The matrix is symmetric and has no self-loops. If `k` is not None, the result only needs to
        be at least k for the edges of the k-truss, and less than k for all other edges.
        """
        ...

    # --- communities, colorings and matchings of symmetric matrices; PageRank of any square matrix
    def propagate_labels(
        self, links: Csr, labels: Array, rounds: int, stream_of: Callable[[int], int] | None
    ) -> Array | None:
        """Return the labels after at most `rounds` rounds, as int32.

        In each round every vertex takes the label with the largest sum of weights among its
        neighbors. If sums are equal, it takes the smallest label. If `stream_of` is None, all
        vertices change at once. Otherwise, random bits decide which vertices change in the first
        half of a round; the other vertices change in the second half. In round k, a backend takes
        the bit of a vertex either from the 64-bit word stream_of(k), or from a hash of this word
        and the vertex. The rounds end when no label changes.
        """
        ...

    def settle_labels(
        self,
        links: Csr,
        back: Csr,
        labels: Array,
        turns_of: Callable[[int], tuple[Array, Array]],
        rounds: int,
    ) -> Array | None:
        """Return the labels after at most `rounds` rounds, as int32.

        turns_of(k) returns the order in which round k visits the vertices, and for each vertex a
        salt below 2^31, which breaks ties. A vertex keeps its label if no other label has a larger
        sum of weights in its row of `links`. Otherwise it takes the label with the largest sum.
        Among several such labels, it takes the one with the largest hash of label and salt. A salt
        of 2^15 turns this hash into the identity, so that the vertex takes the largest label.
        `back` is the transpose of `links`. The rounds end when no label changes.
        """
        ...

    def contract(self, links: Csr, labels: Array, count: int) -> Csr:
        """Merge all vertices with the same label into one vertex, and add up the weights of edges.

        `links` is symmetric, and its values are float64. Labels are integers from 0 to `count` - 1.
        """
        ...

    def move_communities(self, request: CommunityMoves) -> Array:
        """Return the community of each vertex, as int32, after moving vertices to raise the
        modularity."""
        ...

    def refine_communities(self, request: CommunityMoves) -> Array | None:
        """Divide the communities in `request.start` into parts, and return them as int32[n].

        Initially each vertex is its own part. A part is well connected if its edges to the rest of
        its community weigh at least as much as expected by chance. The vertices are visited in a
        random order. If a visited vertex v is the only vertex of its part, and this part is well
        connected, v joins another well-connected part of its community: the one in which its gain
        is the largest. If no gain exceeds margin·(out(v) + into(v)), v stays alone. A gain requires
        an edge between v and the part, so each part is connected.
        """
        ...

    def color(self, a: Csr, numbers: Array) -> Array | None:
        """Return the color of each vertex, as int32[n].

        `numbers` holds distinct numbers, one per vertex. The color of a vertex is the smallest
        color that differs from the colors of all neighbors with a larger number.
        """
        ...

    def match(self, a: Csr, words: Array) -> Array | None:
        """Return the mate of each vertex in a matching, as int32; the mate of an unmatched vertex
        is negative.

        Edges are visited in order of decreasing value; an edge is added to the matching if both of
        its ends are still unmatched. `words` holds a random word for each vertex. Among edges of
        equal value, the edge with the larger hash comes first, where the hash is computed from the
        words of both ends.
        """
        ...

    def pagerank(self, request: PageRank) -> Ranks | None:
        """Return the ranks after the last round."""
        ...

    def merge_greedily(self, request: GreedyMergers) -> Array | None:
        """Return the mergers (u, v) in order, as int64 pairs. Only the CPU backend has this
        function."""
        ...

    def forces(self, request: Forces) -> tuple[Array, Array]:
        """Return the attraction and the repulsion of each vertex. Only the CPU backend has this
        function."""
        ...

    def augment(self, residuals: Csr, source: int, target: int) -> Array | None:
        """Return the residual capacities after a maximum flow. Only the CPU backend has this
        function.

        `residuals` holds the capacities, as int64 or float64. It has no entry on its diagonal, and
        for each entry (i, j) it has the opposite entry (j, i). The result holds the capacity that
        is left at each entry.
        """
        ...


class Streams(Protocol):
    """Functions that synchronize the work on an asynchronous device, such as a GPU."""

    def resolve_device(self, device: str) -> str:
        """Return the full name of a device."""
        ...

    def Stamp(self) -> Any:
        """Return a stamp, which marks the current point in the current stream. A store keeps the
        stamps of the streams that have written its arrays."""
        ...

    def add_stamp(self, stamps: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the stamps of a store after the current stream has added another form, such as
        CSC, to the store. A stamp marks a point in a stream. `stamps` are the previous stamps of
        the store."""
        ...

    def merge_stamps(self, stamps: tuple[Any, ...], others: Iterable[Any]) -> tuple[Any, ...]:
        """Return `stamps`, and one stamp from `others` for each further stream that has a stamp
        there. A stamp marks a point in a stream. A store that may share memory with other stores
        needs their stamps too."""
        ...

    def foreign_stamps(self, operands: Iterable[Any]) -> list[Any]:
        """Return those stamps of the operands that were made in streams other than the current
        one."""
        ...

    def wait_for(self, stamps: tuple[Any, ...]) -> bool:
        """Make the current stream wait until all points that these stamps mark have been reached.

        Return whether any of the stamps was made in a stream other than the current one.
        """
        ...

    def make_owners_wait(self, stamps: Iterable[Any]) -> None:
        """Make the streams to which these stamps belong wait for the current stream, which has used
        memory that those streams own."""
        ...

    def require_device(self, device: str) -> None:
        """Raise an error if a device cannot be used."""
        ...

    def enter_device(self, device: str) -> Any:
        """Make a device the current one, and return the previous state, which `leave_device`
        restores."""
        ...

    def leave_device(self, before: Any) -> None: ...
    def wait(self) -> None:
        """Wait until the current stream has finished its work."""
        ...

    def explain(self, error: BaseException, name: str, device: str) -> Exception | None:
        """Translate an error of this device into the exception to raise instead. Return None if the
        error itself is to be raised."""
        ...

    def adopt(self, array: Any) -> Array:
        """Return a device array from any library as an array of this backend, without a copy."""
        ...

    def truths(self, array: Array) -> Array:
        """Return a Boolean array in which each element is stored as the byte 0 or 1. A Boolean view
        of an integer array may contain other bytes."""
        ...

    def overlap(self, one: Array, other: Array) -> bool:
        """Return whether two arrays overlap or use the same allocation."""
        ...

    def copy_to_current(self, array: Array) -> Array:
        """Return a copy of the array on the current GPU."""
        ...


@cache
def backend(device: str) -> Backend:
    """Return the backend of a device. The first call for a backend imports it."""
    check_device("device", device)
    kind = device.partition(":")[0]
    if kind == "cuda":
        why = cards.find_problem()
        if why:
            raise DeviceUnavailable(f'the device "{device}" cannot be used: {why}')
    return cast(Backend, import_module(f"graphla.backends.{kind}.backend"))


@cache
def streams(device: str) -> Streams:
    """Return the functions that synchronize the work on a device other than "cpu"."""
    backend(device)
    return cast(Streams, import_module("graphla.backends.cuda.streams"))


def resolve_device(device: str) -> str:
    """Return the full name of a device. For "cuda" this is the current GPU, such as "cuda:0"."""
    return device if device == "cpu" else streams(device).resolve_device(device)


def default_device() -> str:
    """Return the device on which a new matrix or vector is stored."""
    return resolve_device(config.device)
