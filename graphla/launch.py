"""Ctrl-C while the `graphla` command still imports: one line and status 130, as later on.

This module is imported before anything that takes time. Only the command has the handler: a program
that imports graphla keeps the handlers that it has.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

STATUS = 128 + signal.SIGINT
_MESSAGE = "graphla: interrupted\n"


def interrupted() -> int:
    """Print the line of an interrupted command, and return its exit status."""
    if sys.stderr is not None:
        sys.stderr.write(_MESSAGE)
        sys.stderr.flush()
    return STATUS


def listen() -> None:
    """From here on an interrupt raises KeyboardInterrupt, which `graphla.cli.main` handles."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave(status: int) -> None:
    """End the process; with the status of an interrupted command, end it at once.

    Python would end it by the signal SIGINT instead if the interrupt had struck inside a piece of
    code given as text, such as the definition of a dataclass.
    """
    if status == STATUS:
        os._exit(status)
    sys.exit(status)


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, _MESSAGE.encode())
    os._exit(STATUS)


def _is_command() -> bool:
    """Whether this process is `graphla ...` or `python -m graphla ...`."""
    first = getattr(sys, "argv", [""])[:1]
    if first == ["-m"]:  # as long as Python looks for the module
        words = sys.orig_argv
        return words[words.index("-m") + 1 :][:1] == ["graphla"] if "-m" in words else False
    name = "".join(first).replace("\\", "/").rpartition("/")[2]
    return name in ("graphla", "graphla.exe")


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
