"""Floors in the same run: what a delta costs before any parsing. Compiled with the rest."""

from __future__ import annotations

import re

from base import Arguments, Event, Window

SPECIAL = re.compile(r'["\\]')


class Empty:
    __slots__ = ()

    def feed(self, delta: str) -> None:
        return None


class Search:
    __slots__ = ()

    def feed(self, delta: str) -> None:
        SPECIAL.search(delta)


class Find:
    __slots__ = ()

    def feed(self, delta: str) -> None:
        delta.find("\n")


class OneEvent:
    """One event with its span in one list."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0

    def feed(self, delta: str) -> list[Event]:
        start = self.at
        self.at = end = start + len(delta)
        return [Arguments(0, delta, (start, end))]


class WindowInlined:
    """The same as WindowOnly without a method call, and without a copy where nothing is held."""

    __slots__ = ("window",)

    def __init__(self) -> None:
        self.window = Window()

    def feed(self, delta: str) -> list[Event]:
        w = self.window
        pos = w.pos
        text = w.text = delta if pos == len(w.text) else w.text[pos:] + delta
        base = w.base = w.base + pos
        w.at -= pos
        end = w.pos = w.at = len(text)
        w.out.append(Arguments(0, text, (base, base + end)))
        out = w.out
        w.out = []
        return out


class WindowOnly:
    """The window moved, one event put out and taken, nothing searched."""

    __slots__ = ("window",)

    def __init__(self) -> None:
        self.window = Window()

    def feed(self, delta: str) -> list[Event]:
        w = self.window
        w.push(delta)
        w.out.append(Arguments(0, w.text, w.span(len(w.text))))
        return w.take()
