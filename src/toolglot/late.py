"""Late: patterns that are compiled when they are first used.

Promises: what ``late`` returns does what ``re.compile`` would have returned, from its second use on as fast.

Why: most outputs need few of the library's patterns, and compiling all of them took a tenth of what
``import toolglot`` takes.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands for a pattern; what is asked of it becomes an attribute, which is then found without asking."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags
        self._made: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = re.compile(self._pattern, self._flags)
        found = getattr(self._made, name)
        setattr(self, name, found)
        return found


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, at the first use."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


__all__ = ["late"]
