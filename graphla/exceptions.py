"""`semirings.exceptions`, so that `from graphla.exceptions import ...` works: the very same module."""

import sys

from semirings import exceptions
from semirings.exceptions import *  # noqa: F403

sys.modules[__name__] = exceptions
