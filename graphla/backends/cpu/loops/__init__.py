"""The loops that Numba compiles: files that are text to `graphla.compilers.numba`, yet Python.

How they are written:
- operators and constants have the names of `stand_in`; the loader replaces that import by the
  typed operators asked for;
- parameters are arrays first, integers after; an array named `out_*` or `kept_*` is written, any
  other is only read; `kept_*` is scratch, left as it was found;
- values that are all one come as one element and a step of 0: element p is `values[p * step]`;
- an allowed output o is one where `mask[o * mask_step] != forbidden`;
- a loop that may take more than a second reads the flag `kept_stop[0]` about every thousand rows,
  and returns early if it is set; a loop over `start..stop` is instead called for small parts;
- positions are unsigned, which spares Numba its care for negative indices.
"""
