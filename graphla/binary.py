"""`semirings.binary` itself, so that `from graphla.binary import ...` works."""

import sys

from semirings import binary
from semirings.binary import *  # noqa: F403

sys.modules[__name__] = binary
