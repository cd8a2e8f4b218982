"""Generate code that does not need Numba's runtime: local arrays of a loop, and its wrapper.

The *wrapper* of a loop is the function that Python or other compiled code calls. Numba's own
wrappers need Numba's runtime. The wrappers from this module need only functions of Python's C API.
They are also faster: a call with three arguments takes 0.1 us instead of 0.6 us.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import as_dtype

from graphla.compilers.machine_code import ARGUMENT_WORDS, ENTRY, THREAD

_WORD = ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()

# Offsets in bytes. _HEAD is the size of the header of a Python object, whose last field is the
# type. The other offsets are those of fields. NumPy's ABI defines the fields of arrays
# (PyArrayObject_fields) and dtypes.
_HEAD = object.__basicsize__
_TYPE = _HEAD - 8
_DATA, _NDIM, _SHAPE, _STRIDES = _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 24
_DTYPE, _FLAGS = _HEAD + 40, _HEAD + 48
_BYTE_ORDER, _NUMBER = _HEAD + 10, _HEAD + 12

# Linux's system call `futex` on x86-64, and its operations on memory that only one process uses
_FUTEX, _FUTEX_WAIT, _FUTEX_WAKE = 202, 128, 129

_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x001, 0x100, 0x400


@intrinsic(prefer_literal=True)
def local_array(context: Any, size: Any, dtype: Any) -> Any:
    """Return an array of a constant size, at most a few KB, in the stack frame of the loop.

    `np.empty` would allocate memory through Numba's runtime.
    """
    kind = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = as_dtype(kind.dtype).itemsize
        array = context.make_array(kind)(context, builder)
        words = cgutils.alloca_once(builder, _WORD, size.literal_value * width // 8 + 1)
        data = builder.bitcast(words, array.data.type)
        populate_array(array, data, [_WORD(size.literal_value)], [_WORD(width)], width, None)
        return array._getvalue()

    return kind(size, dtype), generate


@intrinsic
def compare_and_swap(context: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    """Atomically set array[index] to `new` if its bits equal those of `old`.

    Return whether the element was set.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments)
        word = ir.IntType(8 * as_dtype(array.dtype).itemsize)
        place = builder.bitcast(place, word.as_pointer())
        values = [builder.bitcast(value, word) for value in arguments[2:]]
        return builder.extract_value(builder.cmpxchg(place, *values, "seq_cst", "seq_cst"), 1)

    return types.boolean(array, types.uint64, array.dtype, array.dtype), generate


@intrinsic
def exchange(context: Any, array: Any, index: Any, new: Any) -> Any:
    """Atomically set array[index] to the integer `new`, and return the previous value."""
    return array.dtype(array, types.uint64, array.dtype), _update("xchg")


@intrinsic
def fetch_add(context: Any, array: Any, index: Any, value: Any) -> Any:
    """Atomically add a number to array[index], and return the previous value."""
    operation = "fadd" if isinstance(array.dtype, types.Float) else "add"
    return array.dtype(array, types.uint64, array.dtype), _update(operation)


@intrinsic
def fetch_or(context: Any, array: Any, index: Any, value: Any) -> Any:
    """Atomically set the bits of `value` in array[index], and return the previous value."""
    return array.dtype(array, types.uint64, array.dtype), _update("or")


