"""How hard to try: a little in ``make test``, long in ``make torture``."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("BERTSMITH_TORTURE"))


def trials(little: int, much: int) -> int:
    """``little`` in an ordinary run of the tests, ``much`` under BERTSMITH_TORTURE."""
    return much if LONG else little
