"""The NumPy variants. Nothing here loops over entries in Python."""
