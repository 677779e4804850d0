"""Calls: from what a codec reads to ``CallStart``, ``Arguments`` and ``CallEnd``.

Promises: indices and ids advance when a name becomes known, in both argument modes; the joined
``Arguments`` of a call are at every moment a prefix of valid JSON; a ``CallStart`` is always followed
by its ``CallEnd`` or by a defect with its index; a call's arguments are decoded once.

Does not: read any syntax (``bodies``) or decide what becomes of a faulty call (``envelope``).
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING, Any
from .channel import Channel
from .dialect import Body, Envelope
from .draft import STRETCH, Draft
from .events import Arguments, CallEnd, CallStart, DefectKind
from .faults import Malformed, OverLimit
from .jsonstream import ValueReader
from .jsontext import json_escape
from .late import Once
from .limits import Limits
from .scanner import Source
from .sinks import Collect, Sink, Skip, Tap

if TYPE_CHECKING:
    from typing import Final

    from .schema import Param, Tool, Tools

_NO_BODY: Final = Body("")
# Shared by the calls that have nothing to send, and never changed.
_NO_DRAFT: Final = Draft()


class Call:
    """A call whose name is known: a sink for the JSON text of its arguments.

    ``pending``: what came and was not sent.
    """

    __slots__ = (
        *("channel", "index", "name", "tool", "start", "pending", "room"),
        *("_draft", "_drafted", "_held", "_value", "_to"),
    )

    def __init__(
        self, channel: Channel, index: int, name: str, tool: Tool | None, start: int, held: bool, room: int
    ) -> None:
        self.channel = channel
        self.index = index
        self.name = name
        self.tool = tool
        self.start = start
        self._held = held
        self.room = room
        self.pending: list[str] = []
        # What of ``pending`` is in the draft: short pieces go there when they are joined.
        self._draft = Draft()
        self._drafted = 0
        self._value: Any = None
        self._to = channel.mark

    @property
    def empty(self) -> bool:
        """Whether no argument text has come yet."""
        return not (self._draft.length or self.pending)

    def take(self, text: str, count: int) -> None:
        """``text`` is argument JSON that stands for the next ``count`` characters."""
        source = self.channel.source
        length = len(text)
        if length > self.room:
            # As many characters as fit, so that the pieces in which the text came do not matter.
            if length == count and self.room:
                self.take(text[: self.room], self.room)
            raise OverLimit("the call is longer than the limit allows")
        source.pos = end = source.pos + count
        if length:
            self.room -= length
            self.pending.append(text)
            self._to = source.base + end

    def _stretch(self, text: str, escaped: str) -> None:
        """As ``take``, for a long ``text`` inside of a string, which may have to be escaped."""
        source = self.channel.source
        source.pos += len(text)
        self.room -= len(escaped)
        pending = self.pending
        if self._drafted < len(pending):
            self._draft.append("".join(pending[self._drafted :]))
        self._draft.stretch(text, text is not escaped)
        pending.append(escaped)
        self._drafted = len(pending)
        self._to = source.at

    def take_plain(self, text: str) -> None:
        """``text`` is what stands at the cursor and the inside of a JSON string."""
        if STRETCH <= len(text) <= self.room:
            self._stretch(text, text)
        else:
            self.take(text, len(text))

    def take_raw(self, text: str) -> None:
        """``text`` is what stands at the cursor, to be the inside of a JSON string."""
        escaped = json_escape(text)
        if len(escaped) > self.room:
            for character in text:
                self.take(json_escape(character), 1)
        elif len(text) < STRETCH:
            self.take(escaped, len(text))
        else:
            self._stretch(text, escaped)

    def take_value(self, text: str, count: int, value: Any) -> None:
        """As ``take``, for all the arguments at once, already decoded."""
        if self.empty:
            self._value = value
        self.take(text, count)

    def live(self) -> int:
        """The call's index where argument text may go out at once: nothing is held, or waits to be sent."""
        channel = self.channel
        source = channel.source
        if (
            channel.call is not self
            or channel.holds
            or self.pending
            or channel.mark != source.base + source.pos
        ):
            return -1
        return self.index

    def sent(self, text: str, raw: bool) -> None:
        """As ``take_raw``, or ``take_plain``, for text that went out already."""
        channel = self.channel
        source = channel.source
        escaped = json_escape(text) if raw else text
        source.pos += len(text)
        self.room -= len(escaped)
        if len(text) < STRETCH:
            self._draft.append(escaped)
        else:
            self._draft.stretch(text, raw)
        self._to = channel.mark = source.base + source.pos

    def flush(self) -> None:
        """Send the argument text that came since the last time."""
        pending = self.pending
        if not pending:
            return
        channel, end = self.channel, self._to
        start, channel.mark = channel.mark, end
        text = "".join(pending)
        if not self._drafted:
            self._draft.append(text)
        else:
            self._draft.append("".join(pending[self._drafted :]))
            self._drafted = 0
        pending.clear()
        channel.out.append(Arguments(self.index, text, (start, end)))

    def forget(self) -> None:
        """The call leads nowhere, and is only read to its end: nothing of it is kept."""
        self.index = -1
        self._draft = Draft()
        self.pending.clear()
        self._drafted = 0

    def end(self) -> None:
        """The call is complete, up to the cursor. Raises ``Malformed`` where its arguments are no object."""
        channel = self.channel
        if self.index < 0:
            channel.call = None
            return
        self.flush()
        value, canonical = (self._value, None) if self._value is not None else self._draft.value()
        if not isinstance(value, dict):
            raise Malformed("the arguments are not an object")
        self._draft = _NO_DRAFT
        channel.call = None
        source = channel.source
        at = source.base + source.pos
        if canonical is not None:
            channel.defect(
                DefectKind.DUPLICATE_ARGUMENT,
                self.start,
                at,
                "an argument repeats; its last value counts",
                self.index,
            )
        start, channel.mark = channel.mark, at
        channel.out.append(CallEnd(self.index, value, (start, at), canonical))
        if self._held:
            channel.release()

    def give_up(self) -> None:
        """The call will not end: what was held of its arguments does not go out as arguments."""
        self.flush()
        self.channel.call = None
        if self._held:
            self.channel.release(without_arguments=True)


