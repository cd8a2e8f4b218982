"""List the mutants: small faults in the sources. Each mutant replaces a piece of text that must
occur exactly once in its file.

The field `tests` contains pytest arguments that select the tests of the replaced text.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault: the text `after` replaces the text `before` in `file`. If `file` does not contain
    `before`, the replacement is made in the only other file that contains `before`.
    """

    name: str
    kind: str
    file: str
    before: str
    after: str
    tests: str


def _operations() -> list[Mutant]:
    write, entrywise = "graphla/operations/write.py", "graphla/operations/entrywise.py"
    indexing, assign = "graphla/operations/indexing.py", "graphla/operations/assignment.py"
    reductions, values = "graphla/operations/reductions.py", "graphla/operations/values.py"
    rule = "tests/test_operations.py tests/test_assign.py"
    return [
        Mutant(
            "write: accum is ignored if there is no mask",
            "dropped condition",
            write,
            "return accum is None or c.known_nvals == 0",
            "return True",
            rule,
        ),
        Mutant(
            "write: a masked write acts as if replace were set",
            "dropped condition",
            write,
            "(replace and accum is None)",
            "(accum is None)",
            "tests/test_assign.py tests/test_operations.py",
        ),
        Mutant(
            "write: the mask of a matrix is ignored",
            "dropped mask",
            write,
            "write_matrix(c.csr, t.csr, mask,",
            "write_matrix(c.csr, t.csr, None,",
            rule,
        ),
        Mutant(
            "write: accum ignores the old value of a scalar",
            "dropped condition",
            write,
            "if accum is not None and s.value is not None:",
            "if False:",
            "tests/test_operations.py -k scalar",
        ),
        Mutant(
            "ewise: entries are stored at their list position instead of their index",
            "wrong index",
            entrywise,
            "indices[found.indices], found.values)",
            "found.indices, found.values)",
            "tests/test_larger.py -k bitmap_with_a_sparse",
        ),
        Mutant(
            "ewise: the result of a positional operator is marked symmetric",
            "dropped condition",
            entrywise,
            "a.is_symmetric and b.is_symmetric and not op.is_positional",
            "a.is_symmetric and b.is_symmetric",
            "tests/test_symmetry.py -k positional_operator",
        ),
        Mutant(
            "ewise: a positional operator is applied to the transposed operands",
            "dropped condition",
            entrywise,
            "if not a.has_csr and not b.has_csr and not op.is_positional:",
            "if not a.has_csr and not b.has_csr:",
            "tests/test_operations.py -k 'ewise or elementwise or positional'",
        ),
        Mutant(
            "apply: the scalar is bound as the wrong operand",
            "swapped operands",
            entrywise,
            'return _bind(a, op, scalar, "left")',
            'return _bind(a, op, scalar, "right")',
            "tests/test_operations.py -k binds",
        ),
        Mutant(
            "reduce: an empty reduction returns the identity instead of no value",
            "wrong identity",
            reductions,
            "None if allow_empty else monoid.identity",
            "monoid.identity if allow_empty else None",
            "tests/test_operations.py -k reducing",
        ),
        Mutant(
            "reduce: rows are reduced instead of columns",
            "swapped operands",
            reductions,
            "return _reduce_rowwise(a.T, monoid)",
            "return _reduce_rowwise(a, monoid)",
            "tests/test_operations.py -k reducing",
        ),
        Mutant(
            "reduce: the values at absent positions of a bitmap are included",
            "dropped mask",
            reductions,
            "v.present if isinstance(v, BitmapVector) else None",
            "None",
            "tests/test_operations.py -k reducing",
        ),
        Mutant(
            "diag: entries above the diagonal are included",
            "swapped comparison",
            indexing,
            'on = columns == rows if k == 0 else columns.astype("int64") - rows == k',
            'on = columns == rows if k == 0 else columns.astype("int64") - rows >= k',
            "tests/test_operations.py -k diag",
        ),
        Mutant(
            "reposition: one position beyond the end is allowed",
            "off by one",
            indexing,
            "(places >= 0) & (places < size)",
            "(places >= 0) & (places <= size)",
            "tests/test_operations.py -k reposition",
        ),
        Mutant(
            "reposition: the first row is lost",
            "swapped comparison",
            indexing,
            "stay = (rows >= 0)",
            "stay = (rows > 0)",
            "tests/test_operations.py -k reposition",
        ),
        Mutant(
            "setdiag: the old diagonal is not removed",
            "dropped condition",
            indexing,
            'off = columns.astype("int64") - rows != k',
            'off = columns.astype("int64") - rows != -k',
            "tests/test_operations.py -k setdiag",
        ),
        Mutant(
            "renumber: the new numbers begin at 1 instead of 0",
            "off by one",
            indexing,
            "np.cumsum(occurs, dtype=np.int32) - 1",
            "np.cumsum(occurs, dtype=np.int32)",
            "tests/algorithms/test_louvain.py",
        ),
        Mutant(
            "selection: an array of equal indices is passed as a view with stride 0",
            "wrong layout",
            indexing,
            "indices = np.empty_like(values, np.int32, shape=labels.size)\n    indices[:] = values",
            "indices = values.astype(np.int32, copy=False)",
            "cuda:tests/algorithms/test_algebra.py -k single_label",
        ),
        Mutant(
            "assign: replace does not remove entries outside the region",
            "dropped mask",
            assign,
            "    if replace and mask is not None:\n        write_vector(",
            "    if False:\n        write_vector(",
            "tests/test_assign.py",
        ),
        Mutant(
            "assign: a scalar is stored where a complemented mask forbids it",
            "dropped mask",
            assign,
            "honors_mask = not mask.complement",
            "honors_mask = True",
            "tests/test_assign.py",
        ),
        Mutant(
            "assign: an assigned index for which the operand has no entry keeps its old entry",
            "dropped condition",
            assign,
            "if mask is None and t.nvals == indices.size:",
            "if mask is None:",
            "tests/test_assign.py",
        ),
        Mutant(
            "values: the largest integer of a dtype is rejected",
            "swapped comparison",
            values,
            "if not least <= value <= most:",
            "if not least <= value < most:",
            "tests/test_construction.py tests/test_assign.py tests/test_api.py",
        ),
    ]


