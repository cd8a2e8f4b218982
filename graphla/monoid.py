"""`semirings.monoid` itself, so that `from graphla.monoid import ...` works."""

import sys

from semirings import monoid
from semirings.monoid import *  # noqa: F403

sys.modules[__name__] = monoid
