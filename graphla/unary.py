"""`semirings.unary`, so that `from graphla.unary import ...` works: the very same module."""

import sys

from semirings import unary
from semirings.unary import *  # noqa: F403

sys.modules[__name__] = unary
