"""Alias of `semirings.monoid`, for `from graphla.monoid import ...`."""

import sys

from semirings import monoid
from semirings.monoid import *  # noqa: F403

sys.modules[__name__] = monoid
