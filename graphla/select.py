"""`semirings.select` itself, so that `from graphla.select import ...` works."""

import sys

from semirings import select
from semirings.select import *  # noqa: F403

sys.modules[__name__] = select
