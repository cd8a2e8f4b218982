"""`semirings.op` itself, so that `from graphla.op import ...` works."""

import sys

from semirings import op
from semirings.op import *  # noqa: F403

sys.modules[__name__] = op
