"""`semirings.indexunary`, so that `from graphla.indexunary import ...` works: the very same module."""

import sys

from semirings import indexunary
from semirings.indexunary import *  # noqa: F403

sys.modules[__name__] = indexunary
