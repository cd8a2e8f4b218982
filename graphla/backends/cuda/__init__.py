"""Kernels for GPUs. Each family of operations has its kernels in a file next to its launch code."""

from pathlib import Path

from graphla.compilers import nvrtc

nvrtc.register(Path(__file__).parent)
