"""`semirings.dtypes` itself, so that `from graphla.dtypes import ...` works."""

import sys

from semirings import dtypes
from semirings.dtypes import *  # noqa: F403

sys.modules[__name__] = dtypes