def _traversal() -> list[Mutant]:
    definition, cycles = "graphla/traversal/definition.py", "graphla/traversal/cycles.py"
    rows, closures = "graphla/traversal/rows.py", "tests/traversal/test_closure.py"
    return [
        Mutant(
            "closure: new values are combined by intersection instead of union",
            "wrong operator",
            definition,
            "following = op.monoid(x | term).new()",
            "following = op.monoid(x & term).new()",
            "tests/traversal/test_definition.py " + closures,
        ),
        Mutant(
            "closure: vertices whose value no longer changes stay in the frontier",
            "dropped mask",
            definition,
            "changed(~same.S, replace) << following",
            "changed(~same.S) << following",
            closures,
        ),
        Mutant(
            "closure: the mask is ignored if a product may overflow",
            "dropped mask",
            definition,
            "t = terms.reduce_columnwise(op.monoid).new(mask=mask)",
            "t = terms.reduce_columnwise(op.monoid).new()",
            closures,
        ),
        Mutant(
            "closure: the largest parent is chosen instead of the smallest",
            "swapped comparison",
            definition,
            "return min_secondi(Vector.from_scalar(",
            "return semiring.max_secondi(Vector.from_scalar(",
            "tests/traversal/test_definition.py",
        ),
        Mutant(
            "cycles: a cycle of length zero is reported as improving",
            "swapped comparison",
            cycles,
            "return better * sum(map(int, whole)) > 0",
            "return better * sum(map(int, whole)) >= 0",
            closures,
        ),
        Mutant(
            "cycles: the vertices of a cycle are listed against the direction of its edges",
            "unsorted output",
            cycles,
            "found.append(cycle[::-1])",
            "found.append(cycle)",
            "tests/algorithms/test_shortest_path.py -k cycle",
        ),
        Mutant(
            "rows: a matrix row with two start vertices is treated as if it had one",
            "off by one",
            rows,
            "are_all(starts.indptr[1:] - starts.indptr[:-1] <= 1)",
            "are_all(starts.indptr[1:] - starts.indptr[:-1] <= 2)",
            "tests/traversal/test_rows.py",
        ),
        Mutant(
            "rows: results are assigned to the wrong start vertex",
            "off by one",
            rows,
            "(starts.indptr[1:] > starts.indptr[:-1]).nonzero()[0]",
            "(starts.indptr[1:] >= starts.indptr[:-1]).nonzero()[0]",
            "tests/traversal/test_rows.py",
        ),
    ]


