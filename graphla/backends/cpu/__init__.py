"""The CPU backend: each operation in NumPy and, where they are faster, in compiled loops.

A compiled loop returns the same result as NumPy, for any number of threads. For integers, booleans,
min and max the results are identical. Floating-point sums differ by rounding, because a compiled
loop adds the terms of a row one by one in column order, and NumPy adds them pairwise. `any` returns
the first value in column order.
"""
