"""`semirings.unary` itself, so that `from graphla.unary import ...` works."""

import sys

from semirings import unary
from semirings.unary import *  # noqa: F403

sys.modules[__name__] = unary
