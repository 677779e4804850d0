"""The parser as its caller sees it: channels, prompts, flags, modes, limits, faults."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

import toolglot.parser
from tests.delivery import check_calls, check_tiling, merge, run
from toolglot import (
    Arguments,
    CallEnd,
    CallStart,
    Context,
    Defect,
    Dialect,
    DialectError,
    Event,
    Limits,
    Markup,
    Message,
    Parser,
    ParserClosedError,
    ParseResult,
    Reasoning,
    Text,
    ToolCall,
    ToolsError,
    UnknownDialectError,
    assemble,
    parse,
)

PING = '{"name": "ping", "arguments": {"n": 1}}'
CALL = f"<tool_call>{PING}</tool_call>"
TOOLS = {
    "ping": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "write": {"type": "object", "properties": {"text": {"type": "string"}, "path": {"type": "string"}}},
}


def called(message: Message) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in message.tool_calls]


def kinds(message: Message) -> list[str]:
    return [defect.kind.value for defect in message.defects]


def same_in_every_way(text: str, dialect: Any, finish_reason: str | None = None, **options: Any) -> Message:
    """The message of the text, which one character a delta and each split in two must give too."""
    whole = run([text], dialect, finish_reason=finish_reason, **options)
    check_tiling(text, whole)
    check_calls(whole)
    for deltas in (list(text), *([text[:at], text[at:]] for at in range(1, len(text)))):
        events = run(deltas, dialect, finish_reason=finish_reason, **options)
        assert merge(events) == merge(whole)
        assert assemble(events) == assemble(whole)
    return assemble(whole)


Piece = tuple[str, str]
"""A channel and its text."""


def run_channels(pieces: Iterable[Piece], dialect: Any, **options: Any) -> list[Event]:
    parser = Parser(dialect, **options)
    events: list[Event] = []
    for channel, text in pieces:
        if channel == "reasoning":
            events += parser.feed(text, channel="reasoning")
        else:
            events += parser.feed(text, channel="content")
    return [*events, *parser.close()]


def by_channel(pieces: Sequence[Piece], dialect: Any, **options: Any) -> Message:
    """The message of text on two channels, which one character a delta must give too."""
    events = run_channels(pieces, dialect, **options)
    check_calls(events)
    message = assemble(events)
    _tile(events, "".join(text for _, text in pieces))
    apart = [(channel, character) for channel, text in pieces for character in text]
    finer = run_channels(apart, dialect, **options)
    _tile(finer, "".join(text for _, text in pieces))
    assert assemble(finer) == message
    return message


def _tile(events: Iterable[Event], text: str) -> None:
    tiles = sorted(
        e.span
        for e in events
        if isinstance(e, (Text, Reasoning, CallStart, Arguments, CallEnd, Markup)) and e.span[0] < e.span[1]
    )
    assert [0, *(end for _, end in tiles)] == [*(start for start, _ in tiles), len(text)]


def run_flagged(pieces: Iterable[tuple[str, bool | None]], dialect: Any, **options: Any) -> Message:
    parser = Parser(dialect, **options)
    events: list[Event] = []
    for text, special in pieces:
        events += parser.feed(text, special=special)
    return assemble([*events, *parser.close()])


# -- feeding and closing ---------------------------------------------------------------------------


def test_parse_is_feed_close_assemble() -> None:
    text = f"<think>\nhm\n</think>\n\nHi {CALL}\n"
    message = same_in_every_way(text, "hermes")
    assert parse(text, "hermes") == dataclasses.replace(message, dialect="hermes")
    assert (message.reasoning, message.content, called(message)) == ("hm", "Hi", [("ping", {"n": 1})])


def test_the_dialect_defaults_to_auto() -> None:
    assert Parser().dialect == "auto"
    assert parse(CALL).dialect == "hermes"
    assert Parser("qwen25").dialect == "hermes"


def test_a_closed_parser_takes_no_more() -> None:
    parser = Parser("hermes")
    parser.feed("x")
    parser.close()
    with pytest.raises(ParserClosedError, match="make a new one"):
        parser.feed("y")
    with pytest.raises(ParserClosedError, match="closed already"):
        parser.close()
    with pytest.raises(ParserClosedError):
        parser.feed("")


def test_empty_deltas_change_nothing() -> None:
    parser = Parser("hermes")
    events: list[Event] = []
    assert list(parser.feed("")) == []
    for character in f"Hi {CALL} x":
        events += parser.feed("")
        events += parser.feed(character)
        assert list(parser.feed("", channel="reasoning")) == []
    events += parser.close()
    assert merge(events) == merge(run([f"Hi {CALL} x"], "hermes"))


@pytest.mark.parametrize("dialect", ["hermes", "gpt_oss", "auto", "none", "loose_keyed"])
def test_no_text_is_an_empty_message(dialect: str) -> None:
    assert parse("", dialect) == Message(dialect=dialect)
    assert list(Parser(dialect).close()) == []
    assert parse("", dialect, tools=TOOLS, finish_reason="length", on_defect="strict") == Message(
        dialect=dialect
    )


def test_prose_goes_out_at_once() -> None:
    parser = Parser("hermes")
    assert list(parser.feed("Hello ")) == [Text("Hello", (0, 5))]
    assert merge(parser.feed("there")) == [Text(" there", (5, 11))]
    assert list(parser.feed(" <tool")) == []
    assert merge(parser.feed("s>")) == [Text(" <tools>", (11, 19))]


def test_a_call_as_it_comes() -> None:
    parser = Parser("hermes")
    assert list(parser.feed('<tool_call>{"name": "wri')) == []
    assert merge(parser.feed('te", "arg')) == [Markup((0, 11)), CallStart(0, "call_0", "write", (11, 27))]
    assert merge(parser.feed('uments": {"text": "a')) == [
        Markup((27, 42)),
        Arguments(0, '{"text": "a', (42, 53)),
    ]
    assert list(parser.feed("bc")) == [Arguments(0, "bc", (53, 55))]
    assert merge(parser.feed('"}}')) == [
        Arguments(0, '"}', (55, 57)),
        CallEnd(0, {"text": "abc"}, (57, 58)),
    ]
    # What nobody waits for goes out with what comes next.
    assert list(parser.feed("</tool_call>")) == []
    assert list(parser.feed("\n<tool")) == []
    assert merge(parser.feed(" b")) == [Markup((58, 70)), Text("\n<tool b", (70, 78))]
    assert list(parser.close()) == []


@pytest.mark.parametrize(
    "options",
    [{"on_defect": "x"}, {"arguments": "x"}, {"ids": "x"}, {"on_defect": None}, {"arguments": True}],
)
def test_an_option_that_is_none_is_refused(options: dict[str, Any]) -> None:
    ((name, value),) = options.items()
    if str(toolglot.parser.__file__).endswith(".py") or isinstance(value, str):
        with pytest.raises(ValueError, match=rf"^{name} is '\w+' or '\w+', not "):
            Parser("hermes", **options)
    else:
        # A compiled function refuses what is no text before its first line runs.
        with pytest.raises(TypeError, match="str object expected; got "):
            Parser("hermes", **options)


def test_other_faults_of_the_caller() -> None:
    with pytest.raises(UnknownDialectError):
        Parser("hermess")
    with pytest.raises(DialectError):
        Parser({"slug": "x"})
    with pytest.raises(ToolsError):
        Parser("hermes", tools=3)
    with pytest.raises(ValueError, match=r"^channel is 'content' or 'reasoning', not 'other'$"):
        Parser("hermes").feed("x", channel="other")  # type: ignore[arg-type]  # what is tested


def test_lone_surrogates_become_replacement_characters() -> None:
    text = 'a\ud83d <tool_call>{"name": "f", "arguments": {"s": "\ude00 \\ud83d"}}</tool_call>'
    message = same_in_every_way(text, "hermes")
    assert message.content == "a\ufffd"
    assert called(message) == [("f", {"s": "\ufffd \ufffd"})]
    message.tool_calls[0].arguments_json.encode()


# -- channels --------------------------------------------------------------------------------------

R, C = "reasoning", "content"


def test_channels_have_common_spans_and_one_order() -> None:
    events = run_channels([(R, "hm, "), (C, "Hi "), (R, "yes"), (C, CALL)], "hermes")
    assert merge(sorted((e for e in events if isinstance(e, Text)), key=lambda e: e.span)) == [
        Text("Hi", (4, 6))
    ]
    assert [e.text for e in events if isinstance(e, Reasoning)] == ["hm,", " ", "yes"]
    (start,) = (e for e in events if isinstance(e, CallStart))
    assert start == CallStart(0, "call_0", "ping", (21, 36))
    message = by_channel([(R, "hm, "), (C, "Hi "), (R, "yes"), (C, CALL)], "hermes")
    assert (message.reasoning, message.content) == ("hm, yes", "Hi")
    assert message.tool_calls[0].span == (21, 60)


def test_each_channel_has_its_own_state() -> None:
    half = len(CALL) // 2
    message = by_channel([(C, CALL[:half]), (R, "mean"), (C, CALL[half:]), (R, "while")], "hermes")
    assert called(message) == [("ping", {"n": 1})]
    assert (message.content, message.reasoning) == ("", "meanwhile")
    message = by_channel([(C, "<tool_"), (R, "call>"), (C, "call>"), (R, PING)], "hermes")
    assert (message.reasoning, called(message)) == ("call>" + PING, [])


def test_calls_of_both_channels_have_common_ids() -> None:
    spec = {"tool_open": "<x>", "tool_close": "</x>", "id_prefix": "x_"}
    message = by_channel([(R, f"a <x>{PING}</x> b"), (C, f"c <x>{PING}</x>"), (R, f"<x>{PING}</x>")], spec)
    assert [call.id for call in message.tool_calls] == ["x_0", "x_1", "x_2"]
    assert (message.reasoning, message.content) == ("a  b", "c ")


def test_the_prompt_is_of_the_content_channel() -> None:
    message = by_channel([(R, "hm"), (C, "Hi")], "hermes", prompt_tail="<|im_start|>assistant\n")
    assert (message.reasoning, message.content) == ("hm", "Hi")


# -- calls inside of reasoning ---------------------------------------------------------------------


def with_rule(rule: str) -> Dialect:
    return Dialect.from_dict(
        {
            "slug": "mine",
            "envelope": {"open": ["<tool_call>"], "close": ["</tool_call>"]},
            "body": [{"codec": "json_object"}],
            "reasoning": {"open": ["<think>"], "close": ["</think>"], "call_inside": rule},
        }
    )


@pytest.mark.parametrize(
    ("rule", "reasoning", "content", "count"),
    [
        ("draft", f"a {CALL} b", "c", 0),
        ("execute", "a  b", "c", 1),
        ("until_close", f"a {CALL} b", "c", 0),
    ],
)
def test_a_call_inside_of_tags(rule: str, reasoning: str, content: str, count: int) -> None:
    message = same_in_every_way(f"<think>a {CALL} b</think>c", with_rule(rule))
    assert (message.reasoning, message.content, len(message.tool_calls)) == (reasoning, content, count)


@pytest.mark.parametrize(
    ("rule", "reasoning", "content", "count"),
    [("draft", f"a {CALL} b", "", 0), ("execute", "a  b", "", 1), ("until_close", "a ", " b", 1)],
)
def test_a_call_inside_of_tags_that_stay_open(rule: str, reasoning: str, content: str, count: int) -> None:
    message = same_in_every_way(f"<think>a {CALL} b", with_rule(rule))
    assert (message.reasoning, message.content, len(message.tool_calls)) == (reasoning, content, count)


@pytest.mark.parametrize(
    ("rule", "reasoning", "count"),
    [("draft", f"a {CALL} b", 0), ("execute", "a  b", 1), ("until_close", f"a {CALL} b", 0)],
)
def test_a_call_on_the_reasoning_channel(rule: str, reasoning: str, count: int) -> None:
    """Other content counts as the close."""
    message = by_channel([(R, f"a {CALL} b"), (C, "c")], with_rule(rule))
    assert (message.reasoning, message.content, len(message.tool_calls)) == (reasoning, "c", count)


@pytest.mark.parametrize(
    ("rule", "reasoning", "content", "count"),
    [("draft", f"a {CALL} b", "", 0), ("execute", "a  b", "", 1), ("until_close", "a ", " b", 1)],
)
def test_a_call_on_the_reasoning_channel_that_no_content_follows(
    rule: str, reasoning: str, content: str, count: int
) -> None:
    message = by_channel([(R, f"a {CALL} b")], with_rule(rule))
    assert (message.reasoning, message.content, len(message.tool_calls)) == (reasoning, content, count)


def test_blank_content_does_not_close_the_reasoning_channel() -> None:
    message = by_channel([(R, f"a {CALL}"), (C, " \n")], with_rule("until_close"))
    assert called(message) == [("ping", {"n": 1})]


def test_reasoning_goes_on_after_the_content_that_closed_it() -> None:
    message = by_channel([(R, f"a {CALL}"), (C, "c"), (R, " d")], with_rule("until_close"))
    assert (message.reasoning, message.content, called(message)) == (f"a {CALL} d", "c", [])


def test_a_call_in_the_content_closes_the_reasoning_channel() -> None:
    message = by_channel([(R, f"a {CALL}"), (C, CALL)], "hermes")
    assert (message.reasoning, message.content) == (f"a {CALL}", "")
    assert [call.id for call in message.tool_calls] == ["call_0"]


@pytest.mark.parametrize("at", [12, 15, 30, 45, len(CALL) - 1])
def test_a_call_that_content_interrupts_is_thought(at: int) -> None:
    """Content closes the reasoning while the call in it has only begun."""
    message = by_channel([(R, "a " + CALL[:at]), (C, "c")], "hermes")
    assert (message.reasoning, message.content, called(message)) == ("a " + CALL[:at], "c", [])
    message = by_channel([(R, "a " + CALL[:at]), (C, "c"), (R, CALL[at:])], "hermes")
    assert (message.reasoning, message.content, called(message)) == ("a " + CALL, "c", [])


# -- the end of the prompt -------------------------------------------------------------------------

IM = "<|im_start|>assistant\n"


@pytest.mark.parametrize(
    ("prompt", "text", "reasoning", "content", "calls"),
    [
        ("", "Hi", "", "Hi", []),
        (IM, "Hi", "", "Hi", []),
        (IM + "<think>\n", "hm\n</think>\n\nHi", "hm", "Hi", []),
        ("<think>\n", "hm</think>Hi", "hm", "Hi", []),
        (IM + "<think>\n\n</think>\n\n", "Hi", "", "Hi", []),
        (IM + "<think>\n", f"hm</think>\n{CALL}", "hm", "", [("ping", {"n": 1})]),
        (f"<|im_start|>user\nWhat is <think>?<|im_end|>\n{IM}", "Hi", "", "Hi", []),
        (f"<|im_start|>user\nWhat is <tool_call>?<|im_end|>\n{IM}", "Hi", "", "Hi", []),
        (f"<think>\n{IM}", "Hi", "", "Hi", []),
        (IM + "<thi", "nk>hm</think>Hi", "hm", "Hi", []),
        (IM + "<tool_call>\n", f"{PING}\n</tool_call>", "", "", [("ping", {"n": 1})]),
        (IM + "<tool_call>", f"{PING}</tool_call>", "", "", [("ping", {"n": 1})]),
        (IM + '<tool_call>\n{"name": "', 'ping", "arguments": {}}\n</tool_call>', "", "", [("ping", {})]),
        (IM + '<tool_call>\n{"name": "ping", ', '"arguments": {}}</tool_call>', "", "", [("ping", {})]),
        (
            IM + '<tool_call>\n{"name": "ping", "arguments": {"n": ',
            "12}}</tool_call>",
            "",
            "",
            [("ping", {"n": 12})],
        ),
        (
            IM + '<tool_call>\n{"name": "write", "arguments": {"text": "a',
            'b"}}</tool_call> x',
            "",
            " x",
            [("write", {"text": "ab"})],
        ),
        (IM + "Sure: ", "Hi", "", "Hi", []),
    ],
)
def test_where_a_hermes_output_starts(
    prompt: str, text: str, reasoning: str, content: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    message = same_in_every_way(text, "hermes", prompt_tail=prompt)
    assert (message.reasoning, message.content, called(message)) == (reasoning, content, calls)
    assert kinds(message) == []


START = "<|start|>assistant"
HEADER = "<|channel|>commentary to=functions.ping <|constrain|>json<|message|>"


@pytest.mark.parametrize(
    ("prompt", "text", "reasoning", "content", "calls"),
    [
        ("", "Hi", "", "Hi", []),
        ("", "<|channel|>final<|message|>Hi<|return|>", "", "Hi", []),
        ("", ' to=functions.ping<|channel|>commentary<|message|>{"n": 1}', "", "", [("ping", {"n": 1})]),
        (START, "<|channel|>analysis<|message|>hm<|end|>", "hm", "", []),
        (START, ' to=functions.ping<|channel|>commentary<|message|>{"n": 1}', "", "", [("ping", {"n": 1})]),
        (START + "<|channel|>", "analysis<|message|>hm<|end|>", "hm", "", []),
        (START + "<|channel|>analysis<|message|>", "hm<|end|>", "hm", "", []),
        (START + "<|channel|>final<|message|>", "Hi<|return|>", "", "Hi", []),
        (
            START + "<|channel|>analysis<|message|>",
            f'hm<|end|>{START}{HEADER}{{"n": 1}}<|call|>',
            "hm",
            "",
            [("ping", {"n": 1})],
        ),
        (START + HEADER[:30], HEADER[30:] + '{"n": 1}<|call|>', "", "", [("ping", {"n": 1})]),
        (START + HEADER, '{"n": 1}<|call|>', "", "", [("ping", {"n": 1})]),
        (START + HEADER + '{"n"', ": 1}<|call|>", "", "", [("ping", {"n": 1})]),
        (
            f"<|start|>user<|message|>What is <|channel|>analysis?<|end|>{START}",
            "<|channel|>final<|message|>Hi",
            "",
            "Hi",
            [],
        ),
    ],
)
def test_where_a_gpt_oss_output_starts(
    prompt: str, text: str, reasoning: str, content: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    message = same_in_every_way(text, "gpt_oss", prompt_tail=prompt)
    assert (message.reasoning, message.content, called(message)) == (reasoning, content, calls)


TURN = "<|turn>model\n"


@pytest.mark.parametrize(
    ("prompt", "text", "reasoning", "content", "calls"),
    [
        ("", "Hi", "", "Hi", []),
        (TURN, "Hi", "", "Hi", []),
        (TURN + "<|channel>thought\n", "hm<channel|>Hi", "hm", "Hi", []),
        (TURN + "<|channel>", "thought\nhm<channel|>Hi", "hm", "Hi", []),
        (TURN + "<|channel>thou", "ght\nhm<channel|>Hi", "hm", "Hi", []),
        (TURN + "<|channel>thought\n<channel|>", "Hi", "", "Hi", []),
        (f"<|turn>user\n<|channel>thought\n<turn|>\n{TURN}", "Hi", "", "Hi", []),
        (TURN + "<|tool_call>", "call:ping{n:1}<tool_call|>", "", "", [("ping", {"n": 1})]),
        (TURN + "<|tool_call>call:", "ping{n:1}<tool_call|>", "", "", [("ping", {"n": 1})]),
        (TURN + "<|tool_call>call:ping{", "n:1}<tool_call|>", "", "", [("ping", {"n": 1})]),
    ],
)
def test_where_a_gemma_output_starts(
    prompt: str, text: str, reasoning: str, content: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    message = same_in_every_way(text, "gemma4", prompt_tail=prompt)
    assert (message.reasoning, message.content, called(message)) == (reasoning, content, calls)


def test_what_the_prompt_holds_is_no_part_of_the_message() -> None:
    """A call that ended in the prompt is not this message's, and takes none of its indices."""
    message = same_in_every_way(CALL, "hermes", prompt_tail=f"{IM}First {CALL}\n")
    assert (message.content, called(message)) == ("", [("ping", {"n": 1})])
    assert message.tool_calls[0].id == "call_0"
    message = same_in_every_way(" and on", "hermes", prompt_tail=f"{IM}So on")
    assert (message.content, message.segments) == (" and on", (toolglot.Segment("content", (0, 7)),))


