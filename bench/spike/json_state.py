"""``{"name": ..., "arguments": {...}}`` read by a state object."""

from __future__ import annotations

import json
import re
from typing import Final

from base import BLANKS, CALL_CLOSE, Event, MalformedError, Window

INSIDE = re.compile(r'[^"\\]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*)*')  # never half an escape
BETWEEN = re.compile(r'[^"{}\[\]]*')
HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")

OPEN: Final = 0
KEY: Final = 1
KEY_STRING: Final = 2
COLON: Final = 3
VALUE: Final = 4
NAME_STRING: Final = 5
ARGUMENTS: Final = 6
ARGUMENTS_STRING: Final = 7
AFTER_VALUE: Final = 8
CLOSE: Final = 9
DONE: Final = 10


class Body:
    __slots__ = ("window", "state", "key", "depth", "string_start")

    def __init__(self, window: Window) -> None:
        self.window = window
        self.state = OPEN
        self.key = ""
        self.depth = 0
        self.string_start = 0  # input offset of the string that is being read whole

    def run(self) -> bool:
        """Reads what is there; True when the body has ended."""
        more = True
        while more:
            state = self.state
            if state == ARGUMENTS_STRING:
                more = self._arguments_string()
            elif state == ARGUMENTS:
                more = self._arguments()
            elif state in (KEY_STRING, NAME_STRING):
                more = self._string()
            elif state == CLOSE:
                more = self._close()
            elif state == DONE:
                return True
            else:
                more = self._punctuation(state)
        return False

    def _punctuation(self, state: int) -> bool:
        w = self.window
        at = w.at = BLANKS.match(w.text, w.at).end()  # type: ignore[union-attr]
        if at == len(w.text):
            return False
        char = w.text[at]
        if state == VALUE and self.key == "arguments" and char == "{":
            w.markup()
            self.state = ARGUMENTS
            return True  # the brace is part of the arguments
        if state == OPEN and char == "{":
            self.state = KEY
        elif state == KEY and char == '"':
            self.string_start = w.base + at + 1
            self.state = KEY_STRING
        elif state == COLON and char == ":":
            self.state = VALUE
        elif state == VALUE and self.key == "name" and char == '"':
            self.string_start = w.base + at + 1
            self.state = NAME_STRING
        elif state == AFTER_VALUE and char == ",":
            self.state = KEY
        elif state == AFTER_VALUE and char == "}":
            self.state = CLOSE
        else:
            raise MalformedError(char)
        w.at = at + 1
        return True

    def _string(self) -> bool:
        w = self.window
        end = w.at = INSIDE.match(w.text, w.at).end()  # type: ignore[union-attr]
        if end == len(w.text) or HALF_ESCAPE.match(w.text, end):
            return False
        if w.text[end] != '"':
            raise MalformedError("escape")
        string: str = json.loads('"' + w.text[self.string_start - w.base : end] + '"')
        w.at = end + 1
        if self.state == KEY_STRING:
            self.key = string
            self.state = COLON
        else:
            w.start(string)
            self.state = AFTER_VALUE
        return True

    def _arguments(self) -> bool:
        w = self.window
        text = w.text
        end = BETWEEN.match(text, w.at).end()  # type: ignore[union-attr]
        if end == len(text):
            if end > w.pos:
                w.arguments(text[w.pos :], end)
            return False
        char = text[end]
        w.at = end + 1
        if char == '"':
            self.state = ARGUMENTS_STRING
        elif char in "{[":
            self.depth += 1
        else:
            self.depth -= 1
            if self.depth == 0:
                w.arguments(text[w.pos : end + 1], end + 1)
                self.state = AFTER_VALUE
        return True

    def _arguments_string(self) -> bool:
        w = self.window
        text = w.text
        end = INSIDE.match(text, w.at).end()  # type: ignore[union-attr]
        if end < len(text) and text[end] == '"':
            w.at = end + 1
            self.state = ARGUMENTS
            return True
        if end < len(text) and not HALF_ESCAPE.match(text, end):
            raise MalformedError("escape")
        if end > w.pos:
            w.arguments(text[w.pos : end], end)
        return False

    def _close(self) -> bool:
        w = self.window
        at = w.at = BLANKS.match(w.text, w.at).end()  # type: ignore[union-attr]
        if not w.text.startswith(CALL_CLOSE, at):
            if not CALL_CLOSE.startswith(w.text[at:]):
                raise MalformedError("close")
            return False
        w.at = at + len(CALL_CLOSE)
        w.end(json.loads("".join(w.pieces)))
        self.state = DONE
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
