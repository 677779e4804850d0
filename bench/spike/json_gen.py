"""``{"name": ..., "arguments": {...}}`` read by a generator; a bare ``yield`` asks for more text."""

from __future__ import annotations

import json
import re
from collections.abc import Generator

from base import BLANKS, CALL_CLOSE, Event, MalformedError, Window

INSIDE = re.compile(r'[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*')  # never half an escape
BETWEEN = re.compile(r'[^"{}\[\]]*')
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")


def body(w: Window) -> Generator[None, None, None]:
    yield from expect(w, "{")
    more = True
    while more:
        key = yield from string(w)
        yield from expect(w, ":")
        if key == "name":
            name = yield from string(w)
            w.start(name)
        elif key == "arguments":
            yield from blanks(w)
            w.markup()
            depth = 0
            inside = False  # a string
            while True:  # flat, so that the hot loop is one frame
                text = w.text
                end = (INSIDE if inside else BETWEEN).match(text, w.at).end()  # type: ignore[union-attr]
                if end < len(text):
                    char = text[end]
                    if char != "\\":
                        w.at = end + 1
                        if char == '"':
                            inside = not inside
                        elif char in "{[":
                            depth += 1
                        else:
                            depth -= 1
                            if depth == 0:
                                break
                        continue
                    if not HALF_ESCAPE.match(text, end):
                        raise MalformedError("escape")
                if end > w.pos:
                    w.arguments(text[w.pos : end], end)
                yield
            w.arguments(w.text[w.pos : w.at], w.at)
        else:
            raise MalformedError(key)
        char = yield from blanks(w)
        if char not in ",}":
            raise MalformedError(char)
        more = char == ","
        w.at += 1
    yield from blanks(w)
    yield from literal(w, CALL_CLOSE)
    w.end(json.loads("".join(w.pieces)))


def blanks(w: Window) -> Generator[None, None, str]:
    """Skips blanks; returns the character after them."""
    while True:
        w.at = BLANKS.match(w.text, w.at).end()  # type: ignore[union-attr]
        if w.at < len(w.text):
            return w.text[w.at]
        yield


def expect(w: Window, char: str) -> Generator[None, None, None]:
    found = yield from blanks(w)
    if found != char:
        raise MalformedError(found)
    w.at += 1


def literal(w: Window, word: str) -> Generator[None, None, None]:
    while not w.text.startswith(word, w.at):
        if not word.startswith(w.text[w.at :]):
            raise MalformedError(word)
        yield
    w.at += len(word)


def string(w: Window) -> Generator[None, None, str]:
    """Reads one short string whole."""
    yield from expect(w, '"')
    start = w.base + w.at
    while True:
        end = w.at = INSIDE.match(w.text, w.at).end()  # type: ignore[union-attr]
        if end < len(w.text) and not HALF_ESCAPE.match(w.text, end):
            break
        yield
    if w.text[end] != '"':
        raise MalformedError("escape")
    w.at = end + 1
    value: str = json.loads('"' + w.text[start - w.base : end] + '"')
    return value


def level(inner: Generator[None, None, None]) -> Generator[None, None, None]:
    """One level of the machine above a codec."""
    yield from inner


class Parser:
    __slots__ = ("window", "reader", "done")

    def __init__(self, levels: int) -> None:
        self.window = Window()
        self.done = False
        self.reader = body(self.window)
        for _ in range(levels):
            self.reader = level(self.reader)

    def feed(self, delta: str) -> list[Event]:
        self.window.push(delta)
        if not self.done:
            try:
                next(self.reader)
            except StopIteration:
                self.done = True
        return self.window.take()
