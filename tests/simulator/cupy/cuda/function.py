"""A stand-in for cupy.cuda.function. Its modules are shared libraries with launch functions."""

from __future__ import annotations

import ctypes
import itertools
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ... import toolchain
from ...machine import SimulatorFault, launch, library, local, machine
from .. import arrays
from . import driver, memory
from . import stream as streams

_pointers = itertools.count(1 << 20)


class Module:
    """A loaded program."""

    def __init__(self) -> None:
        self.ptr = 0
        self._loaded: Any = None

    def load(self, cubin: bytes) -> None:
        library()
        try:
            self._loaded = ctypes.CDLL(str(toolchain.file_of(cubin)))
            self._loaded.simulator_made_for
        except (OSError, AttributeError) as error:
            raise driver.CUDADriverError("CUDA_ERROR_INVALID_IMAGE") from error
        self.ptr = next(_pointers)

    def get_function(self, name: str) -> Function:
        return Function(self, name)


class CPointer:
    """The address of an argument; unlike CuPy's class, it must also record the size of a struct."""

    size = 0

    def __init__(self, p: int = 0):
        self.address = p


class _Parameter(ctypes.Structure):
    """A kernel parameter or struct field. In a list of parameters, a struct precedes its fields."""

    _fields_ = tuple((name, ctypes.c_int) for name in ("size", "pointee", "reads_only", "fields"))


