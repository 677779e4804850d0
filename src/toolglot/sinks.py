"""Sinks: where a reader's JSON text goes, and who follows an object's members while it is read."""

from __future__ import annotations

from collections.abc import Generator

from ._typing import TYPE_CHECKING, Any, Protocol
from .faults import OverLimit
from .jsontext import json_escape
from .markers import Rope
from .scanner import Source

if TYPE_CHECKING:
    from typing import Final

_PLENTY: Final = 1 << 30


class Sink(Protocol):
    """Where a reader's output goes. ``room``: how many characters of JSON it can still take."""

    @property
    def room(self) -> int: ...

    def take(self, text: str, count: int) -> None:
        """``text`` is JSON for the next ``count`` characters of the source; moves the cursor past them."""

    def take_plain(self, text: str) -> None:
        """``text`` is what stands at the cursor and the inside of a JSON string."""

    def take_raw(self, text: str) -> None:
        """``text`` is what stands at the cursor, to be the inside of a JSON string."""

    def take_value(self, text: str, count: int, value: Any) -> None:
        """As ``take``, for a whole value already decoded."""

    def live(self) -> int:
        """The index of the call whose argument text may go out now as it comes; negative where it may not."""
        raise NotImplementedError

    def sent(self, text: str, raw: bool) -> None:
        """As ``take_raw``, or ``take_plain``, for text that went out already."""


class Silent:
    """A sink whose text does not go out as it comes."""

    __slots__ = ()

    def live(self) -> int:
        """Negative: nothing goes out."""
        return -1

    def sent(self, text: str, raw: bool) -> None:
        """Never: nothing goes out."""
        raise AssertionError("text of a silent sink went out")


class Skip(Silent):
    """A sink that lets its text go."""

    __slots__ = ("room", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.room = _PLENTY

    def take(self, text: str, count: int) -> None:
        self._source.pos += count

    def take_plain(self, text: str) -> None:
        self._source.pos += len(text)

    def take_raw(self, text: str) -> None:
        self._source.pos += len(text)

    def take_value(self, text: str, count: int, value: Any) -> None:
        self._source.pos += count


class Collect(Silent):
    """A sink that keeps its text, up to ``most`` characters."""

    __slots__ = ("room", "_source", "_pieces")

    def __init__(self, source: Source, most: int) -> None:
        self._source = source
        self._pieces: list[str] = []
        self.room = most

    def take(self, text: str, count: int) -> None:
        if len(text) > self.room:
            # As many characters as fit, so that the pieces in which the text came do not matter.
            self._source.pos += self.room if len(text) == count else 0
            raise OverLimit("a value is longer than the limit allows")
        self.room -= len(text)
        self._pieces.append(text)
        self._source.pos += count

    def take_plain(self, text: str) -> None:
        self.take(text, len(text))

    def take_raw(self, text: str) -> None:
        self.take(json_escape(text), len(text))

    def take_value(self, text: str, count: int, value: Any) -> None:
        self.take(text, count)

    def text(self) -> str:
        """All that was taken."""
        return "".join(self._pieces)


class Kept(Silent):
    """A sink that gathers raw text for a value that goes out at its end."""

    __slots__ = ("room", "_source", "_kept")

    def __init__(self, source: Source, kept: Rope) -> None:
        self._source = source
        self._kept = kept
        self.room = _PLENTY

    def take(self, text: str, count: int) -> None:
        self._kept.append(text)
        self._source.pos += count

    def take_plain(self, text: str) -> None:
        self.take(text, len(text))

    def take_raw(self, text: str) -> None:
        self.take(text, len(text))

    def take_value(self, text: str, count: int, value: Any) -> None:
        self.take(text, count)


class Tap(Protocol):
    """Follows the members of an object's first level while they are read."""

    def inner(self, key: str, first: str) -> Generator[None, None, None] | None:
        """A member begins, as for ``enter``: a reader that takes its value, or None where a sink will."""

    def enter(self, key: str, first: str) -> Sink:
        """A member begins: its key and the first character of its value. Returns the sink for the value."""
        raise NotImplementedError

    def leave(self) -> None:
        """The member's value is complete."""