def _algorithms() -> list[Mutant]:
    def one(stem: str, name: str, kind: str, before: str, after: str, tests: str = "") -> Mutant:
        words = " ".join(f"tests/algorithms/test_{each}.py" for each in (tests or stem).split())
        return Mutant(
            f"{stem}: {name}", kind, f"graphla/algorithms/{stem}.py", before, after, words
        )

    return [
        one(
            "bfs",
            "vertices that were already visited are visited again",
            "dropped mask",
            "frontier(allowed, replace) << any_secondi(frontier @ A)",
            "frontier << any_secondi(frontier @ A)",
        ),
        one(
            "bfs",
            "the search runs one level beyond the cutoff",
            "off by one",
            "        if depth == cutoff:\n",
            "        if cutoff is not None and depth > cutoff:\n",
        ),
        one(
            "sssp",
            "a distance equal to the cutoff is dropped",
            "swapped comparison",
            'near = distances.select("<=", cutoff).new()',
            'near = distances.select("<", cutoff).new()',
            "sssp shortest_path",
        ),
        one(
            "cores",
            "the degrees of the remaining vertices are not updated",
            "dropped line",
            "left(gone.S) << gone",
            "pass",
        ),
        one(
            "cores",
            "the k-core excludes vertices with core number k",
            "swapped comparison",
            'return _edges_among(A, numbers.select(">=", k).new())',
            'return _edges_among(A, numbers.select(">", k).new())',
        ),
        one(
            "components",
            "labels are passed along edges in one direction only",
            "dropped line",
            "least(binary.min) << min_first(grandparent @ A)",
            "pass",
        ),
        one(
            "components",
            "a graph with several components counts as connected",
            "swapped comparison",
            "return component_count(A) == 1",
            "return component_count(A) >= 1",
        ),
        one(
            "triangles",
            "wedges are counted as triangles",
            "dropped mask",
            "common = plus_pair(L @ L.T).new(mask=L.S)",
            "common = plus_pair(L @ L.T).new()",
        ),
        one(
            "truss",
            "an edge is kept only if it is in one more triangle than needed",
            "swapped comparison",
            "left = select.valuege(edges.S, k - 2).new()",
            "left = select.valuegt(edges.S, k - 2).new()",
            "cohesion",
        ),
        one(
            "truss",
            "some triangles with only one removed edge do not count as lost",
            "wrong operand",
            'plus_pair["INT64"](rest @ X.T)',
            'plus_pair["INT64"](X @ X.T)',
            "cohesion",
        ),
        one(
            "degree",
            "degree centrality divides by n instead of n - 1",
            "off by one",
            "right=ends.size - 1).new()",
            "right=ends.size).new()",
            "centrality",
        ),
        one(
            "degree",
            "a self-loop counts once instead of twice",
            "dropped line",
            "ends(binary.plus) << A.diag().apply(unary.one).new(FP64)",
            "pass",
            "centrality",
        ),
        one(
            "betweenness",
            "the betweenness of a vertex includes the paths that start at it",
            "dropped mask",
            "each = binary.times(paths & shares).new(mask=~own.S)",
            "each = binary.times(paths & shares).new()",
        ),
        one(
            "betweenness",
            "paths may return to vertices of earlier levels",
            "dropped mask",
            'following = plus_first["FP64"](frontier @ A).new(mask=~P.S)',
            'following = plus_first["FP64"](frontier @ A).new(mask=~frontier.S)',
        ),
        one(
            "betweenness",
            "edges that lie on no shortest path are included",
            "swapped comparison",
            "tight = select.valueeq(binary.eq(S & end).new(), True).new()",
            "tight = select.valueeq(binary.ge(S & end).new(), True).new()",
        ),
        one(
            "pagerank",
            "the rank of vertices without out-edges is lost",
            "dropped term",
            "binary.times(fall, left)",
            "binary.times(fall, 0 * left)",
        ),
        one(
            "louvain",
            "the gain of a move includes the degree of the moving vertex itself",
            "dropped term",
            "own_intos = binary.minus(any_second(S @ intos).new() & into).new()",
            "own_intos = any_second(S @ intos).new()",
        ),
        one(
            "louvain",
            "the labels of the last level are not mapped back to the vertices of the graph",
            "wrong operand",
            "labels = community if labels is None else lookup(labels, community)",
            "labels = community",
        ),
        one(
            "matching",
            "a vertex may be matched twice",
            "dropped mask",
            "mates(is_mutual.V) << partner",
            "mates(best.S) << partner",
            "sets",
        ),
        one(
            "matching",
            "edges of matched vertices are not removed",
            "dropped mask",
            "free(best.S & ~is_mutual.V, replace) << free",
            "free(best.S, replace) << free",
            "sets",
        ),
    ]


