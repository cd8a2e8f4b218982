"""Load the loops and kernels, which are source files: specialize, compile and cache them."""
