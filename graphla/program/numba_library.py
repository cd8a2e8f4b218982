"""Generate the text of the module of functions that all printed programs import."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from graphla.backends.cpu.loops import program as words
from graphla.compilers import numba_ops

LIBRARY = Path(words.__file__)
FIRST_LINE = "ONE = np.uint64(1)"
"""The first line after the imports of LIBRARY. The generated module has other imports."""

HEAD = '''\
from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def view(context, address, size, dtype):
    """Return the array of a dtype that begins at an address. A flag is a byte."""
    kind = dtype.instance_type
    array = types.CPointer(types.uint8 if kind is types.boolean else kind)

    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(array))

    return array(types.int64, types.int64, dtype), generate


@intrinsic
def array(context, w, record, field, size, dtype):
    """Return the array of a dtype whose address is in a field of a record."""
    kind = dtype.instance_type
    kind = types.CPointer(types.uint8 if kind is types.boolean else kind)

    def generate(context, builder, signature, arguments):
        place = builder.add(arguments[1], arguments[2])
        address = builder.load(builder.gep(arguments[0], [place]))
        return builder.inttoptr(address, context.get_value_type(kind))

    return kind(w, types.int64, types.int64, types.int64, dtype), generate


@intrinsic
def call(context, address, a, b, c, d, w, r):
    """Return the value of the function at an address."""
    def generate(context, builder, signature, arguments):
        number = context.get_value_type(types.int64)
        kinds = [context.get_value_type(kind) for kind in signature.args[1:]]
        pointer = ir.FunctionType(number, kinds).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), arguments[1:])

    return types.int64(*(types.int64,) * 5, w, r), generate


@intrinsic
def start(context, function, record, w, r):
    """Call the function at w[function] with a record. Store its value in w[STATUS]; return it."""
    def generate(context, builder, signature, arguments):
        function, record, w, r = arguments
        number = function.type
        pointer = ir.FunctionType(number, [number] * 4 + [w.type, r.type]).as_pointer()
        address = builder.load(builder.gep(w, [function]))
        rest = [number(0)] * 3
        value = builder.call(builder.inttoptr(address, pointer), [record, *rest, w, r])
        builder.store(value, builder.gep(w, [number(STATUS)]))
        return value

    return types.int64(types.int64, types.int64, w, r), generate


@intrinsic
def prefetch(context, address):
    """Load the memory at an address into the cache, without waiting for it."""
    def generate(context, builder, signature, arguments):
        number = ir.IntType(32)
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        address = builder.inttoptr(arguments[0], pointer)
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.none(types.int64), generate


def kept(function):
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(function, nogil=True, error_model="numpy", cache=True, **options)
'''


@cache
def library() -> str:
    """Return the text of the module.

    Numba stores each compiled function on disk, so that the next program need not compile it.
    """
    text = LIBRARY.read_text(encoding="utf-8")
    text = text[text.index(FIRST_LINE) :]
    names = [name for name in re.findall(r"^def (\w+)", text, re.M) if name not in words.ENTRIES]
    return "\n".join(
        (
            numba_ops.head,
            HEAD,
            text,
            *(f"{name} = kept({name})" for name in names),
            f"FUNCTIONS = [{', '.join(words.ENTRIES)}]",
            '__all__ = [name for name in dir() if not name.startswith("__")]',
            "",
        )
    )
