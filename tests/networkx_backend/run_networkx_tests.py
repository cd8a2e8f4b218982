"""Run NetworkX's own tests with the backend, and compare each dispatched call with plain NetworkX.

    python tests/networkx_backend/run_networkx_tests.py algorithms/tests/test_dag.py

runs one file. Without arguments, the script runs all tests of NetworkX. For each function, the
script prints how often the tests call it, how many of these calls graphla answers, and how many
answers differ. If a test fails, it runs again with plain NetworkX. `--write` updates
`answers.json`, from which a table of the documentation is generated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import networkx

TESTS = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "answers.json"
PACKAGE = Path(networkx.__file__).resolve().parent


def run(paths: list[str], record: str, *options: str) -> dict[str, Any]:
    """Run tests of NetworkX with the backend, and return what `recording` has written."""
    environment = os.environ | {
        "NETWORKX_TEST_BACKEND": "graphla",
        "NETWORKX_FALLBACK_TO_NX": "True",
        "GRAPHLA_RECORD": record,
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent), *_path()]),
    }
    _pytest(paths, environment, "-p", "networkx_backend.recording", *options)
    return json.loads(Path(record).read_text())


def find_failures_without_graphla(tests: list[str]) -> set[str]:
    """Return the tests that also fail with plain NetworkX."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(_path())}
    found = _pytest(tests, environment, "-rfE")
    lines = [line.split() for line in found.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return {line[1] for line in lines if len(line) > 1}


def _path() -> list[str]:
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]


def _pytest(tests: list[str], environment: dict[str, str], *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(PACKAGE)]
    command += ["-p", "no:cacheprovider", "--tb=short", *options, *tests]
    done = subprocess.run(
        command, cwd=PACKAGE, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout


def show(found: dict[str, Any], broken: list[str], details: bool) -> None:
    """Print the counts, and examples of rejected calls and differences."""
    print(f"{'function':42} {'calls':>6} {'answered':>8} {'share':>6} {'differ':>6}")
    for name, counts in sorted(found["counts"].items()):
        share = counts["answered"] / counts["calls"]
        numbers = f"{counts['calls']:6} {counts['answered']:8} {share:6.0%} {counts['differing']:6}"
        print(f"{name:42} {numbers}")
        if details:
            for reason, times in found["refusals"].get(name, {}).items():
                print(f"    rejected {times} times: {reason}")
        for example in found["examples"].get(name, []):
            print(f"    {example}")
    print(f"{found['passed']} tests passed, graphla answered calls in {len(found['touched'])}")
    for test in broken:
        print(f"FAILED only with graphla: {test}")


def main() -> None:
    """Run the tests that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=["."], help="files or folders in networkx/")
    parser.add_argument("--refusals", action="store_true", help="print why calls are rejected")
    parser.add_argument("--write", action="store_true", help="update the counts in answers.json")
    parser.add_argument("--keyword", help="run only tests whose names match this expression")
    options = parser.parse_args()
    chosen = ["-k", options.keyword] if options.keyword else []
    with tempfile.TemporaryDirectory() as folder:
        found = run(options.paths, str(Path(folder) / "record.json"), *chosen)
    fails = sorted(set(found["failed"]))
    anyway = find_failures_without_graphla(fails) if fails else set()
    broken = [test for test in fails if test not in anyway]
    show(found, broken, options.refusals)
    if options.write:
        kept = {key: found[key] for key in ("networkx", "counts", "passed")}
        kept |= {"touched": len(found["touched"]), "broken": broken}
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    differing = sum(counts["differing"] for counts in found["counts"].values())
    sys.exit(bool(broken or differing))


if __name__ == "__main__":
    main()
