"""`semirings.exceptions` itself, so that `from graphla.exceptions import ...` works."""

import sys

from semirings import exceptions
from semirings.exceptions import *  # noqa: F403

sys.modules[__name__] = exceptions
