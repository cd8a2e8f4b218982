"""Limit the examples and cases of `make test`. `make test-full` and runs on a GPU have no limits.

Each key is a prefix of test names, such as `traversal/` or `test_plan.py::test_name`. The longest
matching prefix applies. tests/mutation/run.py shows that the tests detect faults despite these
limits (docs/testing.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")


def is_full() -> bool:
    """Return whether tests run without limits: under `make test-full`, or on a GPU."""
    return PROFILE in ("nightly", "card")


EXAMPLES = {
    "": 40,
    "algorithms/": 15,
    "algorithms/test_bfs.py": 20,
    "gpu/test_brandes.py": 6,
    "gpu/test_closing.py": 8,
    "gpu/test_entrywise.py": 50,
    "gpu/test_groups.py": 8,
    "gpu/test_planning.py": 10,
    "gpu/test_planning.py::test_a_full_plan": 5,
    "gpu/test_products.py": 12,
    "gpu/test_reductions.py": 60,
    "gpu/test_rungs.py": 4,
    "gpu/test_searching.py": 10,
    "gpu/test_writing.py": 100,
    "ladder/": 15,
    "networkx_backend/": 20,
    "program/test_cpu_engine.py": 15,
    "program/test_cuda_engine.py": 20,
    "program/test_cuda_products.py": 20,
    "program/test_sources.py": 25,
    "program/test_sources.py::test_a_drawn_function_gives_the_same_results_for_other_arguments": 12,
    "program/test_sources.py::test_a_drawn_function_compiled_by_numba": 1,
    "program/test_sources_on_cuda.py": 8,
    "program/test_stored_programs.py": 30,
    "simulator/test_intrinsics.py": 15,
    "test_aggregators.py": 15,
    "test_assign.py::test_assigning_to_a_row_or_a_column_accepts_a_vector_mask": 25,
    "test_backend.py": 50,
    "test_construction.py::test_coordinates_are_read_in_any_order_and_returned_sorted": 25,
    "test_operations.py::test_writing_a_matrix_obeys_the_graphblas_write_rule": 80,
    "test_operations.py::test_reducing": 60,
    "test_operations.py::test_writing_a_vector_obeys_the_graphblas_write_rule": 80,
    "test_sorting.py": 12,
    "test_symmetry.py::test_results_are_the_same_before_and_after_symmetry_detection": 5,
    "traversal/": 12,
    "traversal/test_closure.py": 8,
}
"""The number of examples of each property test, unless the test sets a smaller number."""

CASES = {
    "algorithms/test_known_answers.py::test_results_on_a_real_graph": 90,
    "algorithms/test_paths.py::test_reliabilities_are_fp64": 3,
    "gpu/test_compile.py::test_each_kernel_compiles_for_other_architectures": 49,
    "gpu/test_many.py::test_levels_that_do_not_fit_in_a_byte_are_rejected": 3,
    "gpu/test_planning.py::test_a_block_relabels_the_columns_of_a_row_that_is_too_long": 2,
    "gpu/test_program_streams.py::test_random_compiled_loops_on_three_streams": 3,
    "gpu/test_searching.py::test_levels_up_to_254_are_stored_in_one_byte": 3,
    "gpu/test_searching.py::test_a_pull_reads_long_rows_completely": 3,
    "gpu/test_searching.py::test_a_search_of_a_path_finds_one_level": 3,
    "gpu/test_searching.py::test_a_star_and_a_complete_graph_are_searched_correctly": 13,
    "gpu/test_searching.py::test_long_rows_of_a_caterpillar": 6,
    "gpu/test_searching.py::test_the_grid_expands_a_row_that_is_too_long": 3,
    "gpu/test_streams.py::test_random_statements": 3,
    "gpu/test_traversal_streams.py::test_random_traversals": 2,
    "semirings/test_printed_forms.py::test_printed_numba_functions": 5,
    "simulator/test_sanitizers.py::test_the_address_sanitizer_detects": 4,
    "simulator/test_sanitizers.py::test_the_thread_sanitizer_accepts": 3,
    "simulator/test_sanitizers.py::test_the_thread_sanitizer_detects": 3,
    "test_compiled.py::test_a_float_out_of_range_of_an_integer_dtype": 1,
    "test_compiled.py::test_products_with_a_vector_agree_with_numpy": 4,
    "test_compiled.py::test_row_reductions_agree_with_numpy": 6,
    "test_compiled.py::test_unions_and_intersections_agree_with_numpy": 4,
    "test_compiled_traversals.py::test_a_compiled_search_agrees_with_numpy": 10,
    "test_compiled_traversals.py::test_a_near_far_closure_agrees": 5,
    "test_compiled_traversals.py::test_a_closure_computed_in_rounds_agrees_with_numpy": 5,
    "test_larger.py::test_matrix_products": 6,
    "test_larger.py::test_mxv_and_vxm_agree_with_numpy_on_dense_arrays": 6,
    "test_sorting.py::test_sorting_by_less_or_greater": 5,
    "test_sorting.py::test_sorting_with_an_inconsistent_comparison": 24,
    "test_sorting.py::test_sorting_is_stable_with_a_comparison_that_is_true_for_equal_values": 2,
    "traversal/test_closure.py::test_a_masked_closure_over_a_random_graph_equals_its_definition": 3,
    "traversal/test_closure.py::test_the_error_about_a_cycle_that_keeps_improving": 6,
}
"""The number of cases of a parametrized test that `make test` runs.

