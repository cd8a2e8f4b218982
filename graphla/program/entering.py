"""Create the arguments of a program from the values that variables have before the loop."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphla.expression import Operand
from graphla.formats import is_iso
from graphla.program import ir, steps
from graphla.program.emitting import Object
from graphla.program.reasons import Reason, refuse
from graphla.program.syntax import walk, written_names
from graphla.program.values import (
    FALSE,
    KINDS,
    KINDS_OF,
    LEAST,
    MOST,
    NONE,
    TRUE,
    Array,
    Infix,
    List,
    MaskView,
    Maybe,
    Number,
    PendingVector,
    Range,
    Static,
    Typed,
    VectorObject,
    View,
    as_uncertain,
    constant,
    scalar_kind,
)
from graphla.program.writing import Writer
from graphla.sparse import Vector
from graphla.sparse.expressions import dimension
from graphla.sparse.mask import Mask
from semirings.dtypes import INT64, DataType, lookup_dtype

Path = tuple[str, ...]


def classify(value: Any) -> str:
    """Return the kind of argument by which the tracer passes a value to a program.

    Returns:
        "number", "numpy" (a NumPy number), "scalar" (a Scalar), "vector", "matrix", "mask" (of a
        vector), "list" (of vectors, or an empty one), "array" (of numbers), "range", or "static" (a
        known object).
    """
    if type(value) in KINDS:
        return "static" if type(value) is int and not LEAST <= value <= MOST else "number"
    if isinstance(value, np.generic):
        return "numpy" if _has_dtype(value) else "static"
    if isinstance(value, Operand):
        return ("scalar", "vector", "matrix")[value.ndim]
    if isinstance(value, Mask):
        return "mask" if value.ndim == 1 else "static"
    if isinstance(value, list | tuple):
        kinds = {type(item) for item in value}
        if len(kinds) == 1 and kinds <= set(KINDS) and all(is_small(item) for item in value):
            return "array"
        if isinstance(value, list) and all(isinstance(item, Vector) for item in value):
            return "list"
        return "static"
    if isinstance(value, np.ndarray):
        return "array" if value.ndim == 1 and _has_dtype(value) else "static"
    return "range" if isinstance(value, range) else "static"


def _has_dtype(value: Any) -> bool:
    """Return whether the NumPy dtype of an array or a NumPy number is one of graphla's dtypes."""
    dtype = value.dtype
    return dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype != np.float16


def is_small(value: Any) -> bool:
    """Return whether a Python number is a bool, a float, or an int that fits INT64."""
    return type(value) is not int or LEAST <= value <= MOST


