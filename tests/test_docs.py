"""Run the Python blocks of all pages, check the syntax of shell blocks, and check links."""

from __future__ import annotations

import doctest
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from devices import has_card

import graphla
from graphla import algorithms, ladder

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Not tested here: `make docs` runs the notebooks and generates the pages in reference/generated.
MADE = (DOCS / "notebooks", DOCS / "reference" / "generated")
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *DOCS.glob("**/*.md"), ROOT / "examples" / "README.md"]
    if page.parent not in MADE
)
# These pages apply to every device, so `make test` also runs them on a simulated GPU.
ON_ANY_DEVICE = {
    "docs/concepts/closure.md",
    "docs/concepts/graph.md",
    "docs/how-to/sort.md",
    "docs/ladder.md",
    "docs/reference/algorithms.md",
    "docs/reference/files.md",
}
NEEDS_CARD = "<!-- needs a card -->"


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str = "python") -> list[tuple[int, str, bool]]:
    """Return the page's blocks in this language: line, text, and whether the block needs a GPU."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        (
            text[: each.start(1)].count("\n"),
            each.group(1),
            text[: each.start()].rstrip().endswith(NEEDS_CARD),
        )
        for each in found
    ]


def run(page: Path, *, on_card: bool) -> dict[str, Any]:
    """Run the blocks of a page in order; skip those that need a GPU unless `on_card`."""
    names: dict[str, Any] = {}
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for line, block, needs_card in blocks(page):
        if needs_card and not on_card:
            continue
        if ">>>" not in block:
            exec(compile(block, name(page), "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, name(page), name(page), line)
        runner.run(test, out=failures.append, clear_globs=False)
        names |= test.globs
    assert not failures, "".join(failures)
    return names


WITH_PYTHON = [name(page) for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", sorted(ON_ANY_DEVICE))
def test_the_examples_on_a_documentation_page_print_the_shown_output_on_every_device(page: str):
    run(ROOT / page, on_card=has_card())


@pytest.mark.cpu
@pytest.mark.parametrize("page", sorted(set(WITH_PYTHON) - ON_ANY_DEVICE))
def test_the_examples_on_a_documentation_page_print_the_shown_output(page: str):
    pytest.importorskip("networkx")
    run(ROOT / page, on_card=False)


@pytest.mark.skipif(not has_card(), reason="needs a card")
@pytest.mark.parametrize(
    "page", [name(page) for page in PAGES if any(block[2] for block in blocks(page))]
)
def test_the_examples_that_need_a_gpu_print_the_shown_output(page: str):
    run(ROOT / page, on_card=True)


@pytest.mark.cpu
@pytest.mark.parametrize("page", [name(page) for page in PAGES if blocks(page, "bash")])
def test_shell_blocks_have_no_syntax_errors(page: str):
    for _, block, _ in blocks(ROOT / page, "bash"):
        result = subprocess.run(["bash", "-n"], input=block, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


@pytest.mark.cpu
def test_every_code_block_names_its_language():
    fences = {
        name(page): re.findall(r"^```[^\n]*$", page.read_text(encoding="utf-8"), re.MULTILINE)[::2]
        for page in PAGES
    }
    assert {page: opened for page, opened in fences.items() if "```" in opened} == {}


@pytest.mark.cpu
def test_pyproject_reads_the_version_dynamically_and_the_changelog_lists_this_version():
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {graphla.__version__}" in changelog


@pytest.mark.cpu
def test_the_table_of_algorithms_lists_every_algorithm():
    text = (DOCS / "reference" / "algorithms.md").read_text(encoding="utf-8")
    functions = {name for name in algorithms.__all__ if not name[0].isupper()}
    assert functions == {name for name in functions if f"`{name}`" in text}


@pytest.mark.cpu
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_internal_link_has_an_existing_target(page: Path):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        if path.startswith("http"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Return the link anchors of a page's headings."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.cpu
def test_the_index_of_design_decisions_links_to_every_decision():
    folder = ROOT / "docs" / "decisions"
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert [
        each.name for each in sorted(folder.glob("0*.md")) if f"({each.name})" not in text
    ] == []


@pytest.mark.cpu
def test_the_example_search_in_the_readme_reaches_every_vertex():
    names = run(ROOT / "README.md", on_card=False)
    assert names["levels"].nvals == names["parent"].nvals == 264_346


@pytest.mark.cpu
def test_each_strategy_of_the_ladder_is_described_in_the_tutorial_and_above_its_kernel():
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
