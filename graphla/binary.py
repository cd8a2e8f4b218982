"""Alias of `semirings.binary`, for `from graphla.binary import ...`."""

import sys

from semirings import binary
from semirings.binary import *  # noqa: F403

sys.modules[__name__] = binary
