"""tagged_echo: a function in tags, its values on lines of their own, read without the machine.

Promises: what ``echo`` does, for bodies in which the text of a tag is its name, and of a value just that.

Does not: read a value that holds what begins a marker, a parameter or a function without its end, or a value
that is not of its type.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..echo import NOT_SO, Echo
from ..events import Event
from ..jsontext import json_escape
from ..literals import json_string
from ..parts import Learnt
from ..runs import RawRun
from ..scanner import matched
from ..schema import Param, Tool
from ..sinks import Skip
from ..stops import line_tag, named_tag, plain_end, tag_begun, turn
from .elements import Shape, shape_of

if TYPE_CHECKING:
    from typing import Final

    from ..envelope import Machine
    from ..table import Way

_NEWLINE: Final = "\n"


def echo(machine: Machine, way: Way) -> Echo | None:
    """What reads the calls behind one that was read in ``way``; None where each needs care."""
    body, reading = way.body, machine.reading
    shape = shape_of(body, reading.closers, reading.openers, reading.lenient)
    if shape.element is None or body.names == "doubled" or body.after == "blank" or way.next is None:
        return None
    if body.open or body.close or body.prefixes or body.wrappers:
        return None
    return TaggedEcho(machine, way, shape)


class TaggedEcho(Echo):
    """An echo of a function in tags."""

    __slots__ = (
        *("_begun", "_kept", "_lead", "_live", "_open", "_opener", "_param", "_raw", "_raw_of", "_shape"),
        *("_skip", "_value_end"),
    )

    def __init__(self, machine: Machine, way: Way, shape: Shape) -> None:
        tag, own, envelope = shape.tag, shape.own, way.dialect.envelope
        head = named_tag(tag.open, tag.close, own.open)
        assert way.next is not None
        super().__init__(machine, way.next, turn(envelope.close[0], envelope.open[0], head))
        self._shape = shape
        self._opener = own.open
        self._begun = tag_begun(own.open, own.close, False, "")
        self._value_end = plain_end(own.open, own.end, tag.end, shape.firsts)
        self._open = line_tag(own.open, own.close)
        # The parameter whose value comes, whether that goes out as it comes, and what came of it if not.
        self._param: Param | None = None
        self._live = False
        self._kept: list[str] = []
        self._lead = "{"
        self._skip = Skip(machine.source)
        self._raw: RawRun | None = None
        self._raw_of: Tool | None = None

    def learn(self, text: str) -> Learnt | None:
        raw = self._raw
        return super().learn(text) if raw is None or self.index < 0 else raw.learn(text)

    def began(self) -> None:
        self._param = None
        self._kept.clear()
        self._lead = "{"

    def took(self, text: str) -> None:
        if self._live:
            self.sent(json_escape(text), self.at)
        else:
            self._kept.append(text)

    def read(self, text: str, at: int, base: int, events: list[Event]) -> int:
        opener, param, live = self._opener, self._param, self._live
        json, to = "", 0
        while True:
            if param is None:
                match = matched(self._open, text, at)
                if match is None:
                    if not self._begun.begins(text, at):
                        return NOT_SO
                    self._param = None
                    self.expect(self._begun)
                    if json:
                        self.arguments(json, to, events)
                    return at
                if json:
                    self.arguments(json, to, events)
                name, at = match[1].strip(), match.end()
                to = base + at
                self.markup(to, events)
                param = self.reading.param(self.tool, name)
                live = param.is_string
                json = f'{self._lead}{json_string(name)}: "' if live else f"{self._lead}{json_string(name)}: "
                self._lead = ", "
            match = matched(self._value_end, text, at)
            if match is None:
                # The value goes on, as far as what is there may be of it.
                self._param, self._live = param, live
                part = self._values().part(text[at:])
                if part is None:
                    return NOT_SO
                taken, escaped, held, size = part
                at += size
                if size and live:
                    json += escaped
                    to = base + at
                elif size:
                    self._kept.append(taken)
                if size and held:
                    # That may be the value's end.
                    continue
                if json:
                    self.arguments(json, to, events)
                return at
            ended = json_escape(match[1]) + '"' if live else self._typed(param, match[1])
            if not ended:
                return NOT_SO
            json += ended
            to = base + match.end(1) + 1
            at = match.end()
            param = None
            if match[2] != opener:
                break
        self._param = None
        self.arguments(json + "}", base + at, events)
        at += len(match[2])
        return at if self.over(base + at, events) else NOT_SO

    def _typed(self, param: Param, end: str) -> str:
        """The JSON of a value that is kept up to its ``end``; empty where it is not of its type."""
        if self._kept:
            end = "".join(self._kept) + end
            self._kept.clear()
        typed = param.typed(end)
        return typed.json if typed.ok else ""

    def _values(self) -> RawRun:
        """What takes more of a value."""
        raw, tool = self._raw, self.tool
        if raw is None or self._raw_of is not tool:
            frame = self._shape.frame(tool)
            sought = frame.around(self.reading).ends, _NEWLINE, "", frame.over
            self._raw = raw = RawRun(self.source, self._skip, *sought)
            self._raw_of = tool
        self.index = self.call
        self.parts = raw.enter(not self._live)
        return raw