def _markers(body: Body, envelope: Envelope) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What opens a body in its envelope, and what closes it."""
    return (*body.open, *envelope.open, *envelope.stops), (*body.close, *envelope.close)


_around: Final = Once(_markers)


class Reading:
    """What a body codec sees of the machine around it while it reads one envelope."""

    __slots__ = (
        "channel",
        "source",
        "body",
        "tools",
        "closers",
        "lenient",
        "stream",
        "limits",
        "offered_only",
        "marked",
        "name",
        "assumed",
        "provisional",
        "openers",
        "recipient",
        "finish_reason",
        "lines",
    )

    def __init__(
        self, channel: Channel, tools: Tools | None, limits: Limits, *, lenient: bool, stream: bool
    ) -> None:
        self.channel = channel
        self.source: Source = channel.source
        self.body = _NO_BODY
        self.tools = tools
        self.closers: tuple[str, ...] = ()
        self.openers: tuple[str, ...] = ()
        self.lines: tuple[str, ...] = ()
        self.lenient = lenient
        self.stream = stream
        self.limits = limits
        self.offered_only = False
        self.marked = True
        self.name: str | None = None
        self.assumed = False
        self.provisional = False
        self.recipient = ""
        self.finish_reason: str | None = None

    def enter(self, body: Body, envelope: Envelope, *, marked: bool, offered_only: bool) -> None:
        """Set out to read a body in this envelope."""
        self.body = body
        self.openers, self.closers = _around(body, envelope)
        self.lines = envelope.lines
        self.marked = marked
        self.offered_only = offered_only
        self.name = None

    def offered(self, name: str) -> bool:
        """Whether the request offers a tool of this name."""
        return self.tools is not None and name in self.tools.names

    def known(self, name: str) -> None:
        """A name was read, before its call starts. Raises ``Malformed`` where only offered names count."""
        self.name = name
        if self.offered_only and not self.offered(name):
            raise Malformed(f"{name!r} is not an offered tool")

    def start(self, name: str, own_id: str | None = None) -> Call:
        """Start the call ``name``; what was read of it so far is its beginning."""
        self.name = name
        if self.offered_only:
            self.known(name)
        channel, source = self.channel, self.source
        at = source.base + source.pos
        channel.settle(channel.body_at if channel.body_at < at else at)
        index, call_id = channel.ledger.enter(own_id)
        start = channel.mark
        tool = self.tools.get(name) if self.tools is not None else None
        channel.out.append(CallStart(index, call_id, name, (start, at)))
        channel.mark = at
        if self.tools is not None and tool is None:
            channel.defect(
                DefectKind.UNKNOWN_TOOL, start, at, f"{name!r} is not among the offered tools", index
            )
        # Where events of the region are held anyway, they need not be held for the call.
        held = not self.stream and self.lenient and self.marked
        call = Call(channel, index, name, tool, start, held, self.limits.call)
        if self.provisional:
            self.commit()
        if held:
            channel.hold()
        channel.call = call
        return call

    def commit(self) -> None:
        """What was read can no longer be refuted: what was held of this envelope goes out."""
        if self.provisional:
            self.provisional = False
            self.channel.release()

    def abandon(self, call: Call, kind: DefectKind, detail: str) -> None:
        """Give up a call that was started and is complete: a defect with its index, and no ``CallEnd``."""
        if not self.lenient:
            raise Malformed(detail, kind)
        channel = self.channel
        call.give_up()
        at = self.source.at
        channel.settle(at)
        channel.defect(kind, call.start, at, detail, call.index)

    def reject(self, detail: str) -> None:
        """What was read and not attributed is neither content nor call."""
        channel = self.channel
        start, at = channel.mark, self.source.at
        channel.settle(at)
        channel.defect(DefectKind.REJECTED, start, at, detail)

    def noise(self, start: int, detail: str) -> None:
        """What was read since ``start`` is no call, among others that are."""
        self.channel.defect(DefectKind.REJECTED, start, self.source.at, detail)

    def param(self, call_tool: Tool | None, name: str) -> Param:
        """The schema's view of a parameter."""
        if call_tool is not None:
            return call_tool.param(name)
        from .schema import UNDECLARED

        return UNDECLARED

    def reader(self, sink: Sink | None = None, tap: Tap | None = None) -> ValueReader:
        """A reader of JSON at the cursor."""
        return ValueReader(
            self.source,
            Skip(self.source) if sink is None else sink,
            lenient=self.lenient,
            closers=self.closers,
            nesting=self.limits.nesting,
            repaired=self.repaired,
            tap=tap,
        )

    def collect(self) -> Collect:
        """A sink that keeps what it takes, within the limits."""
        return Collect(self.source, self.limits.call)

    def missing_close(self, marker: str, index: int | None) -> None:
        """Report that ``marker`` should stand at the cursor."""
        at = self.source.at
        self.channel.defect(DefectKind.MISSING_CLOSE, at, at, f"{marker!r} is missing", index)

    def repaired(self, detail: str, start: int, end: int) -> None:
        """Report a repair."""
        call = self.channel.call
        self.channel.defect(DefectKind.REPAIRED, start, end, detail, None if call is None else call.index)
