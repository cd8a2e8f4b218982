"""`python -m graphla`: the command line without its launcher."""

from graphla.cli import command

if __name__ == "__main__":
    command()
