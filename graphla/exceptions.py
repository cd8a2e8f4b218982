"""Alias of `semirings.exceptions`, for `from graphla.exceptions import ...`."""

import sys

from semirings import exceptions
from semirings.exceptions import *  # noqa: F403

sys.modules[__name__] = exceptions