def test_a_whole_answer_may_follow_a_prompt() -> None:
    message = same_in_every_way(PING, "hermes", prompt_tail=IM + "<think>\n\n</think>\n\n", tools=TOOLS)
    assert called(message) == [("ping", {"n": 1})]


# -- special tokens --------------------------------------------------------------------------------

ARGS = '{"n": 1}'


def test_a_marker_that_is_a_token_counts_inside_of_inline_code() -> None:
    code = [("`", False), ("[TOOL_CALLS]", True), (f"ping[ARGS]{ARGS}", None), ("`", False)]
    message = run_flagged(code, "mistral")
    assert (message.content, called(message)) == ("``", [("ping", {"n": 1})])
    assert parse("".join(text for text, _ in code), "mistral").tool_calls == ()


def test_a_marker_that_is_a_token_counts_inside_of_a_fence() -> None:
    for before in ("See:\n```\n", "```\n"):
        pieces = [(before, False), ("<|tool_call>", True), ("call:ping{}", False), ("<tool_call|>", True)]
        message = run_flagged([*pieces, ("\n```\nThat was it.", False)], "gemma4")
        assert called(message) == [("ping", {})]
        assert message.content == before + "\n```\nThat was it."


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mistral", f"use [TOOL_CALLS]ping[ARGS]{ARGS} so"),
        ("gemma4", "use <|tool_call>call:ping{}<tool_call|> so"),
        ("gemma4", "<|channel>thought\nhm<channel|>Hi"),
        ("llama3_json", 'use <|python_tag|>{"name": "ping", "parameters": {}} so'),
        ("llama3_json", "the end <|eot_id|> comes"),
        ("gpt_oss", f"see <|start|>assistant{HEADER}{ARGS}<|call|>"),
        ("gpt_oss", f"{HEADER}{ARGS}<|call|>"),
    ],
)
def test_a_marker_in_prose_that_is_ordinary_text_is_text(dialect: str, text: str) -> None:
    for deltas in ([text], list(text)):
        message = run_flagged([(delta, False) for delta in deltas], dialect)
        assert (message.content, message.reasoning, message.tool_calls) == (text, "", ())


