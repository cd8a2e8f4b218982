"""The command line: `graphla bfs FILE`, `graphla info`, `graphla convert IN OUT`, and so on."""

from graphla.cli.commands import main

__all__ = ["main"]
