"""The engine for GPUs runs programs from the cache on disk, without planning or printing them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from devices import has_cuda, use_cuda

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from test_jit_programs import programs  # noqa: E402
from test_launches import SMALL, random_graph  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.compilers import disk_cache  # noqa: E402
from graphla.program import cuda, cuda_text, plan, tracing  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run on CUDA with small blocks, and return an empty folder for cache entries."""
    monkeypatch.setattr(disk_cache, "cache_folder", lambda: tmp_path)
    with gl.config.set(device="cuda"), using(SMALL):
        yield tmp_path


@contextmanager
def without_front_end() -> Iterator[None]:
    """In a `with` block, fail if a program is traced, planned or printed."""

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("the front end ran")

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((tracing, "trace"), (plan, "plan"), (cuda_text, "print_kernel")):
            patch.setattr(module, name, fail)
        yield


def parts_of(found: Any) -> list[dict[int, Any]]:
    return [x.to_dict() for x in (found if isinstance(found, tuple) else (found,))]


def arguments(name: str) -> tuple[Any, ...]:
    A = random_graph(40, 120)
    if name == "core_numbers":
        A = gl.binary.any(A | A.T).new()
        degrees = gl.Vector(int, A.nrows)
        degrees << 0
        degrees(gl.binary.plus) << A.reduce_rowwise(gl.agg.count).new()
        return A, degrees
    return (A, 1e-8, 10) if name == "hits" else (A, 3)


NAMES = ["bfs_levels", "bfs_levels_own_semiring", "core_numbers", "betweenness_by_levels", "hits"]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_from_disk_runs_without_the_front_end(name: str):
    program, given = programs.PROGRAMS[name], arguments(name)
    with gl.config.set(deterministic=True):
        expected = parts_of(gl.jit(program)(*given))
        with without_front_end():
            assert parts_of(gl.jit(program)(*given)) == expected


@pytest.mark.parametrize("kind", ["loop", "program", "host_info", "kernel"])
def test_a_damaged_cache_entry_is_created_again(kind: str, folder: Path):
    program, given = programs.PROGRAMS["bfs_levels"], arguments("bfs_levels")
    expected = parts_of(gl.jit(program)(*given))
    for path in folder.glob(f"{kind}_*.entry"):
        path.write_bytes(path.read_bytes()[:-1])
    assert parts_of(gl.jit(program)(*given)) == expected
    with without_front_end():
        assert parts_of(gl.jit(program)(*given)) == expected


@pytest.mark.parametrize("what", ["direction", "deterministic", "tuning"])
def test_different_settings_require_a_different_kernel(what: str, folder: Path):
    program, given = programs.PROGRAMS["bfs_levels"], arguments("bfs_levels")
    expected = parts_of(gl.jit(program)(*given))
    known = set(folder.glob("kernel_*"))
    other: Any = {
        "direction": lambda: gl.direction("push"),
        "deterministic": lambda: gl.config.set(deterministic=True),
        "tuning": lambda: using(cuda.machine.ProgramTuning(block=32, cluster=2)),
    }[what]
    with other():
        for _ in range(2):
            assert parts_of(gl.jit(program)(*given)) == expected
    assert set(folder.glob("kernel_*")) > known
