"""Nesting: where in a JSON text its beginning stops, and an end for it that no reader mends into a value.

Promises: linear in the text, and any split gives the same. Does not check that the text is JSON.
"""

from __future__ import annotations

import re
from typing import Final

_INSIDE: Final = re.compile(r'["\\]')
_OUTSIDE: Final = re.compile(r'["{}\[\]]')
_OPENERS: Final = {"}": "{", "]": "["}
_WRONG: Final = {"{": "]", "[": "}"}
_NOTE: Final = r"\x cut: this call did not finish"


class Nesting:
    """The brackets and the string that are open at the end of the text so far."""

    __slots__ = ("_escaped", "_open", "_string", "begun")

    def __init__(self) -> None:
        self.begun = False
        self._open: list[str] = []
        self._string = False
        self._escaped = False

    @property
    def complete(self) -> bool:
        """Whether the text can be a whole value: something was read, and nothing is open."""
        return self.begun and not self._open and not self._string

    def feed(self, text: str) -> None:
        """Read on."""
        self.begun = self.begun or bool(text.strip())
        at, end = 0, len(text)
        if self._escaped and text:
            self._escaped, at = False, 1
        while at < end:
            match = (_INSIDE if self._string else _OUTSIDE).search(text, at)
            if match is None:
                return
            at = match.end()
            character = match.group()
            if character == '"':
                self._string = not self._string
            elif character == "\\":
                self._escaped = at == end
                at += 1
            elif character in _WRONG:
                self._open.append(character)
            elif self._open and self._open[-1] == _OPENERS[character]:
                self._open.pop()

    def poison(self) -> str:
        """What makes the text JSON for nobody, however it is mended at its end.

        An escape that JSON does not have, inside of a string that is closed, defeats readers that cut
        back to the last sound place or close what is open; a bracket that does not match defeats those
        that look for it. The text that is there stays as it is.
        """
        opened = "" if self.begun else "{"
        string = "" if self._string else ',"'
        # A backslash that stands at the end is the one that the note would begin with.
        note = _NOTE[1:] if self._escaped else _NOTE
        innermost = self._open[-1] if self._open else "{" if opened else ""
        return f'{opened}{string}{note}":"{_NOTE}"{_WRONG.get(innermost, "]")}'
