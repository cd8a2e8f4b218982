"""Alias of `semirings.dtypes`, for `from graphla.dtypes import ...`."""

import sys

from semirings import dtypes
from semirings.dtypes import *  # noqa: F403

sys.modules[__name__] = dtypes
