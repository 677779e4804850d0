"""Choice: one choice of an answer, from what the upstream says to what the client is told.

Promises: every delta goes through one parser, whole answers too; deltas out are canonical and in order.
A call that did not finish is cut before anything that follows it.

Does not know chunks, frames or whole bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..events import (
    Arguments,
    CallEnd,
    CallStart,
    Defect,
    DefectKind,
    Event,
    Markup,
    Reasoning,
    Relabel,
    Text,
)
from ..parser import Parser
from ..residue import Residue
from .finish import finish_reason
from .native import NativeCalls
from .offer import REASONING_FIELDS, Offer
from .report import EVIDENCE, PIECES, Report, ResidueHit
from .settings import Settings
from .written import CallWriter, Deltas, WrittenCall, add

_READ: Final = frozenset({"role", "content", "tool_calls", *REASONING_FIELDS})
_CALLS: Final = ("tool_calls", "function_call")
_WATCHED: Final = 400


class Choice:
    """One choice. ``events``: where given, a list that gets all of the parser's events."""

    def __init__(
        self, index: int, offer: Offer, settings: Settings, report: Report, events: list[Event] | None = None
    ) -> None:
        self.index = index
        self.begun = False
        self.reason = ""
        self.rewritten: dict[int, str] = {}
        """Arguments, by the call's index, in which the model repeated a key: with each key once."""
        self._offer = offer
        self._settings = settings
        self._report = report
        self._events = events
        self._parser = Parser(
            settings.dialect,
            tools=offer.tools,
            prompt_tail=settings.prompt_tail or "",
            on_defect=settings.on_defect,
            limits=settings.limits,
            ids="random",
        )
        self._writer = CallWriter(
            index, report, single=offer.single, legacy=offer.legacy, taken=set(offer.taken)
        )
        self._native = NativeCalls(self._writer, report)
        self._legacy_call = False
        self._residue = Residue(settings.dialect)
        self._unwatched: list[str] = []
        self._waiting = 0
        self._named: CallStart | None = None
        self._open: WrittenCall | None = None
        self._unclosed = False
        self._cut = False
        self._fields = REASONING_FIELDS if settings.reasoning_field == "both" else (settings.reasoning_field,)
        self.fed = 0
        self.out = 0

    @property
    def finished(self) -> bool:
        """Whether the finish reason is out."""
        return bool(self.reason)

    @property
    def held(self) -> int:
        """Characters that were fed and have not gone out as anything."""
        return self.fed - self.out

    @property
    def parsed_calls(self) -> bool:
        """Whether any call was read out of the text."""
        return any(not call.native for call in self._writer.calls)

    def say(self, field: str, text: str) -> Deltas:
        """A delta that is nothing but ``text``, under the name ``field``; what the client is told now."""
        self.fed += len(text)
        deltas = self._tell(self._parser.feed(text, "content" if field == "content" else "reasoning"))
        held = self.fed - self.out
        if held > self._report.held:
            self._report.held = held
        return deltas

    def take(self, delta: Mapping[str, Any]) -> Deltas:
        """A delta of the upstream, or its whole message; what the client is told now."""
        deltas: Deltas = []
        thought = reasoning_of(delta)
        if thought:
            self.fed += len(thought)
            deltas += self._tell(self._parser.feed(thought, channel="reasoning"))
        content = delta.get("content")
        if isinstance(content, str) and content:
            self.fed += len(content)
            deltas += self._tell(self._parser.feed(content))
        calls = delta.get("tool_calls")
        if isinstance(calls, Mapping):
            calls = [calls]
        if isinstance(calls, (list, tuple)) and calls:
            deltas += self._cut_open() + self._native.take(calls)
        other = {k: v for k, v in delta.items() if v is not None and _passes(k, v)}
        if other:
            self._legacy_call = self._legacy_call or "function_call" in other
            deltas.append(other)
        self._report.held = max(self._report.held, self.held)
        return deltas

    def finish(self, upstream: str | None, *, broken: bool = False) -> Deltas:
        """The choice has ended, as the upstream says for the reason ``upstream``, or broke off."""
        reason = "length" if broken else upstream
        deltas = self._tell(self._parser.close(reason)) + self._cut_open()
        for call in self._native.close():
            if call.nesting.complete or (
                reason not in ("length", "content_filter") and not call.nesting.begun
            ):
                deltas += self._writer.end(call)
            elif call.form == "custom":
                call.ended = True
            else:
                self._unclosed = True
                deltas += self._cut_one(call)
        if self._parser.dialect not in self._report.dialect.split(" "):
            self._report.dialect = " ".join(filter(None, (self._report.dialect, self._parser.dialect)))
        self._report.chosen_by = self._report.chosen_by or self._parser.chosen_by
        self._note_residue()
        self.reason = self._reason(upstream)
        self._report.finish_reasons[self.index] = self.reason
        return deltas

    def _reason(self, upstream: str | None) -> str:
        finished = self._writer.finished
        if self._legacy_call and not finished:
            return upstream or "function_call"
        called = "function_call" if self._offer.legacy else "tool_calls"
        if self._offer.forced and not self._offer.legacy and self._settings.forced_finish == "stop":
            called = "stop"
        # A call that broke in the middle of an answer leaves the finished ones their finish.
        cut = self._unclosed or (self._cut and not finished)
        return finish_reason(upstream, calls=finished, cut=cut, called=called)

    # -- the parser's events ----------------------------------------------------------------------

    def _tell(self, events: Iterable[Event]) -> Deltas:
        deltas: Deltas = []
        for event in events:
            if self._events is not None:
                self._events.append(event)
            if isinstance(event, Text):
                self.out += event.span[1] - event.span[0]
                self._watch(event.text)
                self._append(deltas, ("content",), event.text)
            elif isinstance(event, Reasoning):
                self.out += event.span[1] - event.span[0]
                self._append(deltas, self._fields, event.text)
            elif isinstance(event, CallStart):
                self.out += event.span[1] - event.span[0]
                deltas += self._cut_open()
                self._named = event
            elif isinstance(event, Arguments):
                self.out += event.span[1] - event.span[0]
                add(deltas, self._arguments(event.text))
            elif isinstance(event, CallEnd):
                self.out += event.span[1] - event.span[0]
                add(deltas, self._end(event))
            elif isinstance(event, Markup):
                self.out += event.span[1] - event.span[0]
            elif isinstance(event, Relabel):
                self._report.relabelled += event.span[1] - event.span[0]
            else:
                self._note(event)
        return deltas

    @staticmethod
    def _append(deltas: Deltas, fields: tuple[str, ...], text: str) -> None:
        last = deltas[-1] if deltas else None
        if last is not None and tuple(last) == fields:
            for name in fields:
                last[name] += text
        else:
            deltas.append(dict.fromkeys(fields, text))

    def _start(self) -> Deltas:
        """A named call goes out once more than its name is there: a name alone may never become a call."""
        named, self._named = self._named, None
        if named is None:
            return []
        self._open, deltas = self._writer.start(named.name, named.id, native=False)
        return deltas

    def _arguments(self, text: str) -> Deltas:
        deltas = self._start() if text else []
        if self._open is not None:
            deltas += self._writer.arguments(self._open, text)
        return deltas

    def _end(self, event: CallEnd) -> Deltas:
        deltas = self._start()
        if self._open is not None:
            if event.arguments_json is not None and self._open.index is not None:
                self.rewritten[self._open.index] = event.arguments_json
            deltas += self._writer.end(self._open)
            self._open = None
        return deltas

    def _cut_open(self) -> Deltas:
        if self._named is not None:
            self._named = None
            self._report.calls_cut += 1
        call, self._open = self._open, None
        return [] if call is None else self._cut_one(call)

    def _cut_one(self, call: WrittenCall) -> Deltas:
        self._cut = self._cut or call.index is not None
        return self._writer.cut(call, poison=self._settings.on_cut == "poison")

    def _note(self, defect: Defect) -> None:
        self._report.defects[defect.kind.value] += 1
        if len(self._report.defect_evidence) < PIECES:
            self._report.defect_evidence.append((defect.kind.value, defect.raw[:EVIDENCE]))
        if defect.kind is DefectKind.UNCLOSED_CALL and self._open is not None:
            self._unclosed = self._unclosed or self._open.index is not None

    def _watch(self, text: str) -> None:
        # What is found is told at the end, so that short texts can be looked through together.
        self._unwatched.append(text)
        self._waiting += len(text)
        if self._waiting > _WATCHED:
            self._watched()

    def _watched(self) -> None:
        self._residue.feed("".join(self._unwatched))
        self._unwatched.clear()
        self._waiting = 0

    def _note_residue(self) -> None:
        self._watched()
        self._residue.close()
        if self._residue.hit is not None and len(self._report.residue) < PIECES:
            self._report.residue.append(ResidueHit(self._residue.hit, self.index, self._residue.evidence))


def reasoning_of(delta: Mapping[str, Any]) -> str:
    """The reasoning in a delta or message, under whichever name it stands."""
    return next((delta[k] for k in REASONING_FIELDS if isinstance(delta.get(k), str) and delta[k]), "")


def _passes(name: str, value: object) -> bool:
    """Whether a field is passed on unread: an unknown one, or a known one with other than text in it.

    That is content in parts, say. Calls in no form of calls are of no use to any client, and break some.
    """
    if name in _CALLS:
        return name == "function_call" and isinstance(value, Mapping)
    return name not in _READ or (name != "role" and not isinstance(value, str))
