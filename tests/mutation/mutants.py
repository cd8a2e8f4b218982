"""A list of mutants: small faults in the sources. Each replaces a text that must occur exactly once
in its file.

The field `tests` holds the pytest arguments that select the tests covering the replaced text. These
tests run first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault: the text `after` replaces the text `before` in `file`. If the text is not there, it
    is replaced in the only other file that contains it."""

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
            "write: ignore accum if there is no mask",
            "dropped condition",
            write,
            "return accum is None or c.known_nvals == 0",
            "return True",
            rule,
        ),
        Mutant(
            "write: overwrite under a mask without replace",
            "dropped condition",
            write,
            "(replace and accum is None)",
            "(accum is None)",
            "tests/test_assign.py tests/test_operations.py",
        ),
        Mutant(
            "write: drop the mask of a matrix",
            "dropped mask",
            write,
            "write_matrix(c.csr, t.csr, mask,",
            "write_matrix(c.csr, t.csr, None,",
            rule,
        ),
        Mutant(
            "write: forget the old value of a scalar",
            "dropped condition",
            write,
            "if accum is not None and s.value is not None:",
            "if False:",
            "tests/test_operations.py -k scalar",
        ),
        Mutant(
            "ewise: place entries by their position in the list",
            "wrong index",
            entrywise,
            "indices[found.indices], found.values)",
            "found.indices, found.values)",
            "tests/test_larger.py -k bitmap_with_a_sparse",
        ),
        Mutant(
            "ewise: a positional union is symmetric",
            "dropped condition",
            entrywise,
            "a.is_symmetric and b.is_symmetric and not op.is_positional",
            "a.is_symmetric and b.is_symmetric",
            "tests/test_symmetry.py -k positional_operator",
        ),
        Mutant(
            "ewise: join transposes although the operator reads places",
            "dropped condition",
            entrywise,
            "if not a.has_csr and not b.has_csr and not op.is_positional:",
            "if not a.has_csr and not b.has_csr:",
            "tests/test_operations.py -k 'ewise or positional'",
        ),
        Mutant(
            "apply: a bound scalar on the wrong side",
            "swapped operands",
            entrywise,
            'return _bind(a, op, scalar, "left")',
            'return _bind(a, op, scalar, "right")',
            "tests/test_operations.py -k binds",
        ),
        Mutant(
            "reduce: identity and nothing exchanged",
            "wrong identity",
            reductions,
            "None if allow_empty else monoid.identity",
            "monoid.identity if allow_empty else None",
            "tests/test_operations.py -k reduce",
        ),
        Mutant(
            "reduce: columns are rows",
            "swapped operands",
            reductions,
            "return _reduce_rowwise(a.T, monoid)",
            "return _reduce_rowwise(a, monoid)",
            "tests/test_operations.py -k reduce",
        ),
        Mutant(
            "reduce: absent values of a bitmap are folded",
            "dropped mask",
            reductions,
            "v.present if isinstance(v, BitmapVector) else None",
            "None",
            "tests/test_operations.py -k reduce",
        ),
        Mutant(
            "diag: entries above the diagonal too",
            "swapped comparison",
            indexing,
            'on = columns == rows if k == 0 else columns.astype("int64") - rows == k',
            'on = columns == rows if k == 0 else columns.astype("int64") - rows >= k',
            "tests/test_operations.py -k diag",
        ),
        Mutant(
            "reposition: one place beyond the end",
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
            "setdiag: the old diagonal stays",
            "dropped condition",
            indexing,
            'off = columns.astype("int64") - rows != k',
            'off = columns.astype("int64") - rows != -k',
            "tests/test_operations.py -k setdiag",
        ),
        Mutant(
            "renumber: numbers begin at 1",
            "off by one",
            indexing,
            "np.cumsum(occurs, dtype=np.int32) - 1",
            "np.cumsum(occurs, dtype=np.int32)",
            "tests/algorithms/test_louvain.py",
        ),
        Mutant(
            "selection: equal labels stay one value of stride 0",
            "wrong layout",
            indexing,
            "indices = np.empty_like(values, np.int32, shape=labels.size)\n    indices[:] = values",
            "indices = values.astype(np.int32, copy=False)",
            "cuda:tests/algorithms/test_algebra.py -k one_label",
        ),
        Mutant(
            "assign: replace outside of the region is forgotten",
            "dropped mask",
            assign,
            "    if replace and mask is not None:\n        write_vector(",
            "    if False:\n        write_vector(",
            "tests/test_assign.py",
        ),
        Mutant(
            "assign: a complemented mask fills everywhere",
            "dropped mask",
            assign,
            "honours_mask = not mask.complement",
            "honours_mask = True",
            "tests/test_assign.py",
        ),
        Mutant(
            "assign: places without a new entry keep the old one",
            "dropped condition",
            assign,
            "if mask is None and t.nvals == indices.size:",
            "if mask is None:",
            "tests/test_assign.py",
        ),
        Mutant(
            "values: the greatest integer does not fit",
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
            "closure: intersection for union",
            "wrong operator",
            definition,
            "following = op.monoid(x | term).new()",
            "following = op.monoid(x & term).new()",
            "tests/traversal/test_definition.py " + closures,
        ),
        Mutant(
            "closure: vertices that have settled stay in the frontier",
            "dropped mask",
            definition,
            "changed(~same.S, replace) << following",
            "changed(~same.S) << following",
            closures,
        ),
        Mutant(
            "closure: the mask is dropped where a product may overflow",
            "dropped mask",
            definition,
            "t = terms.reduce_columnwise(op.monoid).new(mask=mask)",
            "t = terms.reduce_columnwise(op.monoid).new()",
            closures,
        ),
        Mutant(
            "closure: the greatest parent",
            "swapped comparison",
            definition,
            "return min_secondi(Vector.from_scalar(",
            "return semiring.max_secondi(Vector.from_scalar(",
            "tests/traversal/test_definition.py",
        ),
        Mutant(
            "cycles: a cycle of length zero improves",
            "swapped comparison",
            cycles,
            "return better * sum(map(int, whole)) > 0",
            "return better * sum(map(int, whole)) >= 0",
            closures,
        ),
        Mutant(
            "cycles: reported against the direction of the edges",
            "unsorted output",
            cycles,
            "found.append(cycle[::-1])",
            "found.append(cycle)",
            "tests/algorithms/test_shortest_path.py -k cycle",
        ),
        Mutant(
            "rows: two starts in a row pass for one",
            "off by one",
            rows,
            "(starts.indptr[1:] - starts.indptr[:-1] <= 1).all()",
            "(starts.indptr[1:] - starts.indptr[:-1] <= 2).all()",
            "tests/traversal/test_rows.py",
        ),
        Mutant(
            "rows: results belong to the next start",
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
            "vertices are reached again",
            "dropped mask",
            "frontier(allowed, replace) << any_secondi(frontier @ A)",
            "frontier << any_secondi(frontier @ A)",
        ),
        one(
            "bfs",
            "one level too many",
            "off by one",
            "        if depth == cutoff:\n",
            "        if cutoff is not None and depth > cutoff:\n",
        ),
        one(
            "sssp",
            "the cutoff is exclusive",
            "swapped comparison",
            'near = distances.select("<=", cutoff).new()',
            'near = distances.select("<", cutoff).new()',
            "sssp shortest_path",
        ),
        one(
            "cores",
            "the level may fall",
            "dropped condition",
            "k = max(k, int(left.reduce(monoid.min).get(0)))",
            "k = int(left.reduce(monoid.min).get(0))",
        ),
        one(
            "cores",
            "the k-core excludes core number k",
            "swapped comparison",
            'v = numbers.select(">=", k).new()',
            'v = numbers.select(">", k).new()',
        ),
        one(
            "components",
            "edges join one way only",
            "dropped line",
            "least(binary.min) << min_first(grandparent @ A)",
            "pass",
        ),
        one(
            "components",
            "many components are connected",
            "swapped comparison",
            "return component_count(A) == 1",
            "return component_count(A) >= 1",
        ),
        one(
            "triangles",
            "wedges count",
            "dropped mask",
            "common = plus_pair(L @ L.T).new(mask=L.S)",
            "common = plus_pair(L @ L.T).new()",
        ),
        one(
            "truss",
            "one triangle more is needed",
            "swapped comparison",
            "left = select.valuege(edges.S, k - 2).new()",
            "left = select.valuegt(edges.S, k - 2).new()",
            "cohesion",
        ),
        one(
            "truss",
            "lost triangles are counted by halves",
            "wrong operand",
            'plus_pair["INT64"](rest @ X.T)',
            'plus_pair["INT64"](X @ X.T)',
            "cohesion",
        ),
        one(
            "degree",
            "divides by n",
            "off by one",
            "right=ends.size - 1).new()",
            "right=ends.size).new()",
            "centrality",
        ),
        one(
            "degree",
            "a loop counts once",
            "dropped line",
            "ends(binary.plus) << A.diag().apply(unary.one).new(FP64)",
            "pass",
            "centrality",
        ),
        one(
            "betweenness",
            "a source carries its own paths",
            "dropped mask",
            "each = binary.times(paths & shares).new(mask=~own.S)",
            "each = binary.times(paths & shares).new()",
        ),
        one(
            "betweenness",
            "paths go back",
            "dropped mask",
            'following = plus_first["FP64"](frontier @ A).new(mask=~P.S)',
            'following = plus_first["FP64"](frontier @ A).new(mask=~frontier.S)',
        ),
        one(
            "betweenness",
            "edges off the shortest paths count",
            "swapped comparison",
            "tight = select.valueeq(binary.eq(S & end).new(), True).new()",
            "tight = select.valueeq(binary.ge(S & end).new(), True).new()",
        ),
        one(
            "pagerank",
            "vertices without edges lose their rank",
            "dropped term",
            "binary.times(walk.jump, 1 - alpha + left)",
            "binary.times(walk.jump, 1 - alpha)",
        ),
        one(
            "louvain",
            "a move pays with its own degree",
            "dropped term",
            "own_intos = binary.minus(any_second(S @ intos).new() & into).new()",
            "own_intos = any_second(S @ intos).new()",
        ),
        one(
            "louvain",
            "labels are those of the last level",
            "wrong operand",
            "labels = community if labels is None else lookup(labels, community)",
            "labels = community",
        ),
        one(
            "matching",
            "a vertex may have two mates",
            "dropped mask",
            "M = binary.land(D & D.T).new()",
            "M = D",
            "sets",
        ),
        one(
            "matching",
            "edges of matched vertices stay",
            "dropped mask",
            ".dup(mask=~mates.S)",
            ".dup()",
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
            "the mask of a row is ignored",
            "dropped mask",
            "if mask[o * mask_step] != forbidden:\n            found, total",
            "if True:\n            found, total",
            f"{compiled} -k vector",
        ),
        one(
            "spmv",
            "the last entry of a row is not tried",
            "off by one",
            "np.uint64(indptr[o]) + ONE, np.uint64(indptr[o + ONE])):",
            "np.uint64(indptr[o]) + ONE, np.uint64(indptr[o + ONE]) - ONE):",
            f"{compiled} -k any",
        ),
        one(
            "reduce",
            "the last value of all is left out",
            "off by one",
            "end = min((s + 1) * length, size)",
            "end = min((s + 1) * length, size - 1)",
            f"{compiled} -k fold",
        ),
        one(
            "reduce",
            "a fold stops before its end",
            "swapped comparison",
            "if HAS_TERMINAL and total == TERMINAL:",
            "if HAS_TERMINAL and total != TERMINAL:",
            f"{compiled} -k fold",
        ),
        one(
            "reduce",
            "an empty fold is zero",
            "wrong identity",
            "        return IDENTITY\n",
            "        return lift(np.int64(0))\n",
            f"{compiled} -k fold",
        ),
        one(
            "ewise",
            "equal indices of a union are taken one by one",
            "swapped comparison",
            "a_indices[p] <= b_indices[q])",
            "a_indices[p] < b_indices[q])",
            "tests/test_larger.py -k entrywise",
        ),
        one(
            "ewise",
            "the fills are exchanged",
            "swapped operands",
            "left_alone(a_values[p * a_step], right[0], i, j)",
            "left_alone(a_values[p * a_step], left[0], i, j)",
            "tests/test_larger.py -k entrywise",
        ),
        one(
            "assign",
            "replace keeps what the mask forbids",
            "swapped comparison",
            "stays = was & (HAS_ACCUM if allowed else replace == 0)",
            "stays = was & (HAS_ACCUM if allowed else replace != 0)",
            f"{compiled} -k writing",
        ),
        one(
            "assign",
            "a scattered entry ignores the mask",
            "dropped mask",
            "        if mask[i * mask_step] == forbidden:\n            continue\n",
            "",
            f"{compiled} -k writing",
        ),
        one(
            "sort",
            "equal values change places",
            "swapped comparison",
            "(i >= middle or before(values[j], values[i]))",
            "(i >= middle or not before(values[i], values[j]))",
            "tests/test_sorting.py",
        ),
        one(
            "sort",
            "the first value of a run is not moved",
            "off by one",
            "while k > begin and before(x, to_values[k - ONE]):",
            "while k > begin + ONE and before(x, to_values[k - ONE]):",
            "tests/test_sorting.py",
        ),
        one(
            "spmspv",
            "the mask is ignored in a list of outputs",
            "dropped mask",
            "if mask[o * mask_step] == forbidden:\n                continue\n            word",
            "if False:\n                continue\n            word",
            f"{compiled} -k vector",
        ),
        one(
            "bfs",
            "the greatest parent is kept",
            "swapped comparison",
            "parents[v] > np.int32(u):",
            "parents[v] < np.int32(u):",
            f"{traversals} -k search",
        ),
        one(
            "bfs",
            "one level beyond the limit",
            "off by one",
            "while frontier > 0 and depth < rule.limit and left > 0:",
            "while frontier > 0 and depth <= rule.limit and left > 0:",
            f"{traversals} -k search",
        ),
        one(
            "closure",
            "one round beyond the limit",
            "off by one",
            "while size and depth < limit:",
            "while size and depth <= limit:",
            f"{traversals} -k rounds",
        ),
        one(
            "components",
            "the greater root becomes the parent",
            "swapped comparison",
            "if above < other:",
            "if above > other:",
            "tests/algorithms/test_components.py",
        ),
        one(
            "cores",
            "neighbors of the same degree are lowered",
            "swapped comparison",
            "            if kept_degrees[np.uint64(u)] > core:\n                lower(",
            "            if kept_degrees[np.uint64(u)] >= core:\n                lower(",
            "tests/algorithms/test_cores.py",
        ),
        one(
            "coloring",
            "the color of a neighbor is taken",
            "off by one",
            "while kept_marks[least] == stamp:",
            "while kept_marks[least] > stamp:",
            "tests/algorithms/test_sets.py",
        ),
        one(
            "matching",
            "the second best edge is matched",
            "swapped comparison",
            "if best != NONE and other < value:",
            "if best != NONE and other > value:",
            "tests/algorithms/test_sets.py",
        ),
    ]


