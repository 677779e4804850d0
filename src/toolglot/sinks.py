"""Sinks: where a reader's JSON text goes, and who follows an object's members while it is read."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from .faults import OverLimit
from .jsontext import json_escape
from .scanner import Source


class Sink(Protocol):
    """Where a reader's output goes."""

    def take(self, text: str, count: int) -> None:
        """``text`` is JSON for the next ``count`` characters of the source; moves the cursor past them."""

    def take_raw(self, text: str) -> None:
        """``text`` is what stands at the cursor, to be the inside of a JSON string."""

    def take_value(self, text: str, count: int, value: Any) -> None:
        """As ``take``, for a whole value already decoded."""


class Skip:
    """A sink that lets its text go."""

    __slots__ = ("_source",)

    def __init__(self, source: Source) -> None:
        self._source = source

    def take(self, text: str, count: int) -> None:
        self._source.pos += count

    def take_raw(self, text: str) -> None:
        self._source.pos += len(text)

    def take_value(self, text: str, count: int, value: Any) -> None:
        self._source.pos += count


class Collect:
    """A sink that keeps its text, up to ``most`` characters."""

    __slots__ = ("_source", "_pieces", "_room")

    def __init__(self, source: Source, most: int) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._room = most

    def take(self, text: str, count: int) -> None:
        if len(text) > self._room:
            # As many characters as fit, so that the pieces in which the text came do not matter.
            self._source.pos += self._room if len(text) == count else 0
            raise OverLimit("a value is longer than the limit allows")
        self._room -= len(text)
        self._pieces.append(text)
        self._source.pos += count

    def take_raw(self, text: str) -> None:
        self.take(json_escape(text), len(text))

    def take_value(self, text: str, count: int, value: Any) -> None:
        self.take(text, count)

    def text(self) -> str:
        """All that was taken."""
        return "".join(self._pieces)


class Tap(Protocol):
    """Follows the members of an object's first level while they are read."""

    def inner(self, key: str, first: str) -> Generator[None, None, None] | None:
        """A member begins, as for ``enter``: a reader that takes its value, or None where a sink will."""
        ...

    def enter(self, key: str, first: str) -> Sink:
        """A member begins: its key and the first character of its value. Returns the sink for the value."""
        ...

    def leave(self) -> None:
        """The member's value is complete."""
