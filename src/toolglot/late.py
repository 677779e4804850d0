"""Late: patterns that are compiled when they are first used, and what is made once of values that last.

Promises: what ``late`` returns does what ``re.compile`` would have returned, from its second use on as fast.

``Once`` keeps what it made by the identity of what it was made of, and holds that, so that all parsers of
one dialect share it; it keeps no more than a bounded number.

Why: most outputs need few of the library's patterns, and compiling all of them took a tenth of what
``import toolglot`` takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ._typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from typing import Final

_Made = TypeVar("_Made")

_MOST: Final = 128


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


class Once(Generic[_Made]):
    """``make``, called once for the same arguments: these very objects, which nobody changes."""

    __slots__ = ("_kept", "_make")

    def __init__(self, make: Callable[..., _Made]) -> None:
        self._make = make
        self._kept: dict[tuple[int, ...], tuple[tuple[object, ...], _Made]] = {}

    def __call__(self, *of: object) -> _Made:
        key = tuple(map(id, of))
        found = self._kept.get(key)
        if found is None:
            while len(self._kept) >= _MOST:
                self._kept.pop(next(iter(self._kept)), None)
            found = self._kept[key] = of, self._make(*of)
        return found[1]


__all__ = ["Once", "late"]
