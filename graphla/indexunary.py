"""Alias of `semirings.indexunary`, for `from graphla.indexunary import ...`."""

import sys

from semirings import indexunary
from semirings.indexunary import *  # noqa: F403

sys.modules[__name__] = indexunary
