"""Stores: the objects that hold the entries of a matrix, a vector or a scalar.

A store has one or more storage forms, such as CSR or a bitmap, which all hold the same entries. A
form is built when it is first needed, and never changes afterwards, except in `take_in_place`. When
a matrix or a vector changes, it gets new forms. Any other object that refers to the old forms still
sees the old entries.

On a GPU, one stream may build a form that another stream reads. Each store therefore has stamps
(see `graphla.backends.cuda.streams`), and a stream waits for the stamp of a form before it reads
the form. A writer stores the stamp before the form, and a reader reads the form before the stamps.
This order ensures that no reader misses a stamp.
"""

from graphla.stores.in_place import Owner, take_in_place
from graphla.stores.matrices import MatrixStore
from graphla.stores.scalars import ScalarStore
from graphla.stores.vectors import HUGE, MOST_HOST_ENTRIES, StackStore, VectorStore

__all__ = [
    "HUGE",
    "MOST_HOST_ENTRIES",
    "MatrixStore",
    "Owner",
    "ScalarStore",
    "StackStore",
    "VectorStore",
    "take_in_place",
]
