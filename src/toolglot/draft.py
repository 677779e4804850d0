"""Draft: the JSON text of a call's arguments while it comes, and the value that it stands for.

Promises: a long stretch inside a string is kept as the text that stood in the source, which is kept there
anyway, and is never copied but into the value: with the value of a long string, twice its size is held.
The value is what ``decode`` makes of the whole text.

Does not: check that the text is JSON; readers do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ._typing import TYPE_CHECKING, Any
from .counts import examined
from .jsontext import DECODER, decode, json_escape
from .markers import Rope

if TYPE_CHECKING:
    from typing import Final

STRETCH: Final = 512
"""From so many characters on it is worth the care to keep a piece as a stretch."""

# So many pieces are joined before they are added to a value.
_AT_ONCE: Final = 64
# Stands for a stretch in the text: no JSON has it, inside of a string or outside.
_GAP: Final = "\x00"
# Stands for one while the text is decoded: a character that nobody writes, and if a model does, that is seen.
_MARK: Final = "\ufdd0"
_NONE: Final[list[_Stretch]] = []


class _Stretch:
    """Pieces that follow one another inside a string: ``raw``, or JSON of which none cuts an escape."""

    __slots__ = ("pieces", "raw")

    def __init__(self, raw: bool) -> None:
        self.raw = raw
        self.pieces: list[str] = []

    def json(self) -> str:
        text = "".join(self.pieces)
        return json_escape(text) if self.raw else text

    def meant(self) -> Iterator[str]:
        """The text that it stands for, piece by piece."""
        for piece in self.pieces:
            examined(len(piece))
            yield piece if self.raw or "\\" not in piece else DECODER.decode(f'"{piece}"')


class Draft(Rope):
    """JSON text gathered piece by piece."""

    __slots__ = ("_end", "_stretches")

    def __init__(self) -> None:
        super().__init__()
        self._stretches = _NONE
        # How long the text was behind the last stretch.
        self._end = -1

    def stretch(self, piece: str, raw: bool) -> None:
        """Add ``piece`` inside of a string, as JSON or ``raw``: the text that is to be escaped."""
        if self.length != self._end or self._stretches[-1].raw != raw:
            if not self._stretches:
                self._stretches = []
            self.append(_GAP)
            self._end = self.length
            self._stretches.append(_Stretch(raw))
        self._stretches[-1].pieces.append(piece)

    def text(self) -> str:
        """All of it."""
        text = super().text()
        if not self._stretches:
            return text
        first, *rest = text.split(_GAP)
        pieces = [first]
        for stretch, piece in zip(self._stretches, rest, strict=True):
            pieces += (stretch.json(), piece)
        return "".join(pieces)

    def value(self) -> tuple[Any, str | None]:
        """The value, and the text with each key once where a key repeats, else None."""
        if self._stretches:
            text = super().text()
            if _MARK not in text:
                value, canonical = decode(text.replace(_GAP, _MARK))
                if canonical is None and _filled(value, self._stretches):
                    return value, None
        elif not self._big:
            return decode("".join(self._small))
        return decode(self.text())


def _filled(value: Any, stretches: list[_Stretch]) -> bool:
    """Put ``stretches`` in place of the marks in a value, in their order; whether it has just as many."""
    missing = iter(stretches)
    walks: list[tuple[Any, Iterator[tuple[Any, Any]]]] = [(value, _members(value))]
    while walks:
        outer, members = walks[-1]
        for key, inner in members:
            if type(inner) is str:
                if _MARK in inner:
                    parts = inner.split(_MARK)
                    between = [stretch for _, stretch in zip(parts[1:], missing, strict=False)]
                    if len(between) < len(parts) - 1:
                        return False
                    outer[key] = _grown(_pieces(parts, between))
            elif type(inner) is dict or type(inner) is list:
                walks.append((inner, _members(inner)))
                break
        else:
            walks.pop()
    return next(missing, None) is None


def _pieces(parts: list[str], between: list[_Stretch]) -> Iterator[str]:
    """``parts`` with one of ``between`` between each two."""
    yield parts[0]
    for stretch, part in zip(between, parts[1:], strict=True):
        yield from stretch.meant()
        yield part


def _grown(pieces: Iterator[str]) -> str:
    """All ``pieces``, of which only some are held at once beside what they amount to."""
    text = ""
    some: list[str] = []
    for piece in pieces:
        some.append(piece)
        if len(some) == _AT_ONCE:
            # CPython lets a text grow where it stands that nothing else refers to.
            text += "".join(some)
            some.clear()
    text += "".join(some)
    return text


def _members(value: Any) -> Iterator[tuple[Any, Any]]:
    """The members of an object or a list, each by what stands for it."""
    members: Iterable[tuple[Any, Any]] = value.items() if type(value) is dict else enumerate(value)
    return iter(members)


__all__ = ["STRETCH", "Draft"]