@intrinsic
def watch(context: Any, array: Any, index: Any) -> Any:
    """Yield to other threads, and then return array[index]. Loops call this while they wait for
    another thread."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if os.name == "posix":
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        place = _place(context, builder, signature, arguments)
        return builder.load_atomic(place, "seq_cst", as_dtype(array.dtype).itemsize)

    return array.dtype(array, types.uint64), generate


@intrinsic
def call_entry(context: Any, entry: Any, arguments: Any, thread: Any) -> Any:
    """Call the function at the address `entry` with the address of its arguments and a thread
    number, and return its result."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(_WORD, [_WORD, _WORD])
        return builder.call(builder.inttoptr(given[0], kind.as_pointer()), given[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def wait_while(context: Any, array: Any, index: Any, value: Any) -> Any:
    """Sleep while the lower half of array[index] equals `value`, until `wake` is called.

    The function may also return earlier. It exists only on Linux.
    """
    return _call_futex(array, _FUTEX_WAIT)


@intrinsic
def wake(context: Any, array: Any, index: Any, count: Any) -> Any:
    """Wake up to `count` threads that sleep in `wait_while` for this element."""
    return _call_futex(array, _FUTEX_WAKE)


def _call_futex(array: Any, operation: int) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.ptrtoint(_place(context, builder, signature, arguments), _WORD)
        kind = ir.FunctionType(_WORD, [_WORD], var_arg=True)
        function = cgutils.get_or_insert_function(builder.module, kind, "syscall")
        rest = [_WORD(operation), arguments[2], _WORD(0)]
        return builder.call(function, [_WORD(_FUTEX), place, *rest])

    return types.int64(array, types.uint64, types.int64), generate


@intrinsic
def prefetch_element(context: Any, array: Any, index: Any) -> Any:
    """Start to load array[index] into the cache of the processor, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.bitcast(_place(context, builder, signature, arguments), _POINTER)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [_POINTER, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [_POINTER], kind)
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


def _update(operation: str) -> Any:
    """Return a function that generates an atomic operation on an element of an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments)
        return builder.atomic_rmw(operation, place, arguments[2], "seq_cst")

    return generate


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the address of array[index]; `array` and `index` are the first two arguments."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def compile_wrapper(compiled: Any) -> bytes:
    """Return object code with the wrapper of a loop that Numba has compiled.

    If all parameters are numbers and pointers, and one of them is a pointer, the wrapper is a C
    function with these parameters. Otherwise it is a METH_FASTCALL function of CPython. This
    function rejects arguments that do not have the types of the loop's signature, releases the GIL,
    calls the loop, and returns its result.
    """
    has_pointers = any(isinstance(kind, types.CPointer) for kind in compiled.signature.args)
    wrapper = _CFunction(compiled) if has_pointers else _PythonFunction(compiled)
    return wrapper.compile()


class _Wrapper:
    def __init__(self, compiled: Any, returned: ir.Type, parameters: list[ir.Type]) -> None:
        self.compiled, self.context = compiled, compiled.target_context
        self.module = self.context.create_module(ENTRY)
        head = ir.FunctionType(returned, parameters)
        self.function = ir.Function(self.module, head, ENTRY)
        self.builder = ir.IRBuilder(self.function.append_basic_block())

    def compile(self) -> bytes:
        self.generate()
        self.define_destructor()
        module = binding.parse_assembly(str(self.module))
        module.verify()
        return self.compiled.library.codegen._tm.emit_object(module)

    def generate(self) -> None:
        """Generate the instructions of the function."""
        raise NotImplementedError

    def call_loop(self, values: list[Any]) -> tuple[Any, Any]:
        """Generate a call of the loop. Return the loop's status and its result."""
        signature = self.compiled.signature
        loop = self.context.declare_function(self.module, self.compiled.fndesc)
        return self.context.call_conv.call_function(
            self.builder, loop, signature.return_type, signature.args, values
        )

    def define_destructor(self) -> None:
        """Define the function of Numba's runtime that frees the memory of an array.

        Loops refer to it, but never call it, because none of their arrays owns memory: arguments
        belong to the caller, and a loop that allocates memory cannot be linked.
        """
        kind = ir.FunctionType(ir.VoidType(), [_POINTER])
        destructor = ir.Function(self.module, kind, "NRT_MemInfo_call_dtor")
        ir.IRBuilder(destructor.append_basic_block()).ret_void()


class _CFunction(_Wrapper):
    def __init__(self, compiled: Any) -> None:
        find_type = compiled.target_context.get_value_type
        signature = compiled.signature
        parameters = [find_type(kind) for kind in signature.args]
        super().__init__(compiled, find_type(signature.return_type), parameters)

    def generate(self) -> None:
        """Generate a call of the loop, and return its result. The loop raises no exception."""
        _, result = self.call_loop(list(self.function.args))
        self.builder.ret(result)


class _PythonFunction(_Wrapper):
    def __init__(self, compiled: Any) -> None:
        super().__init__(compiled, _POINTER, [_POINTER, _POINTER.as_pointer(), _WORD])
        self.python = self.context.get_python_api(self.builder)
        self.ndarray = ir.GlobalVariable(self.module, ir.IntType(8), "ndarray")

    def generate(self) -> None:
        signature, builder, python = self.compiled.signature, self.builder, self.python
        _, arguments, count = self.function.args
        self.require(builder.icmp_signed("==", count, _WORD(len(signature.args))))
        values = []
        for k, kind in enumerate(signature.args):
            argument = builder.load(builder.gep(arguments, [_WORD(k)]))
            if k == len(signature.args) - 1 and self.compiled.fndesc.args[-1] == THREAD:
                self.prepare(argument, values)
            is_array = isinstance(kind, types.Array)
            values.append(self.array(argument, kind) if is_array else self.integer(argument))
        self.require(builder.not_(self.has_error()), "")
        thread = python.save_thread()
        status, result = self.call_loop(values)
        python.restore_thread(thread)
        self.require(status.is_ok, "PyErr_BadInternalCall")
        builder.ret(python.from_native_value(signature.return_type, result))

    def prepare(self, argument: Any, values: list[Any]) -> None:
        """Generate the instructions for a call whose last argument is an array instead of a thread.

        Such a call stores the values of the other arguments in the array, and returns the address
        of a function that helper threads can call without the GIL. See `graphla.compilers.crew`.
        """
        builder = self.builder
        stored = ir.LiteralStructType([value.type for value in values])
        with builder.if_then(self.is_array(argument), likely=False):
            self.require(builder.not_(self.has_error()), "")
            data = self.read(argument, _DATA, stored.as_pointer())
            for k, value in enumerate(values):
                builder.store(value, builder.gep(data, [_WORD(0), ir.IntType(32)(k)]))
            address = builder.ptrtoint(self.define_entry(stored), _WORD)
            builder.ret(self.python.long_from_longlong(address))

    def define_entry(self, stored: ir.LiteralStructType) -> ir.Function:
        """Define the function that calls the loop with stored arguments and a thread number."""
        size = self.context.get_abi_sizeof(stored)
        assert size <= 8 * ARGUMENT_WORDS, size
        kind = ir.FunctionType(_WORD, [stored.as_pointer(), _WORD])
        entry = ir.Function(self.module, kind, "enter_loop")
        outer, self.builder = self.builder, ir.IRBuilder(entry.append_basic_block())
        data, thread = entry.args
        places = (
            self.builder.gep(data, [_WORD(0), ir.IntType(32)(k)])
            for k in range(len(stored.elements))
        )
        _, result = self.call_loop([*map(self.builder.load, places), thread])
        self.builder.ret(result)
        self.builder = outer
        return entry

    def integer(self, argument: Any) -> Any:
        """Return the value of a Python integer. If the conversion fails, Python's error indicator
        is set."""
        return self.python.long_as_longlong(argument)

    def array(self, argument: Any, kind: types.Array) -> Any:
        """Return Numba's representation of a NumPy array, without taking a reference to the
        array."""
        builder = self.builder
        self.require(self.is_array(argument))
        needed = ir.IntType(32)(_CONTIGUOUS | _ALIGNED | (_WRITEABLE if kind.mutable else 0))
        flags = builder.and_(self.read(argument, _FLAGS, needed.type), needed)
        self.require(builder.icmp_signed("==", flags, needed))
        ndim = self.read(argument, _NDIM, needed.type)
        self.require(builder.icmp_signed("==", ndim, ndim.type(kind.ndim)))
        self.check_dtype(self.read(argument, _DTYPE, _POINTER), as_dtype(kind.dtype))

        array = self.context.make_array(kind)(self.context, builder)
        shape, strides = (
            [
                self.read(self.read(argument, field, _POINTER), 8 * k, _WORD)
                for k in range(kind.ndim)
            ]
            for field in (_SHAPE, _STRIDES)
        )
        data = builder.bitcast(self.read(argument, _DATA, _POINTER), array.data.type)
        populate_array(array, data, shape, strides, as_dtype(kind.dtype).itemsize, None)
        return array._getvalue()

    def is_array(self, argument: Any) -> Any:
        """Return whether a Python object is a NumPy array."""
        kind = self.read(argument, _TYPE, _POINTER)
        found = self.call("PyType_IsSubtype", ir.IntType(32), kind, self.ndarray)
        return self.builder.icmp_signed("!=", found, found.type(0))

    def has_error(self) -> Any:
        """Return whether Python's error indicator is set."""
        error = self.python.err_occurred()
        return self.builder.icmp_unsigned("!=", error, error.type(None))

    def check_dtype(self, found: Any, wanted: np.dtype[Any]) -> None:
        """Reject an array whose dtype is not `wanted`. NumPy may have several type numbers for one
        dtype, such as those of C's long and long long."""
        builder = self.builder
        order, number = (
            self.read(found, field, ir.IntType(bits))
            for field, bits in ((_BYTE_ORDER, 8), (_NUMBER, 32))
        )
        self.require(builder.icmp_signed("!=", order, order.type(ord(">"))))
        is_equal = ir.IntType(1)(0)
        for same in {dtype.num for dtype in map(np.dtype, np.typecodes["All"]) if dtype == wanted}:
            is_same = builder.icmp_signed("==", number, number.type(same))
            is_equal = builder.or_(is_equal, is_same)
        self.require(is_equal)

    def read(self, address: Any, offset: int, kind: ir.Type) -> Any:
        """Return the value of the type `kind` that is stored `offset` bytes after an address."""
        place = self.builder.gep(address, [_WORD(offset)])
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()))

    def require(self, condition: Any, report: str = "PyErr_BadArgument") -> None:
        """Generate a test of a condition. If it is false, the wrapper calls the function `report`
        of Python, which sets an error, and returns."""
        builder = self.builder
        with builder.if_then(builder.not_(condition), likely=False):
            if report:
                self.call(report, ir.VoidType())
            builder.ret(_POINTER(None))

    def call(self, name: str, returned: ir.Type, *arguments: Any) -> Any:
        kind = ir.FunctionType(returned, [argument.type for argument in arguments])
        function = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        return self.builder.call(function, arguments)
