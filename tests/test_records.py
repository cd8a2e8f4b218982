"""Tests for the digests in records of test runs (tests/records.py)."""

import pytest
from records import code_of

PYTHON = '''"""A module."""
x = "# no comment"  # a comment
y = """// two
lines"""


def f(x):
    """A docstring with "quotes"."""
    # another comment
    return x  # the argument
'''
CUDA = """// A file.
#include "a.cuh"  // for f
const char *url = "http://a/*b*/";  /* a
comment */
int f() { return 1; }
"""
SAME = {
    ".py": [
        (PYTHON, PYTHON.replace("A module.", "A longer\n\nname.")),
        (PYTHON, PYTHON.replace("another comment", "a comment\n    # of two lines")),
        (PYTHON, PYTHON.replace("  # the argument", "")),
        (PYTHON, PYTHON.replace("\n", "\r\n")),
        (PYTHON, PYTHON.replace("f(x)", "f(\n    x,\n)")),
    ],
    ".cu": [
        (CUDA, CUDA.replace("A file.", "A file\n// of two lines.")),
        (CUDA, CUDA.replace("  // for f", "")),
        (CUDA, CUDA.replace("comment */", "long\n\ncomment */")),
        (CUDA, CUDA.replace("{ return 1; }", "{\n  return 1;\n}")),
    ],
}
DIFFERENT = {
    ".py": [
        (PYTHON, PYTHON.replace("# no comment", "# changed")),
        (PYTHON, PYTHON.replace("// two", "// three")),
        (PYTHON, PYTHON.replace("    return x", "pass")),
        (PYTHON, PYTHON.replace("y = ", "z = ")),
    ],
    ".cu": [
        (CUDA, CUDA.replace("http://a", "http://b")),
        (CUDA, CUDA.replace("/*b*/", "/*c*/")),
        (CUDA, CUDA.replace("return 1", "return 2")),
    ],
    ".json": [('{"//": 1}', '{"//": 2}')],
}


@pytest.mark.parametrize(
    ("suffix", "before", "after"),
    [(suffix, *pair) for suffix, pairs in SAME.items() for pair in pairs],
)
def test_a_change_of_comments_or_docstrings_keeps_the_code(suffix, before, after):
    assert before != after
    assert code_of(before, suffix) == code_of(after, suffix)


@pytest.mark.parametrize(
    ("suffix", "before", "after"),
    [(suffix, *pair) for suffix, pairs in DIFFERENT.items() for pair in pairs],
)
def test_a_change_of_the_code_is_noticed(suffix, before, after):
    assert before != after
    assert code_of(before, suffix) != code_of(after, suffix)
