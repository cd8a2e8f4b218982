"""`semirings.semiring` itself, so that `from graphla.semiring import ...` works."""

import sys

from semirings import semiring
from semirings.semiring import *  # noqa: F403

sys.modules[__name__] = semiring
