"""`python -m graphla`: run the command line without the installed script `graphla`."""

from graphla.cli import command

if __name__ == "__main__":
    command()
