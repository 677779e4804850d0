"""The laws of the wire, as properties: any split of an upstream's bytes gives what its whole answer gives."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import settings as profile

from tests.draws import SOURCES, Draws, draws
from tests.strategies import AUTO, TOOLS
from tests.upstream import Answer, accumulate, body, chunk, cuts, request, sse, streamed
from toolglot.wire import Exchange, Report, Settings

SUBJECTS = ("hermes", "qwen3_coder", "gpt_oss", "kimi_k2", "mistral", "glm45", "llama3_json", AUTO)
NATIVE = (
    ("call_a", "ping", "{}"),
    ("call_b", "find", '{"q": "a b", "n": 1}'),
    ("call_c", "find", '{"q": "cut'),
    ("", "ping", ""),
)
EXAMPLES = 60


@profile(max_examples=EXAMPLES)
@given(source=SOURCES)
def test_any_split_says_what_the_whole_says(source: Any) -> None:
    rng = random.Random(source.randint(0, 1 << 60) if isinstance(source, random.Random) else 0)
    subject = rng.choice(SUBJECTS)
    draw = draws(source, subject)
    # What a parser holds of one channel goes out after the other's text, so this one has nothing to hold.
    text, thought = draw.text(), draw.one_of(["", "", "Let me see. 2 < 3, so yes."])
    native = rng.sample(NATIVE, rng.choice([0, 0, 0, 1, 2, 3]))
    asked = {
        "tools": draw.one_of([TOOLS, TOOLS, None, []]),
        "parallel_tool_calls": draw.one_of([None, None, False]),
    }
    how = Settings(
        dialect=subject,
        on_defect=draw.one_of(["repair", "repair", "strict"]),
        on_cut=draw.one_of(["poison", "leave"]),
    )
    reason = draw.one_of(["stop", "length", "tool_calls", None, "content_filter"])
    whole = _whole(text, thought, native, reason, how, asked)
    assert whole[1].ended
    for _ in range(2):
        data = _stream(draw, text, thought, native, reason)
        found = _streamed([data], how, asked)
        _same(found, whole)
        places = [rng.randrange(len(data)) for _ in range(12)]
        _same(_streamed(list(cuts(data, *places)), how, asked), found)


def _streamed(pieces: list[bytes], how: Settings, asked: dict[str, Any]) -> tuple[Answer, Report]:
    exchange = Exchange(request(**asked), how)
    return accumulate(streamed(pieces, exchange)), exchange.report


def _whole(
    text: str, thought: str, native: list[Any], reason: str | None, how: Settings, asked: dict[str, Any]
) -> tuple[Answer, Report]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if thought:
        message["reasoning"] = thought
    if native:
        message["tool_calls"] = [_native(call) for call in native]
    exchange = Exchange(request(stream=False, **asked), how)
    choice = exchange.whole(body(message, reason))["choices"][0]
    made = choice["message"]
    answer = Answer(
        made["content"] or "",
        made.get("reasoning_content") or "",
        made.get("tool_calls") or [],
        choice["finish_reason"],
    )
    return answer, exchange.report


def _stream(draw: Draws, text: str, thought: str, native: list[Any], reason: str | None) -> bytes:
    chunks = [chunk({"reasoning": piece}) for piece in draw.deltas(thought)]
    chunks += [chunk({"content": piece}) for piece in draw.deltas(text)]
    for index, call in enumerate(native):
        first = _native(call, "")
        chunks.append(chunk({"tool_calls": [{"index": index, **first}]}))
        for piece in draw.deltas(call[2]):
            chunks.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    if reason is not None:
        chunks.append(chunk({}, reason))
    return sse(*chunks)


def _native(call: Any, arguments: str | None = None) -> dict[str, Any]:
    function = {"name": call[1], "arguments": call[2] if arguments is None else arguments}
    return {"id": call[0], "type": "function", "function": function}


def _same(left: tuple[Answer, Report], right: tuple[Answer, Report]) -> None:
    (a, noted), (b, other) = left, right
    assert a.reason == b.reason
    assert _calls(a) == _calls(b)
    if not noted.relabelled:
        assert (a.content, a.reasoning) == (b.content, b.reasoning)
    assert (noted.calls_parsed, noted.calls_native, noted.calls_cut) == (
        other.calls_parsed,
        other.calls_native,
        other.calls_cut,
    )
    assert noted.defects == other.defects
    assert [r.marker for r in noted.residue] == [r.marker for r in other.residue] or noted.relabelled


def _calls(answer: Answer) -> list[tuple[str, Any]]:
    return [(name, _value(arguments)) for name, arguments in answer.called]


def _value(arguments: str) -> Any:
    """Arguments by value: a stream may repeat a key that the model repeated."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
