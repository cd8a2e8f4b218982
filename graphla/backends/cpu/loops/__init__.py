"""The loops that Numba compiles. `graphla.compilers.numba` reads the source text of these files.

Rules for these files:
- loops import operators and constants from `placeholder_ops`; the loader replaces these imports
  with the typed operators that a call needs;
- array parameters come before integer parameters; a loop writes only to arrays named `out_*` or
  `kept_*`; `kept_*` arrays are scratch memory: a loop restores their initial contents before it
  ends;
- a loop allocates no memory, because its machine code must not need Numba's runtime (see
  `graphla.compilers.machine_code`); `local_array` returns a small array;
- values that are all equal are passed as an array of one element with a step of 0: value p is
  `values[p * step]`;
- output o is allowed if `mask[o * mask_step] != forbidden`;
- a loop that may take more than a second reads the flag `kept_stop[0]` about every thousand rows,
  and returns early if it is set. A loop over `start..stop` need not do this if it is called for
  small ranges;
- positions are unsigned, so that Numba omits its handling of negative indices.
"""