def test_a_marker_that_is_no_special_token_counts_whatever_is_said() -> None:
    for special in (True, False, None):
        message = run_flagged([(CALL, special)], "hermes")
        assert called(message) == [("ping", {"n": 1})]


def test_tokens_and_text_side_by_side() -> None:
    pieces = [("[TOOL_CALLS]", True), ("ping", False), ("[ARGS]", True), (ARGS, False)]
    assert called(run_flagged(pieces, "mistral")) == [("ping", {"n": 1})]
    pieces = [("<|channel>", True), ("thought\na <channel|> b", False), ("<channel|>", True), ("c", False)]
    message = run_flagged(pieces, "gemma4")
    assert (message.reasoning, message.content) == ("a <channel|> b", "c")


@pytest.mark.parametrize("size", [1, 3, 100])
def test_an_end_marker_in_a_message_that_is_ordinary_text_is_text(size: int) -> None:
    body = "a <|end|> b <|return|> c"
    pieces: list[tuple[str, bool | None]] = [("<|channel|>", True), ("final", False), ("<|message|>", True)]
    pieces += [(body[at : at + size], False) for at in range(0, len(body), size)]
    pieces += [("<|return|>", True)]
    assert run_flagged(pieces, "gpt_oss").content == body


def test_a_separator_or_close_that_is_ordinary_text_is_none() -> None:
    message = run_flagged([("[TOOL_CALLS]", True), (f"ping[ARGS]{ARGS}", False)], "mistral")
    assert (message.content, message.tool_calls) == (f"[TOOL_CALLS]ping[ARGS]{ARGS}", ())
    pieces = [("<|tool_call>", True), ("call:ping{}<tool_call|>", False), ("<tool_call|>", True)]
    message = run_flagged(pieces, "gemma4")
    assert (called(message), message.content) == ([("ping", {})], "")
    assert [d.raw for d in message.defects if d.kind.value == "rejected"] == ["<tool_call|>"]


