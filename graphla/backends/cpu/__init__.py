"""The operations whose loops are compiled: allocate, spread the loop over threads, wrap the result.

The same results as `graphla.backends.cpu.arrays`, and the same for any number of threads: exactly
for integers, booleans, min and max. Floating sums are folded one after the other, a row in order of its
columns (NumPy folds them pairwise), so the two differ by rounding. `any` takes the first value in
that order.
"""
