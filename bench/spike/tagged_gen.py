"""``<function=NAME>`` with ``<parameter=KEY>`` inside, read by a generator. All parameters are strings."""

from __future__ import annotations

import json
from collections.abc import Generator
from json.encoder import encode_basestring

from base import BLANKS, CALL_CLOSE, Event, MalformedError, Window, whole_or_prefix

FUNCTION = "<function="
FUNCTION_CLOSE = "</function>"
PARAMETER = "<parameter="
VALUE_CLOSE = "\n</parameter>"  # counts at the start of a line
VALUE_END = whole_or_prefix(VALUE_CLOSE)


def body(w: Window) -> Generator[None, None, None]:
    yield from literal(w, FUNCTION)
    name = yield from word(w)
    w.start(name)
    lead = "{"
    while True:
        if (yield from either(w, PARAMETER, FUNCTION_CLOSE)) == FUNCTION_CLOSE:
            break
        key = yield from word(w)
        w.arguments(lead + encode_basestring(key) + ': "', w.at)
        lead = ", "
        yield from first_newline(w)
        while True:  # flat, so that the hot loop is one frame
            text = w.text
            at = w.at
            found = VALUE_END.search(text, at)
            end = found.start() if found else len(text)
            if end > at:
                w.arguments(encode_basestring(text[at:end])[1:-1], end)
            if found and found.end() - end == len(VALUE_CLOSE):
                w.arguments('"', found.end())
                break
            yield
    w.arguments("}" if lead == ", " else "{}", w.at)
    yield from literal(w, CALL_CLOSE)
    w.end(json.loads("".join(w.pieces)))


def either(w: Window, *words: str) -> Generator[None, None, str]:
    """After blanks: reads one of the words and returns it."""
    while True:
        w.at = BLANKS.match(w.text, w.at).end()  # type: ignore[union-attr]
        for one in words:
            if w.text.startswith(one, w.at):
                w.at += len(one)
                return one
        rest = w.text[w.at :]
        if not any(one.startswith(rest) for one in words):
            raise MalformedError(rest)
        yield


def literal(w: Window, only: str) -> Generator[None, None, None]:
    yield from either(w, only)


def word(w: Window) -> Generator[None, None, str]:
    """Reads a name up to its ``>``."""
    start = w.base + w.at
    while True:
        end = w.text.find(">", w.at)
        if end >= 0:
            break
        w.at = len(w.text)
        yield
    w.at = end + 1
    return w.text[start - w.base : end]


def first_newline(w: Window) -> Generator[None, None, None]:
    """The newline after the open tag is layout, unless it begins the close of an empty value."""
    while len(w.text) - w.at < len(VALUE_CLOSE) and VALUE_CLOSE.startswith(w.text[w.at :]):
        yield
    if w.text[w.at] == "\n" and not w.text.startswith(VALUE_CLOSE, w.at):
        w.at += 1
        w.markup()


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
