"""The command line: `graphla bfs FILE`, `graphla info`, `graphla convert IN OUT`, and so on."""

from graphla import launch
from graphla.cli.commands import main

__all__ = ["command", "main"]


def command() -> None:
    """Run the command line of this process, then end the process."""
    launch.leave(main())
