"""How a program is called: its arguments, its outcome, and the engines that run it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from graphla.program.ir import Program
    from graphla.stores import MatrixStore, VectorStore

Number = bool | int | float

Path = tuple[str, ...]
"""Where a value is found at a call: a name in `names`, then attributes, such as ("A", "nrows").

The last item may be "len()", for the number of items of a list or an array.
"""


@dataclass(frozen=True, slots=True)
class Binding:
    """Where the arguments of a program are found at each call with the same types.

    Attributes:
        dims, matrices, arrays, scalars, vectors, stacks: the path of each argument, in the order of
            `Arguments`. Two vectors are never the same object; of several names for one vector, one
            is used.
        origins: for each index of a slot that may store the entries of a Vector object that exists
            before the program runs, the name of an INT64 variable of the program. At an exit, and
            after a fault, the variable is k if the slot stores the entries of the object at
            `vectors[k]`, and -1 if it stores those of a new Vector. For each such object that the
            loop may change, there is such a slot at each exit. `Leaving.names` has these variables
            and slots too; their keys are any strings that are not identifiers.
        fixed: numbers that the tracer has used as constants, so that another value needs another
            program.
    """

    dims: tuple[Path, ...]
    matrices: tuple[Path, ...]
    arrays: tuple[Path, ...]
    scalars: tuple[Path, ...]
    vectors: tuple[Path, ...]
    stacks: tuple[Path, ...]
    origins: dict[int, str] = field(default_factory=dict)
    fixed: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a program. An engine changes none of the stores and arrays."""

    device: str
    dims: tuple[int, ...]
    matrices: tuple[MatrixStore, ...]
    arrays: tuple[np.ndarray, ...]
    scalars: tuple[Number, ...]
    vectors: tuple[VectorStore, ...]
    stacks: tuple[tuple[VectorStore, ...], ...]


@dataclass(slots=True)
class Outcome:
    """What a program has computed.

    Attributes:
        exit: the index of the exit in `Program.exits`, or -1 after a fault.
        fault: the name of the exception, its message, and the line, or None.
        scalars: the values of the scalar variables that the exit names, by `Var.name`. After a
            fault, those of all variables.
        slots: the vectors in the slots that the exit names, by index of the slot. After a fault,
            those of all slots.
        stacks: the vectors of the stacks, by index of the stack. A vector that the program has not
            removed from the stack is the argument's store itself.
        trace: one record per product, if a `Recorder` is active.
    """

    exit: int
    fault: tuple[str, str, int] | None
    scalars: dict[str, Number]
    slots: dict[int, VectorStore]
    stacks: dict[int, list[VectorStore]]
    trace: list[Any] = field(default_factory=list)


class Engine(Protocol):
    """Runs programs on a device."""

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        """Run the program. If this raises an exception, the arguments are intact."""
        ...
