"""Kernels for GPUs. The files with the kernels are next to the Python files that launch them."""

from pathlib import Path

from graphla.compilers import nvrtc

nvrtc.register(Path(__file__).parent)
