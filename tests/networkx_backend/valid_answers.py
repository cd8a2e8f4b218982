"""Tests of NetworkX that reject a valid answer of graphla, with the reason why it is valid.

`contracts.py` verifies each of these answers.
"""

VALID: dict[str, str] = {}
