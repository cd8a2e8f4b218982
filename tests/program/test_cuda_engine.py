"""Compiled loops on a GPU, or in the simulator, give the results that their programs define."""

from __future__ import annotations

import _thread
import gc
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import handmade
import numpy as np
import pytest
from devices import has_card, has_cuda, use_cuda
from hypothesis import given
from hypothesis import strategies as st

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from bad_indices import check_messages  # noqa: E402
from invariants import verify  # noqa: E402
from programs import Case, assume_outcome, cases  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.cuda import persistent  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.compilers import cuda  # noqa: E402
from graphla.compilers.nvrtc import CompilationFailed  # noqa: E402
from graphla.program import cuda as engine  # noqa: E402
from graphla.program import interpreter, ir, running  # noqa: E402
from graphla.program.plan import plan  # noqa: E402
from graphla.program.running import Arguments, Outcome  # noqa: E402
from graphla.stores import VectorStore  # noqa: E402
from semirings import binary, semiring, unary  # noqa: E402
from semirings.dtypes import BOOL, INT64, lookup_dtype  # noqa: E402
from semirings.exceptions import DeviceMismatch  # noqa: E402

SMALL = engine.machine.ProgramTuning(
    block=64, cluster=4, stack_entries=1, stack_items=2, most_joined=0
)
"""A tuning with small blocks, because the simulator needs a fiber for each thread of a block. Each
vector has its own allocation, so the simulator detects accesses beyond the end of a vector."""
WITHOUT_CLUSTERS = replace(SMALL, cluster_rows=0)


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    """Use the GPU, small blocks, and stacks so small that they must soon be enlarged."""
    with gl.config.set(device="cuda"), using(SMALL):
        yield


