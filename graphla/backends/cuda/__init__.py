"""Kernels on a GPU: one family of operations to a file, next to the code that launches them."""

from pathlib import Path

from graphla.compilers import nvrtc

nvrtc.register(Path(__file__).parent)
