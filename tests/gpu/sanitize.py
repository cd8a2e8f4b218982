"""Run every kernel under the tools of compute-sanitizer: `sanitize.py OUTCOMES [TOOL...]`.

The stages of tour.py run the kernels. The script divides the stages among a few processes per tool,
and writes the outcome of each process to OUTCOMES, for verified.json. If a kernel did not run under
a tool, this counts as a failure. Without compute-sanitizer, every outcome is "skipped".
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
"""Maximum number of processes per tool. Each process runs some stages of tour.py.

The slowest tool comes first.
"""
AT_ONCE = max(2, (os.cpu_count() or 2) // 2)
PATIENCE = 240
"""Time limit of a process in seconds."""

OPTIONS = {
    "racecheck": ("--racecheck-report", "all"),
    # memcheck must not report errors of the CUDA API. If the GPU rejects a launch with large
    # clusters of blocks, graphla repeats the launch with smaller clusters, as intended.
    "memcheck": ("--leak-check", "no", "--report-api-errors", "no"),
}
UNWATCHED = {"racecheck": {"brandes": ("centrality", "centrality_by_lengths")}}
"""For each tool, the kernels that the tool does not check, with the stages that run these kernels.

Racecheck checks only shared memory, and `brandes` does not use shared memory. Only under racecheck,
`brandes` sometimes fails with an illegal-instruction error if several teams of blocks run.
"""

OURS = "kernel_substring=graphla"
"""The filter that restricts the tools to graphla's own kernels.

CuPy's kernels read undefined values of absent entries, but the results are masked afterwards. Only
initcheck runs without this filter, because it must know what CuPy's kernels write.
"""

FOUND = 9
"""Exit code of a tool that found an error."""


@dataclass(frozen=True)
class Watch:
    """The stages of tour.py that one process runs under one tool."""

    tool: str
    stages: tuple[str, ...]

    def program(self) -> list[str]:
        """Return the command line that runs these stages under the tool."""
        tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
        flags = ("--tool", self.tool, "--error-exitcode", str(FOUND), *OPTIONS.get(self.tool, ()))
        flags += () if self.tool == "initcheck" else ("--kernel-name", OURS)
        flags += ("--show-backtrace", "no", "--print-limit", "100000")
        return [tool, *flags, sys.executable, str(HERE / "tour.py"), *self.stages]

    def outcome(self) -> tuple[str, set[tuple[str, str]]]:
        """Run the stages; return "passed", "failed" or "skipped", and the kernels that ran."""
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
        """Return whether one of our kernels or the tour itself failed."""
        return self.tool != "initcheck" or done.returncode != FOUND or bool(_named(done.stdout))


def _named(text: str) -> Counter[str]:
    """Count how often the name of each graphla kernel occurs in the text."""
    return Counter(re.findall(r"graphla::(\w+)<", text))


def _ran(text: str) -> set[tuple[str, str]]:
    """Return the kernels that ran, as printed by tour.py."""
    lines = [line for line in text.splitlines() if line.startswith(tour.RAN)]
    return {(file, name) for line in lines for file, name in json.loads(line[len(tour.RAN) :])}


def watches(tool: str) -> list[Watch]:
    """Divide the stages among the processes of a tool."""
    left_out = {stage for stages in UNWATCHED.get(tool, {}).values() for stage in stages}
    names = [stage.__name__ for stage in tour.STAGES if stage.__name__ not in left_out]
    parts = min(TOOLS[tool], len(names))
    return [Watch(tool, tuple(names[k::parts])) for k in range(parts)]


def main(file: str, *tools: str) -> None:
    """Run the chosen tools, a few processes at a time, and record the outcomes."""
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
