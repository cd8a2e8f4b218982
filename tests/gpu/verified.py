"""What `make gpu-test` proved on a card: kept in verified.json, held against the sources.

python tests/gpu/verified.py check     # is it about these sources?
python tests/gpu/verified.py ready     # is this a clean commit?
python tests/gpu/verified.py write OUTCOMES...
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("verified.json")
COVERED = ("graphla/compilers", "graphla/backends", "graphla/stores.py", "graphla/formats.py")
COVERED += ("graphla/ladder", "semirings")
"""The sources that a card has to run before they are trusted there."""


def digest() -> str:
    """A digest of the sources, whatever their line ends."""
    found = hashlib.sha256()
    for path in sorted(_files()):
        text = path.read_text().replace("\r\n", "\n")
        found.update(f"{path.relative_to(ROOT).as_posix()}\0{text}\0".encode())
    return found.hexdigest()


def _files() -> set[Path]:
    places = [ROOT / name for name in COVERED]
    folders = [path for place in places if place.is_dir() for path in place.rglob("*")]
    suffixes = {".py", ".cu", ".cuh"}
    return {path for path in (*places, *folders) if path.suffix in suffixes and path.is_file()}


def staleness() -> str | None:
    """Why the sources are not verified on a card, in one line; None where they are."""
    if not FILE.exists():
        return "GPU: these kernels were never verified on a card; `make gpu-test` does it"
    kept = json.loads(FILE.read_text())
    if kept["digest"] == digest():
        return None
    return (
        f"GPU: the sources have changed since {kept['date']}, when they were verified on "
        f"{kept['card']}; `make gpu-test` does it anew"
    )


def commit() -> str:
    """The commit that is checked out, with nothing changed; GRAPHLA_COMMIT where git is not."""
    try:
        changed = _git("status", "--porcelain")
        head = _git("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        given = os.environ.get("GRAPHLA_COMMIT", "")
        if not given:
            raise SystemExit("make gpu-test wants a git checkout, or GRAPHLA_COMMIT") from None
        return given
    if changed:
        raise SystemExit(f"make gpu-test wants a clean commit; changed are:\n{changed}")
    return head


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def keep(file: Path, outcomes: dict[str, str], sources: str) -> None:
    """What some of the tests found, with the digest of the sources that they ran."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"digest": sources, "outcomes": outcomes}))


def kept(files: tuple[str, ...]) -> dict[str, str]:
    """The outcomes in these files, all of which must be of the sources as they are."""
    outcomes: dict[str, str] = {}
    for file in files:
        found = json.loads(Path(file).read_text())
        if found["digest"] != digest():
            raise SystemExit(f"not verified: what {file} says is of other sources")
        outcomes |= found["outcomes"]
    return outcomes


def write(outcomes: dict[str, str]) -> None:
    """The record, unless anything failed."""
    failed = [name for name, outcome in outcomes.items() if outcome == "failed"]
    if failed or "passed" not in outcomes.values():
        raise SystemExit(f"not verified: {len(failed)} tests failed, {failed[:5]}")
    record = {
        "commit": commit(),
        "digest": digest(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        **_machine(),
        "tests": _by_function(outcomes),
    }
    FILE.write_text(json.dumps(record, indent=1, sort_keys=False) + "\n")


def _machine() -> dict[str, Any]:
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


def _by_function(outcomes: dict[str, str]) -> dict[str, dict[str, str]]:
    """Of each file's tests the outcomes, those of one function's parameters counted."""
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


def main(command: str, *files: str) -> None:
    """One of the commands above."""
    if command == "check":
        stale = staleness()
        if stale:
            raise SystemExit(stale)
    elif command == "ready":
        commit()
    else:
        write(kept(files))


if __name__ == "__main__":
    main(*sys.argv[1:])
