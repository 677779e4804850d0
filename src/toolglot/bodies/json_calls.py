"""json_calls: a call as a JSON object, alone, wrapped in another or in a list; shared by the JSON codecs.

Promises: argument text goes out as it comes where the name is known and the first-ranked arguments
key holds an object; another key, a JSON string with an object in it, or arguments before the name are
held to the object's end. Elements of a list that name no call are rejected and those around them stand.
A code fence around the JSON is a repair. Where nothing marks the JSON as calls, what is no call refutes it.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping

from .._typing import TYPE_CHECKING, Any
from ..calls import Call, Reading
from ..dialect import Body
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..scanner import END, MORE, Source
from ..sinks import Collect, Sink, Skip
from ..stops import name_head, object_head
from ..waits import head_waits
from .json_arguments import give, object_text

if TYPE_CHECKING:
    from typing import Final

_EARLY: Final = "before_name"
LATE: Final = "after_arguments"
_DEEPEST: Final = 4
_NO_ARGUMENTS: Final[Mapping[str, str]] = {}
# What a lenient reader takes between elements: another separator, a bracket too many, or nothing.
_LOOSE: Final = (";", "}", "{")


# -- one object ------------------------------------------------------------------------------------


class CallObject:
    """Follows the members of a call's object and makes the call, or the listed calls, of them."""

    __slots__ = (
        *("_arguments", "_bad", "_body", "_call", "_depth", "_id", "_kept", "_key", "_listed", "_live"),
        *("_name", "_reading", "_source"),
    )

    def __init__(self, reading: Reading, depth: int = 0) -> None:
        self._reading = reading
        self._source: Source = reading.source
        self._body = reading.body
        self._depth = depth
        self._key = ""
        self._kept: Collect | None = None
        self._arguments: Mapping[str, str] = _NO_ARGUMENTS
        self._name: str | None = None
        self._id: str | None = None
        self._call: Call | None = None
        self._live = False
        self._listed = 0
        self._bad = ""

    def named(self) -> bool:
        """Take an object at the cursor up to the end of its name, if that comes first, and start the call."""
        reading, source, body = self._reading, self._source, self._body
        if not reading.marked or body.id_at == LATE or self._depth:
            return False
        head = source.head(name_head(body.name_keys).whole, source.pos)
        if head is None:
            return False
        source.pos = head.end()
        self._name = name = head[1]
        self._call = reading.start(name)
        return True

    def arguments(self) -> Call | None:
        """Behind the name, the call that takes the arguments, if they are what comes next; else None."""
        source, key = self._source, self._body.arguments_keys[0]
        head = source.head(object_head(key).whole, source.pos)
        if head is None:
            return None
        source.pos = end = head.end()
        self._reading.channel.settle(source.base + end)
        self._live = True
        self._key = key
        return self._call

    def waits(self) -> bool:
        """Declare that ``named`` or ``arguments`` may yet take what is at the cursor; whether they may."""
        reading, source, body = self._reading, self._source, self._body
        if not reading.marked or body.id_at == LATE or self._depth:
            return False
        head = name_head(body.name_keys) if self._name is None else object_head(body.arguments_keys[0])
        return head_waits(source, head.begun)

    def inner(self, key: str, first: str) -> Steps | None:
        """A member that holds the call, or calls, is read by its own reader."""
        body = self._body
        if self._depth >= _DEEPEST or self._live:
            return None
        if key in body.wrap_keys and first == "{":
            return self._wrapped()
        return self._list() if key in body.list_keys and first == "[" else None

    def _wrapped(self) -> Steps:
        self._depth += 1
        yield from self._reading.reader(tap=self).value()
        self._depth -= 1
        self._kept = None

    def _list(self) -> Steps:
        if self._call is not None:
            raise Malformed("a list of calls inside a call")
        before = self._reading.channel.ledger.count
        yield from read_elements(self._reading, self._depth + 1)
        self._listed += self._reading.channel.ledger.count - before

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
            self._arguments = {**self._arguments, self._key: text}
        elif self._key in body.id_keys:
            self._id = str(json.loads(text)) if text[0] in '"0123456789' else None
        elif text[0] != '"':
            self._bad = "the name is not a string"
        elif self._name is None:
            name: str = json.loads(text)
            self._name = name
            if self._reading.marked and body.id_at != LATE and not self._bad and not self._listed:
                self._call = self._reading.start(name, self._id)
            else:
                self._reading.known(name)
        elif json.loads(text) != self._name:
            raise Malformed("a second name")

    @property
    def nameless(self) -> str:
        """Why the object is no call; empty where it may be one."""
        if self._listed:
            return ""
        if self._bad:
            return self._bad
        if self._name is None:
            return "the object has no name"
        if not self._reading.marked and not self._arguments:
            return "the object has no arguments key"
        return ""

    def finish(self) -> None:
        """The object is complete: its call is, or it is none. Raises ``Malformed``."""
        if self._listed:
            return
        if self.nameless or self._name is None:
            raise Malformed(self.nameless)
        call = self._call if self._call is not None else self._reading.start(self._name, self._id)
        if self._live:
            call.end()
        else:
            give(self._reading, call, self._object())

    def _object(self) -> str | None:
        """The JSON text of the arguments that were held, or None where they are no object."""
        for key in self._body.arguments_keys:
            text = self._arguments.get(key, "null")
            if text != "null":
                return object_text(text, self._reading)
        return "{}"


