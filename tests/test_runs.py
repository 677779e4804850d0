"""Runs: what is taken without resuming the machine is what the machine would have made of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

import toolglot
from tests.casefile import tools_from
from tests.delivery import check_tiling, merge, random_pieces
from toolglot import Arguments, CallStart, Event, Message, Parser, Reasoning, Text, ToolCall

TOOLS = tools_from("write_file(path: string, text: string)")
HARD = (
    'if a < b:  # "q" \\ \\n \t \x01 \u00e9 \U0001f600 a<b> </b> & &amp; [x] {y: z} `t`\n\n'
    "    <tool <| </par <\n"
    'it\'s \'x\', """y"""  \n \n'
)
CALL = Message(
    content="Look:  <b>  now",
    tool_calls=(ToolCall("write_file", {"path": "a", "text": HARD * 2}),),
)
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"arguments": "whole"}, {"on_defect": "strict"})


def events_of(deltas: list[str], dialect: str, special: bool | None, **options: Any) -> list[Event]:
    parser = Parser(dialect, tools=TOOLS, **options)
    events = [event for delta in deltas for event in parser.feed(delta, special=special)]
    return [*events, *parser.close()]


def pieces(text: str, seed: int) -> list[str]:
    return random_pieces(text, seed, random.Random(seed).choice((3, 9, 40)))


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options.values()) or "stream")
@pytest.mark.parametrize(
    "dialect",
    [
        *("hermes", "qwen3_coder", "glm47", "gpt_oss", "gemma", "pythonic", "deepseek_v32", "minimax_m2"),
        *("kimi_k2", "mistral", "llama3_json", "auto"),
    ],
)
def test_runs_change_nothing(dialect: str, options: dict[str, Any]) -> None:
    writer = "hermes" if dialect == "auto" else dialect
    message = CALL
    if writer in ("mistral", "llama3_json", "pythonic"):
        message = Message(tool_calls=CALL.tool_calls)
    text = toolglot.render(message, writer)
    for special in (None, False) if writer == "hermes" else (None,):
        whole = events_of([text], dialect, special, **options)
        for seed in range(6):
            deltas = pieces(text, seed)
            events = events_of(deltas, dialect, special, **options)
            check_tiling(text, events)
            assert merge(events) == merge(whole), deltas
            assert toolglot.assemble(events) == toolglot.assemble(whole), deltas


def test_a_run_sends_one_event_a_delta() -> None:
    parser = Parser("hermes", tools=TOOLS)
    parser.feed('<tool_call>{"name": "write_file", "arguments": {"text": "')
    at = len('<tool_call>{"name": "write_file", "arguments": {"text": "')
    for delta, sent in (
        ("ab", "ab"),
        (" c", " c"),
        ("d\\n", "d\\n"),
        ("\\", ""),
        ("n\\", "\\n"),
        ('"e', '\\"e'),
    ):
        held = 1 if sent.startswith("\\") and not delta.startswith("\\") else 0
        start, at = at - held, at + len(delta)
        end = at - (1 if delta.endswith("\\") else 0)
        assert list(parser.feed(delta)) == ([Arguments(0, sent, (start, end))] if sent else [])


def test_blanks_at_the_end_of_a_delta_wait_for_the_next() -> None:
    parser = Parser("hermes", tools=TOOLS)
    assert list(parser.feed("Well")) == [Text("Well", (0, 4))]
    assert list(parser.feed(", so")) == [Text(", so", (4, 8))]
    assert list(parser.feed(" it ")) == [Text(" it", (8, 11))]
    assert list(parser.feed("\n")) == []
    assert list(parser.feed("is.")) == [Text(" \nis.", (11, 16))]
    assert list(parser.feed("\n<")) == []
    assert list(parser.feed("b>")) == [Text("\n<b>", (16, 20))]


@pytest.mark.parametrize("special", [None, False])
@pytest.mark.parametrize("step", [1, 3, 8])
def test_the_end_of_long_prose_is_still_known(step: int, special: bool | None) -> None:
    """What went out is let go, but for what tells whether a fence stands on a line of its own."""
    call = '<tool_call>{"name": "write_file", "arguments": {}}</tool_call>'
    text = "So it goes, and goes. " * 30 + f"\n> ```\n> {call}\n> ```\n" + "And on it went. " * 30
    parser = Parser("hermes", tools=TOOLS)
    events: list[Event] = []
    for at in range(0, len(text), step):
        events += parser.feed(text[at : at + step], special=special)
    events += [*parser.feed(call, special=None if special is None else True), *parser.close()]
    check_tiling(text + call, events)
    assert merge(events) == merge(events_of([text + call], "hermes", None))
    assert [e.name for e in events if isinstance(e, CallStart)] == ["write_file"]


def test_a_lone_surrogate_ends_a_run() -> None:
    parser = Parser("hermes", tools=TOOLS)
    parser.feed("Well")
    parser.feed(", so")
    assert list(parser.feed("\ud83d.")) == [Text("\ufffd.", (8, 10))]


def test_a_run_behind_the_other_channel_has_spans_of_the_whole_input() -> None:
    parser = Parser("hermes", tools=TOOLS)
    sent = [
        *(event for delta in ("So", " I", " see") for event in parser.feed(delta, channel="reasoning")),
        *(event for delta in ("Fine", ", then", ".") for event in parser.feed(delta)),
        *(event for delta in ("More", " of it") for event in parser.feed(delta, channel="reasoning")),
        *parser.close(),
    ]
    assert sent == [
        *(Reasoning("So", (0, 2)), Reasoning(" I", (2, 4)), Reasoning(" see", (4, 8))),
        *(Text("Fine", (8, 12)), Text(", then", (12, 18)), Text(".", (18, 19))),
        *(Reasoning("More", (19, 23)), Reasoning(" of it", (23, 29))),
    ]


def test_a_run_stops_at_the_limit_of_a_call() -> None:
    """However the text comes, as much of a call goes out as the limit allows."""
    text = '<tool_call>{"name": "write_file", "arguments": {"text": "' + "x" * 300 + '"}}</tool_call>'
    limits = toolglot.Limits(call=200)
    sent = []
    for step in (1, 7, len(text)):
        parser = Parser("hermes", tools=TOOLS, limits=limits)
        events = [e for i in range(0, len(text), step) for e in parser.feed(text[i : i + step])]
        events += parser.close()
        assert sum(isinstance(e, CallStart) for e in events) == 1
        sent.append("".join(e.text for e in events if isinstance(e, Arguments)))
    assert sent == ['{"text": "' + "x" * 190] * 3


def test_a_bracket_inside_a_word_may_begin_a_call() -> None:
    text = "so[d[write_file()]"
    events = events_of(list(text), "pythonic", None)
    assert merge(events) == merge(events_of([text], "pythonic", None))
    assert any(isinstance(event, CallStart) for event in events)


def test_the_name_of_a_call_goes_out_before_its_arguments() -> None:
    parser = Parser("hermes", tools=TOOLS)
    assert [list(parser.feed(delta)) for delta in ('<tool_call>{"', "name", '": "write_', 'file" ', ",")] == [
        []
    ] * 5
    assert [type(event).__name__ for event in parser.feed('"ar')] == ["Markup", "CallStart"]
    assert [list(parser.feed(delta)) for delta in ("gum", 'ents":', " ")] == [[]] * 3
    assert [list(parser.feed(delta)) for delta in ('{"', "te", 'xt": ')] == [[]] * 3
    assert [type(event).__name__ for event in parser.feed('"a')] == ["Markup", "Arguments"]
    assert [list(parser.feed(delta)) for delta in ('", ', '"path": ')] == [[]] * 2
    assert [event.text for event in parser.feed('"b') if isinstance(event, Arguments)] == ['", "path": "b']
