"""Compile kernel instances with NVRTC, and read their use of registers and memory.

Run as a program (`make resources`), this module writes the limits of every kernel to
resources.json. Pass file names such as `bfs.cu` to restrict it to the kernels in these files.
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
"""Number of kernel instances that are compiled in one program.

The compiler reads the headers once per program. Reading them takes longer than compiling a kernel.
"""
TABLE = Path(__file__).with_name("resources.json")


@dataclass(frozen=True)
class Resources:
    """Registers, stack bytes and spill bytes per thread, and bytes of shared memory per block."""

    registers: int = 0
    stack: int = 0
    spills: int = 0
    shared: int = 0

    def __or__(self, other: Resources) -> Resources:
        """Return the maximum of each resource over both operands."""
        mine, theirs = asdict(self), asdict(other)
        return Resources(**{name: max(mine[name], theirs[name]) for name in mine})

    def beyond(self, limit: Resources) -> list[str]:
        """Describe the resources whose use exceeds the limit."""
        return [
            f"{mine} {field.name}, not {most}"
            for field in fields(self)
            if (mine := getattr(self, field.name)) > (most := getattr(limit, field.name))
        ]


def table() -> dict[str, dict[str, Resources]]:
    """Read the limits of each kernel and architecture from resources.json.

    A limit is the maximum over all instances of the kernel.
    """
    kept = json.loads(TABLE.read_text())
    return {
        kernel: {arch: Resources(**most) for arch, most in by_architecture.items()}
        for kernel, by_architecture in kept.items()
    }


def write_table(found: dict[str, dict[str, Resources]]) -> None:
    """Write the table with one line per kernel and architecture."""
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
    """Yield each instance with its resources.

    Instances of the same file and architecture are compiled together, with each operator in its own
    namespace.
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
        for each in group:  # Compile the instances one by one to find the one that fails.
            yield from _compile(toolkit, [each], options)
        return
    taken = dict(_entries(log))
    for each, name in zip(group, names, strict=True):
        yield each, taken[name]


def _program(each: Instance) -> tuple[str, str]:
    return each.kernel.file, each.architecture


def _entries(log: str) -> Iterator[tuple[str, Resources]]:
    """Yield the mangled name and the resources of each kernel in a log from ptxas."""
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


# --- writing the table ----------------------------------------------------------------------------


def _most(k: int) -> tuple[str, dict[str, Resources]]:
    """For each architecture, return the maximum of each resource over all instances of kernel k."""
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
