"""Alias of `semirings.unary`, for `from graphla.unary import ...`."""

import sys

from semirings import unary
from semirings.unary import *  # noqa: F403

sys.modules[__name__] = unary