def random_matrix(n: int, edges: int, seed: int, dtype: Any = bool) -> gl.Matrix:
    random = np.random.default_rng(seed)
    rows, columns = random.integers(0, n, (2, edges))
    once = np.unique(rows * n + columns)
    return gl.Matrix.from_coo(once // n, once % n, dtype(1), nrows=n, ncols=n, dtype=dtype)


def vector_of(entries: dict[int, Any], n: int, dtype: Any) -> VectorStore:
    indices, values = list(entries), list(entries.values())
    return gl.Vector.from_coo(indices, values, size=n, dtype=dtype)._read()


def arguments_of(a: gl.Matrix, vectors: list[VectorStore], *scalars: Any) -> Arguments:
    return Arguments(a.device, (a.nrows,), (a._read(),), (), scalars, tuple(vectors), ())


def entries(store: VectorStore) -> dict[int, Any]:
    indices, values = gl.Vector._of(store).to_coo()
    return dict(zip(np.asarray(indices).tolist(), np.asarray(values).tolist(), strict=True))


def search(neighbors: dict[int, set[int]], source: int) -> dict[int, int]:
    """Return the distance of each vertex that the source reaches."""
    levels, frontier, level = {source: 0}, {source}, 0
    while frontier:
        level += 1
        frontier = {v for u in frontier for v in neighbors.get(u, ())} - levels.keys()
        levels |= dict.fromkeys(frontier, level)
    return levels


def neighbors_of(a: gl.Matrix) -> dict[int, set[int]]:
    rows, columns, _ = (np.asarray(x).tolist() for x in a.to_coo())
    found: dict[int, set[int]] = {}
    for i, j in zip(rows, columns, strict=True):
        found.setdefault(i, set()).add(j)
    return found


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
def test_a_breadth_first_search_finds_the_parents_of_all_reachable_vertices(direction: Any):
    n = 300
    a = random_matrix(n, 700, 1)
    given = arguments_of(a, [vector_of({5: 5}, n, int), vector_of({5: 5}, n, int)])
    with gl.direction(direction):
        outcome = engine.run(handmade.bfs(), given)
    assert (outcome.exit, outcome.fault, entries(outcome.slots[1])) == (0, None, {})
    neighbors = neighbors_of(a)
    levels, parents = search(neighbors, 5), entries(outcome.slots[0])
    assert parents.keys() == levels.keys()
    assert parents.pop(5) == 5
    for v, parent in parents.items():
        assert v in neighbors[parent] and levels[parent] + 1 == levels[v]


def test_pagerank_gives_the_same_result_as_with_the_interpreter():
    n = 200
    a = random_matrix(n, 900, 2)
    degree = vector_of({i: 1.0 + i % 7 for i in range(n)}, n, float)
    rank = vector_of(dict.fromkeys(range(n), 1 / n), n, float)
    given = arguments_of(a, [rank, degree], 1e-6, 0.85, 0.15 / n, 0, 40)
    program = handmade.pagerank()
    expected, outcome = interpreter.run(program, given), engine.run(program, given)
    assert (expected.fault, outcome.fault) == (None, None)
    assert outcome.scalars["rounds"] == expected.scalars["rounds"] > 5
    assert outcome.scalars["change"] == pytest.approx(expected.scalars["change"])
    assert entries(outcome.slots[0]) == pytest.approx(entries(expected.slots[0]))


def test_products_and_sweeps_compiled_as_separate_parts_give_the_same_result():
    n = 200
    a = random_matrix(n, 900, 2)
    degree = vector_of({i: 1.0 + i % 7 for i in range(n)}, n, float)
    rank = vector_of(dict.fromkeys(range(n), 1 / n), n, float)
    given = arguments_of(a, [rank, degree], 1e-6, 0.85, 0.15 / n, 0, 40)
    program = handmade.pagerank()
    whole = engine.run(program, given)
    with using(replace(SMALL, is_in_parts=True, sweeps_from=1)):
        text = engine.show(program, given.matrices)
        parts = engine.run(program, given)
    assert len(re.findall(r"template __device__ u32 called_", text)) == 2
    assert len(set(re.findall(r"sweep_\d+_", text))) == 2
    assert parts.scalars == pytest.approx(whole.scalars)
    assert entries(parts.slots[0]) == pytest.approx(entries(whole.slots[0]))


def loop_of(
    *instructions: ir.Instruction, slots: tuple[ir.Slot, ...], stacks: tuple[ir.Stack, ...] = ()
) -> ir.Program:
    """Return a program that runs the instructions for each i below `rounds`."""
    i, rounds = ir.Var("i", INT64), ir.Var("rounds", INT64)
    step = ir.Let((i,), (handmade.call("add", i, handmade.number(1), dtype=INT64),), 9)
    blocks = [
        ir.Block([], ir.Branch(handmade.call("lt", i, rounds), 1, 2)),
        ir.Block([*instructions, step], ir.Jump(0)),
        ir.Block([], ir.Exit(0)),
    ]
    names = {each.name: each for each in (*slots, *stacks, i)}
    return ir.Program(
        name="loop",
        dims=1,
        matrices=(),
        arrays=(),
        scalars=(i, rounds),
        inputs=slots,
        stacks=stacks,
        slots=slots,
        variables=(i, rounds),
        blocks=blocks,
        exits=[ir.LoopExit(0, names)],
    )


U = ir.Slot(0, "u", INT64, handmade.N)


def run_loop(program: ir.Program, rounds: int, values: dict[int, int], n: int) -> Outcome:
    device = gl.Vector(int, 1).to("cuda").device
    stacks = tuple(() for _ in program.stacks)
    inputs = (vector_of(values, n, int),)
    return engine.run(program, Arguments(device, (n,), (), (), (0, rounds), inputs, stacks))


def test_a_full_stack_is_enlarged_and_the_loop_continues():
    stack = ir.Stack(0, "items", INT64, handmade.N)
    doubled = ir.Apply(unary.ainv["INT64"], ir.Entry(U), INT64)
    program = loop_of(
        ir.Append(stack, U, 1),
        ir.Write(U, None, None, False, doubled, 2),
        slots=(U,),
        stacks=(stack,),
    )
    outcome = run_loop(program, 25, {1: 5, 4: -7}, 6)
    assert [entries(each) for each in outcome.stacks[0]] == [{1: 5, 4: -7}, {1: -5, 4: 7}] * 12 + [
        {1: 5, 4: -7}
    ]
    assert (outcome.scalars["i"], entries(outcome.slots[0])) == (25, {1: -5, 4: 7})
    assert set(outcome.enlarged) == {"items"}


def test_explain_reports_that_the_memory_of_a_list_was_enlarged():
    with gl.config.set(device="cuda"):
        jitted: Any = gl.jit(grow)
        text = jitted.explain(on_card({1: 5, 4: -7, 5: 2}), [], 25)
    assert re.search(r"left to enlarge the memory of items \d+ times, and went on", text)


def grow(u: gl.Vector, items: list[gl.Vector], rounds: int) -> None:
    for k in range(rounds):
        items.append(u.dup())
        u << binary.plus(u, k)


def fold(items: list[gl.Vector], total: gl.Vector) -> None:
    """Remove the items of a list from the end and combine them; append another item in between."""
    while len(items) > 1:
        last = items.pop()
        total << binary.minus(last | total)
        if len(items) == 3:
            items.append(total.dup())
            total << items.pop()


class Counting:
    """An engine that counts the programs that it runs."""

    runs = 0

    def run(self, program: ir.Program, arguments: Arguments) -> Outcome:
        self.runs += 1
        return engine.run(program, arguments)


def on_card(entries: dict[int, int], n: int = 6) -> gl.Vector:
    return gl.Vector._of(vector_of(entries, n, int))


ORDERS = {
    "as they were left": [0, 1, 2, 3, 4, 5],
    "from the middle": [2, 3, 4],
    "one missing": [0, 1, 3, 4, 5],
    "another vector between": [0, 1, 6, 2, 3],
    "reversed": [5, 4, 3, 2, 1, 0],
    "another vector first": [6, 0, 1],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
def test_a_loop_reads_the_vectors_that_another_loop_left_in_a_list(order: list[int]):
    counting = Counting()
    with gl.config.set(device="cuda"), running.use(counting):
        left: list[gl.Vector] = []
        gl.jit(grow)(on_card({1: 5, 4: -7, 5: 2}), left, 6)
        left.append(on_card({0: 9}))
        before = [each.to_dict() for each in left]
        items, total = [left[k] for k in order], on_card({1: 1, 2: 2})
        copies, wanted = [on_card(before[k]) for k in order], total.dup()
        fold(copies, wanted)
        gl.jit(fold)(items, total)
    assert counting.runs == 2
    assert total.to_dict() == wanted.to_dict()
    assert [each.to_dict() for each in items] == [each.to_dict() for each in copies]
    assert [each.to_dict() for each in left] == before


@pytest.mark.parametrize(
    ("order", "runs"), [([0, 1, 2, 3], 1), ([0, 1, 3], 2), ([1, 0], 2), ([0, 4, 1, 2], 3), ([], 0)]
)
def test_adjacent_vectors_are_copied_together(order: list[int], runs: int):
    stack = ir.Stack(0, "items", INT64, handmade.N)
    program = loop_of(ir.Append(stack, U, 1), slots=(U,), stacks=(stack,))
    outcome = run_loop(program, 4, {1: 5, 4: -7}, 6)
    stores = [*outcome.stacks[0], vector_of({0: 9}, 6, int)]
    vectors = [stores[k] for k in order]
    found = []
    for part in engine._join_items(tuple(vectors)):
        if isinstance(part, tuple):
            arena, first, last = part
            begin, end = arena.bounds()[first], arena.bounds()[last]
            found.append((arena.indices[begin:end], arena.values[begin:end]))
        else:
            found.append((part.indices, part.values))
    assert len(found) == runs
    for which in (0, 1):
        joined = [x for pair in found for x in pair[which].tolist()]
        forms = [v.sparse(sorted=False) for v in vectors]
        assert joined == [x for v in forms for x in (v.indices, v.values)[which].tolist()]


def add_up(items: list[gl.Vector], total: gl.Vector) -> None:
    """Remove all items of a list except the first, and add up the removed items."""
    while len(items) > 1:
        last = items.pop()
        total << binary.plus(last | total)


@pytest.mark.parametrize("kept", [6, 4])
def test_a_loop_that_only_pops_list_items_does_not_create_a_stack_on_the_gpu(
    kept: int, monkeypatch: pytest.MonkeyPatch
):
    left: list[gl.Vector] = []
    gl.jit(grow)(on_card({1: 5, 4: -7, 5: 2}), left, 6)
    items, total, again = left[:kept], on_card({1: 1, 2: 2}), on_card({1: 1, 2: 2})
    monkeypatch.setattr(engine.machine, "_make_stack", None)
    gl.jit(add_up)(items, total)
    assert len(items) == 1 and items[0] is left[0]
    monkeypatch.undo()
    copies = [each.dup(dtype=int) for each in left[:kept]]
    add_up(copies, again)
    assert total.to_dict() == again.to_dict()


def test_a_loop_that_appends_to_a_list_does_not_change_the_items_of_another_list():
    left: list[gl.Vector] = []
    gl.jit(grow)(on_card({1: 5, 4: -7, 5: 2}), left, 6)
    items, total = left[:], on_card({1: 1, 2: 2})
    gl.jit(fold)(items, total)  # replaces items
    del items
    wanted: list[gl.Vector] = []
    grow(on_card({1: 5, 4: -7, 5: 2}), wanted, 6)
    assert [each.to_dict() for each in left] == [each.to_dict() for each in wanted]


def test_after_a_loop_the_items_of_a_list_are_ordinary_objects_of_class_vector():
    left: list[gl.Vector] = []
    gl.jit(grow)(on_card({1: 5, 4: -7, 5: 2}), left, 4)
    wanted: list[gl.Vector] = []
    grow(on_card({1: 5, 4: -7, 5: 2}), wanted, 4)
    first, second, third, last = left
    assert {type(each) for each in left} == {gl.Vector}
    assert (first.size, first.dtype, first.device) == (6, INT64, wanted[0].device)
    assert (second.shape, second.nvals) == ((6,), wanted[1].nvals)
    third[2] = 99
    del last[4]
    wanted[2][2] = 99
    del wanted[3][4]
    for each, expected in zip(left, wanted, strict=True):
        verify(each)
        assert each.to_dict() == expected.to_dict()
    store: Any = left[0]._store
    with pytest.raises(AttributeError, match="no attribute 'sizes'"):
        _ = store.sizes


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT16", "FP32", "INT64", "FP64"])
@pytest.mark.parametrize("entries", [{}, {0: 1}, {5: 3}, {2: 1, 4: 0}])
def test_a_loop_reads_entries_that_are_only_on_the_host(dtype: str, entries: dict[int, int]):
    x, total = gl.Vector(dtype, 6), gl.Vector(dtype, 6)
    for i, value in entries.items():
        x[i] = value

    def repeat(x: gl.Vector, total: gl.Vector, count: int) -> None:
        for _ in range(count):
            total << binary.plus(x | total)

    gl.jit(repeat)(x, total, 2)
    wanted, given = gl.Vector(dtype, 6), x.dup()
    repeat(given, wanted, 2)
    assert total.to_dict() == wanted.to_dict()
    assert x.to_dict() == {i: lookup_dtype(dtype).np_type.type(v) for i, v in entries.items()}


def test_after_a_fault_the_vectors_keep_the_effects_of_earlier_statements():
    index = handmade.call("sub", ir.Var("i", INT64), handmade.number(9), dtype=INT64)
    add = ir.ApplyRight(binary.plus["INT64"], ir.Entry(U), handmade.number(1), INT64)
    program = loop_of(
        ir.Write(U, None, None, False, add, 1), ir.DeleteElement(U, index, 2), slots=(U,)
    )
    outcome = run_loop(program, 25, {0: 1, 5: 3}, 6)
    assert outcome.fault is not None and outcome.fault[::2] == ("IndexOutOfBound", 2)
    assert (outcome.exit, entries(outcome.slots[0])) == (-1, {0: 2, 5: 4})


def test_a_trace_has_one_record_per_product():
    n = 60
    a = random_matrix(n, 150, 3)
    given = arguments_of(a, [vector_of({5: 5}, n, int), vector_of({5: 5}, n, int)])
    with gl.Recorder():
        outcome = engine.run(handmade.bfs(), given)
    levels = search(neighbors_of(a), 5)
    sizes = [list(levels.values()).count(k) for k in range(max(levels.values()) + 1)]
    assert [level.frontier for level in outcome.trace] == sizes
    assert {level.direction for level in outcome.trace} <= {"push", "pull"}


def test_float_sums_are_bitwise_equal_in_all_deterministic_runs():
    n = 200
    a = random_matrix(n, 900, 4)
    degree = vector_of({i: 1.0 + i % 7 for i in range(n)}, n, float)
    rank = vector_of({i: 1 / (i + 3) for i in range(n)}, n, float)
    given = arguments_of(a, [rank, degree], 1e-9, 0.85, 0.15 / n, 0, 5)
    with gl.config.set(deterministic=True):
        one, other = (engine.run(handmade.pagerank(), given) for _ in range(2))
    assert entries(one.slots[0]) == entries(other.slots[0])
    assert one.scalars == other.scalars


def test_a_vector_created_in_a_loop_is_on_the_same_device_as_in_python():
    @gl.jit
    def add(u: gl.Vector) -> gl.Vector:
        for i in range(2):
            v = gl.Vector(int, u.size)
            v[i] = 1
            u << u + v
        return u

    u = gl.Vector.from_dense([1, 2, 3])
    assert add(u).to_dense().tolist() == [2, 3, 3]
    with gl.config.set(device="cpu"), pytest.raises(DeviceMismatch):
        add(u)
    assert add(u).to_dense().tolist() == [3, 4, 3]


def climb(u: gl.Vector, rounds: int) -> gl.Vector:
    """Add 1 to each entry `rounds` times."""
    k = 0
    while k < rounds:
        u << u + 1
        k += 1
    return u


def test_an_interrupt_stops_the_kernel_and_leaves_the_operands_intact():
    function = gl.jit(climb)
    u = function(gl.Vector.from_dense([1, 2, 3]), 2)
    words = next(iter(persistent._kept.words.values())).words
    has_ended = threading.Event()

    def interrupt() -> None:
        time.sleep(0.1)
        _thread.interrupt_main()
        # The host cannot ask a simulated kernel to stop, because it waits in the launch.
        while not has_card() and not has_ended.wait(0.01):
            words[persistent.STOP] = 1

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with using(persistent.PersistentTuning(patience=0)), pytest.raises(KeyboardInterrupt):
            function(u, 1 << 40)
    finally:
        has_ended.set()
        thread.join()
    assert u.to_dense().tolist() == [3, 4, 5]
    assert function(u, 1).to_dense().tolist() == [4, 5, 6]


def test_the_engine_writes_to_a_copy_of_an_argument():
    store = vector_of({1: 5}, 6, int)
    add = ir.ApplyRight(binary.plus["INT64"], ir.Entry(U), handmade.number(1), INT64)
    program = loop_of(ir.Write(U, None, None, False, add, 1), slots=(U,))
    outcome = engine.run(program, Arguments(store.device, (6,), (), (), (0, 3), (store,), ()))
    assert (entries(store), entries(outcome.slots[0])) == ({1: 5}, {1: 8})


def test_the_kernel_source_contains_the_lines_of_the_user_function_as_comments():
    a = random_matrix(10, 30, 5)
    text = engine.show(handmade.bfs(), (a._read(),))
    assert "// 5: frontier(~parent.S, replace) << any_secondi(frontier @ A)" in text


def test_explain_shows_the_steps_of_the_kernel_and_the_reasons_for_barriers():
    text = engine.explain(handmade.bfs())
    assert "frontier: INT64, a bitmap with a queue, because a product can push its entries" in text
    assert "barrier: line 5 reads old_3, line 5 writes it" in text
    assert "parent: a mask also tests the entries that a sweep may still be adding to it" in text


def barriers_of(program: ir.Program) -> list[str]:
    return [line for line in str(plan(program)).splitlines() if "barrier:" in line]


def test_the_kernel_of_a_breadth_first_search_has_one_barrier_per_level():
    assert len(barriers_of(handmade.bfs())) == 1


def test_a_kernel_loop_that_only_deletes_entries_clears_many_presence_flags_at_once():
    a = random_matrix(10, 30, 5)
    assert "clear_flags(old_3.present, " in engine.show(handmade.bfs(), (a._read(),))


def test_one_sweep_over_all_positions_writes_a_vector_and_clears_the_target_of_a_product():
    x, y, z = (ir.Slot(k, name, INT64, handmade.N) for k, name in enumerate("xyz"))
    ring = semiring.plus_first["INT64", BOOL]
    product = ir.Product(y, handmade.square("A", BOOL), False, ring, "vxm", INT64)
    program = loop_of(
        ir.Write(y, None, None, False, ir.Entry(x), 1),
        ir.Write(z, None, None, False, product, 2),
        slots=(x, y, z),
    )
    assert "sweep over all positions: line 1 writes y; line 2 clears z" in str(plan(program))


@given(cases(), st.booleans())
def test_the_engine_agrees_with_the_dictionary_engine(case: Case, is_one_cluster: bool):
    with using(SMALL if is_one_cluster else WITHOUT_CLUSTERS):
        assume_outcome(case, engine.run)


def test_a_push_product_with_an_accumulator_takes_one_pass():
    x, y = (ir.Slot(k, name, INT64, handmade.N) for k, name in enumerate("xy"))
    ring = semiring.plus_first["INT64", BOOL]
    product = ir.Product(x, handmade.square("A", BOOL), False, ring, "vxm", INT64)
    program = loop_of(
        ir.Write(y, ir.MaskOf(y, False), binary.plus["INT64"], False, product, 1), slots=(x, y)
    )
    assert "its values are the identity where it has no entry" in str(plan(program))


def levels_of(A: gl.Matrix, source: int) -> gl.Vector:
    level, frontier = gl.Vector(int, A.nrows), gl.Vector(bool, A.nrows)
    frontier[source] = True
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, gl.replace) << gl.semiring.any_pair(frontier @ A)
        depth += 1
    return level


def test_a_product_with_the_monoid_any_is_computed_in_the_dtype_of_its_target():
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3, dtype=int)
    with gl.config.set(device="cuda"), using(SMALL):
        jitted: Any = gl.jit(levels_of)
        A, text = A.to("cuda"), jitted.explain(A.to("cuda"), 0)
        assert text.count("barrier:") == 1
        assert jitted(A, 0).to_dict() == {0: 0, 1: 1, 2: 2}