# -- arguments -------------------------------------------------------------------------------------

TEXTS = {
    "hermes": f"Hi {CALL}{CALL}",
    "qwen3_coder": "<tool_call>\n<function=write>\n<parameter=text>\na\nb\n</parameter>\n"
    "</function>\n</tool_call>",
    "gpt_oss": f"{HEADER}{ARGS}<|call|>",
    "gemma4": "<|tool_call>call:ping{n:1}<tool_call|>",
    "pythonic": "[ping(n=1), write(text='a', path='b')]",
    "mistral": f"[TOOL_CALLS][{PING}, {PING}]",
    "llama3_json": '{"name": "ping", "parameters": {"n": 1}}',
    "phi": f"functools[{PING}]",
    "bare_pythonic": "ping(n=1)",
    "loose_keyed": "ping\nn: 1\n",
}


@pytest.mark.parametrize("dialect", TEXTS)
def test_both_argument_modes_give_one_message(dialect: str) -> None:
    text = TEXTS[dialect]
    stream = same_in_every_way(text, dialect, tools=TOOLS, arguments="stream")
    assert same_in_every_way(text, dialect, tools=TOOLS, arguments="whole") == stream
    assert stream.tool_calls
    assert stream.content in ("Hi", "")


@pytest.mark.parametrize("dialect", TEXTS)
@pytest.mark.parametrize("options", [{"arguments": "whole"}, {"on_defect": "strict"}])
def test_whole_arguments_come_with_their_call(dialect: str, options: dict[str, Any]) -> None:
    parser = Parser(dialect, tools=TOOLS, **options)
    batches = [list(parser.feed(character)) for character in TEXTS[dialect]]
    batches.append(list(parser.close("stop")))
    ended = 0
    for batch in batches:
        arguments = {e.index for e in batch if isinstance(e, Arguments)}
        ends = {e.index for e in batch if isinstance(e, CallEnd)}
        assert arguments <= ends
        ended += len(ends)
    assert ended >= 1


def test_a_name_is_sent_before_whole_arguments() -> None:
    parser = Parser("hermes", arguments="whole")
    events = list(parser.feed('<tool_call>{"name": "ping", "arguments": {"n": '))
    assert [type(e) for e in events] == [Markup, CallStart]
    assert merge(parser.feed("1}}"))[-2:] == [
        Arguments(0, '{"n": 1}', (41, 49)),
        CallEnd(0, {"n": 1}, (49, 50)),
    ]


def test_the_canonical_text_may_differ_from_the_stream_where_a_key_repeats() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": 1, "b": 2, "a": 3}}</tool_call>'
    for arguments in ("stream", "whole"):
        message = same_in_every_way(text, "hermes", arguments=arguments)
        (call,) = message.tool_calls
        assert (call.arguments_json, call.arguments) == ('{"a": 3, "b": 2}', {"a": 3, "b": 2})
        assert kinds(message) == ["duplicate_argument"]


# -- ids -------------------------------------------------------------------------------------------


def test_ids_count_up() -> None:
    assert [call.id for call in parse(CALL * 3, "hermes").tool_calls] == ["call_0", "call_1", "call_2"]


def test_random_ids() -> None:
    ids = [call.id for call in parse(CALL * 50, "hermes", ids="random").tool_calls]
    assert len(set(ids)) == 50
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", call_id) for call_id in ids)
    again = [call.id for call in parse(CALL, "hermes", ids="random").tool_calls]
    assert not set(again) & set(ids)


