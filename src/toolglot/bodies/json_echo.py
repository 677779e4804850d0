"""json_echo: an object with a call's name and its arguments, read without the machine.

Promises: what ``echo`` does, for objects that begin with the name and end with the arguments.

Does not: read an object or an array among the arguments, other members, or JSON that is not strict.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..echo import NOT_SO, Echo
from ..events import Event
from ..parts import Beginning, Learnt
from ..runs import StringRun
from ..scanner import matched
from ..sinks import Skip
from ..stops import (
    AFTER_BEGUN,
    BLANKS_BEGUN,
    MEMBER_END,
    NEXT_KEY,
    NO_MEMBERS,
    OBJECT_END,
    PLAIN_START,
    QUOTE_BEGUN,
    SCALAR_BEGUN,
    SCALAR_END,
    START_BEGUN,
    Head,
    name_head,
    object_head,
    string_patterns,
    turn,
)
from .json_calls import LATE

if TYPE_CHECKING:
    from typing import Final

    from ..envelope import Machine
    from ..table import Way

# What comes next: the arguments' key, their object, a value in it, more of a string, what is behind a value,
# the end of all.
_HEAD: Final = 0
_OBJECT: Final = 1
_VALUE: Final = 2
_STRING: Final = 3
_AFTER: Final = 4
_END: Final = 5

_INSIDE: Final = string_patterns('"')


def echo(machine: Machine, way: Way) -> Echo | None:
    """What reads the calls behind one that was read in ``way``; None where each needs care."""
    body = way.body
    if way.next is None or body.id_at == LATE or body.open or body.close or body.after == "blank":
        return None
    return JsonEcho(machine, way)


class JsonEcho(Echo):
    """An echo of an object."""

    __slots__ = ("_arguments", "_comes", "_string")

    def __init__(self, machine: Machine, way: Way) -> None:
        body, envelope = way.body, way.dialect.envelope
        assert way.next is not None
        head = f"({name_head(body.name_keys).whole.pattern})"
        super().__init__(machine, way.next, turn(envelope.close[0], envelope.open[0], head))
        self._arguments: Head = object_head(body.arguments_keys[0])
        self._comes = _HEAD
        self._string = StringRun(machine.source, Skip(machine.source), _INSIDE, QUOTE_BEGUN)

    def learn(self, text: str) -> Learnt | None:
        return super().learn(text) if self.index < 0 else self._string.learn(text)

    def began(self) -> None:
        self._comes = _HEAD

    def took(self, text: str) -> None:
        self.sent(text, self.at)

    def read(self, text: str, at: int, base: int, events: list[Event]) -> int:
        if self._comes == _HEAD:
            match = matched(self._arguments.whole, text, at)
            if match is None:
                return self._hold(text, at, self._arguments.begun)
            at = match.end()
            self.markup(base + at, events)
            self._comes = _OBJECT
        start = at
        at = self._members(text, at)
        if at > start:
            self.arguments(text[start:at], base + at, events)
        if at < 0 or self._comes != _END:
            return at
        match = matched(OBJECT_END, text, at)
        if match is None:
            return self._hold(text, at, BLANKS_BEGUN)
        at = match.end()
        return at if self.over(base + at, events) else NOT_SO

    def _members(self, text: str, at: int) -> int:
        """Read on inside the arguments. Up to where, and what is waited for there; ``NOT_SO`` for nothing."""
        comes = self._comes
        if comes == _OBJECT:
            match = matched(PLAIN_START, text, at)
            comes = _VALUE
            if match is None:
                match = matched(NO_MEMBERS, text, at)
                comes = _END
            if match is None:
                return self._hold(text, at, START_BEGUN)
            at = match.end()
        while comes != _END:
            if comes == _VALUE:
                if text[at] == '"':
                    at, comes = at + 1, _STRING
                else:
                    match = matched(SCALAR_END, text, at)
                    if match is None:
                        self._comes = comes
                        return self._hold(text, at, SCALAR_BEGUN)
                    at, comes = match.end(), _AFTER
            if comes == _STRING:
                match = matched(_INSIDE.inside, text, at)
                at = at if match is None else match.end()
                match = matched(MEMBER_END, text, at)
                if match is None:
                    self._comes = comes
                    return self._goes_on(text, at)
                at, comes = at + 1, _AFTER
            match = matched(NEXT_KEY, text, at)
            if match is not None:
                at, comes = match.end(), _VALUE
                continue
            match = matched(OBJECT_END, text, at)
            if match is None:
                self._comes = comes
                return self._hold(text, at, AFTER_BEGUN)
            at, comes = match.end(), _END
        self._comes = comes
        return at

    def _hold(self, text: str, at: int, beginning: Beginning) -> int:
        """Wait at local index ``at`` for what is but a ``beginning``, if it is."""
        if not beginning.begins(text, at):
            return NOT_SO
        self.expect(beginning)
        return at

    def _goes_on(self, text: str, at: int) -> int:
        """Wait at local index ``at`` for more of a string, if it may go on."""
        part = self._string.part(text[at:])
        if part is None or part[3]:
            return NOT_SO
        self.index = self.call
        self.parts = self._string.enter(False)
        return at
