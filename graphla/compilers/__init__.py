"""Load loops and kernels from their source files: specialize, compile and cache them."""
