"""Echo: a call that has the form of the one in front of it, read as it comes and without the machine.

Promises: what goes out is what the machine would have sent, with no character earlier, and later only what
may wait for the next key or marker. An echo reads what is there as a whole and in the one form that needs no
care; for anything else the machine is brought to where the text stands: it reads the call that is not over
again, and nothing goes out twice. So the machine stays the only judge of a text. What is longer than ``MOST``
is the machine's, too.

Does not: know any syntax but the markers around a call; what is inside is read by a codec's own (``bodies``).
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING
from .counts import open_counts as counts
from .events import Arguments, CallEnd, CallStart, Event, Markup
from .jsontext import decode
from .parts import HELD, LONGEST, Beginning, Learnt, Parts, remember
from .runs import ESCAPED_MOST, HELD_MOST, JOIN, Run
from .scanner import Pattern, examined, matched
from .window import CONTEXT

if TYPE_CHECKING:
    from typing import Final

    from .envelope import Machine
    from .schema import Tool

MOST: Final = 1024
"""Characters from the end of one call to the end of the next one, at most."""
_HELD_MOST: Final = 256
_NO_MEMORY: Final[tuple[Parts, ...]] = ({},)
# After so many calls that the machine had to read again, it reads all of them.
_FAILED_MOST: Final = 2
# Echoes hold more than other runs, and so remember apart what of a beginning they hold.
_FOR_ECHOES: Final = -1
_LIMIT: Final = ESCAPED_MOST * MOST

NOT_SO: Final = -1
"""What is there is the machine's."""


