"""`gl.jit`: run each loop of a function as one kernel or one compiled loop."""
