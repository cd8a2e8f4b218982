"""A stand-in for cupy.cuda.device."""

from __future__ import annotations

from typing import Any

from ...machine import local, machine
from . import stream as streams
from .runtime import CUDARuntimeError


class Device:
    """A simulated GPU; as a context manager, it becomes the current device."""

    def __init__(self, device: Any = None):
        self.id = local.device if device is None else int(device)
        self._before: list[int] = []

    def __enter__(self) -> Device:
        self._before.append(local.device)
        self.use()
        return self

    def __exit__(self, *args: Any) -> None:
        local.device = self._before.pop()

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    @property
    def _card(self) -> Any:
        if not 0 <= self.id < len(machine.devices):
            raise CUDARuntimeError(101)
        return machine.devices[self.id]

    def use(self) -> None:
        self._card
        local.device = self.id

    def synchronize(self) -> None:
        """Make the host wait for all streams of the device."""
        with self:
            streams.host_waits_for_all()
        machine.raise_faults()

    @property
    def attributes(self) -> dict[str, int]:
        return self._card.attributes

    @property
    def compute_capability(self) -> str:
        return "".join(map(str, self._card.compute_capability))

    @property
    def mem_info(self) -> tuple[int, int]:
        return (self._card.memory - self._card.used, self._card.memory)


def get_compute_capability() -> str:
    return Device().compute_capability
