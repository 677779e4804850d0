"""Messages: the machine for outputs that are a stream of messages with headers.

Promises: a header decides whether a body is reasoning, content or a call, and markers quoted inside a
body are text. A header with its fields in any order is read; one that breaks off is rejected; a body
whose end marker is missing ends at the next header of the model's own role. Text outside messages is
content.

Does not: know channel names or markers; they are the dialect's.
"""

from __future__ import annotations

from collections.abc import Generator

from ._typing import TYPE_CHECKING
from .calls import Reading
from .channel import Channel
from .claims import Claims
from .dialect import Dialect, Envelope
from .envelope import Verdict
from .events import DefectKind
from .faults import OverLimit
from .jsonstream import Steps
from .late import Once, late
from .markers import marks
from .pieces import field_after
from .scanner import BLANKS, END, MORE, NONE
from .table import Table, Way

if TYPE_CHECKING:
    from typing import Final

_WORD_END: Final = late(f"[{BLANKS}<]")
_REASONING: Final = "reasoning"
_CONTENT: Final = "content"
_CALL: Final = "call"
_DROP: Final = "drop"


class Header:
    """What the header of a message says."""

    __slots__ = ("recipient", "channel")

    def __init__(self) -> None:
        self.recipient = ""
        self.channel = ""


class _Words:
    """What an envelope's machines look for, compiled once: they share it.

    ``outer`` finds what counts between messages, ``head`` in a header, ``ends`` in a message; ``starts`` open
    a header, ``next`` the model's own next one; ``fields`` are a header's, with what ends it.
    """

    __slots__ = ("ends", "fields", "head", "next", "outer", "recipients", "roles", "starts")

    def __init__(self, envelope: Envelope) -> None:
        self.roles = dict(envelope.channels)
        self.recipients = dict(envelope.recipients)
        self.starts = tuple(filter(None, (*envelope.start, envelope.channel)))
        ends = (*envelope.end, *envelope.call_end)
        self.outer = marks((*self.starts, *ends), code=True)
        self.head = marks((envelope.body, *self.starts, *ends))
        self.next = tuple(mark + envelope.role for mark in envelope.start)
        self.ends = marks((*ends, *self.next))
        fields = (envelope.channel, envelope.recipient, envelope.body, envelope.constrain)
        self.fields = tuple(field for field in fields if field)


_words_of: Final = Once(_Words)
_way_of: Final = Once(Way)


