"""What both forms of a codec share: events with spans, and a window on growing text."""

from __future__ import annotations

import re
from typing import Any

Span = tuple[int, int]
CALL_CLOSE = "</tool_call>"
BLANKS = re.compile(r"[ \t\r\n]*")


def whole_or_prefix(word: str) -> re.Pattern[str]:
    """Finds the word, or at the end of the text what may still become it."""
    rest = ""
    for char in reversed(word[1:]):
        rest = f"(?:{re.escape(char)}{rest})?"
    return re.compile(rf"{re.escape(word)}|{re.escape(word[0])}{rest}\Z")


class MalformedError(ValueError):
    """The text is no body of this codec. The spike has no recovery."""


class CallStart:
    __slots__ = ("index", "id", "name", "span")

    def __init__(self, index: int, id: str, name: str, span: Span) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.span = span


class Arguments:
    __slots__ = ("index", "text", "span")

    def __init__(self, index: int, text: str, span: Span) -> None:
        self.index = index
        self.text = text
        self.span = span


class CallEnd:
    __slots__ = ("index", "arguments", "span")

    def __init__(self, index: int, arguments: dict[str, Any], span: Span) -> None:
        self.index = index
        self.arguments = arguments
        self.span = span


class Markup:
    __slots__ = ("span",)

    def __init__(self, span: Span) -> None:
        self.span = span


Event = CallStart | Arguments | CallEnd | Markup


class Window:
    """The text that is not yet in an event, and the events not yet handed out.

    ``pos`` is the first character not in an event, ``at`` the first one not examined: a search that
    stopped for want of text goes on at ``at``. ``base`` is where the window begins in the input.
    """

    __slots__ = ("text", "pos", "at", "base", "out", "pieces")

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.at = 0
        self.base = 0
        self.out: list[Event] = []
        self.pieces: list[str] = []

    def push(self, delta: str) -> None:
        pos = self.pos
        self.text = self.text[pos:] + delta
        self.base += pos
        self.at -= pos
        self.pos = 0

    def take(self) -> list[Event]:
        out = self.out
        self.out = []
        return out

    def span(self, end: int) -> Span:
        """The characters from ``pos`` to ``end``, which the caller puts in an event."""
        start = self.pos
        self.pos = self.at = end
        return (self.base + start, self.base + end)

    def start(self, name: str) -> None:
        """All up to ``at`` opened the call."""
        self.out.append(CallStart(0, "call_0", name, self.span(self.at)))

    def markup(self) -> None:
        if self.at > self.pos:
            self.out.append(Markup(self.span(self.at)))

    def arguments(self, text: str, end: int) -> None:
        """All from ``pos`` to ``end`` stands for ``text``."""
        self.pieces.append(text)
        self.out.append(Arguments(0, text, self.span(end)))

    def end(self, value: dict[str, Any]) -> None:
        self.out.append(CallEnd(0, value, self.span(self.at)))