class Function:
    """A kernel."""

    def __init__(self, module: Module, funcname: str):
        self.module = module
        self.name = funcname
        loaded = module._loaded
        try:
            entry = getattr(loaded, funcname)
        except AttributeError:
            raise driver.CUDADriverError("CUDA_ERROR_NOT_FOUND") from None
        self._entry = ctypes.cast(entry, ctypes.c_void_p).value or 0
        parameters = getattr(loaded, f"{funcname}_parameters")
        parameters.restype = ctypes.POINTER(_Parameter)
        following = (parameters()[k] for k in itertools.count())
        count = getattr(loaded, f"{funcname}_count")()
        self._parameters = [_with_fields(following) for _ in range(count)]
        self._device = local.device
        self.kernel = funcname.removeprefix("simulator_").rpartition("_")[0].replace("__", "::")
        self.dynamic_limit = machine.devices[0].shared_limit
        # Whether the kernel uses clusters. If so, all blocks of a launch run at the same time.
        self.is_in_clusters = False
        self.ptr = next(_pointers)
        driver.functions[self.ptr] = self

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared_mem: int = 0,
        stream: Any = None,
        enable_cooperative_groups: bool = False,
    ) -> None:
        shape, threads = _three(grid), _three(block)
        _check_shape(shape, threads, shared_mem, self.dynamic_limit)
        if self._device != local.device:
            raise driver.CUDADriverError("CUDA_ERROR_INVALID_CONTEXT")
        if enable_cooperative_groups:
            size = threads[0] * threads[1] * threads[2]
            most = driver.occupancyMaxActiveBlocksPerMultiprocessor(self.ptr, size, shared_mem)
            if shape[0] * shape[1] * shape[2] > most * machine.devices[0].multiprocessors:
                raise driver.CUDADriverError("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")
        values = self._values(args)
        places = (ctypes.c_void_p * max(1, len(values)))(*(each.ctypes.data for each in values))
        pairs = list(_flat(zip(args, self._parameters, strict=True)))
        streams.kernel_runs(pairs, stream, self.kernel)
        salt = _digest(pairs)
        limit = machine.devices[0].shared_limit + max(0, shared_mem)
        launch(
            *(self.kernel, self._entry, shape, threads, places, salt, shared_mem, limit),
            enable_cooperative_groups or self.is_in_clusters,
        )

    def linear_launch(
        self,
        size: int,
        args: Sequence[Any],
        shared_mem: int = 0,
        block_max_size: int = 128,
        stream: Any = None,
        enable_cooperative_groups: bool = False,
    ) -> None:
        grid = min(-(-size // block_max_size), 0x7FFFFFFF)
        block = min(block_max_size, size)
        self((grid,), (block,), args, shared_mem, stream, enable_cooperative_groups)

    def _values(self, args: Sequence[Any]) -> list[np.ndarray]:
        """Return the arguments as bytes; reject those that the kernel would misread."""
        if len(args) != len(self._parameters):
            raise SimulatorFault(
                f"{self.kernel} has {len(self._parameters)} parameters, but {len(args)} arguments"
            )
        values = []
        pairs = zip(args, self._parameters, strict=True)
        for k, (argument, parameter) in enumerate(pairs):
            value = _value(argument)
            _check(f"argument {k} of {self.kernel}", argument, value.itemsize, parameter)
            values.append(value)
        return values


def _with_fields(following: Iterator[_Parameter]) -> tuple[_Parameter, list[Any]]:
    """Return the next parameter, and a list of its fields as (field, list of fields) pairs."""
    parameter = next(following)
    return parameter, [_with_fields(following) for _ in range(parameter.fields)]


def _flat(pairs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, _Parameter]]:
    """Yield arguments with their parameters; a struct is replaced by its fields."""
    for argument, (parameter, fields) in pairs:
        values = getattr(argument, "values", None)
        if fields and isinstance(values, tuple):
            yield from _flat(zip(values, fields, strict=True))
        else:
            yield argument, parameter


def _digest(pairs: Iterable[tuple[Any, _Parameter]]) -> int:
    """Return a digest of the scalar arguments and of the start of each read-only array."""
    digest = 0
    for argument, parameter in pairs:
        if not parameter.pointee:
            digest = zlib.crc32(_value(argument).tobytes(), digest)
        elif parameter.reads_only and isinstance(argument, arrays.ndarray):
            digest = zlib.crc32(argument._host[:1024].tobytes() if argument.ndim else b"", digest)
    return digest


def _check(what: str, argument: Any, size: int, taken: tuple[_Parameter, list[Any]]) -> None:
    """Reject an argument of `size` bytes if the kernel would misread it or one of its fields."""
    parameter, fields = taken
    if size != parameter.size:
        raise SimulatorFault(f"{what} has {size} bytes, but the parameter has {parameter.size}")
    values = getattr(argument, "values", None)
    if fields and isinstance(values, tuple):
        if len(values) != len(fields):
            raise SimulatorFault(f"{what} has {len(values)} fields, but the struct {len(fields)}")
        for k, (value, kind, field) in enumerate(
            zip(values, argument.layout.kinds, fields, strict=True)
        ):
            _check(f"field {k} of {what}", value, struct.calcsize(kind), field)
    if isinstance(argument, arrays.ndarray):
        _check_array(what, argument, parameter.pointee)
    elif parameter.pointee and not _may_be_pointer(argument):
        raise SimulatorFault(f"{what} must be an array")


def _check_array(what: str, array: Any, pointee: int) -> None:
    if pointee == 0:
        raise SimulatorFault(f"{what} is an array; it takes a scalar")
    if pointee > 0 and array.dtype.itemsize not in (1, pointee):
        raise SimulatorFault(
            f"{what} is an array of {array.dtype}, but the parameter points to {pointee} bytes"
        )
    if not array.flags.c_contiguous and array.strides != (0,):
        raise SimulatorFault(
            f"{what} is an array with strides {array.strides}, but a kernel reads element after "
            "element"
        )
    if array._memory is not None and array._memory.device_id != local.device:
        raise SimulatorFault(
            f"{what} lies on device {array._memory.device_id}, but device {local.device} runs the "
            "kernel"
        )


def _may_be_pointer(argument: Any) -> bool:
    is_address = isinstance(argument, int) or getattr(argument, "dtype", None) in ("i8", "u8")
    return argument is None or is_address or isinstance(argument, memory.MemoryPointer)


def _value(argument: Any) -> np.ndarray:
    if argument is None:
        return np.asarray(np.uint64(0))
    if isinstance(argument, arrays.ndarray):
        return np.asarray(np.uint64(argument.data.ptr))
    if isinstance(argument, memory.MemoryPointer):
        return np.asarray(np.uint64(argument.ptr))
    if isinstance(argument, CPointer):
        return np.frombuffer(ctypes.string_at(argument.address, argument.size), f"V{argument.size}")
    if isinstance(argument, (np.generic, bool, int, float, complex)):
        return np.asarray(argument)
    raise TypeError(f"Unsupported type {type(argument)}")


def _three(shape: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*(int(each) for each in shape), 1, 1)[:3]
    return (x, y, z)


def _check_shape(
    grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, shared_limit: int
) -> None:
    threads = block[0] * block[1] * block[2]
    fits = (
        all(each >= 1 for each in (*grid, *block))
        and threads <= 1024
        and block[2] <= 64
        and grid[0] < 2**31
        and max(grid[1:]) <= 65535
        and 0 <= shared <= shared_limit
    )
    if not fits:
        raise driver.CUDADriverError("CUDA_ERROR_INVALID_VALUE")
