"""Test that the wording checker finds the listed expressions and nothing else."""

from pathlib import Path

import pytest
from prose import hits

AVOIDED = [
    "This is no list.",
    "what is no vertex",
    "at most so many rounds",
    "rows and columns alike",
    "the mask beside it",
    "The kernel is told the size.",
    "It says of a row that it is full.",
    "whoever calls it",
    "all but for the last row",
    "a place of theirs",
    "two queues by turns",
    "until it comes to rest",
    "It waits in vain.",
    "the colour of a neighbour",
    "an optimised loop over labelled vertices",
]
STANDARD = [
    "There is no path.",
    "It is no longer needed.",
    "so many entries that 32 bits overflow",
    "x lies in [0, 1)",
    "besides the mask",
    "each in turn",
    "`direction_optimised` runs `colour`",
    "see graphla/ladder/privatised_queue.cu",
]


def written(sentence: str, path: str) -> str:
    """Return the text of a file of this type that contains the sentence as prose."""
    return {".py": f'"""{sentence}"""\n', ".cu": f"/// {sentence}\n", ".md": f"{sentence}\n"}[
        Path(path).suffix
    ]


@pytest.mark.parametrize("path", ["a.py", "a.cu", "a.md"])
@pytest.mark.parametrize("sentence", AVOIDED)
def test_the_prose_checker_finds_an_avoided_expression(sentence: str, path: str) -> None:
    assert list(hits(path, written(sentence, path)))


@pytest.mark.parametrize("path", ["a.py", "a.cu", "a.md"])
@pytest.mark.parametrize("sentence", STANDARD)
def test_the_prose_checker_accepts_standard_expressions(sentence: str, path: str) -> None:
    assert not list(hits(path, written(sentence, path)))


def test_the_prose_checker_finds_an_avoided_expression_across_a_line_break() -> None:
    assert [line for line, *_ in hits("a.py", "x = 1\n# of so\n# many rounds\n")] == [2]


def test_the_prose_checker_skips_code() -> None:
    assert not list(hits("a.py", 'x = "so many"\n'))
    assert not list(hits("a.md", "```\nso many\n```\n"))


def test_the_prose_checker_permits_an_avoided_expression_with_a_reason_on_the_same_line() -> None:
    assert not list(hits("a.py", "x = 1  # so many rounds  # prose: a quotation\n"))
    assert not list(hits("a.md", "so many rounds <!-- prose: a quotation -->\n"))
