"""xml_tree: a tag with the call's name, and nested elements whose tags follow a namespace literal.

Promises: a tag without the namespace is text, and so is one that cannot be the end of an argument or of
the call: an argument's close with other text behind it, a call's close inside a string with neither an
opener nor the end behind it. Children make an object, items and repeated names a list, and a leaf's text
is typed by the schema of its place. Arguments go out once, at the call's end: until then a repeated name
may turn a value into a list.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Reading
from ..dialect import Body, Tag
from ..errors import RenderError
from ..faults import Cut, Malformed, OverLimit
from ..jsonstream import Steps
from ..literals import json_string
from ..markers import Rope, marks
from ..scanner import BLANKS, MORE, NONE
from ..schema import UNDECLARED, Place
from ..stops import one_of
from .rawvalue import behind, ends_call
from .tags import read_tag, tag_begins, write_tag

if TYPE_CHECKING:
    from typing import Final

_TEXT_KEY: Final = "$text"
_TEXT: Final = frozenset({"string"})
# How deep an argument stands; deeper, text between elements is allowed.
_ARGUMENT: Final = 2


class Node:
    """An element that is being read: its tag, its place in the schema, its text and its children."""

    __slots__ = ("tag", "place", "text", "children", "members")

    def __init__(self, tag: str, place: Place | None) -> None:
        self.tag = tag
        self.place = place
        self.text = Rope()
        self.children: list[tuple[str, str]] = []
        self.members: dict[str, Place] = {}

    def child(self, tag: str, item: str) -> Node:
        """A child element that begins."""
        if self.place is None:
            return Node(tag, None)
        if tag not in self.members:
            listed = tag == item and self.types & {"array"} and "object" not in self.types
            self.members[tag] = self.place.item() if listed else self.place.child(tag)
        return Node(tag, self.members[tag])

    @property
    def types(self) -> frozenset[str]:
        """The types declared for this place; all of them where none is."""
        return frozenset({"any"}) if self.place is None else self.place.param.types

    def json(self, item: str) -> str:
        """The value that the element stands for, as JSON text."""
        text = self.text.text()
        if self.children:
            return self._container(text.strip(BLANKS), item)
        if not text and "any" not in self.types:
            for kind, empty in (("string", '""'), ("null", "null"), ("array", "[]"), ("object", "{}")):
                if kind in self.types:
                    return empty
        return (UNDECLARED if self.place is None else self.place.param).typed(text).json

    def _container(self, text: str, item: str) -> str:
        listed = "array" in self.types if "any" not in self.types else True
        if listed and not text and all(tag == item for tag, _ in self.children):
            return "[" + ", ".join(value for _, value in self.children) + "]"
        members: dict[str, list[str]] = {}
        for tag, value in self.children:
            members.setdefault(tag, []).append(value)
        if text:
            members.setdefault(_TEXT_KEY, []).append(json_string(text))
        written = ", ".join(
            f"{json_string(tag)}: {values[0] if len(values) == 1 else '[' + ', '.join(values) + ']'}"
            for tag, values in members.items()
        )
        return "{" + written + "}"


def _tag(body: Body) -> Tag:
    assert body.name is not None
    return body.name


def starts(reading: Reading, at: int, body: Body) -> int:
    """A body begins with the tag that holds the name."""
    return tag_begins(reading.source, at, _tag(body))


def read(reading: Reading) -> Steps:
    """Read one call's tree and report its call."""
    body = reading.body
    head = yield from read_tag(reading, _tag(body))
    call = reading.start(head.name)
    stack = [Node("", None if call.tool is None else call.tool.place)]
    own = _tag(body).end
    room = reading.limits.call
    while True:
        found, raw = yield from _until(reading, stack[-1], own)
        room -= len(raw)
        if room < 0:
            raise OverLimit("the call is longer than the limit allows")
        node = stack[-1]
        if not (yield from _counts(reading, stack, found, own)):
            node.text.append(raw)
            continue
        if found == own:
            if len(stack) > 1:
                raise Malformed(f"{stack[-1].tag!r} is not closed")
            break
        if not found.startswith("/"):
            stack.append(stack[-1].child(found, body.item))
            if len(stack) > reading.limits.nesting:
                raise OverLimit(f"more than {reading.limits.nesting} nested elements")
            continue
        stack.pop()
        if not stack or node.tag != found[1:]:
            raise Malformed(f"{found!r} closes nothing")
        stack[-1].children.append((node.tag, node.json(body.item)))
    root = stack[0]
    if root.text.text().strip(BLANKS):
        raise Malformed("text between the arguments")
    call.take(root.json("") if root.children else "{}", 0)
    call.end()


