"""json_object: one JSON object that holds a call's name and arguments.

Promises: argument text goes out as it comes where the name is known and the first-ranked arguments
key holds an object; another key, a JSON string with an object in it, or arguments before the name are
held to the object's end. The object's own end is the body's end. A code fence around it is a repair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..calls import Call, Reading
from ..dialect import Body
from ..events import DefectKind
from ..faults import BodyFault, Malformed
from ..jsonstream import Steps, ValueReader
from ..scanner import MORE, NONE, Source
from ..sinks import Collect, Sink, Skip

FENCE: Final = "```"


def starts(reading: Reading, at: int, body: Body) -> int:
    """An object begins with its bracket; a lenient reader also takes a fence in front of it."""
    source = reading.source
    if source.text[at] == "{":
        return 1
    return _fence_starts(reading, at, "{") if reading.lenient and source.text[at] == "`" else NONE


def _fence_starts(reading: Reading, at: int, bracket: str) -> int:
    source = reading.source
    fence = source.starts(at, FENCE)
    if fence != 1:
        return fence
    line = source.line_end(at)
    if line < 0:
        return MORE if line == MORE and len(source.text) - at <= reading.limits.header else NONE
    found = source.follows(line, (bracket,))
    return 1 if found == 0 else MORE if found == MORE else NONE


def read(reading: Reading) -> Steps:
    """Read one object and report its call."""
    fenced = open_fence(reading)
    tap = CallObject(reading)
    yield from reading.reader(tap=tap).value()
    tap.finish()
    if fenced:
        yield from close_fence(reading)


def open_fence(reading: Reading) -> bool:
    """Pass a code fence in front of the body, where one stands; whether it does."""
    source = reading.source
    if source.text[source.pos] != "`":
        return False
    start = source.at
    source.pos = source.skip(source.line_end(source.pos))
    reading.repaired("a code fence around the body", start, source.at)
    return True


def close_fence(reading: Reading) -> Steps:
    """Pass the closing fence after the body, where one stands."""
    source = reading.source
    while True:
        found = source.follows(source.pos, (FENCE,))
        if found != MORE:
            break
        yield
    if found == 0:
        reading.channel.markup(source.follow_at + len(FENCE))


class CallObject:
    """Follows the members of a call's object and makes the call of them."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._source: Source = reading.source
        self._body = reading.body
        self._key = ""
        self._kept: Collect | None = None
        self._arguments: dict[str, str] = {}
        self._name: str | None = None
        self._id: str | None = None
        self._call: Call | None = None
        self._live = False
        self._bad = ""

    def enter(self, key: str, first: str) -> Sink:
        """A member begins: arguments go straight to the call where they may."""
        self._key = key
        self._kept = None
        body = self._body
        if key in body.arguments_keys:
            if self._live:
                raise Malformed(f"{key!r} comes after arguments that were sent")
            if self._call is not None and key == body.arguments_keys[0] and first == "{":
                self._reading.channel.settle(self._source.at)
                self._live = True
                return self._call
        elif key not in body.name_keys and key not in body.id_keys:
            return Skip(self._source)
        self._kept = self._reading.collect()
        return self._kept

    def leave(self) -> None:
        """A member is complete."""
        if self._kept is None:
            return
        text = self._kept.text()
        body = self._body
        if self._key in body.arguments_keys:
            self._arguments[self._key] = text
        elif self._key in body.id_keys:
            self._id = text.strip('"') if text[0] in '"0123456789' else None
        elif text[0] != '"':
            self._bad = "the name is not a string"
        elif self._name is None:
            self._name = json.loads(text)
            if self._reading.marked and not body.id_at and not self._bad:
                self._call = self._reading.start(self._name)
            else:
                self._reading.known(self._name)
        elif json.loads(text) != self._name:
            raise Malformed("a second name")

    @property
    def nameless(self) -> str:
        """Why the object is no call; empty where it may be one."""
        if self._bad:
            return self._bad
        if self._name is None:
            return "the object has no name"
        if not self._reading.marked and not self._arguments:
            return "the object has no arguments key"
        return ""

    def finish(self) -> None:
        """The object is complete: its call is, or it is none. Raises ``Malformed``."""
        if self.nameless or self._name is None:
            raise Malformed(self.nameless)
        call = self._call if self._call is not None else self._reading.start(self._name, self._id)
        if not self._live:
            text = self._object()
            if text is None:
                self._reading.abandon(
                    call, DefectKind.ARGUMENTS_NOT_AN_OBJECT, "the arguments are not an object"
                )
                return
            call.take(text, 0)
        call.end()

    def _object(self) -> str | None:
        """The JSON text of the arguments that were held, or None where they are no object."""
        for key in self._body.arguments_keys:
            text = self._arguments.get(key, "null")
            if text == "null":
                continue
            if text[0] == '"':
                inner = reread(json.loads(text).strip(), self._reading)
                text = "null" if inner is None else inner
            return text if text[0] == "{" else None
        return "{}"


def reread(text: str, reading: Reading) -> str | None:
    """JSON text of a complete value that was written inside a string, or None where it is none."""
    source = Source()
    source.feed(text)
    source.eof = True
    kept = Collect(source, reading.limits.call)
    reader = ValueReader(source, kept, lenient=reading.lenient, nesting=reading.limits.nesting)
    try:
        for _ in reader.value():
            pass
    except BodyFault:
        return None
    return kept.text() if source.skip(source.pos) == len(text) else None


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The object of one call."""
    return ", ".join(write_object(name, arguments, body) for name, arguments in calls)


def write_object(name: str, arguments: Mapping[str, Any], body: Body) -> str:
    """A call as JSON with the first-ranked keys."""
    value = {body.name_keys[0]: name, body.arguments_keys[0]: arguments}
    return json.dumps(value, ensure_ascii=False)
