"""The CPU backend: each family of operations in NumPy and, where it pays off, in compiled loops.

A compiled loop gives the same result as NumPy, for any number of threads. For integers, booleans,
min and max the results are identical. Floating-point sums differ by rounding, because a compiled
loop adds the terms of a row one by one in column order, and NumPy adds them pairwise. `any` takes
the first value in column order.
"""
