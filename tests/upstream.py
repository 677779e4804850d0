"""An upstream's chunks, streams and bodies of Chat Completions, and what a client makes of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.delivery import valid
from toolglot.wire import Exchange, Settings

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1700000000, "model": "m"}
BEEP = {"type": "function", "function": {"name": "beep", "parameters": {"type": "object", "properties": {}}}}


def request(*, stream: bool = True, **fields: Any) -> dict[str, Any]:
    """A request that offers one tool, unless ``tools`` says otherwise."""
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [BEEP], "stream": stream}
    return {k: v for k, v in {**asked, **fields}.items() if v is not ...}


def chunk(delta: Any = None, reason: str | None = None, index: int = 0, **fields: Any) -> dict[str, Any]:
    """One chunk with one choice; ``fields`` stand beside the choices."""
    return {**HEAD, "choices": [{"index": index, "delta": delta or {}, "finish_reason": reason}], **fields}


def sse(*chunks: Any, done: bool = True) -> bytes:
    """A stream's bytes; a string is a frame's data as it stands."""
    texts = [c if isinstance(c, str) else _json(c) for c in chunks]
    return "".join(f"data: {t}\n\n" for t in [*texts, *(["[DONE]"] if done else [])]).encode()


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    # A lone surrogate has no bytes of its own.
    return text if text == valid(text) else json.dumps(value)


def says(*texts: str, reason: str | None = "stop", done: bool = True) -> bytes:
    """A stream that says ``texts``, a delta each."""
    chunks = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": t}) for t in texts)]
    return sse(*chunks, *([chunk(reason=reason)] if reason is not None else []), done=done)


def body(message: dict[str, Any] | str, reason: str | None = "stop", **fields: Any) -> dict[str, Any]:
    """A whole answer."""
    message = {"role": "assistant", "content": message} if isinstance(message, str) else message
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {**HEAD, "object": "chat.completion", "choices": [choice], **fields}


def frames(data: bytes) -> list[Any]:
    """The JSON values of a stream in strict form, its end mark as a string."""
    text = data.decode("utf-8")
    found: list[Any] = []
    assert text.endswith("\n\n") or not text
    for part in text.split("\n\n")[:-1]:
        if not part.startswith(":"):
            assert part.startswith("data: ")
            assert "\n" not in part
            found.append(part[6:] if part == "data: [DONE]" else json.loads(part[6:]))
    return found


@dataclass
class Answer:
    """What a client has of one choice; a strict reader, so that a stream that is not canonical fails."""

    content: str = ""
    reasoning: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    reason: str | None = None

    @property
    def called(self) -> list[tuple[str, str]]:
        return [(call["function"]["name"], call["function"]["arguments"]) for call in self.calls]


def accumulate(found: Sequence[Any], index: int = 0) -> Answer:
    """Read a client's stream, holding it to the canonical form."""
    answer, begun = Answer(), False
    chunks = [f for f in found if isinstance(f, dict) and "error" not in f]
    assert len({(c["id"], c["created"], c["model"], c["object"]) for c in chunks if c["choices"]}) <= 1
    for one in chunks:
        for choice in one["choices"]:
            if choice["index"] != index:
                continue
            delta = choice["delta"]
            assert answer.reason is None or not delta, "text after the finish"
            assert begun == ("role" not in delta), "the role comes once, and first"
            begun = True
            answer.content += delta.get("content") or ""
            answer.reasoning += delta.get("reasoning_content") or ""
            for entry in delta.get("tool_calls") or ():
                _entry(answer, entry)
            if choice["finish_reason"] is not None:
                assert answer.reason is None, "a second finish"
                assert delta == {}
                answer.reason = choice["finish_reason"]
    return answer


def _entry(answer: Answer, entry: dict[str, Any]) -> None:
    at = entry["index"]
    if at == len(answer.calls):
        assert entry["id"]
        assert entry["type"] == "function"
        assert entry["function"]["name"]
        assert entry["function"]["arguments"] == ""
        answer.calls.append({"id": entry["id"], "type": "function", "function": dict(entry["function"])})
        return
    assert at < len(answer.calls), "indices count up from 0"
    assert set(entry) == {"index", "function"}
    assert set(entry["function"]) == {"arguments"}
    answer.calls[at]["function"]["arguments"] += entry["function"]["arguments"]


def streamed(pieces: Iterable[bytes], exchange: Exchange, error: str | None = None) -> list[Any]:
    """The client's frames."""
    stream = exchange.stream()
    out = b"".join([*(stream.feed(piece) for piece in pieces), stream.close(error)])
    assert stream.held == 0
    found = frames(out)
    assert found[-1] == "[DONE]"
    assert found.count("[DONE]") == 1
    return found


def answer_to(data: bytes, settings: Settings | None = None, **fields: Any) -> Answer:
    """What a client has of choice 0 of a stream, fed whole."""
    return accumulate(streamed([data], Exchange(request(**fields), settings)))


def whole_answer(answer: dict[str, Any], settings: Settings | None = None, **fields: Any) -> dict[str, Any]:
    """Choice 0 of a whole answer, as the client gets it."""
    choice = Exchange(request(stream=False, **fields), settings).whole(answer)["choices"][0]
    assert isinstance(choice, dict)
    return choice


def cuts(data: bytes, *places: int) -> Iterator[bytes]:
    """The bytes, cut at these places."""
    bounds = sorted({0, len(data), *(min(p, len(data)) for p in places)})
    yield from (data[a:b] for a, b in itertools.pairwise(bounds))