def test_the_format_s_own_id_wins() -> None:
    text = f"[TOOL_CALLS]ping[CALL_ID]abc123DEF[ARGS]{ARGS}[TOOL_CALLS]ping[ARGS]{ARGS}"
    for ids in ("counter", "random"):
        first, second = parse(text, "mistral_v11", ids=ids).tool_calls
        assert first.id == "abc123DEF"
        assert second.id.startswith("call_")
    listed = f'[TOOL_CALLS][{PING[:-1]}, "id": "xyz"}}, {PING}]'
    assert [call.id for call in parse(listed, "mistral_v3").tool_calls] == ["xyz", "call_1"]


def test_ids_are_unique_in_a_message() -> None:
    """Where the model writes one id twice, or one that the counter gives too."""
    one = f"[TOOL_CALLS]ping[CALL_ID]same[ARGS]{ARGS}"
    ids = [call.id for call in parse(one + one, "mistral_v11").tool_calls]
    assert len(set(ids)) == 2
    text = f"[TOOL_CALLS]ping[CALL_ID]call_1[ARGS]{ARGS}[TOOL_CALLS]ping[ARGS]{ARGS}"
    ids = [call.id for call in parse(text, "mistral_v11").tool_calls]
    assert len(set(ids)) == 2


def test_whole_and_stream_give_the_same_ids() -> None:
    text = f'{CALL}<tool_call>{{"name": "f", "arguments": [1]}}</tool_call>{CALL}'
    stream = parse(text, "hermes", arguments="stream")
    assert parse(text, "hermes", arguments="whole") == stream
    assert [call.id for call in stream.tool_calls] == ["call_0", "call_2"]


# -- offered tools ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", f"Hi {CALL} x"),
        ("hermes", PING),
        ("qwen3_coder", "<function=ping>\n</function>"),
        ("gpt_oss", f"{HEADER}{ARGS}<|call|>"),
        ("pythonic", "[ping(n=1)]"),
        ("llama3_json", PING),
        ("mistral", f"[TOOL_CALLS]ping[ARGS]{ARGS}"),
        ("gemma", "call:ping{}"),
        ("auto", f"Hi {CALL} x"),
        ("auto", f"functools[{PING}]"),
    ],
)
def test_with_no_tool_offered_envelopes_stay_text(dialect: str, text: str) -> None:
    message = same_in_every_way(text, dialect, tools=[])
    assert (message.content, message.reasoning, message.tool_calls, message.defects) == (text, "", (), ())


def test_with_no_tool_offered_reasoning_is_still_reasoning() -> None:
    message = same_in_every_way(f"<think>hm {CALL}</think>Hi", "hermes", tools=[])
    assert (message.reasoning, message.content) == (f"hm {CALL}", "Hi")


def test_an_unknown_tool_in_an_envelope_is_a_call_with_a_defect() -> None:
    text = '<tool_call>{"name": "nope", "arguments": {}}</tool_call>'
    message = same_in_every_way(text, "hermes", tools=TOOLS)
    assert (called(message), kinds(message)) == ([("nope", {})], ["unknown_tool"])
    assert kinds(parse(text, "hermes")) == []


@pytest.mark.parametrize("dialect", ["hermes", "mistral", "auto"])
def test_an_unknown_tool_without_an_envelope_is_text(dialect: str) -> None:
    text = (
        '[{"name": "Ada", "arguments": {}}]' if dialect == "mistral" else '{"name": "Ada", "arguments": {}}'
    )
    message = same_in_every_way(text, dialect, tools=TOOLS)
    assert (message.content, message.tool_calls) == (text, ())


# -- limits ----------------------------------------------------------------------------------------

LONG = "x" * 300


def limited(text: str, dialect: str, limits: Limits, **options: Any) -> Message:
    """The message within limits, which any split must give too: they are part of law 1."""
    whole = run([text], dialect, limits=limits, **options)
    check_tiling(text, whole)
    check_calls(whole)
    for deltas in (list(text), [text[at : at + 7] for at in range(0, len(text), 7)]):
        assert assemble(run(deltas, dialect, limits=limits, **options)) == assemble(whole)
    return assemble(whole)


def test_limits_have_defaults() -> None:
    limits = Limits()
    assert (limits.held, limits.blanks, limits.header) == (1 << 22, 256, 512)
    assert (limits.trailing, limits.nesting, limits.call) == (1024, 128, 1 << 26)


def test_nesting_beyond_the_limit_abandons_the_call() -> None:
    deep = '<tool_call>{"name": "f", "arguments": {"a": [[[1]]]}}</tool_call>'
    message = limited(f"{deep} x", "hermes", Limits(nesting=4))
    assert (message.content, called(message), kinds(message)) == (" x", [], ["limit"])
    assert message.defects[0].index == 0
    message = limited(f"{deep} x", "hermes", Limits(nesting=5))
    assert (message.content, len(message.tool_calls), kinds(message)) == (" x", 1, [])


def test_the_calls_around_one_beyond_a_limit_stand() -> None:
    deep = '<tool_call>{"name": "f", "arguments": {"a": [[[1]]]}}</tool_call>'
    message = limited(CALL + deep + CALL, "hermes", Limits(nesting=4))
    assert (called(message), kinds(message)) == ([("ping", {"n": 1})] * 2, ["limit"])


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", f'<tool_call>{{"name": "f", "arguments": {{"a": "{LONG}"}}}}</tool_call>after'),
        (
            "qwen3_coder",
            f"<tool_call>\n<function=f>\n<parameter=a>\n{LONG}\n</parameter>\n</function>\n</tool_call>after",
        ),
        (
            "gpt_oss",
            f'<|channel|>commentary to=functions.f<|message|>{{"a": "{LONG}"}}<|call|>'
            "<|start|>assistant<|channel|>final<|message|>after",
        ),
        ("gemma4", f'<|tool_call>call:f{{a:<|"|>{LONG}<|"|>}}<tool_call|>after'),
    ],
)
def test_a_call_beyond_the_limit_is_rejected_up_to_its_close(dialect: str, text: str) -> None:
    message = limited(text, dialect, Limits(call=100), tools={"f": {"properties": {"a": {"type": "string"}}}})
    assert (message.content, message.tool_calls, kinds(message)) == ("after", (), ["limit"])
    assert message.defects[0].index == 0
    events = run(list(text), dialect, limits=Limits(call=100))
    assert sum(len(e.text) for e in events if isinstance(e, Arguments)) <= 100


def test_the_memory_of_a_rejected_call_is_bounded() -> None:
    """What is rejected goes out as markup while it comes."""
    parser = Parser("hermes", limits=Limits(call=100))
    parser.feed('<tool_call>{"name": "f", "arguments": {"a": "' + LONG)
    end = 0
    for _ in range(20):
        for event in parser.feed(LONG):
            assert isinstance(event, Markup)
            end = event.span[1]
    assert end > 19 * len(LONG)


