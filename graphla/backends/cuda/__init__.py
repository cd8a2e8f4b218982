"""Kernels for GPUs. For each family of operations, the file with the kernels is next to the file
with the launch code."""

from pathlib import Path

from graphla.compilers import nvrtc

nvrtc.register(Path(__file__).parent)