def _counts(reading: Reading, stack: Sequence[Node], found: str, own: str) -> Generator[None, None, bool]:
    """Whether a tag that was read is one, and no text of the innermost element."""
    source, node = reading.source, stack[-1]
    text = node.types == _TEXT
    while True:
        if found == own:
            verdict = ends_call(reading, source.pos) if text else 1
        elif found != "/" + node.tag:
            verdict = NONE if text else 1
        elif len(stack) == _ARGUMENT:
            verdict = behind(reading, source.pos, (reading.body.namespace, *reading.closers))
        else:
            verdict = 1
        if verdict != MORE:
            return verdict != NONE
        yield


def _until(reading: Reading, node: Node, own: str) -> Generator[None, None, tuple[str, str]]:
    """Read text into ``node`` up to a tag and past it: the call's end, or the tag's name; and its text."""
    source, namespace = reading.source, reading.body.namespace
    literal = marks((namespace,))
    while True:
        at = source.find(literal, source.pos)
        to = len(source.text) if at < 0 else at
        node.text.append(source.text[source.pos : to])
        if node.text.length > reading.limits.call:
            raise OverLimit("the call is longer than the limit allows")
        source.pos = to
        if at < 0 or source.hit is None:
            if source.eof:
                raise Cut("the text ends inside the arguments")
            yield
            continue
        tag = _element(reading, at, own)
        if isinstance(tag, str):
            return tag, source.text[at : source.pos]
        if tag == NONE:
            node.text.append(namespace)
            source.pos += len(namespace)
        elif source.eof:
            raise Cut("the text ends inside a tag")
        else:
            yield


def _element(reading: Reading, at: int, own: str) -> str | int:
    """The tag behind the namespace at local index ``at``, and past it; ``MORE`` or ``NONE`` without one."""
    source = reading.source
    found = source.starts(at, own)
    if found == 1:
        source.pos = at + len(own)
        return own
    start = source.skip(at + len(reading.body.namespace))
    if start == len(source.text):
        return MORE
    if source.text[start] != "<":
        return NONE
    end = source.stop(one_of("<>\n"), start + 1)
    if end == len(source.text):
        return MORE if end - start <= reading.limits.header else NONE
    name = source.text[start + 1 : end].strip(BLANKS)
    if source.text[end] != ">" or not name.strip("/"):
        return NONE
    source.pos = end + 1
    return own if f"{reading.body.namespace}<{name}>" == own else name


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The trees of ``calls``."""
    ((name, arguments),) = calls
    tag = _tag(body)
    inner = "".join(_write(key, value, body) for key, value in arguments.items())
    return write_tag(tag, name, "") + inner + tag.end


def _write(key: str, value: Any, body: Body) -> str:
    if not key or any(c in "<>/\n" or c in BLANKS for c in key):
        raise RenderError(f"the key {key!r} cannot be written as a tag")
    if isinstance(value, Mapping):
        inner = "".join(_write(str(name), member, body) for name, member in value.items())
    elif isinstance(value, (list, tuple)):
        inner = "".join(_write(body.item, element, body) for element in value)
    elif value is None:
        inner = ""
    else:
        inner = value if isinstance(value, str) else json.dumps(value)
    return f"{body.namespace}<{key}>{inner}{body.namespace}</{key}>"