@pytest.mark.parametrize("count", [1, 20])
def test_text_behind_a_body_within_the_limit_is_rejected(count: int) -> None:
    text = f"<tool_call>{PING}{'y' * count}</tool_call> x"
    message = limited(text, "hermes", Limits(trailing=20))
    assert (message.content, called(message)) == (" x", [("ping", {"n": 1})])
    assert [d.raw for d in message.defects if d.kind.value == "rejected"] == ["y" * count]


def test_text_behind_a_body_beyond_the_limit_is_content() -> None:
    text = f"<tool_call>{PING}{'y' * 21}</tool_call> x"
    message = limited(text, "hermes", Limits(trailing=20))
    assert called(message) == [("ping", {"n": 1})]
    assert message.content.startswith("y" * 21)
    assert "missing_close" in kinds(message)


@pytest.mark.parametrize("rest", ["", f" {CALL}"])
def test_text_behind_a_body_is_content_at_an_opener_or_the_end(rest: str) -> None:
    message = limited(f"<tool_call>{PING} junk{rest}", "hermes", Limits())
    assert (message.content, kinds(message)) == (" junk", ["missing_close"])
    assert len(message.tool_calls) == (2 if rest else 1)


def test_a_draft_beyond_the_limit_is_reasoning() -> None:
    text = f"<think>a {CALL} {LONG}"
    message = limited(text, "hermes", Limits(held=100))
    assert (message.reasoning, message.tool_calls) == (text.removeprefix("<think>"), ())
    assert "limit" in kinds(message)
    assert len(limited(text, "hermes", Limits(held=1000)).tool_calls) == 1


def test_a_bare_answer_beyond_the_limit_goes_out_as_content() -> None:
    text = f'{{"name": "ping", "arguments": {{"a": "{LONG}"}}}}'
    message = limited(text, "hermes", Limits(held=100), tools=TOOLS)
    assert (message.content, message.tool_calls, kinds(message)) == (text, (), ["limit"])
    parser = Parser("hermes", tools=TOOLS, limits=Limits(held=100))
    sent = sum(len(e.text) for c in text[:250] for e in parser.feed(c) if isinstance(e, Text))
    assert sent > 0
    assert len(parse(text, "hermes", tools=TOOLS).tool_calls) == 1


def test_arguments_before_their_name_are_held_within_the_limit() -> None:
    text = f'<tool_call>{{"arguments": {{"a": "{LONG}"}}, "name": "f"}}</tool_call>'
    message = limited(text, "hermes", Limits(call=100))
    assert (message.tool_calls, kinds(message)) == ((), ["limit"])
    assert len(limited(text, "hermes", Limits()).tool_calls) == 1


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("gpt_oss", f"<|channel|>commentary to=functions.{'f' * 100}<|message|>{{}}<|call|>"),
        ("qwen3_coder", f"<tool_call>\n<function={'f' * 100}>\n</function>\n</tool_call>"),
        ("mistral", f"[TOOL_CALLS]{'f' * 100}[ARGS]{{}}"),
        ("gemma4", f"<|tool_call>call:{'f' * 100}{{}}<tool_call|>"),
        ("pythonic", f"[{'f' * 100}()]"),
    ],
)
def test_a_name_beyond_the_limit_is_no_name(dialect: str, text: str) -> None:
    message = limited(text, dialect, Limits(header=50))
    assert message.tool_calls == ()
    assert len(limited(text, dialect, Limits(header=200)).tool_calls) == 1


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", f"<tool_call>{' ' * 50}{PING}</tool_call>"),
        ("hermes", f"a{' ' * 50}{CALL}"),
        ("hermes", f"{' ' * 50}{PING}"),
        ("hermes", f"{CALL}{' ' * 50}{CALL}"),
    ],
)
def test_runs_of_blanks_beyond_the_limit_are_read_the_same_in_every_split(dialect: str, text: str) -> None:
    limited(text, dialect, Limits(blanks=10), tools=TOOLS)
    assert len(limited(text, dialect, Limits(), tools=TOOLS).tool_calls) >= 1


# -- parsers of the caller's -----------------------------------------------------------------------


class Custom:
    """Notes what it is asked, and answers the same each time."""

    def __init__(self, answer: ParseResult) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Context]] = []

    def __call__(self, text: str, context: Context) -> ParseResult:
        self.asked.append((text, context))
        return self.answer


def test_a_callable_is_given_the_whole_text_at_the_end() -> None:
    custom = Custom(ParseResult("Hi", [ToolCall("f", {"a": 1}, "own"), ToolCall("g")], "hm"))
    parser = Parser(custom, tools=TOOLS)
    assert parser.dialect == "custom"
    assert list(parser.feed("one ")) == []
    assert list(parser.feed("two")) == []
    assert custom.asked == []
    events = list(parser.close())
    assert custom.asked == [("one two", Context(("ping", "write")))]
    message = assemble(events, parser.dialect)
    assert (message.content, message.reasoning, message.dialect) == ("Hi", "hm", "custom")
    assert [(c.id, c.name, c.arguments, c.arguments_json) for c in message.tool_calls] == [
        ("own", "f", {"a": 1}, '{"a": 1}'),
        ("call_1", "g", {}, "{}"),
    ]
    check_calls(events)


@pytest.mark.parametrize(
    ("tools", "names"), [(None, None), ([], ()), (TOOLS, ("ping", "write")), ({"b": {}, "a": {}}, ("a", "b"))]
)
def test_a_callable_is_told_the_offered_tools(tools: object, names: tuple[str, ...] | None) -> None:
    custom = Custom(ParseResult("x"))
    assert parse("x", custom, tools=tools).content == "x"
    assert custom.asked == [("x", Context(names))]


def test_the_segments_of_a_callable_s_answer_cover_the_text() -> None:
    message = parse("one two", Custom(ParseResult("", [ToolCall("f")])))
    assert message.segments == (toolglot.Segment("markup", (0, 7)),)


def test_a_callable_s_calls_have_ids_of_the_caller_s_choice() -> None:
    message = parse("x", Custom(ParseResult("", [ToolCall("f"), ToolCall("g")])), ids="random")
    assert all(re.fullmatch(r"call_[0-9a-f]{24}", call.id) for call in message.tool_calls)


def test_what_came_as_reasoning_stays_reasoning_beside_a_callable() -> None:
    custom = Custom(ParseResult("Hi"))
    parser = Parser(custom)
    events = [*parser.feed("secret", channel="reasoning"), *parser.feed("Hi"), *parser.close()]
    message = assemble(events)
    assert (message.content, message.reasoning) == ("Hi", "secret")
    assert [text for text, _ in custom.asked] == ["Hi"]


def test_a_callable_s_own_fault_is_the_caller_s() -> None:
    def broken(text: str, context: Context) -> ParseResult:
        raise KeyError(text)

    with pytest.raises(KeyError, match="x"):
        parse("x", broken)


# -- what a cut or unclosed call is ----------------------------------------------------------------

