"""`semirings.indexunary` itself, so that `from graphla.indexunary import ...` works."""

import sys

from semirings import indexunary
from semirings.indexunary import *  # noqa: F403

sys.modules[__name__] = indexunary
