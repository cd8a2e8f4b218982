"""`semirings.semiring`, so that `from graphla.semiring import ...` works: the very same module."""

import sys

from semirings import semiring
from semirings.semiring import *  # noqa: F403

sys.modules[__name__] = semiring