def _loops() -> list[Mutant]:
    def one(stem: str, name: str, kind: str, before: str, after: str, tests: str) -> Mutant:
        file = f"graphla/backends/cpu/loops/{stem}.py"
        return Mutant(f"Numba {stem}: {name}", kind, file, before, after, tests)

    compiled, traversals = "tests/test_compiled.py", "tests/test_compiled_traversals.py"
    return [
        one(
            "spmv",
            "absent entries of u are read",
            "dropped mask",
            "        if U_FULL or u_present[k]:\n",
            "        if True:\n",
            f"{compiled} -k vector",
        ),
        one(
            "spmv",
            "the mask is ignored",
            "dropped mask",
            "if mask[o * mask_step] != forbidden:\n            found, total",
            "if True:\n            found, total",
            f"{compiled} -k vector",
        ),
        one(
            "spmv",
            "the last entry of a row is skipped",
            "off by one",
            "np.uint64(indptr[o]) + ONE, np.uint64(indptr[o + ONE])):",
            "np.uint64(indptr[o]) + ONE, np.uint64(indptr[o + ONE]) - ONE):",
            f"{compiled} -k any",
        ),
        one(
            "reduce",
            "the last value is skipped",
            "off by one",
            "end = min((s + 1) * length, size)",
            "end = min((s + 1) * length, size - 1)",
            f"{compiled} -k fold",
        ),
        one(
            "reduce",
            "a reduction stops although the terminal value was not reached",
            "swapped comparison",
            "if HAS_TERMINAL and total == TERMINAL:",
            "if HAS_TERMINAL and total != TERMINAL:",
            f"{compiled} -k fold",
        ),
        one(
            "reduce",
            "an empty reduction is zero instead of the identity",
            "wrong identity",
            "        return IDENTITY\n",
            "        return lift(np.int64(0))\n",
            f"{compiled} -k fold",
        ),
        one(
            "ewise",
            "in a union, two entries with the same index are not combined",
            "swapped comparison",
            "a_indices[p] <= b_indices[q])",
            "a_indices[p] < b_indices[q])",
            "tests/test_larger.py -k entrywise",
        ),
        one(
            "ewise",
            "the two fill values are swapped",
            "swapped operands",
            "left_alone(a_values[p * a_step], right[0], i, j)",
            "left_alone(a_values[p * a_step], left[0], i, j)",
            "tests/test_larger.py -k entrywise",
        ),
        one(
            "assign",
            "replace keeps the entries that it should remove",
            "swapped comparison",
            "stays = was & (HAS_ACCUM if allowed else replace == 0)",
            "stays = was & (HAS_ACCUM if allowed else replace != 0)",
            f"{compiled} -k writing",
        ),
        one(
            "assign",
            "an entry is written although the mask forbids it",
            "dropped mask",
            "        if mask[i * mask_step] == forbidden:\n            continue\n",
            "",
            f"{compiled} -k writing",
        ),
        one(
            "sort",
            "equal values change their order in a merge",
            "swapped comparison",
            "(i >= middle or before(values[j], values[i]))",
            "(i >= middle or not before(values[i], values[j]))",
            "tests/test_sorting.py",
        ),
        one(
            "sort",
            "the first value of a sorted run is never moved",
            "off by one",
            "while k > begin and before(x, to_values[k - ONE]):",
            "while k > begin + ONE and before(x, to_values[k - ONE]):",
            "tests/test_sorting.py",
        ),
        one(
            "spmspv",
            "the mask is ignored in a sparse result",
            "dropped mask",
            "if mask[o * mask_step] == forbidden:\n                continue\n            word",
            "if False:\n                continue\n            word",
            f"{compiled} -k vector",
        ),
        one(
            "bfs",
            "the largest parent is chosen instead of the smallest",
            "swapped comparison",
            "parents[v] > np.int32(u):",
            "parents[v] < np.int32(u):",
            f"{traversals} -k search",
        ),
        one(
            "bfs",
            "the search runs one level beyond the limit",
            "off by one",
            "state[DEPTH] < rule.limit and",
            "state[DEPTH] <= rule.limit and",
            f"{traversals} -k search",
        ),
        one(
            "closure",
            "the closure runs one round more than the limit allows",
            "off by one",
            "while size and depth < limit:",
            "while size and depth <= limit:",
            f"{traversals} -k rounds",
        ),
        one(
            "components",
            "the larger root becomes the parent",
            "swapped comparison",
            "if above < other:",
            "if above > other:",
            "tests/algorithms/test_components.py",
        ),
        one(
            "cores",
            "the degree of a neighbor is decreased even if it equals the current core number",
            "swapped comparison",
            "        if degree > core:\n",
            "        if degree >= core:\n",
            "tests/algorithms/test_cores.py",
        ),
        one(
            "coloring",
            "a vertex gets the color of a neighbor",
            "off by one",
            "while kept_marks[base + least] == stamp:",
            "while kept_marks[base + least] > stamp:",
            "tests/algorithms/test_sets.py",
        ),
        one(
            "matching",
            "a heavier edge does not replace a lighter one",
            "swapped comparison",
            "return value > other_value",
            "return value < other_value",
            "tests/algorithms/test_sets.py",
        ),
    ]


