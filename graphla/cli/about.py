"""The facts that `graphla info` prints: installed packages, settings, or properties of a graph."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from graphla import cards, datasets
from graphla.cli.answers import number, share
from graphla.compilers import numba
from graphla.compilers.cache import cache_folder
from graphla.graph.cached_properties import is_symmetric
from graphla.settings import config
from graphla.sparse import Matrix

_OPTIONAL = {
    "numba": "compiles the CPU loops",
    "networkx": "converts graphs; reads GraphML, GEXF, GML and JSON files",
    "pyarrow": "reads Parquet and Feather files",
    "matplotlib": "draws graphs, matrices and the charts of `graphla ladder`",
    "tqdm": "shows progress bars",
}


def own_version() -> str:
    """Return the installed version of graphla."""
    return _version("graphla") or "(source tree, not installed)"


def installation() -> list[tuple[str, str]]:
    """Return facts about versions, GPUs, settings, folders of compiled code, and datasets."""
    facts = [
        ("graphla", own_version()),
        ("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
    ]
    facts += [(name, _version(name) or "not installed") for name in ("numpy", "scipy")]
    facts += [
        (name, _version(name) or f"not installed ({purpose})")
        for name, purpose in _OPTIONAL.items()
    ]
    facts += [
        ("devices", f"{_devices()}; new matrices are created on {config.device}"),
        *_gpu(),
        ("compiled", _describe_compilation()),
        ("threads", f"{config.threads} of {os.cpu_count()} cores"),
        ("datasets", ", ".join(datasets.names())),
    ]
    return facts


def graph(A: Matrix) -> list[tuple[str, str]]:
    """Return facts about a graph: vertices, entries, symmetry, self-loops, degrees and weights."""
    n = A.nrows
    indptr, columns, weights = A.to_csr()
    out_degrees = np.diff(indptr)
    in_degrees = np.bincount(columns, minlength=n)
    loops = int(np.count_nonzero(np.repeat(np.arange(n), out_degrees) == columns))
    facts = [("vertices", number(n)), ("entries", number(columns.size)), ("dtype", A.dtype.name)]
    if _is_symmetric(A):
        edges = (columns.size - loops) // 2
        facts.append(("symmetric", f"yes: {number(edges, 'undirected edge')}"))
    else:
        facts.append(("symmetric", "no: the edges are directed"))
    facts.append(("self-loops", number(loops)))
    if n:
        alone = int(np.count_nonzero((out_degrees == 0) & (in_degrees == 0)))
        facts += [
            ("isolated", f"{number(alone, 'vertex')} ({share(alone, n)} of all)"),
            ("out-degree", _spread(out_degrees)),
            ("in-degree", _spread(in_degrees)),
        ]
    if columns.size:
        facts.append(("weights", _spread(weights)))
    return facts


def _is_symmetric(A: Matrix) -> bool:
    """Return whether A equals its transpose, including the values."""
    return is_symmetric(A) and A._store.is_symmetric


def _spread(values: np.ndarray) -> str:
    if values.dtype == bool:
        values = values.view(np.uint8) if values.strides[0] else values[:1].astype(np.uint8)
    missing = int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0
    if missing == values.size:
        return "NaN in every entry"
    known = values[~np.isnan(values)] if missing else values
    low, high = known.min(), known.max()
    text = f"all {number(low)}"
    if low != high:
        with np.errstate(all="ignore"):
            mean = known.mean(dtype=float)
        text = f"{number(low)} to {number(high)}"
        if np.isfinite(mean) or np.isinf(low) != np.isinf(high):
            text += f", {number(mean)} on average"
    if missing:
        text += f"; {number(missing)} ({share(missing, values.size)}) not a number"
    return text


def _devices() -> str:
    count = 0 if cards.find_problem() else _count()
    return ", ".join(["cpu", *(f"cuda:{k}" for k in range(count))])


def _count() -> int:
    from cupy.cuda import runtime

    return runtime.getDeviceCount()


def _gpu() -> list[tuple[str, str]]:
    """Return facts about the GPUs, the driver, CUDA and the kernel cache.

    If no GPU can be used, return the reason instead.
    """
    why = cards.find_problem()
    if why:
        return [("gpu", f"none: {why}")]
    import cupy
    from cupy.cuda import nvrtc, runtime

    facts = [(f"cuda:{k}", _card(runtime, k)) for k in range(_count())]
    facts += [
        ("driver", f"{_driver()}for CUDA {_cuda(runtime.driverGetVersion())}"),
        (
            "cuda",
            f"{_cuda(runtime.runtimeGetVersion())}, NVRTC {_format_version(nvrtc.getVersion())}",
        ),
        ("cupy", cupy.__version__),
        ("kernels", f"cached in {cache_folder()}"),
    ]
    return facts


def _card(runtime: Any, k: int) -> str:
    card = runtime.getDeviceProperties(k)
    name, memory = card["name"].decode(), card["totalGlobalMem"] / 2**30
    capability = f"{card['major']}.{card['minor']}"
    return f"{name}, {memory:.0f} GiB, compute capability {capability}"


def _driver() -> str:
    """Return the version of the driver, followed by a comma and a space.

    If the system does not report the version, return an empty string.
    """
    with suppress(OSError, IndexError, StopIteration):
        first = Path("/proc/driver/nvidia/version").read_text().splitlines()[0]
        return f"{next(word for word in first.split() if word[:1].isdigit() and '.' in word)}, "
    return ""


def _cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _format_version(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _describe_compilation() -> str:
    if not numba.is_installed():
        return "never: Numba is not installed"
    return f"{config.compiled}, cached in {numba.cache_folder()}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
