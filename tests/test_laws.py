"""The laws of the design, as properties over every bundled dialect, one of the caller's, and ``auto``.

1 split-blind, 2 nothing lost, 3 round trip, 6 total, 7 never invented, 8 at once. Law 5 is in
``test_linear.py``. Each law runs as many examples per dialect as the Hypothesis profile says.
"""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

import toolglot
from tests.delivery import check_calls, check_tiling, merge, received, run, valid
from tests.draws import SOURCES, draws
from tests.strategies import (
    AUTO,
    GIVEN,
    SUBJECTS,
    TOOLS,
    dialect_for,
    markers_for,
    pool,
    same_arguments,
    tools_for,
)
from toolglot import CallEnd, CallStart, Event, Markup, Message, Parser, Reasoning, Relabel, Text, ToolCall

subjects = pytest.mark.parametrize("subject", SUBJECTS)
writers = pytest.mark.parametrize("subject", [s for s in SUBJECTS if s != AUTO])

ENDS_WITH_THE_TEXT = {"loose_keyed", "react"}
"""Dialects whose body the end of the text closes: only the finish reason ``length`` tells of a cut."""


@subjects
@given(source=SOURCES)
def test_any_text(subject: str, source: Any) -> None:
    """Laws 1, 2 and 6 on one text: the text is what costs most to make."""
    draw = draws(source, subject)
    text = draw.text()
    asked = draw.options()
    dialect = dialect_for(subject)
    whole = run([text], dialect, **asked)
    message = toolglot.assemble(whole)
    nothing_lost(text, whole, message)
    total(whole, message)
    for split in (draw.deltas(text), list(text)):
        split_blind(run(split, dialect, **asked), whole, message)
    other = {"stream": "whole", "whole": "stream"}[asked["arguments"]]
    meaning(toolglot.assemble(run([text], dialect, **{**asked, "arguments": other})), message)


def split_blind(events: Sequence[Event], whole: Sequence[Event], message: Message) -> None:
    """Law 1: any split gives the same Message and, neighbours merged, the same events."""
    assert merge(events) == merge(whole)
    assert toolglot.assemble(events) == message
    assert received(events) == received(whole)


def nothing_lost(text: str, events: Sequence[Event], message: Message) -> None:
    """Law 2: the events tile the input; text in which nothing was found comes back as it was."""
    check_tiling(text, events)
    assert "".join(text[s.span[0] : s.span[1]] for s in message.segments) == text
    if not any(isinstance(e, (CallStart, Markup, Reasoning, Relabel)) for e in events):
        assert message.content == valid(text)


def total(events: Sequence[Event], message: Message) -> None:
    """Law 6: nothing was raised so far; what comes out is valid JSON and UTF-8, and agrees with itself."""
    check_calls(events)
    client = received(events)
    assert (client.content, client.reasoning) == (message.content, message.reasoning)
    (message.content + message.reasoning).encode()
    assert [call.name for call in message.tool_calls] == [name for name, _ in client.calls]
    assert len(set(client.ids)) == len(client.ids)
    for call, (_, joined) in zip(message.tool_calls, client.calls, strict=True):
        call.arguments_json.encode()
        assert isinstance(call.arguments, dict)
        assert _strict_json(call.arguments_json) == call.arguments
        assert _strict_json(joined) == call.arguments
    json.dumps(message.to_openai())


def meaning(other: Message, message: Message) -> None:
    """Streamed and whole arguments give the same Message, but for how finely its segments are cut."""
    assert replace(other, segments=()) == replace(message, segments=())


def _strict_json(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


@writers
@given(source=SOURCES)
def test_round_trip(subject: str, source: Any) -> None:
    """Law 3: what render writes reads back the same, without a defect, under strict too."""
    message = draws(source, subject).message()
    dialect = dialect_for(subject)
    try:
        text = toolglot.render(message, dialect)
    except toolglot.RenderError:
        return
    for on_defect in ("repair", "strict"):
        back = toolglot.parse(
            text, dialect, tools=tools_for(message) or None, finish_reason="stop", on_defect=on_defect
        )
        assert (back.content, back.reasoning) == (message.content, message.reasoning), text
        assert same_arguments(back.tool_calls, message.tool_calls), text
        assert back.defects == ()


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s not in (AUTO, "none")])
def test_render_writes_plain_messages(subject: str) -> None:
    """Law 3 is not kept by raising: each dialect writes a plain call, and content where it has no layout."""
    call = ToolCall(name="get_weather", arguments={"city": "Bergen"})
    dialect = dialect_for(subject)
    text = toolglot.render([call], dialect)
    back = toolglot.parse(text, dialect, tools=TOOLS, finish_reason="stop")
    assert same_arguments(back.tool_calls, [call])
    assert toolglot.parse(toolglot.render(Message(content="Hello."), dialect), dialect).content == "Hello."
    assert len(pool(subject)) >= 4


