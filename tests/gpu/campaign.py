"""Compile instances by NVRTC, and read what each takes: registers, stack, spills, shared memory.

Run as a program (`make resources`) it writes the table of what every kernel may take; given names
of files (`bfs.cu`), of the kernels in these alone.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from instances import CONSTANTS, KERNELS, Instance
from toolkit import nvrtc as installed

from graphla.compilers import nvrtc

TOGETHER = 24
"""Instances to a program: to read the sources takes longer than to compile a small kernel."""
TABLE = Path(__file__).with_name("resources.json")


@dataclass(frozen=True)
class Resources:
    """What one thread (registers, bytes of stack and of spills) or block (shared bytes) takes."""

    registers: int = 0
    stack: int = 0
    spills: int = 0
    shared: int = 0

    def __or__(self, other: Resources) -> Resources:
        """The greater of each."""
        mine, theirs = asdict(self), asdict(other)
        return Resources(**{name: max(mine[name], theirs[name]) for name in mine})

    def beyond(self, limit: Resources) -> list[str]:
        """In what this is more than the limit."""
        return [
            f"{mine} {field.name}, not {most}"
            for field in fields(self)
            if (mine := getattr(self, field.name)) > (most := getattr(limit, field.name))
        ]


def table() -> dict[str, dict[str, Resources]]:
    """The committed table: the most that any instance of a kernel takes, by architecture."""
    kept = json.loads(TABLE.read_text())
    return {
        kernel: {arch: Resources(**most) for arch, most in by_architecture.items()}
        for kernel, by_architecture in kept.items()
    }


def write_table(found: dict[str, dict[str, Resources]]) -> None:
    """One line for each kernel and architecture."""
    lines = []
    for kernel, by_architecture in sorted(found.items()):
        rows = [
            f'    "{arch}": {json.dumps(asdict(most))}' for arch, most in by_architecture.items()
        ]
        lines.append(f'  "{kernel}": {{\n' + ",\n".join(rows) + "\n  }")
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def compile_all(
    toolkit: Any, instances: Iterable[Instance], options: tuple[str, ...] = nvrtc.OPTIONS
) -> Iterator[tuple[Instance, Resources]]:
    """Each instance with what it takes; several of one file and architecture go together, each
    operator in a namespace of its own.
    """
    known = sorted(set(instances), key=_program)
    for _, members in itertools.groupby(known, key=_program):
        listed = list(members)
        for begin in range(0, len(listed), TOGETHER):
            yield from _compile(toolkit, listed[begin : begin + TOGETHER], options)


def _compile(
    toolkit: Any, group: list[Instance], options: tuple[str, ...]
) -> Iterator[tuple[Instance, Resources]]:
    places = {spec: f"place_{k}" for k, spec in enumerate({each.spec: None for each in group})}
    body = "".join(
        f"namespace {place} {{\n{write(*operators)}\n}}\n"
        for (write, *operators), place in places.items()
    )
    file = group[0].kernel.file
    text = nvrtc.program(file, body, CONSTANTS.get(file))
    expressions = [
        nvrtc.instance(each.kernel.name, each.arguments).replace(
            "graphla::Op", f"graphla::{places[each.spec]}::Op"
        )
        for each in group
    ]
    flags = (*options, "--ptxas-options=-v")
    try:
        _, names, log = nvrtc.compile_instances(
            toolkit, text, expressions, group[0].architecture, group[0].label, flags
        )
    except nvrtc.CompilationFailed:
        if len(group) == 1:
            raise
        for each in group:  # one of them has failed: which?
            yield from _compile(toolkit, [each], options)
        return
    taken = dict(_entries(log))
    for each, name in zip(group, names, strict=True):
        yield each, taken[name]


def _program(each: Instance) -> tuple[str, str]:
    return each.kernel.file, each.architecture


def _entries(log: str) -> Iterator[tuple[str, Resources]]:
    """Yield each entry in a log of ptxas: its name in machine code, and the resources it uses."""
    for part in log.split("Compiling entry function '")[1:]:
        name = part[: part.index("'")]
        yield (
            name,
            Resources(
                registers=_number(r"Used (\d+) registers", part),
                stack=_number(r"(\d+) bytes stack frame", part),
                spills=_number(r"(\d+) bytes spill stores", part),
                shared=_number(r"(\d+) bytes smem", part),
            ),
        )


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


# --- the table, made anew -------------------------------------------------------------------------


def _most(k: int) -> tuple[str, dict[str, Resources]]:
    """The most that the instances of the campaign take of kernel k, by architecture."""
    toolkit = installed(13)
    assert toolkit is not None, "NVRTC of CUDA 13 is not installed"
    found: dict[str, Resources] = {}
    for each, taken in compile_all(toolkit, KERNELS[k].campaign()):
        found[each.architecture] = found.get(each.architecture, Resources()) | taken
    return KERNELS[k].label, dict(sorted(found.items()))


if __name__ == "__main__":
    files = sys.argv[1:] or {kernel.file for kernel in KERNELS}
    chosen = [k for k, kernel in enumerate(KERNELS) if kernel.file in files]
    with ProcessPoolExecutor() as pool:
        found = dict(pool.map(_most, chosen))
    labels = {kernel.label for kernel in KERNELS}
    write_table({name: most for name, most in table().items() if name in labels} | found)
