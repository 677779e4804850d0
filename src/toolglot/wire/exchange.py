"""Exchange: one Chat Completions request and its answer, whole or streamed. No I/O.

Promises: a whole answer is read by what reads a streamed one, so both say the same, but for text that
turned out to be reasoning when it had gone out: a whole answer has it in its place. What is not known
here is kept. Nothing that an upstream sends raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..assembler import assemble
from ..events import Event
from .choice import Choice, reasoning_of
from .errors import is_error, openai_error
from .native import numbered
from .offer import REASONING_FIELDS, fit_request, read_offer
from .report import Report
from .settings import Settings
from .sse import encode_frame
from .stream import AnswerStream
from .written import Deltas

_MADE = frozenset({"role", "content", "tool_calls", *REASONING_FIELDS})


class Exchange:
    """One request and its answer.

    ``request``: the request, made fit for the upstream. ``streamed``: whether it asks for a stream.
    ``report``: what came of it, complete when the answer has ended.
    Raises ``WireError`` for a request whose messages or tools cannot be read.
    """

    def __init__(self, request: Mapping[str, Any], settings: Settings | None = None) -> None:
        self.settings = Settings() if settings is None else settings
        self._offer = read_offer(request, self.settings)
        self.request = fit_request(request, self.settings)
        self.streamed = request.get("stream") is True
        model = request.get("model")
        self.report = Report(
            model=model if isinstance(model, str) else "", streamed=self.streamed, offered=self._offer.offered
        )

    def stream(self) -> AnswerStream:
        """A reader of the upstream's stream, for one answer."""
        return AnswerStream(self._offer, self.settings, self.report)

    def whole_as_stream(self, body: Mapping[str, Any]) -> bytes:
        """A whole answer as the stream that the client asked for, of a server that does not stream."""
        stream = self.stream()
        return stream.feed(encode_frame(body)) + stream.close()

    def whole(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The upstream's JSON answer with its calls parsed; an error in it in OpenAI's shape."""
        self.report.ended = True
        if is_error(body):
            error = openai_error(body)
            self.report.failed = str(error["error"]["message"])
            return error
        if isinstance(body.get("model"), str):
            self.report.model = body["model"]
        choices = body.get("choices")
        if not isinstance(choices, list):
            return dict(body)
        return {**body, "choices": [self._choice(c, i) for i, c in enumerate(choices)]}

    def _choice(self, choice: Any, place: int) -> Any:
        message = choice.get("message") if isinstance(choice, Mapping) else None
        if not isinstance(message, Mapping):
            return choice
        index = choice.get("index")
        events: list[Event] = []
        reader = Choice(
            index if isinstance(index, int) else place, self._offer, self.settings, self.report, events
        )
        deltas = reader.take(numbered(message))
        reason = choice.get("finish_reason")
        deltas += reader.finish(reason if isinstance(reason, str) else None)
        made = self._message(message, deltas, events)
        for at, arguments in reader.rewritten.items():
            if "tool_calls" in made:
                made["tool_calls"][at]["function"]["arguments"] = arguments
        rest = {"index": reader.index, **choice, "message": made, "finish_reason": reader.reason}
        if rest.get("logprobs") is not None and made.get("content") != message.get("content"):
            rest["logprobs"] = None
        return rest

    def _message(self, message: Mapping[str, Any], deltas: Deltas, events: list[Event]) -> dict[str, Any]:
        read = assemble(events)
        calls = joined_calls(deltas)
        legacy = joined_function_call(deltas) if self._offer.legacy else {}
        kept = {k: v for k, v in message.items() if k not in _MADE}
        made: dict[str, Any] = {"role": message.get("role") or "assistant", "content": message.get("content")}
        if isinstance(message.get("content"), str):
            made["content"] = read.content or (None if calls or legacy or kept.get("function_call") else "")
        if read.reasoning or reasoning_of(message):
            both = self.settings.reasoning_field == "both"
            for name in REASONING_FIELDS if both else (self.settings.reasoning_field,):
                made[name] = read.reasoning or None
        if calls:
            made["tool_calls"] = calls
        made.update(kept)
        if legacy:
            made["function_call"] = legacy
        return made


def joined_calls(deltas: Deltas) -> list[dict[str, Any]]:
    """The calls that canonical deltas amount to."""
    calls: list[dict[str, Any]] = []
    for delta in deltas:
        for entry in delta.get("tool_calls") or ():
            if entry["index"] == len(calls):
                calls.append({k: v for k, v in entry.items() if k != "index"})
                continue
            call = calls[entry["index"]]
            for name, value in entry.items():
                if name in ("function", "custom"):
                    for part, text in value.items():
                        call[name][part] += text
                elif name != "index":
                    call[name] = value
    return calls


def joined_function_call(deltas: Deltas) -> dict[str, Any]:
    """The legacy call that canonical deltas amount to; empty where there is none."""
    call: dict[str, Any] = {}
    for delta in deltas:
        for name, text in (delta.get("function_call") or {}).items():
            known = call.get(name, "")
            call[name] = known + text if isinstance(text, str) and isinstance(known, str) else text
    return call