@subjects
@given(source=SOURCES)
def test_never_invented(subject: str, source: Any) -> None:
    """Law 7: of a cut call nothing is finished, and what was streamed is a prefix of the whole."""
    draw = draws(source, subject)
    written = draw.one_of(pool(subject))
    at = draw.integer(0, len(written.text))
    # For auto too: a cut may end before the text says which dialect it is of.
    told = subject in ENDS_WITH_THE_TEXT or subject == AUTO
    finish = draw.one_of(["length"] if told else ["length", "stop", None])
    on_defect = draw.one_of(["repair", "strict"])
    asked: dict[str, Any] = {"tools": written.tools, "on_defect": on_defect}
    dialect = dialect_for(subject)
    full = run([written.text], dialect, finish_reason="stop", **asked)
    cut = written.text[:at]
    events = run([cut], dialect, finish_reason=finish, **asked)
    ends = {e.index: e.arguments for e in full if isinstance(e, CallEnd)}
    for event in events:
        if isinstance(event, CallEnd):
            assert event.arguments == ends.get(event.index), cut
    # Before close: what is held for a marker is text of the value once no more can come.
    sent = received(Parser(dialect, **asked).feed(cut))
    whole = dict(enumerate(received(full).calls))
    for index, joined in sent.open_calls.items():
        assert whole[index][1].startswith(joined), cut


@subjects
@given(source=SOURCES)
def test_at_once(subject: str, source: Any) -> None:
    """Law 8: prose that holds no character of a marker goes out with the delta that brought it."""
    taken = set("".join(markers_for(subject))) | set("`~{[(/<\"'“‘「:=")
    taken |= {c for tool in TOOLS for c in tool["function"]["name"]}
    letters = [c for c in string.ascii_letters + string.digits + "äéöüß東京.?!" if c not in taken]
    draw = draws(source, subject)
    parser = Parser(dialect_for(subject), tools=draw.one_of([None, TOOLS]))
    parser.feed(opening(subject))
    fed = out = ""
    for delta in draw.prose(letters):
        fed += delta
        out += "".join(e.text for e in parser.feed(delta) if isinstance(e, Text))
        assert out == fed


def opening(subject: str) -> str:
    """What an answer begins with where the prompt ends inside a marker: else its first word may be a tool."""
    dialect = toolglot.resolve(dialect_for(subject))
    if not isinstance(dialect, toolglot.Dialect) or not dialect.envelope.prefill:
        return ""
    return toolglot.render(Message(content="."), dialect).partition(".")[0]


@subjects
def test_prose_is_held_briefly(subject: str) -> None:
    """Law 8 for real prose: at no time is more held than a marker or a short run of blanks needs."""
    prose = (
        "The jar holds tea, find it [1] and (if need be) call me: 3 < 4, a|b; it's “fine”. {ok} Yes?\n\n" * 20
    )
    longest = max([32, *map(len, markers_for(subject))])
    parser = Parser(dialect_for(subject), tools=TOOLS)
    out = 0
    for fed, delta in enumerate(prose, start=1):
        out += sum(len(e.text) for e in parser.feed(delta) if isinstance(e, Text))
        assert fed - out <= longest
    rest = "".join(e.text for e in parser.close() if isinstance(e, Text))
    assert out + len(rest) == len(prose)


def test_every_subject_is_there() -> None:
    """The laws would be empty if the list of dialects were."""
    founding = {
        "hermes",
        "qwen3_coder",
        "gpt_oss",
        "llama3_json",
        "mistral",
        "mistral_v3",
        "mistral_v11",
        "gemma",
    }
    founding |= {"gemma4", "pythonic", "bare_pythonic", "loose_keyed", "phi"}
    assert founding | {AUTO, GIVEN} <= set(SUBJECTS)
