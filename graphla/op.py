"""Alias of `semirings.op`, for `from graphla.op import ...`."""

import sys

from semirings import op
from semirings.op import *  # noqa: F403

sys.modules[__name__] = op
