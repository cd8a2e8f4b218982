"""A look-alike of cupy.cuda.function: a module is a shared object, a function a launcher in it."""

from __future__ import annotations

import ctypes
import itertools
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import toolchain
from ...machine import SimulatorFault, launch, library, local, machine
from .. import arrays
from . import driver, memory
from . import stream as streams

_pointers = itertools.count(1 << 20)


class Module:
    """A program, loaded."""

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


class _Parameter(ctypes.Structure):
    _fields_ = (("size", ctypes.c_int), ("pointee", ctypes.c_int), ("reads_only", ctypes.c_int))


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
        found, count = parameters(), getattr(loaded, f"{funcname}_count")()
        self._parameters = [found[k] for k in range(count)]
        self._device = local.device
        self.kernel = funcname.removeprefix("simulator_").rpartition("_")[0].replace("__", "::")
        self.dynamic_limit = machine.devices[0].shared_limit
        self.is_in_clusters = False  # then all of its blocks run at the same time
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
        streams.kernel_runs(args, self._parameters, stream, self.kernel)
        salt = self._digest(args, values)
        limit = machine.devices[0].shared_limit + max(0, shared_mem)
        launch(
            *(self.kernel, self._entry, shape, threads, places, salt, shared_mem, limit),
            enable_cooperative_groups or self.is_in_clusters,
        )

    def _digest(self, args: Sequence[Any], values: list[np.ndarray]) -> int:
        """Of numbers, and of the beginnings of arrays that are read alone."""
        digest = 0
        for argument, value, parameter in zip(args, values, self._parameters, strict=True):
            if not parameter.pointee:
                digest = zlib.crc32(value.tobytes(), digest)
            elif parameter.reads_only and isinstance(argument, arrays.ndarray):
                digest = zlib.crc32(
                    argument._host[:1024].tobytes() if argument.ndim else b"", digest
                )
        return digest

    def _values(self, args: Sequence[Any]) -> list[np.ndarray]:
        """Arguments as bytes; refuses those that the kernel would misread."""
        if len(args) != len(self._parameters):
            raise SimulatorFault(
                f"{self.kernel} has {len(self._parameters)} parameters, but {len(args)} arguments"
            )
        values = []
        for k, (argument, parameter) in enumerate(zip(args, self._parameters, strict=True)):
            value, size, pointee = _value(argument), parameter.size, parameter.pointee
            if value.itemsize != size:
                raise SimulatorFault(
                    f"argument {k} of {self.kernel} has {value.itemsize} bytes, "
                    f"but the parameter has {size}"
                )
            if isinstance(argument, arrays.ndarray):
                self._check_array(k, argument, pointee)
            elif pointee and not _may_be_pointer(argument):
                raise SimulatorFault(f"argument {k} of {self.kernel} must be an array")
            values.append(value)
        return values

    def _check_array(self, k: int, array: Any, pointee: int) -> None:
        if pointee == 0:
            raise SimulatorFault(f"argument {k} of {self.kernel} is an array; it takes a scalar")
        if pointee > 0 and array.dtype.itemsize not in (1, pointee):
            raise SimulatorFault(
                f"argument {k} of {self.kernel} is an array of {array.dtype}, "
                f"but the parameter points to {pointee} bytes"
            )
        if not array.flags.c_contiguous and array.strides != (0,):
            raise SimulatorFault(
                f"argument {k} of {self.kernel} is an array with strides {array.strides}, but a "
                "kernel reads element after element"
            )
        if array._memory is not None and array._memory.device_id != local.device:
            raise SimulatorFault(
                f"argument {k} of {self.kernel} lies on device {array._memory.device_id}, "
                f"but device {local.device} runs the kernel"
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