def sums_of_walks(A: gl.Matrix, ends: gl.Vector, few: gl.Vector, rounds: int) -> gl.Vector:
    """Delete entries from the target of a product. Later products add these entries again."""
    walks, total = gl.Vector(int, A.nrows), gl.Vector(int, A.nrows)
    walks << 1
    for _ in range(rounds):
        walks(ends.S, gl.replace) << gl.semiring.plus_first(walks @ A)
        total(binary.plus) << walks
        walks << walks.select("valuelt", 9)
        walks(few.S) << walks.select("valuelt", 3)
    return total


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
@pytest.mark.parametrize("seed", range(4))
def test_values_of_deleted_entries_do_not_reach_later_products(direction: Any, seed: int):
    random = np.random.default_rng(seed)
    given = gl.Matrix.from_dense(random.random((20, 20)) < 0.2, missing_value=False)
    ends = gl.Vector.from_dict(dict.fromkeys(range(1, 20), True), size=20)
    few = gl.Vector.from_dict(dict.fromkeys(range(8), True), size=20)
    with gl.config.set(device="cpu"):
        expected = sums_of_walks(given.to("cpu"), ends.to("cpu"), few.to("cpu"), 7)
    with gl.config.set(device="cuda"), using(SMALL), gl.direction(direction):
        jitted: Any = gl.jit(sums_of_walks)
        on_card = [each.to("cuda") for each in (given, ends, few)]
        assert "its values are the identity" in jitted.explain(*on_card, 7)
        assert jitted(*on_card, 7).to_dict() == expected.to_dict()


