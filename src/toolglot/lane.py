"""Lane: one channel's machine while it runs, and what the prompt began in it.

Promises: the machine reads the prompt's end by its own rules; of what that began only a call goes out, as the
first one of the output.

Does not: know of other channels (``parser``).
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache

from ._typing import TYPE_CHECKING
from .calls import Reading
from .channel import Channel
from .delimited import Delimited
from .dialect import Dialect
from .events import Arguments, CallStart, Event
from .pieces import after_last
from .reasoning import ThinkingOver
from .table import Table

if TYPE_CHECKING:
    from .messages import Messages


class Lane:
    """One channel's machine, running."""

    __slots__ = ("begun", "channel", "machine", "prompted", "source", "steps")

    def __init__(self, channel: Channel, machine: Delimited | Messages, prompt: str) -> None:
        self.channel = channel
        self.source = channel.source
        self.machine = machine
        self.steps: Generator[None, None, None] = machine.run()
        machine.steps = self.steps
        self.prompted = bool(prompt)
        self.begun: list[Event] | None = None
        if prompt:
            channel.source.feed(prompt)
            next(self.steps, None)
            self.begun = _begun(channel)
            machine.state.begin_output()

    def drain(self) -> list[Event]:
        begun, self.begun = self.begun, None
        return (begun or []) + self.channel.drain()

    def thinking_over(self) -> None:
        """Content on another channel closes open reasoning."""
        if self.source.run is not None:
            # What was held may be the beginning of a call, of which the machine has to know.
            self.source.settle()
            next(self.steps, None)
        if isinstance(self.machine, Delimited) and self.machine.draft is not None:
            self.steps.throw(ThinkingOver())

    def close(self, finish_reason: str | None) -> list[Event]:
        self.source.settle()
        self.source.eof = True
        self.machine.reading.finish_reason = finish_reason
        for _ in self.steps:
            raise AssertionError("a machine waits for text after the end")
        # These know the machine, which would be kept with them.
        self.source.let_go()
        self.machine.echo = None
        return self.drain()


def prompt_of(tail: str, table: Table, messages: bool) -> str:
    """What of the prompt's end is of the model's turn, which the machine reads first."""
    prompt = after_last(tail, table.turn_open, including=messages)
    if messages or prompt == tail:
        return prompt
    return next((turn + prompt for turn in table.turn_kept if tail.endswith(turn + prompt)), prompt)


def lane_of(reading: Reading, table: Table, dialect: Dialect | None, prompt: str, *, strict: bool) -> Lane:
    """A new lane behind ``prompt``. ``dialect``: that of the text; None where it is to be found."""
    channel = reading.channel
    channel.source.special = table.special
    machine: Delimited | Messages
    if dialect is not None and dialect.envelope.kind == "messages":
        machine = _messages()(channel, reading, table, dialect, strict=strict)
    else:
        machine = Delimited(channel, reading, table, strict=strict, guess=dialect is None)
    return Lane(channel, machine, prompt)


@cache
def _messages() -> type[Messages]:
    # Loaded by the first parser that needs it.
    from .messages import Messages

    return Messages


def _begun(channel: Channel) -> list[Event]:
    """The events of a call that the prompt began: the first call of the output, whatever came before."""
    events = channel.drain()
    call = channel.call
    channel.ledger.count = 0
    if call is None:
        return []
    kept = [e for e in events if isinstance(e, (CallStart, Arguments)) and e.index == call.index]
    start = next(e for e in kept if isinstance(e, CallStart))
    index, call_id = channel.ledger.enter(None)
    own = start.id if start.id != channel.ledger.prefix + str(call.index) else call_id
    call.index = index
    return [
        CallStart(index, own, event.name, event.span)
        if isinstance(event, CallStart)
        else Arguments(index, event.text, event.span)
        for event in kept
    ]
