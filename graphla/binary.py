"""`semirings.binary`, so that `from graphla.binary import ...` works: the very same module."""

import sys

from semirings import binary
from semirings.binary import *  # noqa: F403

sys.modules[__name__] = binary
