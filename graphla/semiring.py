"""Alias of `semirings.semiring`, for `from graphla.semiring import ...`."""

import sys

from semirings import semiring
from semirings.semiring import *  # noqa: F403

sys.modules[__name__] = semiring
