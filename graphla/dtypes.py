"""`semirings.dtypes`, so that `from graphla.dtypes import ...` works: the very same module."""

import sys

from semirings import dtypes
from semirings.dtypes import *  # noqa: F403

sys.modules[__name__] = dtypes
