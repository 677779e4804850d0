"""Custom: parsers of the caller's, which see the whole text of an answer when it has ended.

Promises: families are tried in order, and the first that finds a call has the text; neighbouring
dialects are tried together, as ``auto`` would. Reasoning that came on its own channel goes out at once.
What a custom parser answers is given on as events; they stand outside laws 1 and 8, since nothing is
known of where its calls stand in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from .auto import Auto, Context, Custom, ParseResult
from .dialect import Dialect
from .events import Arguments, CallEnd, CallStart, Event, Markup, Reasoning, Text
from .ledger import Ledger
from .spans import Spans

Read = Callable[[Auto, str], tuple[list[Event], str]]


class CustomRun:
    """One output, to be read by ``families``; ``read`` parses a text with an automatic dialect."""

    def __init__(
        self, families: Sequence[Dialect | Custom], names: tuple[str, ...] | None, ledger: Ledger, read: Read
    ) -> None:
        self._families = families
        self._context = Context(names)
        self._ledger = ledger
        self._read = read
        self._spans = Spans()
        self._text: list[str] = []
        self._end = 0
        self.dialect = ""

    def feed(self, delta: str, channel: str) -> list[Event]:
        """Take a piece of text; reasoning goes out, an answer is kept."""
        self._spans.feed(channel, len(delta))
        start, self._end = self._end, self._end + len(delta)
        if channel == "reasoning":
            return [Reasoning(delta, (start, self._end))]
        self._text.append(delta)
        return []

    def close(self) -> list[Event]:
        """The text has ended: what the first family that finds a call makes of it, else the last one."""
        text = "".join(self._text)
        events: list[Event] = [Text(text, (0, len(text)))] if text else []
        for known, group in groupby(self._families, lambda family: isinstance(family, Dialect)):
            if known:
                dialects = tuple(family for family in group if isinstance(family, Dialect))
                events, slug = self._read(Auto(dialects), text)
                if any(isinstance(event, CallEnd) for event in events):
                    self.dialect = slug
                    break
                continue
            results = [f(text, self._context) for f in group if not isinstance(f, Dialect)]
            found = next((result for result in results if result.tool_calls), None)
            if found is not None or len(self._families) == 1:
                events = self._given(text, found or results[0])
                break
        return self._spans.translate("content", events) if self._spans.mixed and events else events

    def _given(self, text: str, result: ParseResult) -> list[Event]:
        end = (len(text), len(text))
        events: list[Event] = [Reasoning(result.reasoning, (0, 0))] if result.reasoning else []
        whole = (0, len(text))
        events.append(Text(result.content, whole) if result.content else Markup(whole))
        for call in result.tool_calls:
            index, own_id = self._ledger.enter(call.id or None)
            events.append(CallStart(index, own_id, call.name, end))
            events.append(Arguments(index, call.arguments_json, end))
            events.append(CallEnd(index, call.arguments, end))
        return events
