"""`semirings.op`, so that `from graphla.op import ...` works: the very same module."""

import sys

from semirings import op
from semirings.op import *  # noqa: F403

sys.modules[__name__] = op
