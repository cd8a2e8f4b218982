"""Insert small faults (mutants) into the sources, run the tests, and record which test command
detects each mutant (docs/testing.md).

    python tests/mutation/run.py judge [WORD...]   # judge the mutants that have no result yet
    python tests/mutation/run.py again [WORD...]   # rejudge mutants whose names contain a WORD
    python tests/mutation/run.py full [WORD...]    # run survivors' tests as in `make test-full`
    python tests/mutation/run.py whole [WORD...]   # run all of `make test` on survivors
    python tests/mutation/run.py baseline          # discard kills by tests that always fail
    python tests/mutation/run.py check             # check that all patches still apply
    python tests/mutation/run.py table             # write the table into docs/testing.md

Each mutant is judged in a copy of the sources. First, only the tests of the changed text run, with
-x, as in `make test`. On a mutant that survives, `full` runs these tests as in `make test-full`,
and `whole` runs all of `make test`. results.json keeps all results, so a run can be continued.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mutants import MUTANTS, Mutant

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
PAGE = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- mutants: begin -->", "<!-- mutants: end -->"
COPIED = ("graphla", "semirings", "tests", "examples", "docs", "benchmarks")
COPIED_FILES = (
    *("_graphla_networkx.py", "pyproject.toml", "Makefile"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
)
PATIENCE = 300
"""Time limit of a run in seconds. If `make test` exceeds the limit, this counts as an endless loop,
which kills the mutant. If `make test-full` exceeds the limit, the mutant counts as a survivor,
because no test has failed so far."""

ENDLESS = f"the tests did not end within {PATIENCE} s"
TEST, FULL, WHOLE = "make test", "make test-full, these tests", "make test, all tests"
FLAGS = ("-x", "-q", "-p", "no:cacheprovider", "-n", "0", "--tb=line")


def find(mutant: Mutant, root: Path) -> Path:
    """Return the file that the mutant changes. Raise LookupError if the text to replace does not
    occur exactly once."""
    path = root / mutant.file
    if path.exists() and path.read_text().count(mutant.before) == 1:
        return path
    folders = (root / "graphla", root / "semirings")
    sources = [
        path for folder in folders for path in folder.rglob("*.*") if path.suffix in SUFFIXES
    ]
    counts = {path: path.read_text().count(mutant.before) for path in sources}
    found = [path for path, count in counts.items() if count]
    if sum(counts.values()) != 1:
        places = [str(path.relative_to(root)) for path in found]
        raise LookupError(
            f"{mutant.name}: the text occurs {sum(counts.values())} times, in {places}"
        )
    return found[0]


def applies(mutant: Mutant) -> bool:
    """Return whether the text that the mutant replaces occurs exactly once in the sources."""
    try:
        find(mutant, ROOT)
    except LookupError:
        return False
    return True


SUFFIXES = {".py", ".cu", ".cuh"}


@contextmanager
def mutated(mutant: Mutant) -> Iterator[Path]:
    """Copy the sources to a temporary folder, apply the mutant, and yield the folder."""
    with tempfile.TemporaryDirectory(prefix="graphla-mutant-") as name:
        root = Path(name)
        ignored = shutil.ignore_patterns("__pycache__")
        for folder in COPIED:
            shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
        for file in COPIED_FILES:
            shutil.copy(ROOT / file, root / file)
        path = find(mutant, root)
        path.write_text(path.read_text().replace(mutant.before, mutant.after))
        yield root


def run_tests(root: Path, words: str, profile: str, marks: str) -> str | None:
    """Run tests on the copy of the sources in `root`. Return the first test that fails, or None if
    all pass.

    The string `words` contains the pytest arguments that select the tests. If it starts with
    "cuda:", the tests run on the simulated GPU.
    """
    on_cuda = words.startswith("cuda:")
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_PROFILE": profile,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(root / ".hypothesis"),
        **({"GRAPHLA_TEST_DEVICE": "cuda", "GRAPHLA_SIMULATOR": "plain"} if on_cuda else {}),
    }
    command = [sys.executable, "-m", "pytest", *FLAGS, "-m", marks]
    process = subprocess.Popen(
        [*command, *shlex.split(words.removeprefix("cuda:"))],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ENDLESS
    if process.returncode == 0:
        return None
    if process.returncode == 5:
        raise SystemExit(f"no test is selected by {words}")
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output, re.MULTILINE)
    return failed[1] if failed else f"pytest was aborted (exit status {process.returncode})"


def judge(mutant: Mutant) -> dict[str, str]:
    """Run the tests that cover the mutant, as in `make test`. Return the command that kills the
    mutant and the test that fails; both are empty if the mutant survives."""
    with mutated(mutant) as root:
        profile = "simulated" if mutant.tests.startswith("cuda:") else "ci"
        killer = run_tests(root, mutant.tests, profile, "not full and not gpu")
    return {"killed by": TEST if killer else "", "test": killer or ""}


def judge_full(mutant: Mutant) -> dict[str, str]:
    """Run the tests that cover the mutant, as in `make test-full`. Return the command that kills
    the mutant and the test that fails; both are empty if the mutant survives."""
    with mutated(mutant) as root:
        profile = "card" if mutant.tests.startswith("cuda:") else "nightly"
        killer = run_tests(root, mutant.tests, profile, "not gpu")
    if killer and killer != ENDLESS:
        return {"killed by": FULL, "test": killer}
    return {"killed by": "", "test": "", "full": killer or "survives these tests of test-full"}


def judge_whole(mutant: Mutant, kept: dict[str, str]) -> dict[str, str]:
    """Run all of `make test` on the mutant. `kept` is its earlier result; return this result,
    updated with the outcome."""
    with mutated(mutant) as root:
        killer = run_tests(root, "tests", "ci", "not full and not gpu")
    by_full = {"by test-full": kept["test"]} if kept["killed by"] == FULL else {}
    if killer:
        return {"killed by": WHOLE, "test": killer, **by_full}
    return {**kept, "whole": "survives make test"}


def baseline(results: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return only the results whose failing test passes on the unmodified sources. The other tests
    fail without the mutant too, so their results prove nothing.
    """
    killers = sorted({one["test"] for one in results.values() if "::" in one["test"]})
    command = [sys.executable, "-m", "pytest", *FLAGS[1:], "-rf", *killers]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    wrong = set(re.findall(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", done.stdout, re.MULTILINE))
    print(f"{len(killers)} tests, {len(wrong)} fail without a fault: {sorted(wrong)}")
    if done.returncode > 1:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    return {name: one for name, one in results.items() if one["test"] not in wrong}


def table(results: dict[str, dict[str, str]]) -> str:
    """Return a Markdown table of all mutants that have a result. A line with the totals comes
    first."""
    known = [(mutant, results[mutant.name]) for mutant in MUTANTS if mutant.name in results]
    counts = Counter(result["killed by"] for _, result in known)
    by_test = counts[TEST] + counts[WHOLE]
    by_full = by_test + counts[FULL]
    endless = sum(result["test"] == ENDLESS for _, result in known)
    lines = [
        f"There are {len(known)} mutants. `make test-full` kills {by_full} of them."
        + (f" `make test` kills {by_test / by_full:.1%} of these {by_full}." if by_full else "")
        + f" {endless} of the mutants count as killed because their tests did not end.",
        "",
        "| mutant | fault | killed by | test |",
        "|---|---|---|---|",
    ]
    for mutant, result in known:
        test = result["test"].removeprefix("tests/").partition("[")[0]
        cell = f"`{test}`" if "::" in test else test
        lines.append(f"| {mutant.name} | {mutant.kind} | {result['killed by'] or '-'} | {cell} |")
    return "\n".join(lines)


def kept_results() -> dict[str, dict[str, str]]:
    """Return the results in the file. It is read each time, because other processes may add
    results."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main(command: str, *words: str) -> None:
    """Run one of the commands that the module's docstring lists."""
    results = kept_results()
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    if command == "check":
        wrong = [mutant.name for mutant in chosen if not applies(mutant)]
        print("\n".join(wrong) or f"all {len(chosen)} patches apply")
        sys.exit(bool(wrong))
    if command == "baseline":
        RESULTS.write_text(json.dumps(baseline(results), indent=1) + "\n")
        return
    if command == "table":
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{after}")
        return
    for mutant in chosen:
        if not applies(mutant):
            print(f"{mutant.name}: its text has changed")
            continue
        if command == "again" or (command == "judge" and mutant.name not in kept_results()):
            found = judge(mutant)
        elif command == "full" and not results[mutant.name]["killed by"]:
            found = judge_full(mutant)
        elif command == "whole" and results[mutant.name]["killed by"] in ("", FULL):
            found = judge_whole(mutant, results[mutant.name])
        else:
            continue
        print(f"{mutant.name}: {found['killed by'] or 'survives'} {found['test']}", flush=True)
        kept = kept_results()
        order = {known.name: k for k, known in enumerate(MUTANTS)}
        kept = {name: one for name, one in (kept | {mutant.name: found}).items() if name in order}
        kept = dict(sorted(kept.items(), key=lambda item: order[item[0]]))
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