class Entry(Writer):
    """Creates the arguments of a program from the values that variables have before the loop.

    Attributes:
        loop: the steps of the loop.
        given: the value of each variable at the call that is traced.
        constants: the abstract value of each variable that the loop does not assign, except
            vectors, unevaluated expressions and masks.
        stable: the scalar variables in `constants`.
        paths: where the arguments are found; see `Binding`.
        element_types: the dtype and the size of the vectors in each list, or None if they are not
            known yet.
        list_names: the name of each list. The first `input_stacks` lists exist before the loop.
        filled: the lists that contain vectors before the program runs.
        sites: the number of assignments to each name.
        merges: the merge points; see `find_merges`.
        unbound: the variables that have a value in only some of the states at a merge point. Maps
            the name of a number to its dtype and None, and the name of a vector to its dtype and
            dimension.
        uncertain: the variables that are floats in some states and `Uncertain` in other states. The
            tracer treats them as uncertain in all states. The dict contains `Uncertain.is_zero` of
            each.
    """

    def __init__(
        self,
        loop: steps.Loop,
        names: Mapping[str, Any],
        known: dict[int, Any],
        unbound: dict[str, Any],
        uncertain: dict[str, bool],
    ):
        super().__init__()
        self.loop = loop
        self.given = names
        self.known_types = known
        self.unbound = unbound
        self.uncertain = uncertain
        self.constants: dict[str, Any] = {}
        self.stable: set[ir.Var] = set()
        self.matrices: list[ir.MatrixArgument] = []
        self.matrix_objects: list[Any] = []
        self.arrays: list[ir.ArrayArgument] = []
        self.inputs: list[ir.Slot] = []
        self.arguments: list[ir.Var] = []
        kinds = ("dims", "matrices", "arrays", "scalars", "vectors", "stacks", "fixed")
        self.paths: dict[str, list[Path]] = {kind: [] for kind in kinds}
        self.device: str | None = None
        self.element_types: dict[int, tuple[DataType, ir.Dim] | None] = {}
        self.input_stacks = 0
        self.list_names: list[str] = []
        self.filled: set[int] = set()
        self.outer: set[str] = set()  # the globals and closure variables in `State.names`
        self.pinned_lists: set[int] = set()  # the lists that the current statement has created
        self.sites = self.count_assignments()
        self.assigned = frozenset(self.sites)
        self.merges = self.find_merges()

    # --- the steps --------------------------------------------------------------------------------

    def count_assignments(self) -> Counter[str]:
        """Count the assignments to each name. A value from before the loop counts as one."""
        found: Counter[str] = Counter()
        for step in self.loop.steps:
            if isinstance(step, steps.Begin):
                found[step.iterator] += 1
            if isinstance(step, steps.Next):
                found.update({step.iterator, *written_names(step.target)})
            if isinstance(step, steps.Do):
                found.update(written_names(step.node))
        found.update(set(found) & set(self.given) & self.loop.live[0])
        return found

    def find_merges(self) -> frozenset[int]:
        """Return the merge points: the steps that can follow several steps, and step 0."""
        counts = [0] * len(self.loop.steps)
        counts[0] = 2
        for step in self.loop.steps:
            for following in steps.successors(step):
                counts[following] += 1
        return frozenset(k for k, count in enumerate(counts) if count > 1)

    def find_written(self) -> set[str]:
        """Return the names whose vectors the loop may change, even if it changes a vector under
        another name."""
        flows: dict[str, set[str]] = {}
        written: set[str] = set()
        for step in self.loop.steps:
            node = getattr(step, "node", None)
            if node is None:
                continue
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for source in vector_names(node.value):
                    flows.setdefault(source, set()).update(*map(vector_names, targets))
            for part in walk(node):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift):
                    written |= vector_names(part.left)
                elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                    if part.func.attr in ("clear", "update"):
                        written |= vector_names(part.func.value)
                    elif part.func.attr == "append":
                        for source in set().union(*map(vector_names, part.args)):
                            flows.setdefault(source, set()).update(vector_names(part.func.value))
                elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
                    written |= vector_names(part.value)
                elif isinstance(part, ast.AugAssign):
                    written |= vector_names(part.target)
        # A name also counts as written if an assignment or an append may pass its vector on to a
        # written name.
        size = -1
        while size < len(written):
            size = len(written)
            written |= {source for source, targets in flows.items() if targets & written}
        return written

    # --- arguments --------------------------------------------------------------------------------

    def used_names(self) -> list[str]:
        """Return the names that the loop may read and that have a value."""
        used = set(self.loop.live[0]) | set(self.loop.outside)
        return sorted(name for name in used if name in self.given)

    def enter(self) -> None:
        """Create the arguments of the program."""
        names = self.used_names()
        found = [(name, self.given[name], classify(self.given[name])) for name in names]
        for name, value, kind in found:
            if kind == "matrix":
                for k, size in enumerate(value.shape):
                    self.add_dim(size, (name, ("nrows", "ncols")[k]))
            elif kind == "vector":
                self.add_dim(value.size, (name, "size"))
            elif kind == "mask":
                self.add_dim(value.parent.size, (name, "parent", "size"))
        for name, value, kind in found:
            if kind == "list" and value:
                self.add_dim(value[0].size, (name, "0", "size"))
        for name, value, kind in found:
            if kind == "array":
                self.add_dim(len(value), (name, "len()"))
        written = self.find_written()
        objects: dict[int, tuple[VectorObject, bool]] = {}
        for name, value, kind in found:
            entered = self.enter_value(name, value, kind, objects, written)
            if name in self.uncertain:
                entered = as_uncertain(entered, self.uncertain[name])
            is_variable = name in self.assigned or isinstance(
                entered, VectorObject | PendingVector | MaskView
            )
            (self.state.names if is_variable else self.constants)[name] = entered
        self.outer = self.state.names.keys() & self.loop.outside.keys()
        items = {id(item) for _, value, kind in found if kind == "list" for item in value}
        for each, held in objects.items():
            if each in items and isinstance(held, VectorObject):
                self.share(held)
        for name, (dtype, dim) in self.unbound.items():
            if name in self.state.names:  # the loop deletes the variable
                self.state.names[name] = Maybe(self.state.names[name], TRUE)
                continue
            if dim is None:
                value: Any = Number(constant(KINDS_OF[dtype](0)))
            else:
                slot = self.allocate(dtype, dim, name)
                value = VectorObject(max(self.state.objects, default=-1) + 1)
                self.state.objects[value.number] = Object(slot)
            if name in self.uncertain:
                value = as_uncertain(value, self.uncertain[name])
            self.state.names[name] = Maybe(value, FALSE)

    def add_dim(self, size: int, path: Path) -> None:
        """Add a dimension, unless another dimension has this size."""
        if size not in self.sizes:
            self.sizes.append(size)
            self.paths["dims"].append(path)

    def dim_of_argument(self, argument: ir.Var) -> ir.Dim:
        """Return the dimension whose size is a scalar argument. The argument becomes a constant."""
        path = self.paths["scalars"][self.arguments.index(argument)]
        size = self.given[path[0]]
        for name in path[1:]:
            size = getattr(size, name)
        self.fix(path)
        self.add_dim(dimension(size, "size"), path)
        return self.dim(size)

    def on_device(self, value: Any, name: str) -> None:
        """Record the device of the first operand. Reject operands on another device."""
        if self.device is None:
            self.device = value.device
        elif self.device != value.device:
            text = f"the operands are on {self.device} and on {value.device}"
            self.fails(ast.Name(name), "DeviceMismatch", text)

    def enter_value(
        self, name: str, value: Any, kind: str, objects: dict[int, Any], written: set[str]
    ) -> Any:
        """Return the abstract value of a variable at the start of the loop."""
        if kind == "number":
            if type(value) is int and name not in self.assigned and value in self.sizes:
                return Number(ir.Size(self.dim(value), INT64))
            return Number(self.argument(name, KINDS[type(value)], (name,)))
        if kind in ("numpy", "scalar"):
            dtype = lookup_dtype(value.dtype)
            if kind == "scalar" and value._read().value is None:
                return Static(value)
            path = (name,) if kind == "numpy" else (name, "value")
            return Typed(
                self.argument(name, scalar_kind(dtype), path), True, dtype, kind == "numpy"
            )
        if kind == "vector":
            return self.enter_vector((name,), value, objects, name in written)
        if kind == "mask":
            parent = self.enter_vector((name, "parent"), value.parent, objects, written=False)
            return MaskView(parent, value.structure, value.complement)
        if kind == "matrix":
            return self.enter_matrix(name, value)
        if kind == "list":
            if id(value) not in objects:  # a list that is already in `objects` has two names
                objects[id(value)] = self.enter_list(name, value)
            return objects[id(value)]
        if kind == "array":
            is_numpy = isinstance(value, np.ndarray)
            dtype = lookup_dtype(value.dtype) if is_numpy else KINDS[type(value[0])]
            array = ir.ArrayArgument(len(self.arrays), name, dtype, self.dim(len(value)))
            self.arrays.append(array)
            self.paths["arrays"].append((name,))
            return Array(array, is_numpy)
        if kind == "range":
            bounds = [
                self.argument(f"{name}_{each}", INT64, (name, each))
                for each in ("start", "stop", "step")
            ]
            return Range(*bounds)
        return NONE if value is None else Static(value, (name,))

    def argument(self, name: str, dtype: DataType, path: Path) -> ir.Var:
        """Return the variable of a scalar argument."""
        variable = self.variable(name, dtype)
        self.arguments.append(variable)
        self.paths["scalars"].append(path)
        return variable

    def attribute_argument(self, path: Path, dtype: DataType) -> Number:
        """Return the argument for a number that is an attribute of an object."""
        if path in self.paths["scalars"]:
            return Number(self.arguments[self.paths["scalars"].index(path)])
        variable = self.argument(".".join(path), dtype, path)
        self.stable.add(variable)
        return Number(variable)

    def enter_vector(self, path: Path, value: Any, objects: dict[int, Any], written: bool) -> Any:
        name = path[0]
        self.on_device(value, name)
        if id(value) in objects:
            held = objects[id(value)]
            if written and isinstance(held, VectorObject):
                slot = self.slot_of(held)
                self.state.objects[held.number] = Object(slot, survives=True)
            return held
        if isinstance(value, Infix):
            raise AssertionError
        dtype = value.dtype
        slot = ir.Slot(len(self.slots), name.partition("@")[0], dtype, self.dim(value.size))
        self.slots.append(slot)
        self.inputs.append(slot)
        self.paths["vectors"].append(path)
        if not isinstance(value, Vector):
            held = PendingVector(ir.Entry(slot), slot.dim)
        else:
            held = VectorObject(len(self.state.objects))
            self.state.objects[held.number] = Object(slot, survives=written)
        objects[id(value)] = held
        return held

    def enter_matrix(self, name: str, value: Any) -> View:
        self.on_device(value, name)
        path: Path = (name,)
        is_transposed = False
        # If the value is `A.T`, and A has not changed since, the argument is A.
        of, forms = getattr(value, "_origin", (None, None))
        if of is not None and of._read() is forms:
            value, path, is_transposed = of, (name, "T"), True
        store = value._read()
        for matrix, known in zip(self.matrices, self.matrix_objects, strict=True):
            if known is value:
                return View(matrix, is_transposed)
        rows, columns = (self.dim(size) for size in value.shape)
        csr = store.csr if store.has_csr else store.csc
        matrix = ir.MatrixArgument(
            len(self.matrices),
            name,
            value.dtype,
            rows,
            columns,
            is_iso(csr.values),
            bool(store.is_symmetric),
        )
        self.matrices.append(matrix)
        self.matrix_objects.append(value)
        self.paths["matrices"].append(path)
        return View(matrix, is_transposed)

    def enter_list(self, name: str, value: list[Any]) -> List:
        number = len(self.element_types)
        found = {(item.dtype, item.size) for item in value}
        if len(found) > 1:
            refuse(Reason.STACK, ast.Name(name))
        for item in value:
            self.on_device(item, name)
        self.element_types[number] = self.known_types.get(number)
        for dtype, size in found:
            self.element_types[number] = dtype, self.dim(size)
        self.list_names.append(name)
        self.input_stacks += 1
        self.paths["stacks"].append((name,))
        if value:
            self.filled.add(number)
        return List(number)

    def is_stable(self, scalar: ir.Scalar) -> bool:
        """Return whether a scalar has the same value during the whole program."""
        return isinstance(scalar, ir.Size) or (isinstance(scalar, ir.Var) and scalar in self.stable)

    def fix(self, path: Path) -> None:
        """Record that the value at a path is a constant of the program; see `Binding.fixed`."""
        if path not in self.paths["fixed"]:
            self.paths["fixed"].append(path)

    def known(self, value: Any, path: Path | None = None) -> Any:
        """Return the abstract value of a Python object that is a constant of the program."""
        return Number(constant(value)) if classify(value) == "number" else Static(value, path)


def vector_names(node: ast.AST | None) -> set[str]:
    """Return the names of the vectors to which the value of an expression may refer.

    Calls to methods other than `pop`, such as `x.dup()`, return a new vector.
    """
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*map(vector_names, node.elts))
    if isinstance(node, ast.Subscript | ast.Starred):
        return vector_names(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return vector_names(node.func.value) if node.func.attr == "pop" else set()
        return vector_names(node.func)
    return set()
