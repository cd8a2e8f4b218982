"""`python -m graphla` runs the command line, even if the script `graphla` is not installed."""

from graphla.cli import command

if __name__ == "__main__":
    command()
