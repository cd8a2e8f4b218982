"""Write and check records of test runs; each record contains a digest of the tested sources.

The digest does not depend on comments and docstrings, so a record stays valid if they are reworded.
If no test fails, `make gpu-test` writes tests/gpu/verified.json, and `make test-full` writes
tests/full.json. `make release-check` fails unless both records match the current sources.

python tests/records.py check                     # check that both records match these sources
python tests/records.py ready gpu                 # check that the checkout is clean
python tests/records.py write gpu OUTCOMES...     # from files that pytest --outcomes FILE wrote
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUFFIXES = {".py", ".cu", ".cuh", ".h", ".cpp", ".json"}


@dataclass(frozen=True)
class Record:
    """A record: its file, the sources that it covers, and the command that writes it."""

    file: str
    covered: tuple[str, ...]
    command: str
    task: str

    @property
    def path(self) -> Path:
        return ROOT / self.file

    def digest(self) -> str:
        """Return a digest of the code in the covered sources."""
        return _digest(self.covered)

    def staleness(self) -> str | None:
        """Return in one line why the record does not match the sources, or None if it does."""
        if not self.path.exists():
            return f"{self.task} has never run on these sources; `{self.command}` runs it"
        found = json.loads(self.path.read_text())
        if found["digest"] == self.digest():
            return None
        return (
            f"the sources have changed since {found['date']}, when {self.task} ran; "
            f"`{self.command}` runs it again"
        )

    def write(self, outcomes: dict[str, str], machine: dict[str, Any]) -> None:
        """Write the record, unless a test has failed."""
        failed = [name for name, outcome in outcomes.items() if outcome == "failed"]
        if failed or "passed" not in outcomes.values():
            raise SystemExit(f"no record: {len(failed)} tests failed, {failed[:5]}")
        record = {
            "commit": self.commit(),
            "digest": self.digest(),
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            **machine,
            "tests": _by_function(outcomes),
        }
        self.path.write_text(json.dumps(record, indent=1, sort_keys=False) + "\n")

    def commit(self) -> str:
        """Return the commit of a checkout without changes, or GRAPHLA_COMMIT if there is no git.

        Exit if the checkout has changes, or if GRAPHLA_COMMIT is needed but missing.
        """
        try:
            changed = _git("status", "--porcelain")
            head = _git("rev-parse", "HEAD")
        except (OSError, subprocess.CalledProcessError):
            given = os.environ.get("GRAPHLA_COMMIT", "")
            if not given:
                raise SystemExit(
                    f"{self.command} needs a git checkout, or GRAPHLA_COMMIT"
                ) from None
            return given
        if changed:
            raise SystemExit(f"{self.command} needs a clean commit; these files differ:\n{changed}")
        return head


BACKEND_FILES = ("__init__", "requests", "tuning", "values", "write_rule")

RECORDS = {
    "gpu": Record(
        "tests/gpu/verified.json",
        (
            # The files in `graphla/backends/cpu` do not affect results on a GPU.
            *(f"graphla/backends/{name}.py" for name in BACKEND_FILES),
            *("graphla/backends/cuda", "graphla/compilers", "graphla/formats.py", "graphla/stores"),
            *("graphla/program", "graphla/ladder", "semirings"),
        ),
        "make gpu-test",
        "the GPU suite",
    ),
    "full": Record(
        "tests/full.json",
        ("graphla", "semirings", "tests", "examples"),
        "make test-full",
        "the full suite",
    ),
}


@cache
def _digest(covered: tuple[str, ...]) -> str:
    found = hashlib.sha256()
    for path in sorted(_files(covered)):
        code = code_of(path.read_text(encoding="utf-8"), path.suffix)
        found.update(f"{path.relative_to(ROOT).as_posix()}\0{code}\0".encode())
    return found.hexdigest()


def code_of(text: str, suffix: str) -> str:
    """Return the code of a source file, without comments, docstrings and formatting."""
    if suffix == ".py":
        return repr(_syntax(ast.parse(text)))
    if suffix == ".json":
        return repr(json.loads(text))
    # Strings are matched too, because they may contain what looks like a comment.
    string = r'R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"'
    text = re.sub(rf"//[^\n]*|/\*.*?\*/|({string})", lambda m: m[1] or " ", text, flags=re.S)
    return " ".join(re.findall(rf"{string}|\w+|\S", text, re.S))


def _syntax(node: Any) -> Any:
    """Return a syntax tree as nested lists that do not depend on the version of Python."""
    if isinstance(node, list):
        return [_syntax(each) for each in node if not _is_docstring(each)]
    if not isinstance(node, ast.AST):
        return node
    fields = [(name, _syntax(value)) for name, value in ast.iter_fields(node)]
    return [type(node).__name__, [field for field in fields if field[1] not in (None, [])]]


def _is_docstring(node: Any) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _files(covered: tuple[str, ...]) -> set[Path]:
    places = [ROOT / name for name in covered]
    missing = [name for name in covered if not (ROOT / name).exists()]
    assert not missing, f"a record covers {missing}, which do not exist"
    folders = [path for place in places if place.is_dir() for path in place.rglob("*")]
    records = {record.path for record in RECORDS.values()}
    return {
        path
        for path in (*places, *folders)
        if path.suffix in SUFFIXES and path.is_file() and path not in records
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def digests() -> dict[str, str]:
    """Return the digest of the sources that each record covers."""
    return {name: record.digest() for name, record in RECORDS.items()}


def keep(file: Path, outcomes: dict[str, str], sources: dict[str, str]) -> None:
    """Write test outcomes with the digests of the tested sources."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"digests": sources, "outcomes": outcomes}))