class Echo(Run):
    """Reads calls behind one that the machine has read, from the end of its body on.

    ``next``: what comes in front of a call's inside; ``turn`` matches all of it. Group 1 of that is what
    stands between the markers, group 2 what of the body tells the name, which is group 3.
    """

    __slots__ = (
        *("call", "inside", "mark", "reading", "tool"),
        *("_alone", "_aside", "_begun_as", "_context", "_count", "_failed", "_json", "_machine"),
        *("_moved", "_name", "_next", "_seen", "_sent", "_since", "_start", "_told", "_turn"),
    )

    def __init__(self, machine: Machine, next: Beginning, turn: Pattern) -> None:
        super().__init__(machine.source, Arguments, _NO_MEMORY)
        self.reading = machine.reading
        self.tool: Tool | None = None
        # Whether a call has begun, and up to where all of it has gone out.
        self.inside = False
        self.mark = 0
        self.call = 0
        self._machine = machine
        self._next = next
        self._begun_as = next
        self._turn = turn
        self._failed = 0
        # Where the last call ended that is over, what stands in front of that, and what was read since, with
        # so much of what is held: the events of that have gone out, and so many of these pieces of JSON.
        self._start = 0
        self._context = ""
        self._moved = False
        self._since: list[str] = []
        self._seen = self._sent = self._told = 0
        self._json: list[str] = []
        self._aside = machine.channel.aside
        self._count = 0
        self._name: str | None = None
        self._alone = True

    # -- as a run ---------------------------------------------------------------------------------

    def ready(self, shift: int, since: int, ordinary: bool) -> bool:
        source = self.source
        pos = source.pos
        lead = source.base + pos
        led = len(source.text) - pos
        if led > HELD_MOST or lead < since:
            return False
        self._led = led
        self._ordinary = ordinary
        self.held = source.text[pos:]
        self.at = self.most = lead + shift
        # Beside another channel it only waits, as long as any run would.
        self._alone = shift == 0 == since
        self._name = self.reading.name
        self._turned(lead)
        self._moved = False
        return True

    def learn(self, text: str) -> Learnt | None:
        if counts:
            examined(len(text))
        most = _HELD_MOST if self._alone else HELD_MOST
        learnt = HELD if len(text) <= most and self._begun_as.begins(text, 0) else None
        if len(text) <= LONGEST:
            remember(self.parts, text, learnt)
        return learnt

    def settle(self) -> None:
        source, channel = self.source, self._machine.channel
        held, self.held = self.held, ""
        source.ahead = 0
        if not (self._moved or self.inside):
            source.text += held[self._led :]
            return
        if self.pieces:
            self._take()
        since = "".join(self._since)
        context = self._context if self._moved else source.text[max(source.pos - CONTEXT, 0) : source.pos]
        source.restart(self._start, context)
        channel.mark = self._start
        channel.aside = self._aside
        channel.ledger.count = self._count
        if self.inside:
            self._failed += 1
        if since:
            # What comes of this has gone out. Of a value, something of what is held may have been needed.
            seen = self._seen
            source.text += since + held[:seen]
            events = self._read_again()
            while channel.mark < self._sent and seen < len(held):
                source.text += held[seen]
                seen += 1
                events += self._read_again()
            channel.put_back(self._unsent(events))
            held = held[seen:]
        self.inside = self._moved = False
        source.text += held

    def _read_again(self) -> list[Event]:
        """What the machine says of what went out."""
        next(self._machine.steps, None)
        self.source.run = None
        return self._machine.channel.drain()

    def _unsent(self, events: list[Event]) -> list[Event]:
        """Of what the machine says, what has not gone out."""
        sent, count = self._sent, sum(map(len, self._json[: self._told]))
        unsent: list[Event] = []
        for event in events:
            start, end = event.span
            if isinstance(event, Arguments):
                text = event.text[count:]
                count = max(count - len(event.text), 0)
                if text:
                    unsent.append(Arguments(event.index, text, (max(start, sent), end)))
            elif isinstance(event, Markup):
                if end > sent:
                    unsent.append(Markup((max(start, sent), end)))
            elif end > sent or not isinstance(event, CallStart):
                unsent.append(event)
        return unsent

    # -- as a reader ------------------------------------------------------------------------------

    def usable(self) -> bool:
        """Whether the next call may be read here, and the machine waits for it behind one that is over."""
        source, channel, limits = self.source, self._machine.channel, self.reading.limits
        return (
            self._failed < _FAILED_MOST
            and self.reading.stream
            and not channel.holds
            and channel.mark == source.base + source.pos
            and channel.call is None
            and channel.ledger.counted
            and limits.header >= HELD_MOST <= limits.blanks
            and limits.call >= _LIMIT
            and not source.flags
        )

    def feed(self, delta: str, events: list[Event]) -> str | None:
        """Read ``delta`` and add its events; what of the text is the machine's, None where nothing is."""
        text = self.held + delta
        base = self.at
        if self.pieces:
            self._take()
        at = begun = sure = 0
        inside = self.inside
        while base + len(text) <= self._end:
            if not inside:
                at = self._enter(text, at, base, events)
                inside = self.inside
            if inside:
                at = self.read(text, at, base, events)
                inside = self.inside
                if at >= 0 and not inside:
                    begun, sure = at, len(events)
                    self._context = text[max(at - CONTEXT, 0) : at]
                    self._turned(base + at)
                    if at < len(text):
                        continue
            if at < 0 or len(text) - at > _HELD_MOST:
                break
            if at > begun:
                self._since.append(text[begun:at])
            self._seen = len(text) - at if inside else 0
            self._sent = self.mark
            self._told = len(self._json)
            self.held = text[at:]
            self.at = base + at
            self.most = min(self.at + JOIN, self._end) if self.index >= 0 else self.at
            self._joined = 0
            return None
        del events[sure:]
        if not begun:
            return delta
        self.held = ""
        return text[begun:]

    def read(self, text: str, at: int, base: int, events: list[Event]) -> int:
        """Read the inside of the call in ``text``, whose offset is ``base``, from the local index ``at`` on.

        How far it was read; ``over`` has been called if that is the call's end. ``NOT_SO`` where it has
        another form.
        """
        raise NotImplementedError

    def began(self) -> None:
        """A call has begun."""

    def took(self, text: str) -> None:
        """Deltas were taken, as what this last declared that they may be."""

    def _take(self) -> None:
        # What was held when text was read last is in it.
        self._seen = 0
        taken = "".join(self.pieces)
        self.pieces.clear()
        self._since.append(taken)
        self.took(taken)

    def _turned(self, at: int) -> None:
        """A call is over, and ended at the offset ``at``."""
        channel = self._machine.channel
        self.inside = False
        self._moved = True
        self._start = self._sent = self.mark = at
        self._end = at + MOST
        self._seen = self._told = 0
        self._since.clear()
        self._json.clear()
        self._aside = channel.aside
        self._count = channel.ledger.count
        self.reading.name = self._name
        self.expect(self._next)

    def expect(self, beginning: Beginning) -> None:
        """Nothing happens as long as what is held is but a ``beginning``."""
        self.index = -1
        self._begun_as = beginning
        self.parts = beginning.parts[_FOR_ECHOES if self._alone else 0]

    def _enter(self, text: str, at: int, base: int, events: list[Event]) -> int:
        """Read what stands in front of a call's inside, where all of it is there."""
        match = matched(self._turn, text, at)
        if match is None:
            return at if self._next.begins(text, at) else NOT_SO
        name, tools, channel = match[3].strip(), self.reading.tools, self._machine.channel
        if tools is not None:
            self.tool = tools.get(name)
            if self.tool is None:
                return NOT_SO
        self._name = name
        closed, opened, known = base + match.start(1), base + match.end(1), base + match.end(2)
        if closed < opened:
            channel.aside = [*channel.aside, (match[1], closed, opened)]
        named = base + match.start(2)
        index, call_id = channel.ledger.enter(None)
        events += (
            Markup((self.mark, closed)),
            Markup((opened, named)),
            CallStart(index, call_id, name, (named, known)),
        )
        self.mark = known
        self.call = index
        self.inside = True
        self.began()
        return match.end()

    # -- what goes out ----------------------------------------------------------------------------

    def markup(self, to: int, events: list[Event]) -> None:
        """What comes up to the offset ``to`` is markup."""
        events.append(Markup((self.mark, to)))
        self.mark = to

    def sent(self, json: str, to: int) -> None:
        """``json`` of the arguments went out, for the text up to the offset ``to``."""
        self._json.append(json)
        self._told = len(self._json)
        self.mark = self._sent = to

    def arguments(self, json: str, to: int, events: list[Event]) -> None:
        """``json`` is of the arguments, and stands for the text up to the offset ``to``."""
        self._json.append(json)
        events.append(Arguments(self.call, json, (self.mark, to)))
        self.mark = to

    def over(self, to: int, events: list[Event]) -> bool:
        """The call ends at the offset ``to``, and so does what goes out of it; False where a key repeats."""
        value, canonical = decode("".join(self._json))
        if canonical is not None:
            return False
        events.append(CallEnd(self.call, value, (self.mark, to)))
        self.inside = False
        return True