@pytest.mark.parametrize("error", [RuntimeError, CompilationFailed])
def test_a_loop_runs_even_if_its_parts_cannot_be_linked(
    error: Any, monkeypatch: pytest.MonkeyPatch
):
    def refuse(parts: list[bytes]) -> bytes:
        raise error("the parts cannot be linked")

    monkeypatch.setattr(cuda, "_link", refuse)
    monkeypatch.setattr(engine.machine, "may_link", lambda: True)
    monkeypatch.setattr(engine.machine, "is_compiled", lambda text, entry: False)
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3, dtype=int).to("cuda")
    with gl.config.set(device="cuda"), using(SMALL):
        assert gl.jit(levels_of)(A, 0).to_dict() == {0: 0, 1: 1, 2: 2}


def test_a_loop_keeps_running_as_separate_parts_if_the_whole_kernel_cannot_be_compiled():
    A = gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3, dtype=int).to("cuda")
    with gl.config.set(device="cuda"), using(SMALL):
        jitted: Any = gl.jit(levels_of)
        jitted(A, 0)
        loops = [x for x in gc.get_objects() if type(x) is engine.machine.Loop]
        loops = [loop for loop in loops if "levels_of" in loop.kernel.what]
        assert loops
        for loop in loops:
            loop._whole = cuda.Loading("#error", "graphla::run_loop<0>", "a test")
        cuda.finish_compiling()
        assert jitted(A, 0).to_dict() == {0: 0, 1: 1, 2: 2}
        assert any(loop._whole is None for loop in loops)


