"""The tour of every kernel under compute-sanitizer's four tools: `sanitize.py OUTCOMES [TOOL...]`.

Writes what each tool found, for verified.json; where there is no compute-sanitizer, that it was
skipped.
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
from pathlib import Path

HERE = Path(__file__).parent
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
OPTIONS = {
    "racecheck": ("--racecheck-report", "all"),
    # A grid of clusters is asked for that the card may refuse; then a smaller one is.
    "memcheck": ("--leak-check", "no", "--report-api-errors", "no"),
}
OURS = "kernel_substring=graphla"
"""CuPy's kernels are not ours to judge (they read values of absent entries, which may be anything,
and what comes of them is masked); but initcheck must see what they write."""

FOUND = 9
"""The exit code that means the tool found something."""


def outcome(tool: str) -> str:
    """Runs the tour under the tool: "passed", "failed" or "skipped"."""
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(program).exists():
        return "skipped"
    only = () if tool == "initcheck" else ("--kernel-name", OURS)
    only += ("--show-backtrace", "no", "--print-limit", "100000")
    flags = ("--tool", tool, "--error-exitcode", str(FOUND), *OPTIONS.get(tool, ()), *only)
    begun = time.monotonic()
    done = subprocess.run(
        [program, *flags, sys.executable, str(HERE / "tour.py")],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
    )
    seconds = time.monotonic() - begun
    found = "failed" if done.returncode and _is_ours(tool, done) else "passed"
    print(f"compute-sanitizer {tool}: {found} in {seconds:.0f} s", flush=True)
    if found == "failed":
        for kernel, count in _kernels(done.stdout).most_common():
            print(f"{count:8,} in {kernel}")
        print(f"{done.stdout[:3000]}\n...\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
    return found


def _is_ours(tool: str, done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a failure is one of our kernels, or of the tour itself."""
    return tool != "initcheck" or done.returncode != FOUND or bool(_kernels(done.stdout))


def _kernels(text: str) -> Counter[str]:
    """How often each of our kernels is named."""
    return Counter(re.findall(r"graphla::(\w+)<", text))


def main(file: str, *tools: str) -> None:
    """The tools, side by side."""
    chosen = tools or TOOLS
    with ThreadPoolExecutor() as pool:
        outcomes = pool.map(outcome, chosen)
    found = {f"tests/gpu/sanitize.py::{x}": y for x, y in zip(chosen, outcomes, strict=True)}
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(json.dumps(found))
    if "failed" in found.values():
        sys.exit("compute-sanitizer found something")


if __name__ == "__main__":
    main(*sys.argv[1:])
