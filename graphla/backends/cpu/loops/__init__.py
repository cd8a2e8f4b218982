"""The loops that Numba compiles: Python files that `graphla.compilers.numba` reads as text.

Rules for these files:
- operators and constants come from `placeholder_ops`; the loader replaces that import by the typed
  operators that a call needs;
- parameters are arrays first, integers after; a loop writes only to arrays named `out_*` or
  `kept_*`; `kept_*` arrays are scratch memory, which a finished loop leaves as it found it;
- if all values are equal, they are passed as one element and a step of 0: element p is `values[p *
step]`;
- output o is allowed if `mask[o * mask_step] != forbidden`;
- a loop that may take more than a second reads the flag `kept_stop[0]` about every thousand rows,
  and returns early if it is set; a loop over `start..stop` is called for small parts instead;
- positions are unsigned, so that Numba omits its handling of negative indices.
"""