HERMES_WHOLE = f"<tool_call>{PING}"
HERMES_HALF = '<tool_call>{"name": "ping", "arguments": {"n": 1'
QWEN_HEAD = "<tool_call>\n<function=ping>\n<parameter=n>\n1"
QWEN_HALF = f"{QWEN_HEAD}\n</parameter>\n"
QWEN_WHOLE = f"{QWEN_HALF}</function>\n"
QWEN_CLOSED = f"{QWEN_WHOLE}</tool_call>"

CALLED = [("ping", {"n": 1})]
REASONS = ("stop", None, "length", "tool_calls", "content_filter")


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(("dialect", "text"), [("hermes", HERMES_WHOLE), ("qwen3_coder", QWEN_WHOLE)])
def test_a_complete_body_without_a_close_is_a_call_for_repair(
    dialect: str, text: str, reason: str | None
) -> None:
    message = same_in_every_way(f"Hi {text}", dialect, reason)
    assert (message.content, called(message), kinds(message)) == ("Hi", CALLED, ["missing_close"])
    assert message.defects[0].index == 0


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(("dialect", "text"), [("hermes", HERMES_WHOLE), ("qwen3_coder", QWEN_WHOLE)])
def test_a_complete_body_without_a_close_is_none_for_strict(
    dialect: str, text: str, reason: str | None
) -> None:
    message = same_in_every_way(f"Hi {text}", dialect, reason, on_defect="strict")
    content = "Hi" if reason == "length" else f"Hi {text}"
    assert (message.content, called(message), kinds(message)) == (content, [], ["unclosed_call"])
    assert message.defects[0].raw == text


INCOMPLETE = [
    ("hermes", HERMES_HALF),
    ("hermes", '<tool_call>{"na'),
    ("hermes", '<tool_call>{"name": "ping"'),
    ("hermes", f"<tool_call>{PING[:-1]}"),
    ("qwen3_coder", QWEN_HALF),
    ("qwen3_coder", QWEN_HEAD),
    ("qwen3_coder", "<tool_call>\n<function=pi"),
    ("qwen3_coder", "<tool_call>\n<function=ping>"),
]


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(("dialect", "text"), INCOMPLETE)
def test_an_incomplete_body_is_no_call_and_no_content_for_repair(
    dialect: str, text: str, reason: str | None
) -> None:
    message = same_in_every_way(f"Hi {text}", dialect, reason)
    assert (message.content, called(message), kinds(message)) == ("Hi", [], ["unclosed_call"])
    assert text.endswith(message.defects[0].raw)
    assert text.removesuffix(message.defects[0].raw) in ("", "<tool_call>", "<tool_call>\n")


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(("dialect", "text"), INCOMPLETE)
def test_an_incomplete_body_is_content_for_strict_unless_it_was_cut(
    dialect: str, text: str, reason: str | None
) -> None:
    message = same_in_every_way(f"Hi {text}", dialect, reason, on_defect="strict")
    content = "Hi" if reason == "length" else f"Hi {text}"
    assert (message.content, called(message), kinds(message)) == (content, [], ["unclosed_call"])


@pytest.mark.parametrize("on_defect", ["repair", "strict"])
@pytest.mark.parametrize("reason", ["stop", None, "length"])
@pytest.mark.parametrize("text", ["<tool_call>", "<tool_call>\n"])
def test_an_opener_that_nothing_followed(text: str, reason: str | None, on_defect: str) -> None:
    for dialect in ("hermes", "qwen3_coder"):
        message = same_in_every_way(f"Hi {text}", dialect, reason, on_defect=on_defect)
        assert (message.content, kinds(message)) == ("Hi", ["unclosed_call"])
        assert message.defects[0].raw == text


@pytest.mark.parametrize("reason", ["stop", "tool_calls", None, "length"])
def test_a_close_that_is_the_stop_token_may_be_missing(reason: str | None) -> None:
    """The server cut it off where the model stopped; where it did not stop there it is missing."""
    text = f"{HEADER}{ARGS}"
    message = same_in_every_way(text, "gpt_oss", reason, on_defect="strict")
    if reason in ("stop", "tool_calls"):
        assert (called(message), kinds(message), message.content) == (CALLED, [], "")
    else:
        content = "" if reason == "length" else text
        assert (called(message), kinds(message), message.content) == ([], ["unclosed_call"], content)
    message = same_in_every_way(text, "gpt_oss", reason)
    assert (called(message), message.content) == (CALLED, "")


def test_a_complete_body_cut_off_is_missing_its_close_even_where_that_is_the_stop_token() -> None:
    assert kinds(same_in_every_way(f"{HEADER}{ARGS}", "gpt_oss", "length")) == ["missing_close"]


@pytest.mark.parametrize("reason", ["stop", None, "length"])
@pytest.mark.parametrize("text", ['{"name": "Ada", "arguments": {"a', '{"name": "Ada"', "[ping(", "[Ada(n="])
def test_a_cut_shape_without_markers_is_content_unless_its_name_is_offered(
    text: str, reason: str | None
) -> None:
    dialect = "pythonic" if text[0] == "[" else "llama3_json"
    message = same_in_every_way(text, dialect, reason)
    assert (message.content, message.tool_calls) == (text, ())
    assert kinds(message) == []


@pytest.mark.parametrize("text", ['{"name": "ping", "parameters": {"n', '{"name": "ping", "par'])
def test_a_cut_shape_of_an_offered_tool_is_an_unclosed_call(text: str) -> None:
    message = same_in_every_way(text, "llama3_json", "length", tools=TOOLS)
    assert (message.content, message.tool_calls, kinds(message)) == ("", (), ["unclosed_call"])


# -- faults in closed envelopes --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("hermes", "<tool_call>not a call</tool_call>"),
        ("hermes", '<tool_call>{"arguments": {}}</tool_call>'),
        ("hermes", '<tool_call>{"name": 3, "arguments": {}}</tool_call>'),
        ("hermes", '<tool_call>{"name" "ping"}</tool_call>'),
        ("hermes", "<tool_call>{1}</tool_call>"),
        ("qwen3_coder", "<tool_call>\nnot a call\n</tool_call>"),
        ("qwen3_coder", "<tool_call>\n<function=>\n</function>\n</tool_call>"),
        ("qwen3_coder", "<tool_call>\n<function=f x\n</function>\n</tool_call>"),
    ],
)
@pytest.mark.parametrize("on_defect", ["repair", "strict"])
def test_malformed_before_its_name_an_envelope_is_content(dialect: str, text: str, on_defect: str) -> None:
    message = same_in_every_way(f"Hi {text} and on", dialect, on_defect=on_defect)
    assert (message.content, message.tool_calls) == (f"Hi {text} and on", ())
    assert set(kinds(message)) == {"malformed_call"}


