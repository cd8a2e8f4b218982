"""Host code written once over `xp`, the module of the arrays: NumPy, or what stands for it.

Each function that makes arrays takes `xp` first. Nothing here loops over entries in Python.
"""