class Messages(Claims):
    """The machine of one channel of a message stream. ``run`` is a generator that yields for more text."""

    __slots__ = ("_envelope", "_words", "begun", "dialect")

    def __init__(
        self, channel: Channel, reading: Reading, table: Table, dialect: Dialect, *, strict: bool
    ) -> None:
        super().__init__(channel, reading, table, strict=strict, guess=False)
        envelope = dialect.envelope
        self.dialect = dialect
        self.chosen = dialect
        self._envelope = envelope
        self._words = _words_of(envelope)
        self.begun = False

    def begins(self, rel: int, known: bool = True) -> Verdict:
        """Whether a header of the stream stands ``rel`` ahead: a known channel, or the model's own role.

        Where the dialect is not ``known``, it must be a header that another stream does not have.
        """
        source, envelope = self.source, self._envelope
        self.begun = known
        options = (
            envelope.recipient + envelope.call_prefix,
            *(mark + envelope.role for mark in envelope.start),
        )
        shared = options[1:] if envelope.call_prefix else options
        options += tuple(envelope.channel + name for name in self._words.roles if envelope.channel)
        while True:
            found = source.follows_at(source.pos + rel, options)
            if found != MORE:
                break
            yield
        if found < 0 or known or options[found] not in shared:
            return found >= 0
        return (yield from self._own(rel + len(options[found]), word=found == 0))

    def _own(self, ahead: int, word: bool) -> Verdict:
        """Whether the header that goes on ``ahead``, with a ``word`` or a field, is one of this stream.

        That it is with a channel, or without one where the stream has none.
        """
        source, envelope = self.source, self._envelope
        while True:
            at = source.pos + ahead
            if word:
                at = source.stop(_WORD_END, at)
            found = source.follows_at(at, self._words.fields)
            if found == NONE:
                # The recipient's own blank may be the field's, or there may be others.
                found = source.follows(at, self._words.fields)
            if found == MORE:
                if at - source.pos > self.limits.header:
                    return False
                yield
                continue
            if found < 0:
                return found == END
            if self._words.fields[found] == envelope.body:
                return not envelope.channel
            if self._words.fields[found] != envelope.recipient:
                return True
            ahead, word = source.follow_at - source.pos + len(envelope.recipient), True

    def run(self) -> Steps:
        """Read the text to its end."""
        source = self.source
        ahead = 0
        while True:
            found = yield from self._between(ahead)
            start = source.base + source.pos
            ahead = 1 if found and not (yield from self.header()) else 0
            if self.entering:
                # Only now, since one generator more would be open all the while that a call comes.
                yield from self.entered()
                if self.refuted >= 0:
                    self.malformed(self.refuted_text.text(), start)
                    self.refuted = -1
            if source.eof and source.pos >= len(source.text):
                break
        self.channel.settle(source.at)

    # -- between messages -----------------------------------------------------------------------

    def _between(self, ahead: int) -> Verdict:
        """Text outside messages is content, up to the next header; whether one may stand at the cursor.

        ``ahead``: how far none does.
        """
        source = self.source
        if not self.begun and (yield from self.begins(0)):
            return True
        while True:
            at = source.find(self._words.outer, source.pos + ahead)
            if at < 0 or source.hit is None:
                end = len(source.text) if at < 0 else at
                if source.eof:
                    self.prose(len(source.text))
                    return False
                self.prose(end)
                ahead = 0
                source.ahead = 0
                self.go_on(self._words.outer, "")
                yield
                continue
            hit = source.hit
            self.prose(at)
            quoted = (self.state.ticks or self.state.fence) and not source.flagged(at)
            if hit[0] in "`~" and hit not in self._words.starts:
                if hit[0] == "`":
                    self.state.ticks = 0 if self.state.ticks == len(hit) else self.state.ticks or len(hit)
                ahead = len(hit)
            elif quoted:
                ahead = 1
            elif hit in self._words.starts:
                self.state.ticks = 0
                return True
            else:
                self.channel.markup(source.pos + len(hit))
                ahead = 0

    # -- a header -------------------------------------------------------------------------------

    def header(self) -> Verdict:
        """Read a header at the cursor and the body behind it; False where it is none and stays text.

        A call is only entered.
        """
        source, channel, envelope = self.source, self.channel, self._envelope
        start = source.at
        source.keep(start)
        try:
            end = yield from self._header_end()
            if end < 0:
                return source.at > start
            header = self._parse(source.raw(start, source.at), start)
            role = self._role(header)
            source.pos += len(envelope.body)
            tools = self.reading.tools
            if role == _CALL and tools is not None and not tools.names:
                yield from self._verbatim()
            elif role == _CALL:
                self._entered = self._call(header.recipient, start)
            elif role == _DROP:
                yield from self._drop(header, start)
            else:
                channel.settle(source.at)
                self.state.thinking = role == _REASONING
                yield from self._body()
                self.state.thinking = False
        finally:
            source.release()
        return True

    def _header_end(self) -> Generator[None, None, int]:
        """Move to the marker that ends the header; -1 where another marker or nothing does."""
        source, channel, envelope = self.source, self.channel, self._envelope
        start = source.at
        ahead = 0
        for mark in self._words.starts:
            if source.starts(source.pos, mark) == 1:
                ahead = len(mark)
        role = envelope.role if envelope.start else ""
        if role and ahead and source.text.startswith(envelope.start, source.pos):
            while True:
                found = source.starts(source.pos + ahead, role)
                if found == 1:
                    found = source.follows_at(source.pos + ahead + len(role), self._words.fields)
                    found = 1 if found >= 0 else found
                if found != MORE:
                    break
                yield
            if found == NONE:
                return NONE
        named = bool(envelope.channel) and source.text.startswith(envelope.channel, source.pos)
        channels = 1 if ahead and named else 0
        while True:
            at = source.find(self._words.head, source.pos + ahead)
            if (len(source.text) if at < 0 else at) - source.pos > self.limits.header:
                return NONE
            if at >= 0 and source.hit == envelope.body:
                source.pos = at
                return at
            if at >= 0 and source.hit is not None:
                if envelope.channel and source.hit == envelope.channel and not channels:
                    channels += 1
                    ahead = at - source.pos + len(source.hit)
                    continue
                self._reject_header(at, start)
                return NONE
            if source.eof:
                source.pos = len(source.text)
                channel.settle(source.at)
                channel.defect(DefectKind.UNCLOSED_CALL, start, source.at, "the text ends inside a header")
                return NONE
            ahead = (len(source.text) if at < 0 else at) - source.pos
            yield

    def _reject_header(self, at: int, start: int) -> None:
        """A header breaks off at the marker at local index ``at``."""
        source, channel, envelope = self.source, self.channel, self._envelope
        end = at
        if source.hit in envelope.end or source.hit in envelope.call_end:
            end += len(source.hit or "")
        source.pos = end
        channel.settle(source.at)
        channel.defect(DefectKind.REJECTED, start, source.at, "a header without a message")

    def _parse(self, text: str, start: int) -> Header:
        envelope, header = self._envelope, Header()
        stops = (*BLANKS, "<", envelope.constrain or "<")
        header.recipient = field_after(text, envelope.recipient, stops)
        header.channel = field_after(text, envelope.channel, (*stops, envelope.recipient))
        name = header.recipient
        if name.startswith(envelope.call_prefix):
            plain = name[len(envelope.call_prefix) :]
            header.recipient = envelope.call_prefix + self._unglue(plain)
        return header

    def _unglue(self, name: str) -> str:
        """The name without a content type that was written without a blank, where only so it is offered."""
        for word in self._envelope.content_types:
            short = name[: -len(word)]
            if name.endswith(word) and not self.reading.offered(name) and self.reading.offered(short):
                return short
        return name

    def _role(self, header: Header) -> str:
        """What the body of a message is."""
        prefix = self._envelope.call_prefix
        addressed = self._words.recipients.get(header.recipient)
        if addressed is not None:
            return addressed
        if header.recipient.startswith(prefix) and len(header.recipient) > len(prefix):
            return _CALL
        if not self._words.roles:
            return _CONTENT
        known = self._words.roles.get(header.channel)
        if known is None:
            return _DROP if header.recipient else _CONTENT
        return known if not header.recipient or header.recipient == self._envelope.role else _DROP

    # -- bodies ---------------------------------------------------------------------------------

    def _body(self) -> Steps:
        """Reasoning or content up to the end of its message."""
        source = self.source
        ahead = 0
        while True:
            at = source.find(self._words.ends, source.pos + ahead)
            if at < 0 or source.hit is None:
                end = len(source.text) if at < 0 else at
                self.prose(len(source.text) if source.eof else end)
                ahead = 0
                if source.eof:
                    return
                source.ahead = 0
                self.go_on(self._words.ends, "")
                yield
                continue
            hit = source.hit
            self.prose(at)
            if hit in self._envelope.call_end:
                # A call's end behind text is one only where nothing, or another message, follows.
                found = source.follows(source.pos + len(hit), self._words.starts)
                ahead = 0
                if found == MORE:
                    yield
                    continue
                if found == NONE:
                    ahead = len(hit)
                    continue
            if hit in self._words.next:
                self.reading.missing_close(self._envelope.end[0], None)
            else:
                self.channel.markup(source.pos + len(hit))
            return

    def _verbatim(self) -> Steps:
        """A call where no tool was offered: its message stays text."""
        source = self.source
        while True:
            at = source.find(self._words.ends, source.pos)
            found = at >= 0 and source.hit is not None
            end = len(source.text) if at < 0 or (source.eof and not found) else at
            self.prose(end + (len(source.hit or "") if found and source.hit not in self._words.next else 0))
            if found or source.eof:
                return
            yield

    def _drop(self, header: Header, start: int) -> Steps:
        """A message to nobody that is known: markup, and rejected."""
        source, channel = self.source, self.channel
        room = self.limits.held
        while True:
            at = source.find(self._words.ends, source.pos)
            end = len(source.text) if at < 0 else at
            room -= end - source.pos
            source.pos = end
            if source.eof or room < 0 or (at >= 0 and source.hit is not None):
                break
            yield
        if at >= 0 and source.hit is not None and source.hit not in self._words.next:
            source.pos += len(source.hit)
        channel.settle(source.at)
        to = header.recipient or header.channel
        channel.defect(DefectKind.REJECTED, start, source.at, f"a message to {to!r}, which is no function")
        if room < 0:
            channel.defect(DefectKind.LIMIT, start, source.at, OverLimit("a message is too long").detail)

    def _call(self, recipient: str, opened: int) -> Steps:
        """A call: its arguments are the message's body."""
        source, envelope = self.source, self._envelope
        self.reading.recipient = recipient[len(envelope.call_prefix) :]
        way = _way_of(self.dialect, self.dialect.bodies[0])
        return self.region(way, opened, source.at, required=True)