@pytest.mark.parametrize(
    ("dialect", "text", "kind"),
    [
        ("hermes", '<tool_call>{"name": "ping", "arguments": {"a": 1 2}}</tool_call>', "malformed_call"),
        ("hermes", '<tool_call>{"name": "ping", "arguments": [1]}</tool_call>', "arguments_not_an_object"),
        ("hermes", '<tool_call>{"name": "ping", "arguments": "no"}</tool_call>', "arguments_not_an_object"),
        ("qwen3_coder", "<tool_call>\n<function=ping>\nwhat\n</function>\n</tool_call>", "malformed_call"),
    ],
)
def test_malformed_after_its_name_a_call_has_no_end(dialect: str, text: str, kind: str) -> None:
    message = same_in_every_way(f"Hi {text} and on", dialect)
    assert message.tool_calls == ()
    assert kinds(message) == [kind]
    if dialect == "hermes":
        assert message.content.split() == ["Hi", "and", "on"]
        assert message.defects[0].index == 0
    message = same_in_every_way(f"Hi {text} and on", dialect, on_defect="strict")
    assert (message.content, message.tool_calls) == (f"Hi {text} and on", ())


def test_a_malformed_call_does_not_undo_those_around_it() -> None:
    bad = '<tool_call>{"name": "bad", "arguments": {"a": 1 2}}</tool_call>'
    for on_defect in ("repair", "strict"):
        message = same_in_every_way(CALL + bad + CALL, "hermes", on_defect=on_defect)
        assert called(message) == CALLED * 2
        assert kinds(message) == ["malformed_call"]


def test_missing_arguments_are_an_empty_object() -> None:
    for arguments in ("", ', "arguments": null', ', "arguments": "{}"', ', "arguments": {}'):
        text = f'<tool_call>{{"name": "ping"{arguments}}}</tool_call>'
        for on_defect in ("repair", "strict"):
            message = same_in_every_way(text, "hermes", on_defect=on_defect)
            assert (called(message), kinds(message)) == ([("ping", {})], [])


# -- repairs ---------------------------------------------------------------------------------------

REPAIRS = [
    ("```json\n" + PING + "\n```", {"n": 1}),
    ('{"name": "ping", "arguments": {"n": 1,}}', {"n": 1}),
    ("{'name': 'ping', 'arguments': {'n': True}}", {"n": True}),
    ('{"name": "ping", "arguments": {“n”: “x”}}', {"n": "x"}),
    ('{"name": "ping", "arguments": {"n": "a\nb"}}', {"n": "a\nb"}),
    ('{"name": "ping", "arguments": {"n": "say "hi" now"}}', {"n": 'say "hi" now'}),
    ('{"name": "ping", "arguments": {"n": 1}', {"n": 1}),
    (PING + " Done.", {"n": 1}),
]


@pytest.mark.parametrize(("body", "arguments"), REPAIRS)
def test_each_repair_is_a_defect_and_none_is_made_under_strict(body: str, arguments: dict[str, Any]) -> None:
    text = f"Hi <tool_call>{body}</tool_call> x"
    message = same_in_every_way(text, "hermes")
    assert (called(message), message.content) == ([("ping", arguments)], "Hi  x")
    assert "repaired" in kinds(message)
    for defect in message.defects:
        assert defect.raw == text[defect.span[0] : defect.span[1]]
    message = same_in_every_way(text, "hermes", on_defect="strict")
    assert (called(message), message.content) == ([], text)
    assert "repaired" not in kinds(message)


def test_lone_reasoning_tags() -> None:
    message = same_in_every_way("hm</think>Hi", "hermes")
    assert (message.reasoning, message.content, kinds(message)) == ("hm", "Hi", ["lone_reasoning_close"])
    message = same_in_every_way("hm</think>Hi", "hermes", on_defect="strict")
    assert (message.reasoning, message.content, kinds(message)) == ("", "hm</think>Hi", [])
    message = same_in_every_way("<think>hm", "hermes")
    assert (message.reasoning, message.content, kinds(message)) == ("hm", "", ["lone_reasoning_open"])


def test_a_lone_close_covers_what_came_since_the_last_call() -> None:
    message = same_in_every_way(f"one {CALL}two</think>three", "hermes")
    assert (message.content, message.reasoning) == ("one three", "two")
    assert called(message) == CALLED


def test_an_outer_pair_may_be_missing_around_a_function() -> None:
    body = QWEN_WHOLE.removeprefix("<tool_call>\n")
    message = same_in_every_way(f"Hi\n{body}", "qwen3_coder", tools=TOOLS)
    assert called(message) == CALLED
    message = same_in_every_way(f"Hi\n{body}</tool_call>\nx", "qwen3_coder", tools=TOOLS)
    assert called(message) == CALLED
    assert "</tool_call>" not in message.content


# -- mentions and examples -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"Write `{CALL}` for a call.",
        f"Write ``{CALL}`` for a call.",
        f"Like so:\n```\n{CALL}\n```\nThat is all.",
        f"Like so:\n  ```xml\n{CALL}\n  ```\nThat is all.",
        f"Like so:\n```\n{CALL}",
        "A `<think>` tag opens, `</think>` closes.",
        "Use <tool_call> to call.",
        "Use <tool_call> or <function=name>.",
    ],
)
def test_what_is_only_mentioned_is_content(text: str) -> None:
    for on_defect in ("repair", "strict"):
        message = same_in_every_way(text, "hermes", on_defect=on_defect, tools=TOOLS)
        assert (message.content, message.reasoning, message.tool_calls) == (text, "", ())
        assert kinds(message) == []


def test_a_fence_that_is_the_whole_answer_counts() -> None:
    for inside in (CALL, PING):
        message = same_in_every_way(f"```json\n{inside}\n```", "hermes", tools=TOOLS)
        assert (called(message), message.content) == (CALLED, "")


def test_an_open_tick_ends_with_its_line() -> None:
    message = same_in_every_way(f"It's a ` tick.\n{CALL}", "hermes")
    assert called(message) == CALLED


# -- laws in small ---------------------------------------------------------------------------------


def test_events_of_several_deltas_touch() -> None:
    text = f"<think>a</think>b {CALL} c {CALL}\n"
    events: list[Event] = []
    parser = Parser("hermes")
    for delta in (text[i : i + 5] for i in range(0, len(text), 5)):
        events += parser.feed(delta)
    events += parser.close()
    tiles = sorted(e.span for e in events if not isinstance(e, Defect))
    assert all(left[1] == right[0] for left, right in itertools.pairwise(tiles))


def test_a_close_right_behind_the_prompt_claims_nothing_back() -> None:
    parser = toolglot.Parser("hermes", prompt_tail="<tool_call>\n")
    events = [*parser.feed("</think>Hi"), *parser.close(finish_reason="stop")]
    assert [type(event).__name__ for event in events] == ["Defect", "Markup", "Text"]
    assert events[-1].span == (8, 10)


def test_a_newline_may_begin_the_close_of_a_faulty_call() -> None:
    text = "<|tool_call_start|>```python\nf(_\no\np\n```<|tool_call_end|>x"
    whole = toolglot.parse(text, "minicpm3")
    parser = toolglot.Parser("minicpm3")
    events = [event for character in text for event in parser.feed(character)] + list(parser.close())
    assert toolglot.assemble(events).defects == whole.defects
    assert whole.content == "x"
