"""``<function=NAME>`` with ``<parameter=KEY>`` inside, read by a state object. All parameters are strings."""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import Final

from base import BLANKS, CALL_CLOSE, Event, MalformedError, Window, whole_or_prefix

FUNCTION = "<function="
FUNCTION_CLOSE = "</function>"
PARAMETER = "<parameter="
VALUE_CLOSE = "\n</parameter>"  # counts at the start of a line
VALUE_END = whole_or_prefix(VALUE_CLOSE)

OPEN: Final = 0
NAME: Final = 1
ITEM: Final = 2
KEY: Final = 3
FIRST_NEWLINE: Final = 4
VALUE: Final = 5
CLOSE: Final = 6
DONE: Final = 7


class Body:
    __slots__ = ("window", "state", "count", "word_start")

    def __init__(self, window: Window) -> None:
        self.window = window
        self.state = OPEN
        self.count = 0
        self.word_start = 0  # input offset of the name or key that is being read

    def run(self) -> bool:
        """Reads what is there; True when the body has ended."""
        more = True
        while more:
            state = self.state
            if state == VALUE:
                more = self._value()
            elif state == ITEM:
                more = self._item()
            elif state in (NAME, KEY):
                more = self._word()
            elif state == FIRST_NEWLINE:
                more = self._first_newline()
            elif state == DONE:
                return True
            else:
                more = self._open_or_close()
        return False

    def _literal(self, word: str) -> bool:
        """After blanks: True when the word was read; False when it may still come."""
        w = self.window
        at = w.at = BLANKS.match(w.text, w.at).end()  # type: ignore[union-attr]
        if w.text.startswith(word, at):
            w.at = at + len(word)
            return True
        if not word.startswith(w.text[at:]):
            raise MalformedError(word)
        return False

    def _open_or_close(self) -> bool:
        w = self.window
        if self.state == OPEN:
            if not self._literal(FUNCTION):
                return False
            self.word_start = w.base + w.at
            self.state = NAME
        else:
            if not self._literal(CALL_CLOSE):
                return False
            w.end(json.loads("".join(w.pieces)))
            self.state = DONE
        return True

    def _word(self) -> bool:
        w = self.window
        end = w.text.find(">", w.at)
        if end < 0:
            w.at = len(w.text)
            return False
        word = w.text[self.word_start - w.base : end]
        w.at = end + 1
        if self.state == NAME:
            w.start(word)
            self.state = ITEM
        else:
            lead = ", " if self.count else "{"
            self.count += 1
            w.arguments(lead + encode_basestring(word) + ': "', w.at)
            self.state = FIRST_NEWLINE
        return True

    def _first_newline(self) -> bool:
        w = self.window
        if len(w.text) - w.at < len(VALUE_CLOSE) and VALUE_CLOSE.startswith(w.text[w.at :]):
            return False
        if w.text[w.at] == "\n" and not w.text.startswith(VALUE_CLOSE, w.at):
            w.at += 1
            w.markup()
        self.state = VALUE
        return True

    def _value(self) -> bool:
        w = self.window
        text = w.text
        at = w.at
        found = VALUE_END.search(text, at)
        end = found.start() if found else len(text)
        if end > at:
            w.arguments(encode_basestring(text[at:end])[1:-1], end)
        if found and found.end() - end == len(VALUE_CLOSE):
            w.arguments('"', found.end())
            self.state = ITEM
            return True
        return False

    def _item(self) -> bool:
        w = self.window
        w.at = BLANKS.match(w.text, w.at).end()  # type: ignore[union-attr]
        if w.text.startswith("<p", w.at):
            if not self._literal(PARAMETER):
                return False
            self.word_start = w.base + w.at
            self.state = KEY
            return True
        if not self._literal(FUNCTION_CLOSE):
            return False
        w.arguments("}" if self.count else "{}", w.at)
        self.state = CLOSE
        return True


class Level:
    """One level of the machine above a codec: hands the call on."""

    __slots__ = ("inner",)

    def __init__(self, inner: Body | Level) -> None:
        self.inner = inner

    def run(self) -> bool:
        return self.inner.run()


class Parser:
    __slots__ = ("window", "reader")

    def __init__(self, levels: int) -> None:
        self.window = Window()
        self.reader: Body | Level = Body(self.window)
        for _ in range(levels):
            self.reader = Level(self.reader)

    def feed(self, delta: str) -> list[Event]:
        self.window.push(delta)
        self.reader.run()
        return self.window.take()
