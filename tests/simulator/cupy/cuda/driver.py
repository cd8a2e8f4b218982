"""A stand-in for the part of cupy.cuda.driver that graphla uses."""

from __future__ import annotations

from typing import Any, ClassVar

from ...machine import machine


class CUDADriverError(RuntimeError):
    """A stand-in for CuPy's error of the same name.

    The message contains the driver's name for the error and its meaning.
    """

    words: ClassVar = {
        "CUDA_ERROR_INVALID_VALUE": (1, "invalid argument"),
        "CUDA_ERROR_INVALID_IMAGE": (200, "device kernel image is invalid"),
        "CUDA_ERROR_NOT_FOUND": (500, "named symbol not found"),
        "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": (720, "too many blocks in cooperative launch"),
        "CUDA_ERROR_INVALID_CONTEXT": (201, "invalid device context"),
    }

    def __init__(self, name: str):
        self.status, meaning = self.words[name]
        super().__init__(f"{name}: {meaning}")


CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
functions: dict[int, Any] = {}  # functions, keyed by the integers that represent their pointers


def get_build_version() -> int:
    return 13000


def funcSetAttribute(func: int, attribute: int, value: int) -> None:
    function = functions[func]
    if attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if value > machine.devices[0].shared_limit_optin:
            raise CUDADriverError("CUDA_ERROR_INVALID_VALUE")
        function.dynamic_limit = value
    elif attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function.is_in_clusters = bool(value)


def funcGetAttribute(attribute: int, func: int) -> int:
    function = functions[func]
    return {0: 1024, 4: 32, 8: function.dynamic_limit}.get(attribute, 0)


def occupancyMaxActiveBlocksPerMultiprocessor(
    func: int,
    blockSize: int,
    dynamicSMemSize: int,
) -> int:
    device = machine.devices[0]
    by_threads = device.threads_per_multiprocessor // (-(-blockSize // 32) * 32)
    by_shared = (
        (device.shared_limit_optin + 1024) // (dynamicSMemSize + 1024) if dynamicSMemSize else 32
    )
    return min(32, by_threads, by_shared)
