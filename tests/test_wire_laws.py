"""The laws of the wire, as properties: any split of an upstream's bytes gives what its whole answer gives."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from tests.draws import Draws, Seeded
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
SEEDS = st.integers(0, 1 << 60)


@dataclass(frozen=True)
class Case:
    """What an upstream says, how it is read, and what draws the splits."""

    text: str
    thought: str
    native: list[Any]
    reason: str | None
    how: Settings
    asked: dict[str, Any]
    draw: Draws

    def stream(self) -> bytes:
        return _stream(self.draw, self.text, self.thought, self.native, self.reason)

    def whole(self) -> tuple[Answer, Report]:
        return _whole(self.text, self.thought, self.native, self.reason, self.how, self.asked)


def drawn(seed: int) -> Case:
    """A case of a seed that Hypothesis chose: drawing it piece by piece would cost more than the law."""
    rng = random.Random(seed)
    subject = rng.choice(SUBJECTS)
    draw = Seeded(rng, subject)
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
    return Case(text, thought, native, reason, how, asked, draw)


@profile(max_examples=EXAMPLES)
@given(seed=SEEDS)
def test_any_split_says_what_the_whole_says(seed: int) -> None:
    case, rng = drawn(seed), random.Random(seed)
    whole = case.whole()
    assert whole[1].ended
    for _ in range(2):
        data = case.stream()
        found = _streamed([data], case.how, case.asked)
        _same(found, whole)
        places = [rng.randrange(len(data)) for _ in range(12)]
        _same(_streamed(list(cuts(data, *places)), case.how, case.asked), found)


@profile(max_examples=EXAMPLES // 2)
@given(seed=SEEDS)
def test_the_openai_sdk_accumulates_the_same(seed: int) -> None:
    """The SDK's own accumulator, as an oracle beside ours."""
    streaming = pytest.importorskip("openai.lib.streaming.chat", reason="needs the clients extra")
    chunks = pytest.importorskip("openai.types.chat", reason="needs the clients extra")
    case = drawn(seed)
    found = streamed([case.stream()], Exchange(request(**case.asked), case.how))
    state = streaming.ChatCompletionStreamState()
    for frame in found[:-1]:
        state.handle_chunk(chunks.ChatCompletionChunk.model_validate(frame))
    choice = state.current_completion_snapshot.choices[0]
    ours = accumulate(found)
    assert (choice.message.content, choice.finish_reason) == (ours.content, ours.reason)
    assert getattr(choice.message, "reasoning_content", "") == ours.reasoning
    theirs = [(c.id, c.type, c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()]
    assert theirs == [(c["id"], "function", *c["function"].values()) for c in ours.calls]


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
