"""The CPU backend: each family of operations by NumPy and, where it pays, by compiled loops.

A compiled loop gives the same result as NumPy, for any number of threads: exactly for integers,
booleans, min and max. Floating sums are folded one after the other, a row in order of its columns
(NumPy folds them pairwise), so the two differ by rounding. `any` takes the first value in that
order.
"""