def kept(name: str, files: tuple[str, ...]) -> dict[str, str]:
    """Return the outcomes in these files, which must all match the current sources."""
    outcomes: dict[str, str] = {}
    for file in files:
        found = json.loads(Path(file).read_text())
        if found["digests"][name] != RECORDS[name].digest():
            raise SystemExit(f"no record: the outcomes in {file} are of other sources")
        failed = {test: "failed" for test, found in outcomes.items() if found == "failed"}
        outcomes |= found["outcomes"] | failed
    return outcomes


def _card() -> dict[str, Any]:
    """Return a description of the GPU, driver and software that ran the GPU suite."""
    import cupy
    import numpy as np

    device = cupy.cuda.Device()
    properties = cupy.cuda.runtime.getDeviceProperties(device.id)
    return {
        "card": properties["name"].decode(),
        "compute capability": device.compute_capability,
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "CUDA runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "NVRTC": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
        "CuPy": cupy.__version__,
        "NumPy": np.__version__,
        "Python": platform.python_version(),
    }


def _host() -> dict[str, Any]:
    """Return a description of the machine and software that ran the full suite."""
    from importlib.metadata import version

    names = ("NumPy", "SciPy", "hypothesis")
    return {name: version(name) for name in names} | {"Python": platform.python_version()}


def _by_function(outcomes: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return how many cases of each test function had each outcome, grouped by file."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for name, outcome in sorted(outcomes.items()):
        file, _, test = name.partition("::")
        function = test.partition("[")[0]
        counts.setdefault(file, {}).setdefault(function, Counter())[outcome] += 1
    return {
        file: {
            name: ", ".join(f"{count} {outcome}" for outcome, count in found.items())
            for name, found in functions.items()
        }
        for file, functions in counts.items()
    }


def main(command: str, *words: str) -> None:
    """Run the `check`, `ready` or `write` command."""
    if command == "check":
        stale = [found for record in RECORDS.values() if (found := record.staleness())]
        if stale:
            raise SystemExit("\n".join(stale))
        return
    name, *files = words
    if command == "ready":
        RECORDS[name].commit()
    else:
        machine = _card() if name == "gpu" else _host()
        RECORDS[name].write(kept(name, tuple(files)), machine)


if __name__ == "__main__":
    main(*sys.argv[1:])