def _numpy() -> list[Mutant]:
    def one(name: str, kind: str, file: str, before: str, after: str, tests: str = "") -> Mutant:
        words = tests or "tests/test_backend.py"
        return Mutant(f"NumPy {name}", kind, f"graphla/backends/cpu/{file}", before, after, words)

    return [
        one(
            "ewise: the fills are exchanged",
            "swapped operands",
            "ewise.py",
            "big_fill, little_fill = (left, right) if flipped else (right, left)",
            "big_fill, little_fill = (right, left) if flipped else (left, right)",
            "tests/test_backend.py -k union",
        ),
        one(
            "ewise: a key beyond the last is found",
            "dropped condition",
            "ewise.py",
            "return large[spots.clip(max=large.size - 1)] == small",
            "return large[spots.clip(max=large.size - 1)] >= small",
            "tests/test_backend.py -k union",
        ),
        one(
            "ewise: new entries move the others by one too few",
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
            "the last lane is added twice",
            "off by one",
            "    if (lane() >= delta) x += before;",
            "    if (lane() > delta) x += before;",
            "collectives entrywise",
        ),
        one(
            "collectives.cuh",
            "a block fold reads scratch too early",
            "missing barrier",
            "scratch[warp_in_block()] = x;\n  __syncthreads();\n  x = scratch[0];",
            "scratch[warp_in_block()] = x;\n  x = scratch[0];",
            "collectives",
        ),
        one(
            "collectives.cuh",
            "a binary search ends one place early",
            "off by one",
            "while (begin < end) {\n    const Place middle = begin",
            "while (begin + 1 < end) {\n    const Place middle = begin",
            "collectives products",
        ),
        one(
            "reduce.cu",
            "a flag of absence is ignored",
            "dropped mask",
            "if (!SOME || present[k]) sums[0]",
            "if (true) sums[0]",
            "reductions",
        ),
        one(
            "reduce.cu",
            "copies are folded from zero",
            "wrong identity",
            "if (n & 1) z = begun ? Op::add(z, x) : x, begun = true;",
            "if (n & 1) z = begun ? Op::add(z, x) : z, begun = true;",
            "reductions",
        ),
        one(
            "reduce.cu",
            "a row of one entry has none",
            "off by one",
            "const bool there = indptr[i] < indptr[i + 1];",
            "const bool there = indptr[i] + 1 < indptr[i + 1];",
            "reductions",
        ),
        one(
            "assign.cu",
            "a listed mask is complemented",
            "swapped comparison",
            "return k < listed && list[k] == i;",
            "return !(k < listed && list[k] == i);",
            "writing",
        ),
        one(
            "assign.cu",
            "replace keeps the old entry",
            "dropped mask",
            "stays == ANYWHERE ? EIGHT : stays == INSIDE ? inside : ~inside",
            "stays == ANYWHERE ? EIGHT : stays == INSIDE ? ~inside : inside",
            "writing",
        ),
        one(
            "assign.cu",
            "the last flags are lost",
            "off by one",
            "for (int b = 0; b < 8 && i + b < size; ++b) flags[i + b]",
            "for (int b = 0; b < 8 && i + b < size - 1; ++b) flags[i + b]",
            "writing in_place",
        ),
        one(
            "ewise_union.cu",
            "the sides are exchanged",
            "swapped operands",
            "return u32(a) | u32(b) << 16;",
            "return u32(b) | u32(a) << 16;",
            "entrywise",
        ),
        one(
            "ewise_union.cu",
            "an entry alone on the left meets zero, not the fill",
            "wrong identity",
            "if constexpr (FILL & FILL_RIGHT) return Op::accumulate(x, right, i, j);",
            "if constexpr (FILL & FILL_RIGHT) return Op::accumulate(x, typename Op::Y(0), i, j);",
            "entrywise",
        ),
        one(
            "ewise_intersect.cu",
            "operands are exchanged",
            "swapped operands",
            "FLIPPED ? Op::accumulate(x[spot], y[k], i, j) : Op::accumulate(x[k], y[spot], i, j)",
            "FLIPPED ? Op::accumulate(x[k], y[spot], i, j) : Op::accumulate(x[spot], y[k], i, j)",
            "cuda:tests/test_operations.py",
        ),
        one(
            "ewise_dense.cu",
            "an intersection is present where either side is",
            "dropped condition",
            "const bool there = HOW == INTERSECTION ? in_a && in_b : in_a || in_b;",
            "const bool there = in_a || in_b;",
            "entrywise",
        ),
        one(
            "spmspv.cu",
            "the mask of an output is not complemented",
            "dropped mask",
            "if constexpr (MASKED) return flags[o] != complement;",
            "if constexpr (MASKED) return flags[o];",
            "products",
        ),
        one(
            "spmspv.cu",
            "a claimed output is claimed again",
            "swapped comparison",
            "return !(atomicOr(&claimed[o / WARP], bit) & bit);",
            "return atomicOr(&claimed[o / WARP], bit) & bit;",
            "products",
        ),
        one(
            "spmv.cu",
            "the last row of a span is not read",
            "off by one",
            "int span = int(least(outputs - at, u32(WARP * SPAN)));",
            "int span = int(least(outputs - at - 1, u32(WARP * SPAN)));",
            "products",
        ),
        one(
            "spgemm_masked.cu",
            "the table of the row before is read",
            "missing barrier",
            "      if (HAS_VALUES) sums[t] = Op::identity();\n",
            "",
            "mxm",
        ),
        one(
            "spgemm_hash.cu",
            "columns are not in order",
            "unsorted output",
            "for (int other = 0; other < taken; other++) before += columns[other] < j;",
            "for (int other = 0; other < taken; other++) before += columns[other] > j;",
            "mxm",
        ),
        one(
            "spgemm_hash.cu",
            "the mask lets everything through",
            "dropped mask",
            "return place == end || outside.indices[place] != j;",
            "return true;",
            "mxm",
        ),
        one(
            "sort.cu",
            "keys are read before they are stored",
            "missing barrier",
            "keys[n] = values[begin + n];",
            "keys[n] = values[begin];",
            "merge_sort",
        ),
        one(
            "sort.cuh",
            "equal keys change places",
            "unsorted output",
            "if (heads >> n & 1 || !Op::before(key[n], key[n - 1])) continue;",
            "if (heads >> n & 1 || Op::before(key[n - 1], key[n])) continue;",
            "merge_sort",
        ),
        one(
            "select.cu",
            "the last entry is not moved",
            "off by one",
            "if (place[n] < 0 || begin + n * blockDim.x + threadIdx.x >= count) continue;",
            "if (place[n] < 0 || begin + n * blockDim.x + threadIdx.x >= count - 1) continue;",
            "entrywise using",
        ),
        one(
            "cores.cu",
            "a degree falls below k",
            "dropped condition",
            "if (degree <= k) atomicAdd((u32 *)&left[v], 1u);",
            "",
            "parts",
        ),
        one(
            "components.cu",
            "a neighbor after the vertex is a parent",
            "wrong operand",
            "? least(i32(v), indices[begin]) : i32(v);",
            "? indices[begin] : i32(v);",
            "parts",
        ),
        one(
            "forest.cu",
            "the later of equal edges is chosen",
            "swapped comparison",
            "place < load_relaxed(&first[r])) atomicMin(&first[r], place);",
            "place < load_relaxed(&first[r])) atomicMin(&first[r], place + 1);",
            "parts",
        ),
        one(
            "pagerank.cu",
            "no rank of vertices without edges",
            "dropped term",
            "if (its_share == T(0)) dangling += double(now);",
            "",
            "brandes",
        ),
        one(
            "bfs_pull.cuh",
            "an entry of the row before is read",
            "off by one",
            "if (p + k < begin) u[k] = -1;",
            "if (p + k + 1 < begin) u[k] = -1;",
            "searching",
        ),
        one(
            "bfs_pull.cuh",
            "a warp reads a list that is still written",
            "missing barrier",
            "longer += __popc(some);\n      __syncwarp();",
            "longer += __popc(some);",
            "searching",
        ),
        one(
            "convert.cu",
            "equal keys pass for increasing ones",
            "swapped comparison",
            "fell |= keys[k] <= keys[k - 1];",
            "fell |= keys[k] < keys[k - 1];",
            "layout using",
        ),
        one(
            "convert.cu",
            "the last row of a conversion ends early",
            "off by one",
            "if (p == runs - 1) add_offset(sizes + row + 1, runs);",
            "if (p == runs - 1) add_offset(sizes + row + 1, runs - 1);",
            "layout using",
        ),
        one(
            "multi_source_bfs_levels.cuh",
            "a new plane is opened a level late",
            "swapped comparison",
            "return level >= 4 && (level & (level - 1)) == 0;",
            "return level > 4 && (level & (level - 1)) == 0;",
            "many",
        ),
    ]


MUTANTS = [
    *_operations(),
    *_traversal(),
    *_algorithms(),
    *_loops(),
    *_numpy(),
    *_kernels(),
]
