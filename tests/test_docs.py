"""What the pages say, run: each `>>>` of a page's Python blocks, one after another."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

from graphla import algorithms, ladder

ROOT = Path(__file__).parent.parent
PAGES = (
    "docs/algorithms.md",
    "docs/closure.md",
    "docs/files.md",
    "docs/graph.md",
    "docs/ladder.md",
    "docs/sorting.md",
)
LINKED = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"])


def blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with its line."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text[: each.start(1)].count("\n"), each.group(1)) for each in found]


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_comes_out(page: str):
    names: dict[str, Any] = {}
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for line, block in blocks(ROOT / page):
        test = doctest.DocTestParser().get_doctest(block, names, page, page, line)
        assert test.examples, f"{page}, line {line + 1}: nothing to run"
        runner.run(test, out=said.append, clear_globs=False)
        names |= test.globs
    assert not said, "".join(said)


@pytest.mark.cpu
def test_the_table_of_algorithms_has_each_of_them():
    text = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    functions = {name for name in algorithms.__all__ if not name[0].isupper()}
    assert functions == {name for name in functions if f"`{name}`" in text}


@pytest.mark.cpu
@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if path.startswith("http"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """What the headings of a page are linked by."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.cpu
def test_each_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert [
        each.name for each in sorted(folder.glob("0*.md")) if f"({each.name})" not in text
    ] == []


@pytest.mark.cpu
def test_the_first_program_of_the_readme_runs():
    names: dict[str, Any] = {}
    for _, block in blocks(ROOT / "README.md"):
        exec(block, names)
    levels, parent = names["levels"], names["parent"]
    assert levels.nvals == parent.nvals == 264_346


@pytest.mark.cpu
def test_each_rung_of_the_ladder_is_told_in_the_tutorial_and_at_the_head_of_its_kernel():
    assert ladder.STRATEGIES.keys() <= anchors(ROOT / "docs" / "ladder.md")
    for name, strategy in ladder.STRATEGIES.items():
        module = (strategy.cuda or strategy.cpu).partition(".")[0]
        kernel = ROOT / "graphla" / "ladder" / f"{module}.cu"
        text = (kernel if kernel.exists() else kernel.with_suffix(".py")).read_text("utf-8")
        head = text.partition("#include" if kernel.exists() else "from __future__")[0]
        missing = {"Algebra", "A level", "Wins", "Source"} - set(
            re.findall(r"[A-Z][ \w]+?(?=  )", head)
        )
        assert not missing, name
