"""A stand-in for cupy.cuda.pinned_memory."""

from .memory import PinnedMemoryPool, alloc_pinned_memory

__all__ = ["PinnedMemoryPool", "alloc_pinned_memory"]
