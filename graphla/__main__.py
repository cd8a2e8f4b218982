"""`python -m graphla`: the command line without its launcher."""

import sys

from graphla.cli import main

if __name__ == "__main__":
    sys.exit(main())