def read_far(v: gl.Vector, k: int) -> float:
    total = 0
    for j in range(2):
        total += v.get(k - j, 0)
    return total


def write_far(v: gl.Vector, k: int) -> gl.Vector:
    for j in range(2):
        v[k - j] = j
    return v


def delete_far(v: gl.Vector, k: int) -> gl.Vector:
    for j in range(2):
        del v[k - j]
    return v


@pytest.mark.parametrize("index", [4, 9, -4, -1 << 40])
@pytest.mark.parametrize("function", [read_far, write_far, delete_far])
def test_an_index_out_of_range_raises_the_same_error_message_as_in_plain_python(
    function: Any, index: int
):
    messages = []
    for each in (function, gl.jit(function)):
        v = gl.Vector.from_coo([0, 3], [1, 2], size=4)
        with pytest.raises(IndexError) as caught:
            each(v, index)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_each_statement_with_a_bad_index_raises_the_same_error_message_as_in_plain_python():
    check_messages()


def least_parents(A: gl.Matrix, x: gl.Vector, rounds: int) -> gl.Vector:
    """Multiply A by a vector whose values are its indices, until 6 // (3 - k) fails at k = 3."""
    seen = gl.Vector(int, A.nrows)
    for k in range(rounds):
        x << gl.indexunary.rowindex(x)
        seen(x.S) << 6 // (3 - k)
        x(~seen.S, gl.replace) << gl.semiring.min_first(x @ A)
    return x


