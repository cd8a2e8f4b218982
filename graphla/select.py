"""Alias of `semirings.select`, for `from graphla.select import ...`."""

import sys

from semirings import select
from semirings.select import *  # noqa: F403

sys.modules[__name__] = select
