"""Parser: feed text as it comes, get events; ``parse`` is feed, close, assemble.

Promises: any split of the text gives the same message and, neighbours merged, the same events. Each
channel has its own state; ids, indices and the order of events are common. ``prompt_tail`` is read by
the machine's own rules. A model's faults are defects; only a caller's faults raise.

Does not: keep anything once closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from ._typing import TYPE_CHECKING, Any, Literal
from .auto import AUTO, Auto, Custom, Resolved, custom_of, dialects_of, prefix_of, resolve, slug_of
from .calls import Reading
from .channel import Channel
from .dialect import Dialect
from .echo import Echo
from .errors import ParserClosedError
from .events import Arguments, Event
from .lane import Lane, lane_of, prompt_of
from .ledger import Ledger
from .limits import Limits
from .literals import clean
from .native import mypyc_attr
from .runs import NEW_EVENT, NO_RUN, Run
from .scanner import Source
from .spans import ONE_CHANNEL, clipped
from .table import table_of

if TYPE_CHECKING:
    from typing import Final

    from .custom import CustomRun
    from .message import Message
    from .schema import Tools

OnDefect = Literal["repair", "strict"]
ArgumentsMode = Literal["stream", "whole"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "function_call"]
ChannelName = Literal["content", "reasoning"]
Named = str | Dialect | Auto | Mapping[str, Any] | Custom

_NOTHING: Final[tuple[Event, ...]] = ()
_LIMITS: Final = Limits()
_ON_DEFECT: Final = ("repair", "strict")
_ARGUMENTS: Final = ("stream", "whole")
_IDS: Final = ("counter", "random")


@mypyc_attr(allow_interpreted_subclasses=True)
class Parser:
    """Parses one output while it comes.

    ``dialect``: a slug or alias, a ``Dialect``, a dict, ``"auto"``, ``"none"`` or a custom callable.
    ``tools``: the request's tools (OpenAI or Anthropic list, or ``{name: schema}``); None means
    unknown, an empty list that none was offered. ``prompt_tail``: the end of the prompt as the model saw
    it. ``on_defect``: ``repair`` mends at the point of failure and reports it, ``strict`` takes only
    well-formed calls. ``arguments``: whether argument text goes out as it comes or with the finished
    call. ``ids``: ``counter`` or ``random``, for formats without ids of their own.

    Raises ``UnknownDialectError``, ``DialectError`` or ``ToolsError`` for what the caller got wrong.

    >>> parser = Parser("hermes")
    >>> [type(e).__name__ for e in parser.feed('Hi <tool_call>{"name": "ping"')]
    ['Text']
    >>> [type(e).__name__ for e in parser.feed(', "arguments": {}}</tool_call>')]
    ['Markup', 'CallStart', 'Markup', 'Arguments', 'CallEnd', 'Markup']
    >>> list(parser.close())
    [Markup(span=(2, 3))]
    """

    def __init__(
        self,
        dialect: Named = AUTO,
        *,
        tools: object = None,
        prompt_tail: str = "",
        on_defect: OnDefect = "repair",
        arguments: ArgumentsMode = "stream",
        limits: Limits | None = None,
        ids: Literal["counter", "random"] = "counter",
    ) -> None:
        if on_defect not in _ON_DEFECT or arguments not in _ARGUMENTS or ids not in _IDS:
            raise _refused(on_defect=on_defect, arguments=arguments, ids=ids)
        self._resolved: Resolved = resolve(dialect)
        self._tools: Tools | None = None
        if tools is not None:
            self._tools = _reader_of_tools()(tools)
        self._strict = on_defect == "strict"
        self._stream = arguments == "stream" and not self._strict
        self._limits = limits if limits is not None else _LIMITS
        self._prompt = clean(prompt_tail)
        self._spans = ONE_CHANNEL
        self._answer: Lane | None = None
        self._thinker: Lane | None = None
        self._sole: Lane | None = None
        self._closed = False
        # Whether reasoning came on a channel of its own, and nothing of the answer since.
        self._thinks = False
        # The dialect and what told it, once the lanes that know are gone.
        self._found: tuple[str, str] | None = None
        # The channel that text came on last, and where in it that began.
        self._fed = ""
        self._since = 0
        self._run: Run = NO_RUN
        self._special: bool | None = None
        self._finish_reason: str | None = None
        self._ledger = Ledger(prefix_of(self._resolved), ids == "random")
        families = custom_of(self._resolved)
        self._custom: CustomRun | None = None
        if families is not None:
            from .custom import CustomRun

            names = None if self._tools is None else tuple(sorted(self._tools.names))
            self._custom = CustomRun(families, names, self._ledger, self._read_auto)
        else:
            lane = self._lane("content")
            # Until another channel comes, and where no prompt was read, no other lane is asked.
            self._sole = None if lane.prompted else lane

    @property
    def dialect(self) -> str:
        """The slug of the dialect that is read; with ``auto`` the one that was found, else ``auto``."""
        if self._custom is not None and self._custom.dialect:
            return self._custom.dialect
        if self._found is not None:
            return self._found[0]
        for lane in (self._answer, self._thinker):
            if lane is not None and lane.machine.chosen is not None:
                return lane.machine.chosen.slug
        return slug_of(self._resolved)

    @property
    def chosen_by(self) -> str:
        """What told ``auto`` the dialect, such as ``'<tool_call>' at 12``; empty where it did not choose."""
        if self._found is not None:
            return self._found[1]
        for lane in (self._answer, self._thinker):
            if lane is not None and lane.machine.chosen_by:
                return lane.machine.chosen_by
        return ""

    def feed(
        self, delta: str, channel: ChannelName = "content", special: bool | None = None
    ) -> Sequence[Event]:
        """Take the next piece of text; the events that are now certain.

        ``channel``: where an upstream that splits reasoning put it. ``special``: whether the caller
        knows the piece to be a special token (True) or ordinary text (False).
        Raises ``ParserClosedError`` after ``close``.
        """
        # The path of nearly every delta stays in one frame: a call more is a tenth of what it costs.
        if special is self._special and channel == self._fed:
            run = self._run
            text = run.held + delta
            part = run.parts.get(text)
            if not part:
                if part is None and text not in run.parts:
                    part = run.learn(text)
                if part is None:
                    return self._feed(delta, channel, special)
                if not part:
                    run.held = text
                    return _NOTHING
            taken, piece, held, size = part
            start = run.at
            end = start + size
            if end <= run.most or run.more(end):
                run.held = held
                run.at = end
                run.pieces.append(taken)
                if not piece:
                    return _NOTHING
                if NEW_EVENT is None:
                    return (run.event(piece, start, end),)
                kind = run.kind
                event = NEW_EVENT(kind)
                if kind is Arguments:
                    event.index = run.index
                event.text = piece
                event.span = (start, end)
                return (event,)
        return self._feed(delta, channel, special)

    def _feed(self, delta: str, channel: ChannelName, special: bool | None) -> Sequence[Event]:
        """As ``feed``, where the machine has to read the text."""
        lane = self._sole
        if lane is None or channel != "content" or not delta:
            return self._feed_any(delta, channel, special)
        self._fed = channel
        if not delta.isascii():
            delta = clean(delta)
        before: list[Event] = []
        if isinstance(self._run, Echo) and special is None and self._special is None:
            rest = self._run.feed(delta, before)
            if rest is None:
                return before or _NOTHING
            delta = rest
        source = lane.source
        source.feed(delta, special)
        next(lane.steps, None)
        events = before + lane.channel.drain() if before else lane.channel.drain()
        run = source.run
        if run is None or special is True:
            self._run = NO_RUN
            return events or _NOTHING
        self._run = run if run.ready(0, 0, special is False) else NO_RUN
        self._special = special
        return events or _NOTHING

    def _feed_any(self, delta: str, channel: ChannelName, special: bool | None) -> Sequence[Event]:
        """As ``feed``, where there may be two channels, a prompt or a custom parser."""
        if self._closed:
            raise ParserClosedError("the parser is closed: make a new one for the next message")
        if not delta:
            return _NOTHING
        if not delta.isascii():
            delta = clean(delta)
        if self._custom is not None:
            return self._custom.feed(delta, channel) or _NOTHING
        lane = self._answer
        if lane is None or channel != "content":
            lane = self._lane(channel)
        self._run = NO_RUN
        before: list[Event] = []
        if channel != self._fed:
            before = self._turn(channel, lane.source)
            self._thinks = self._thinks or channel == "reasoning"
        if self._thinks and channel == "content" and self._thinker is not None and delta.strip():
            self._thinks = False
            before += self._thinking_over(self._thinker)
        source, spans = lane.source, self._spans
        source.feed(delta, special)
        next(lane.steps, None)
        events = lane.drain() if lane.begun else lane.channel.drain()
        if events and (spans.mixed or lane.prompted):
            events = self._out(lane, channel, events)
        run = source.run
        if run is not None and special is not True and (channel == "reasoning" or not self._thinks):
            shift, since = spans.place(channel) if spans.mixed else (0, 0)
            if run.ready(shift, since, special is False):
                self._run = run
                self._special = special
        return before + events or _NOTHING

    def _turn(self, channel: str, source: Source) -> list[Event]:
        """Text comes on another channel than before, that of ``source``: what is certain on the last one."""
        self._sole = None
        events: list[Event] = []
        if self._fed:
            lane = self._lane(self._fed)
            last = lane.source
            if last.run is not None:
                last.settle()
                next(lane.steps, None)
                events = self._out(lane, self._fed, lane.drain())
            length = last.base + len(last.text) - self._since
            self._spans = self._spans.both(self._fed, length, channel)
        source.settle()
        self._fed = channel
        self._since = source.base + len(source.text)
        return events

    def close(self, finish_reason: str | None = None) -> Sequence[Event]:
        """The text has ended, because of ``finish_reason`` (``stop``, ``length`` …; None = unknown).

        Returns the last events. Raises ``ParserClosedError`` when called again.
        """
        if self._closed:
            raise ParserClosedError("the parser is closed already")
        self._closed = True
        self._run, self._sole = NO_RUN, None
        self._finish_reason = finish_reason
        if self._custom is not None:
            return self._custom.close() or _NOTHING
        events: list[Event] = []
        reason = "stop" if finish_reason in ("tool_calls", "function_call") else finish_reason
        if self._thinker is not None:
            events = self._out(self._thinker, "reasoning", self._thinker.close(reason))
        if self._answer is not None:
            events += self._out(self._answer, "content", self._answer.close(reason))
        self._found = self.dialect, self.chosen_by
        self._answer = self._thinker = self._tools = None
        return events or _NOTHING

    # -- lanes ----------------------------------------------------------------------------------

    def _lane(self, name: str) -> Lane:
        if name == "content":
            if self._answer is None:
                self._answer = self._start(name)
            return self._answer
        if name != "reasoning":
            raise ValueError(f"channel is 'content' or 'reasoning', not {name!r}")
        if self._thinker is None:
            self._thinker = self._start(name)
        return self._thinker

    def _start(self, name: str) -> Lane:
        resolved = self._resolved
        assert isinstance(resolved, (Dialect, Auto))
        dialects = dialects_of(resolved)
        guess = isinstance(resolved, Auto)
        tail = self._prompt or dialects[0].envelope.prefill
        names: frozenset[str] = frozenset() if self._tools is None else self._tools.names
        table = table_of(dialects, names, calls=self._tools is None or bool(names))
        messages = not guess and dialects[0].envelope.kind == "messages"
        prompt = prompt_of(tail, table, messages) if name == "content" else ""
        channel = Channel(Source(-len(prompt)), self._ledger)
        reading = Reading(channel, self._tools, self._limits, lenient=not self._strict, stream=self._stream)
        reading.assumed = bool(prompt) and not self._prompt
        lane = lane_of(reading, table, None if guess else dialects[0], prompt, strict=self._strict)
        if name == "reasoning":
            lane.machine.state.thinking = True
        return lane

    def _thinking_over(self, lane: Lane) -> list[Event]:
        lane.thinking_over()
        return self._out(lane, "reasoning", lane.channel.drain())

    def _out(self, lane: Lane, name: str, events: list[Event]) -> list[Event]:
        if lane.prompted and events:
            events = clipped(events)
        if self._spans.mixed and events:
            events = self._spans.translate(name, events)
        return events

    def _read_auto(self, auto: Auto, text: str) -> tuple[list[Event], str]:
        """The events of a whole text read with an automatic dialect, and the dialect that was found."""
        inner = Parser(
            auto,
            tools=self._tools,
            prompt_tail=self._prompt,
            on_defect="strict" if self._strict else "repair",
            limits=self._limits,
        )
        return [*inner.feed(text), *inner.close(self._finish_reason)], inner.dialect


# What not every process needs, loaded by the first parser that does.


@cache
def _reader_of_tools() -> Callable[[object], Tools | None]:
    from .schema import read_tools

    return read_tools


@cache
def _assembler() -> Callable[[Iterable[Event], str], Message]:
    from .assembler import assemble

    return assemble


def _refused(**given: str) -> ValueError:
    """What is wrong with an option that may only be one of two words."""
    allowed = {"on_defect": _ON_DEFECT, "arguments": _ARGUMENTS, "ids": _IDS}
    name = next(name for name, value in given.items() if value not in allowed[name])
    return ValueError(f"{name} is {' or '.join(map(repr, allowed[name]))}, not {given[name]!r}")


def parse(
    text: str,
    dialect: Named = AUTO,
    *,
    tools: object = None,
    prompt_tail: str = "",
    finish_reason: str | None = None,
    on_defect: OnDefect = "repair",
    arguments: ArgumentsMode = "stream",
    limits: Limits | None = None,
    ids: Literal["counter", "random"] = "counter",
) -> Message:
    """Parse a whole output. The arguments are ``Parser``'s and ``Parser.close``'s.

    >>> parse('<tool_call>{"name": "ping", "arguments": {"n": 1}}</tool_call>').tool_calls[0].arguments
    {'n': 1}
    """
    parser = Parser(
        dialect,
        tools=tools,
        prompt_tail=prompt_tail,
        on_defect=on_defect,
        arguments=arguments,
        limits=limits,
        ids=ids,
    )
    events = [*parser.feed(text), *parser.close(finish_reason)]
    return _assembler()(events, parser.dialect)


__all__ = ["Parser", "parse"]
