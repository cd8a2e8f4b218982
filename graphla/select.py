"""`semirings.select`, so that `from graphla.select import ...` works: the very same module."""

import sys

from semirings import select
from semirings.select import *  # noqa: F403

sys.modules[__name__] = select
