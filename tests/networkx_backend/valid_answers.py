"""Tests of NetworkX that reject a valid answer of graphla, with the reason why it is valid.

`contracts.py` verifies each of these answers.
"""

VALID: dict[str, str] = {
    "algorithms/community/tests/test_louvain.py::test_multigraph": (
        "The test expects equal communities for graphs in which one edge weighs 10 and 13."
    ),
}