# -- a list of them --------------------------------------------------------------------------------


def read_elements(reading: Reading, depth: int = 0, keyed: bool = False) -> Generator[None, None, bool]:
    """Read the array at the cursor, each element as a call; whether there was any element.

    ``keyed``: whether an element's key is the name.
    """
    source = reading.source
    source.pos += 1
    if (yield from _ahead(reading, ("]",))) == 0:
        source.pos = source.follow_at + 1
        return False
    while True:
        yield from _element(reading, depth, keyed)
        if (yield from _behind_element(reading)):
            return True


def _behind_element(reading: Reading) -> Generator[None, None, bool]:
    """Pass what separates an element from the next one; whether the array has ended instead."""
    source = reading.source
    marks = (",", "]", *reading.closers, *(_LOOSE if reading.lenient else ()))
    while True:
        found = yield from _ahead(reading, marks)
        mark = marks[found] if found >= 0 else ""
        if not mark or (mark in reading.closers and not reading.lenient):
            raise Malformed("expected ',' or ']'")
        source.pos = source.follow_at
        if mark in reading.closers:
            reading.repaired("closing bracket missing before the close marker", source.at, source.at)
            return True
        if mark == "{":
            reading.repaired("comma missing between calls", source.at, source.at)
            return False
        source.pos += 1
        if mark in _LOOSE:
            reading.repaired(f"{mark!r} between calls", source.at - 1, source.at)
        if mark != "}":
            break
    if mark != "]" and reading.lenient and (yield from _ahead(reading, ("]",))) == 0:
        reading.repaired("trailing comma", source.at - 1, source.at)
        source.pos = source.follow_at + 1
        return True
    return mark == "]"


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside an array")
        if found != MORE:
            return found
        yield


def _element(reading: Reading, depth: int, keyed: bool) -> Steps:
    source = reading.source
    start = source.at
    reading.name = None
    yield from _ahead(reading, ())
    source.pos = source.follow_at
    if source.text[source.pos] == "{":
        tap = KeyedObject(reading) if keyed else CallObject(reading, depth)
        reader = reading.reader(tap=tap)
        reader.around = "]"
        yield from reader.value()
        if not tap.nameless:
            tap.finish()
            return
        why = tap.nameless
    else:
        yield from reading.reader().value()
        why = "an element that is no call"
    if not reading.marked:
        raise Malformed(why)
    reading.noise(start, why)


class KeyedObject:
    """Follows the members of an object whose keys are names and whose values are arguments."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._name = ""
        self._kept: Collect | None = None
        self._call: Call | None = None
        self.nameless = "the object names no call"

    def inner(self, key: str, first: str) -> Steps | None:
        """No member holds another call."""
        return None

    def enter(self, key: str, first: str) -> Sink:
        """A call begins: its name is the key. What no marker says to be calls holds one call an object."""
        reading = self._reading
        if not reading.marked and (self._name or first != "{"):
            raise Malformed("an object that is no call")
        self._name = key
        self.nameless = ""
        self._call = None
        if first == "{":
            self._call = reading.start(key)
            reading.channel.settle(reading.source.at)
            return self._call
        reading.known(key)
        self._kept = reading.collect()
        return self._kept

    def leave(self) -> None:
        """The call is complete."""
        reading, call = self._reading, self._call
        if call is None:
            assert self._kept is not None
            give(reading, reading.start(self._name), object_text(self._kept.text(), reading))
        else:
            call.end()

    def finish(self) -> None:
        """Each call has ended where its value did."""


# -- writing ---------------------------------------------------------------------------------------


def write_object(name: str, arguments: Mapping[str, Any], body: Body, before: int = 0) -> str:
    """A call as JSON with the first-ranked keys; ``before``: calls before it, its id where one goes first."""
    value: dict[str, Any] = {body.id_keys[0]: str(before)} if body.id_at == _EARLY else {}
    value |= {body.name_keys[0]: name, body.arguments_keys[0]: arguments}
    return json.dumps(value, ensure_ascii=False)
