"""Small faults, each a textual patch: the text must occur exactly once in its file.

`tests` are the pytest words of the tests that cover the line; they run first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One fault: `before` in a file (or, if it has moved, in exactly one other) becomes `after`."""

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
    rule = "tests/test_operations.py -k written_by_the_rule"
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
            "tests/test_larger.py tests/test_operations.py",
        ),
        Mutant(
            "ewise: a positional union is symmetric",
            "dropped condition",
            entrywise,
            "a.is_symmetric and b.is_symmetric and not op.is_positional",
            "a.is_symmetric and b.is_symmetric",
            "tests/test_symmetry.py",
        ),
        Mutant(
            "ewise: join transposes although the operator reads places",
            "dropped condition",
            entrywise,
            "if not a.has_csr and not b.has_csr and not op.is_positional:",
            "if not a.has_csr and not b.has_csr:",
            "tests/test_operations.py -k ewise tests/test_forms.py",
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
            closures,
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
            closures + " tests/algorithms/test_shortest_path.py",
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
            "        if depth == limit:\n",
            "        if limit is not None and depth > limit:\n",
        ),
        one(
            "sssp",
            "the cutoff is exclusive",
            "swapped comparison",
            'near = distances.select("<=", cutoff).new()',
            'near = distances.select("<", cutoff).new()',
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
            "vertices as far away as the end are nearer",
            "swapped comparison",
            "nearer = select.valueeq(binary.lt(begin & end).new(), True).new()",
            "nearer = select.valueeq(binary.le(begin & end).new(), True).new()",
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


MUTANTS = [*_operations(), *_traversal(), *_algorithms()]