Tests that are not listed run all their cases.
"""

SIMULATED_CASES = {
    "algorithms/test_arguments.py": 0,
    "algorithms/test_distances.py::test_the_center_of_a_graph_with_rounded_lengths_is_found": 0,
    "algorithms/test_label_propagation.py::test_label_propagation_divides_a_mesh": 0,
    "algorithms/test_leiden.py::test_the_algorithm_terminates": 0,
    "algorithms/test_leiden.py::test_the_algebraic_definition_finds_communities": 0,
    "algorithms/test_leiden.py::test_the_mean_modularity": 0,
    "algorithms/test_louvain.py::test_the_modularity_of_the_communities": 0,
    "algorithms/test_shortest_path.py::test_a_cycle_of_many_edges_is_reported": 0,
    "test_larger.py::test_matrix_products": 3,
    "test_larger.py::test_mxv_and_vxm_agree_with_numpy_on_dense_arrays": 4,
    "traversal/test_closure.py::test_a_masked_closure_over_a_random_graph_equals_its_definition": 2,
    "traversal/test_closure.py::test_the_error_about_a_cycle_that_keeps_improving": 3,
}
"""The number of cases of a parametrized test on the simulator. It replaces the number in CASES.

Few cases run on the simulator, because g++ compiles the kernels of each case. A test with 0 cases
runs on the simulator only in `make test-full`. There are two kinds of such tests. Some have graphs
so large that the simulator needs seconds; smaller tests check the same kernels. Others test how
algorithms read their arguments, which does not depend on the device.
"""


def number_of_examples(test: str) -> int:
    """Return the number of examples for a test, such as "tests/test_plan.py::test_name"."""
    found = _look_up(EXAMPLES, test)
    assert found is not None
    return found


def number_of_cases(test: str) -> int | None:
    """Return the number of cases of a parametrized test; None stands for all."""
    return _look_up(CASES | SIMULATED_CASES if PROFILE == "simulated" else CASES, test)


def _look_up(table: Mapping[str, int], test: str) -> int | None:
    name = test.removeprefix("tests/")
    prefixes = [prefix for prefix in table if name.startswith(prefix)]
    return table[max(prefixes, key=len)] if prefixes else None


def parameters(item: Any) -> list[tuple[str, str]]:
    """Return the parameters of a case of a parametrized test.

    Values are represented by their text, because some cannot be hashed or compared.
    """
    return [(name, repr(value)) for name, value in item.callspec.params.items()]


def choose_cases(cases: Mapping[str, Iterable[object]], most: int) -> set[str]:
    """Choose up to `most` cases that together cover as many parameter values as possible.

    `cases` maps each case's name to its parameter values. The choice is greedy and deterministic.
    """
    chosen: set[str] = set()
    seen: set[object] = set()
    values = {name: set(held) for name, held in cases.items()}
    while len(chosen) < min(most, len(values)):
        left = [name for name in values if name not in chosen]
        best = max(left, key=lambda name: (len(values[name] - seen), crc32(name.encode())))
        chosen.add(best)
        seen |= values[best]
    return chosen