def _numpy() -> list[Mutant]:
    def one(name: str, kind: str, file: str, before: str, after: str, tests: str = "") -> Mutant:
        words = tests or "tests/test_backend.py"
        return Mutant(f"NumPy {name}", kind, f"graphla/backends/cpu/{file}", before, after, words)

    return [
        one(
            "ewise: the two fill values are swapped",
            "swapped operands",
            "ewise.py",
            "big_fill, little_fill = (left, right) if flipped else (right, left)",
            "big_fill, little_fill = (right, left) if flipped else (left, right)",
            "tests/test_backend.py -k union",
        ),
        one(
            "ewise: a key that is not in the array is reported as present",
            "dropped condition",
            "ewise.py",
            "return large[spots.clip(max=large.size - 1)] == small",
            "return large[spots.clip(max=large.size - 1)] >= small",
            "tests/test_backend.py -k union",
        ),
        one(
            "ewise: entries of a union are stored one position too early",
            "off by one",
            "ewise.py",
            "in_result = in_large + alone.cumsum()[shared]",
            "in_result = in_large + (alone.cumsum() - alone[0])[shared]",
            "tests/test_backend.py -k union",
        ),
    ]


def _kernels() -> list[Mutant]:
    def one(file: str, name: str, kind: str, before: str, after: str, tests: str) -> Mutant:
        words = " ".join(
            word if word.startswith("-") or "/" in word else f"tests/gpu/test_{word}.py"
            for word in tests.split()
        )
        return Mutant(
            f"CUDA {file}: {name}", kind, f"graphla/backends/cuda/{file}", before, after, words
        )

    return [
        one(
            "collectives.cuh",
            "a prefix sum over lanes omits a lane",
            "off by one",
            "    if (lane() >= delta) x += before;",
            "    if (lane() > delta) x += before;",
            "collectives entrywise",
        ),
        one(
            "collectives.cuh",
            "a block sum is read before all warps have stored theirs",
            "missing barrier",
            "scratch[warp_in_block()] = x;\n  __syncthreads();\n  x = scratch[0];",
            "scratch[warp_in_block()] = x;\n  x = scratch[0];",
            "collectives",
        ),
        one(
            "collectives.cuh",
            "a binary search ends one step early",
            "off by one",
            "while (begin < end) {\n    const Place middle = begin",
            "while (begin + 1 < end) {\n    const Place middle = begin",
            "collectives products",
        ),
        one(
            "reduce.cu",
            "absent entries of a bitmap are included",
            "dropped mask",
            "if (!SOME || present[k]) sums[0]",
            "if (true) sums[0]",
            "reductions",
        ),
        one(
            "reduce.cu",
            "the sum of n equal values starts with the wrong value",
            "wrong identity",
            "if (n & 1) z = begun ? Op::add(z, x) : x, begun = true;",
            "if (n & 1) z = begun ? Op::add(z, x) : z, begun = true;",
            "reductions",
        ),
        one(
            "reduce.cu",
            "a row with one entry is treated as empty",
            "off by one",
            "const bool there = indptr[i] < indptr[i + 1];",
            "const bool there = indptr[i] + 1 < indptr[i + 1];",
            "reductions",
        ),
        one(
            "assign.cu",
            "a mask given as a list of indices is complemented",
            "swapped comparison",
            "return k < listed && list[k] == i;",
            "return !(k < listed && list[k] == i);",
            "writing",
        ),
        one(
            "assign.cu",
            "replace keeps the entries that it should remove",
            "dropped mask",
            "stays == ANYWHERE ? EIGHT : stays == INSIDE ? inside : ~inside",
            "stays == ANYWHERE ? EIGHT : stays == INSIDE ? ~inside : inside",
            "writing",
        ),
        one(
            "assign.cu",
            "the last presence flag is not stored",
            "off by one",
            "for (int b = 0; b < 8 && i + b < size; ++b) flags[i + b]",
            "for (int b = 0; b < 8 && i + b < size - 1; ++b) flags[i + b]",
            "writing in_place",
        ),
        one(
            "ewise_union.cu",
            "the positions in the two operands are swapped",
            "swapped operands",
            "return u32(a) | u32(b) << 16;",
            "return u32(b) | u32(a) << 16;",
            "entrywise",
        ),
        one(
            "ewise_union.cu",
            "an entry of the left operand alone is combined with zero instead of the fill value",
            "wrong identity",
            "if constexpr (FILL & FILL_RIGHT) return Op::accumulate(x, right, i, j);",
            "if constexpr (FILL & FILL_RIGHT) return Op::accumulate(x, typename Op::Y(0), i, j);",
            "entrywise",
        ),
        one(
            "ewise_intersect.cu",
            "the two operands are swapped",
            "swapped operands",
            "FLIPPED ? Op::accumulate(x[spot], y[k], i, j) : Op::accumulate(x[k], y[spot], i, j)",
            "FLIPPED ? Op::accumulate(x[k], y[spot], i, j) : Op::accumulate(x[spot], y[k], i, j)",
            "cuda:tests/test_operations.py",
        ),
        one(
            "ewise_dense.cu",
            "an intersection has an entry even where only one operand has an entry",
            "dropped condition",
            "const bool there = HOW == INTERSECTION ? in_a && in_b : in_a || in_b;",
            "const bool there = in_a || in_b;",
            "entrywise",
        ),
        one(
            "spmspv.cu",
            "a complemented mask is not complemented",
            "dropped mask",
            "if constexpr (MASKED) return flags[o] != complement;",
            "if constexpr (MASKED) return flags[o];",
            "products",
        ),
        one(
            "spmspv.cu",
            "a thread takes only outputs that another thread has already claimed",
            "swapped comparison",
            "return !(atomicOr(&claimed[o / WARP], bit) & bit);",
            "return atomicOr(&claimed[o / WARP], bit) & bit;",
            "products",
        ),
        one(
            "spmv.cu",
            "the last row of a group of rows is skipped",
            "off by one",
            "int span = int(least(outputs - at, u32(WARP * SPAN)));",
            "int span = int(least(outputs - at - 1, u32(WARP * SPAN)));",
            "products",
        ),
        one(
            "spgemm_masked.cu",
            "the sums of the previous row are not cleared",
            "missing barrier",
            "      if (HAS_VALUES) sums[t] = Op::identity();\n",
            "",
            "mxm",
        ),
        one(
            "spgemm_hash.cu",
            "the columns of a row are stored in descending order",
            "unsorted output",
            "for (int other = 0; other < taken; other++) before += columns[other] < j;",
            "for (int other = 0; other < taken; other++) before += columns[other] > j;",
            "mxm",
        ),
        one(
            "spgemm_hash.cu",
            "the complemented mask is ignored",
            "dropped mask",
            "return place == end || outside.indices[place] != j;",
            "return true;",
            "mxm",
        ),
        one(
            "sort.cu",
            "all keys of a tile are set to its first key",
            "missing barrier",
            "keys[n] = values[begin + n];",
            "keys[n] = values[begin];",
            "merge_sort",
        ),
        one(
            "sort.cuh",
            "equal keys change their order",
            "unsorted output",
            "if (heads >> n & 1 || !Op::before(key[n], key[n - 1])) continue;",
            "if (heads >> n & 1 || Op::before(key[n - 1], key[n])) continue;",
            "merge_sort",
        ),
        one(
            "select.cu",
            "the last selected entry is not stored",
            "off by one",
            "if (place[n] < 0 || begin + n * blockDim.x + threadIdx.x >= count) continue;",
            "if (place[n] < 0 || begin + n * blockDim.x + threadIdx.x >= count - 1) continue;",
            "entrywise using",
        ),
        one(
            "cores.cu",
            "a degree may fall below k",
            "dropped condition",
            "if (degree <= k) atomicAdd((u32 *)&left[v], 1u);",
            "",
            "parts",
        ),
        one(
            "components.cu",
            "a neighbor with a larger number may become the parent",
            "wrong operand",
            "? least(i32(v), indices[begin]) : i32(v);",
            "? indices[begin] : i32(v);",
            "parts",
        ),
        one(
            "forest.cu",
            "the index of the chosen edge is one too large",
            "swapped comparison",
            "place < load_relaxed(&first[r])) atomicMin(&first[r], place);",
            "place < load_relaxed(&first[r])) atomicMin(&first[r], place + 1);",
            "parts",
        ),
        one(
            "pagerank.cu",
            "the rank of vertices without out-edges is lost",
            "dropped term",
            "if (its_share == T(0)) dangling += double(now);",
            "",
            "brandes",
        ),
        one(
            "bfs_pull.cuh",
            "an entry of the previous row is read",
            "off by one",
            "if (p + k < begin) u[k] = -1;",
            "if (p + k + 1 < begin) u[k] = -1;",
            "searching",
        ),
        one(
            "bfs_pull.cuh",
            "a warp reads a list that is still being written",
            "missing barrier",
            "longer += __popc(some);\n      __syncwarp();",
            "longer += __popc(some);",
            "searching",
        ),
        one(
            "convert.cu",
            "keys count as strictly increasing even if two of them are equal",
            "swapped comparison",
            "fell |= keys[k] <= keys[k - 1];",
            "fell |= keys[k] < keys[k - 1];",
            "layout using",
        ),
        one(
            "convert.cu",
            "the last row ends one entry early",
            "off by one",
            "if (p == runs - 1) add_offset(sizes + row + 1, runs);",
            "if (p == runs - 1) add_offset(sizes + row + 1, runs - 1);",
            "layout using",
        ),
        one(
            "multi_source_bfs_levels.cuh",
            "each new bit plane is cleared one level too late",
            "swapped comparison",
            "return level >= 4 && (level & (level - 1)) == 0;",
            "return level > 4 && (level & (level - 1)) == 0;",
            "many",
        ),
    ]


