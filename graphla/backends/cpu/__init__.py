"""The CPU backend: it computes each operation with NumPy or, where it is faster, with a compiled
loop.

For any number of threads, a compiled loop returns the same result as NumPy, except for the rounding
of floating-point sums: a compiled loop adds the terms of a row one by one in column order, but
NumPy adds them pairwise. For integers, booleans, min and max the results are identical. The monoid
`any` returns the first value in column order.
"""
