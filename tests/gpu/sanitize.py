"""The tour of every kernel under compute-sanitizer's four tools: `sanitize.py OUTCOMES [TOOL...]`.

Each tool watches a few processes, among which the stages of the tour are dealt out. Writes what it
found in each, for verified.json, and whether they left a kernel out; where there is no
compute-sanitizer, that it was skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE), str(HERE.parent)]

import records  # noqa: E402
import tour  # noqa: E402

TOOLS = {"racecheck": 99, "synccheck": 4, "memcheck": 4, "initcheck": 4}
"""The slowest first, with the processes that each is given, at most: it has a stage or more."""
AT_ONCE = max(2, (os.cpu_count() or 2) // 2)
PATIENCE = 240
"""Seconds after which a process is given up."""

OPTIONS = {
    "racecheck": ("--racecheck-report", "all"),
    # A grid of clusters is asked for that the card may refuse; then a smaller one is.
    "memcheck": ("--leak-check", "no", "--report-api-errors", "no"),
}
UNWATCHED = {"racecheck": {"brandes": ("centrality", "centrality_by_lengths")}}
"""Kernels that a tool does not see, and their stages. This one keeps nothing in shared memory, all
that racecheck looks at; and under that tool, but under no other, several teams of blocks now
and then end in an illegal instruction."""

OURS = "kernel_substring=graphla"
"""CuPy's kernels are not ours to judge (they read values of absent entries, which may be anything,
and what comes of them is masked); but initcheck must see what they write."""

FOUND = 9
"""The exit code that means the tool found something."""


@dataclass(frozen=True)
class Watch:
    """Stages of the tour, under a tool."""

    tool: str
    stages: tuple[str, ...]

    def program(self) -> list[str]:
        """What is run."""
        tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        flags = ("--tool", self.tool, "--error-exitcode", str(FOUND), *OPTIONS.get(self.tool, ()))
        flags += () if self.tool == "initcheck" else ("--kernel-name", OURS)
        flags += ("--show-backtrace", "no", "--print-limit", "100000")
        return [tool, *flags, sys.executable, str(HERE / "tour.py"), *self.stages]

    def outcome(self) -> tuple[str, set[tuple[str, str]]]:
        """Runs the stages: "passed", "failed" or "skipped", and the kernels that have run."""
        program = self.program()
        if not Path(program[0]).exists():
            return "skipped", set()
        begun = time.monotonic()
        try:
            done = subprocess.run(
                program,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            self._say("not at an end", begun)
            return "failed", set()
        found = "failed" if done.returncode and self._is_ours(done) else "passed"
        self._say(found, begun)
        if found == "failed":
            for kernel, count in _named(done.stdout).most_common():
                print(f"{count:8,} in {kernel}")
            print(f"{done.stdout[:3000]}\n...\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
        return found, _ran(done.stdout)

    def _say(self, found: str, begun: float) -> None:
        seconds = time.monotonic() - begun
        print(f"{self.tool} {found} in {seconds:.0f} s: {' '.join(self.stages)}", flush=True)

    def _is_ours(self, done: subprocess.CompletedProcess[str]) -> bool:
        """Whether a failure is one of our kernels, or of the tour itself."""
        return self.tool != "initcheck" or done.returncode != FOUND or bool(_named(done.stdout))


def _named(text: str) -> Counter[str]:
    """How often each of our kernels is named."""
    return Counter(re.findall(r"graphla::(\w+)<", text))


def _ran(text: str) -> set[tuple[str, str]]:
    """The kernels that the tour says have run."""
    lines = [line for line in text.splitlines() if line.startswith(tour.RAN)]
    return {(file, name) for line in lines for file, name in json.loads(line[len(tour.RAN) :])}


def watches(tool: str) -> list[Watch]:
    """The stages, dealt out."""
    left_out = {stage for stages in UNWATCHED.get(tool, {}).values() for stage in stages}
    names = [stage.__name__ for stage in tour.STAGES if stage.__name__ not in left_out]
    parts = min(TOOLS[tool], len(names))
    return [Watch(tool, tuple(names[k::parts])) for k in range(parts)]


def main(file: str, *tools: str) -> None:
    """All of it, some at a time."""
    chosen = [watch for tool in TOOLS if tool in (tools or TOOLS) for watch in watches(tool)]
    sources = records.digests()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ended = list(pool.map(Watch.outcome, chosen))
    found = {
        f"tests/gpu/sanitize.py::{watch.tool}[{'-'.join(watch.stages)}]": outcome
        for watch, (outcome, _) in zip(chosen, ended, strict=True)
    }
    for tool in {watch.tool for watch in chosen}:
        of_tool = [each for watch, each in zip(chosen, ended, strict=True) if watch.tool == tool]
        left = tour.not_run(set().union(*(ran for _, ran in of_tool)))
        left = {(file, name) for file, name in left if name not in UNWATCHED.get(tool, {})}
        if left and "passed" in {outcome for outcome, _ in of_tool}:
            print(f"{tool} has not seen {sorted(left)}")
            found[f"tests/gpu/sanitize.py::{tool}[every kernel]"] = "failed"
    records.keep(Path(file), found, sources)
    if "failed" in found.values():
        sys.exit("compute-sanitizer found something")


if __name__ == "__main__":
    main(*sys.argv[1:])