def sums_of_parents(A: gl.Matrix, x: gl.Vector, rounds: int) -> gl.Vector:
    """Multiply A by a vector whose values are its own indices, and read these values afterwards."""
    total = gl.Vector(int, A.nrows)
    for _ in range(rounds):
        x << gl.indexunary.rowindex(x)
        total << gl.semiring.min_plus(x @ A)
        total(binary.plus) << x
        x << total.select("valuelt", 90)
    return total


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
@pytest.mark.parametrize(("program", "rounds"), [(least_parents, 3), (sums_of_parents, 4)])
def test_products_of_indices_equal_those_of_the_plain_function(program, rounds, direction: Any):
    A, x = random_matrix(40, 90, 3, int), gl.Vector.from_dict({3: 8, 30: 1, 7: 7}, size=40)
    with gl.config.set(device="cpu"):
        expected = program(A.to("cpu"), x.to("cpu"), rounds)
    with gl.direction(direction), using(WITHOUT_CLUSTERS):
        jitted: Any = gl.jit(program)
        assert "are its indices" in jitted.explain(A.to("cuda"), x.to("cuda"), rounds)
        assert jitted(A.to("cuda"), x.to("cuda"), rounds).to_dict() == expected.to_dict()


def test_after_a_fault_a_vector_contains_the_values_that_plain_python_would_leave_in_it():
    A, x = random_matrix(40, 200, 3, int), gl.Vector.from_dict({3: 8, 30: 1, 7: 7}, size=40)
    with gl.config.set(device="cpu"):
        expected = x.to("cpu")
        with pytest.raises(ZeroDivisionError):
            least_parents(A.to("cpu"), expected, 9)
    found, jitted = x.to("cuda"), gl.jit(least_parents)
    with pytest.raises(ZeroDivisionError):
        jitted(A.to("cuda"), found, 9)
    assert found.to_dict() == expected.to_dict()


