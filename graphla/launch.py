"""Handle Ctrl-C while the `graphla` command imports modules: print one line and exit with 130.

The package imports this module before all slow modules. Only the command installs the handler: a
program that imports graphla keeps its own signal handlers.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

STATUS = 128 + signal.SIGINT
_MESSAGE = "graphla: interrupted\n"


def interrupted() -> int:
    """Print that the command was interrupted, and return the exit status."""
    if sys.stderr is not None:
        sys.stderr.write(_MESSAGE)
        sys.stderr.flush()
    return STATUS


def listen() -> None:
    """From now on, let Ctrl-C raise KeyboardInterrupt instead of ending the process at once.

    `graphla.cli.main` handles the exception.
    """
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def leave(status: int) -> None:
    """End the process with this status; after an interrupt, skip Python's cleanup.

    If the interrupt occurred inside code that was compiled from a string, such as the methods of a
    dataclass, `sys.exit` would end the process with the signal SIGINT instead of the status.
    """
    if status == STATUS:
        os._exit(status)
    sys.exit(status)


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, _MESSAGE.encode())
    os._exit(STATUS)


def _is_command() -> bool:
    """Return whether this process is `graphla ...` or `python -m graphla ...`."""
    first = getattr(sys, "argv", [""])[:1]
    if first == ["-m"]:  # sys.argv[0] is "-m" until Python has found the module
        words = sys.orig_argv
        return words[words.index("-m") + 1 :][:1] == ["graphla"] if "-m" in words else False
    name = "".join(first).replace("\\", "/").rpartition("/")[2]
    return name in ("graphla", "graphla.exe")


if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
