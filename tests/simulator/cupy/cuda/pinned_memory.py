"""A look-alike of cupy.cuda.pinned_memory."""

from .memory import PinnedMemoryPointer, PinnedMemoryPool, alloc_pinned_memory

__all__ = ["PinnedMemoryPointer", "PinnedMemoryPool", "alloc_pinned_memory"]