def indices_without_fault(A: gl.Matrix, x: gl.Vector) -> gl.Vector:
    seen = gl.Vector(int, A.nrows)
    while x.nvals:
        x << gl.indexunary.rowindex(x)
        x(~seen.S, gl.replace) << gl.semiring.min_first(x @ A)
        seen(x.S) << x
    return seen


def test_values_that_no_step_reads_are_not_written():
    A, x = random_matrix(40, 200, 3, int), gl.Vector.from_dict({3: 8, 30: 1, 7: 7}, size=40)
    with gl.config.set(device="cpu"):
        expected = indices_without_fault(A.to("cpu"), x.to("cpu"))
    jitted: Any = gl.jit(indices_without_fault)
    text = jitted.explain(A.to("cuda"), x.to("cuda"))
    assert text.count("barrier:") == 1
    assert "line 4: left out, because nothing reads the values that it computes" in text
    assert jitted(A.to("cuda"), x.to("cuda")).to_dict() == expected.to_dict()


def sizes_of_items(A: gl.Matrix, u: gl.Vector, rounds: int) -> tuple[int, int, int, gl.Vector]:
    """Add up the sizes of vectors on a stack. The loop uses no other property of these vectors."""
    stack, last, middle = [u.dup()], 0, 0
    while stack[-1].nvals and len(stack) < rounds:
        u << gl.semiring.plus_first(u @ A)
        u << u.select("valuelt", 40)
        stack.append(u.dup())
        last += stack[-1].nvals
        middle += stack[len(stack) // 2].nvals - stack[0].nvals
    first = 0
    while len(stack) > 1:
        first = 2 * first + stack.pop().nvals
    return last, middle, first, stack[0]


def test_list_items_are_not_copied_if_only_their_sizes_are_used():
    A, u = random_matrix(40, 90, 3, int), gl.Vector.from_dict({3: 8, 30: 1, 7: 7}, size=40)
    with gl.config.set(device="cpu"):
        *expected, rest = sizes_of_items(A.to("cpu"), u.to("cpu"), 9)
    jitted: Any = gl.jit(sizes_of_items)
    text = jitted.explain(A.to("cuda"), u.to("cuda"), 9)
    assert text.count("find the number of entries of an item of stack") == 5
    assert "copy an item" not in text
    *found, left = jitted(A.to("cuda"), u.to("cuda"), 9)
    assert (found, left.to_dict()) == (expected, rest.to_dict())


def sums_of_kept(A: gl.Matrix, u: gl.Vector, few: gl.Vector, rounds: int) -> gl.Vector:
    """Delete entries of a vector, and add the remaining entries to another vector."""
    total = gl.Vector(int, A.nrows)
    for _ in range(rounds):
        u << gl.semiring.plus_first(u @ A)
        u << binary.times(u & few)
        total(u.S, binary.plus) << u
    return total


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
def test_a_sweep_visits_the_entries_that_an_earlier_statement_keeps(direction: Any):
    A, u = random_matrix(40, 90, 3, int), gl.Vector.from_dict({3: 8, 30: 1, 7: 7}, size=40)
    few = gl.Vector.from_dict(dict.fromkeys(range(0, 40, 3), 2), size=40)
    with gl.config.set(device="cpu"):
        expected = sums_of_kept(A.to("cpu"), u.to("cpu"), few.to("cpu"), 6)
    with gl.direction(direction):
        jitted: Any = gl.jit(sums_of_kept)
        given = [each.to("cuda") for each in (A, u, few)]
        steps = r"sweep over the entries of u: line 6 writes u; line 7 writes total"
        assert re.search(steps, jitted.explain(*given, 6))
        assert jitted(*given, 6).to_dict() == expected.to_dict()
