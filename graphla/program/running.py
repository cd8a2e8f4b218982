"""What a compiled loop is called with, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphla.stores import MatrixStore, VectorStore


@dataclass(frozen=True)
class Arguments:
    """The arguments of a program, in the order in which the program lists them."""

    device: str
    dims: tuple[int, ...]
    matrices: tuple[MatrixStore, ...]
    arrays: tuple[np.ndarray, ...]
    scalars: tuple[bool | int | float, ...]
    vectors: tuple[VectorStore, ...]
    stacks: tuple[tuple[VectorStore, ...], ...]


@dataclass
class Outcome:
    """What a program returns."""

    exit: int  # index of `Program.exits`; -1 after a fault
    fault: tuple[str, str, int] | None  # kind, text, line
    scalars: dict[str, bool | int | float]  # by `Var.name`
    slots: dict[int, VectorStore]  # by `Slot.index`
    stacks: dict[int, list[VectorStore]]  # by `Stack.index`
    trace: list[Any] = field(default_factory=list)