def _networkx() -> list[Mutant]:
    loops, package = "graphla/backends/cpu/loops/", "graphla/networkx/"
    here = "tests/networkx_backend/test_"
    colors, order = loops + "serial_colors.py", loops + "serial_order.py"
    return [
        Mutant(
            "Numba serial_colors: the degrees of the remaining vertices are not updated",
            "dropped line",
            colors,
            "kept_degrees[w] -= 1",
            "pass",
            here + "colorings.py",
        ),
        Mutant(
            "Numba serial_colors: a color that two neighbors share is counted twice",
            "dropped condition",
            colors,
            "while k < end and kept_seen[k] != color:",
            "while k < end:",
            here + "colorings.py",
        ),
        Mutant(
            "Numba serial_colors: two colors are exchanged although a path connects their vertices",
            "dropped condition",
            colors,
            "if out_colors[w] == d and kept_visits[w] == searches:",
            "if False:",
            here + "colorings.py",
        ),
        Mutant(
            "Numba serial_order: the bit of vertex k + 1 is tested instead of the bit of vertex k",
            "off by one",
            order,
            "if (reached >> k) & 1:",
            "if (reached >> (k + 1)) & 1:",
            "tests/algorithms/test_dags.py -k reduction",
        ),
        Mutant(
            "Numba serial_blocks: the largest search position is used instead of the smallest",
            "swapped comparison",
            loops + "serial_blocks.py",
            "low = min(low, out_order[w])",
            "low = max(low, out_order[w])",
            "tests/algorithms/test_biconnected.py",
        ),
        Mutant(
            "networkx: the flows of opposite edges of a residual network do not cancel",
            "dropped term",
            package + "flow.py",
            "flow.ewise_union(flow.T, binary.minus, 0, 0).new())",
            "flow)",
            here + "flow.py",
        ),
        Mutant(
            "networkx: a flow may exceed the cutoff by 1",
            "off by one",
            package + "flow.py",
            "min(self.cutoff, int(EXACT))",
            "min(self.cutoff + 1, int(EXACT))",
            here + "flow.py",
        ),
        Mutant(
            "networkx: components without incoming, not outgoing, edges count as attracting",
            "wrong operand",
            package + "components.py",
            "labels[rows[labels[rows] != labels[columns]]]",
            "labels[columns[labels[rows] != labels[columns]]]",
            here + "components.py",
        ),
        Mutant(
            "networkx: a view is estimated to have as many edges as the whole graph",
            "dropped condition",
            package + "costs.py",
            "n = len(adjacency) if n is None else min(n, len(adjacency))",
            "n = len(adjacency)",
            here + "backend.py -k estimated",
        ),
        Mutant(
            "networkx: reversed edges keep the attributes of other edges",
            "wrong index",
            package + "structure.py",
            "name: values[order] if isinstance",
            "name: values if isinstance",
            here + "structure.py -k reverse",
        ),
        Mutant(
            "networkx: the argument copy=False of the function reverse is ignored",
            "dropped condition",
            package + "rules.py",
            'if not argument(args, kwargs, 1, "copy", True):',
            "if False:",
            here + "structure.py -k reverse",
        ),
    ]


MUTANTS = [
    *_operations(),
    *_traversal(),
    *_algorithms(),
    *_loops(),
    *_numpy(),
    *_kernels(),
    *_networkx(),
]
