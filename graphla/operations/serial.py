"""Run a loop on the CPU that handles one vertex after another."""

from __future__ import annotations

from graphla.backends.cpu.serial import run_serial

__all__ = ["run_serial"]
