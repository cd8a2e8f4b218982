"""The command line: `graphla bfs FILE`, `graphla info`, `graphla convert IN OUT`, and so on."""

from graphla import launch
from graphla.cli.commands import main

__all__ = ["command", "main"]


def command() -> None:
    """Run `graphla` with the arguments of this process, and end the process with the exit code."""
    launch.leave(main())
