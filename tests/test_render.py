"""Messages written as a model would write them."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

import toolglot
from tests.strategies import same_arguments, tools_for
from toolglot import BUNDLED, Dialect, DialectError, Message, RenderError, ToolCall, parse, render

PING = ToolCall("ping", {"n": 1})
WRITE = ToolCall("write", {"text": "a b", "path": "c"})
NESTED = ToolCall("f", {"a": {"b": [1, {"c": None}], "d": True, "e": 1.5}})
TOOLS = {"ping": {"properties": {"n": {"type": "integer"}}}, "write": {}}


def back(text: str, dialect: Any, message: Message, on_defect: Any) -> Message:
    tools = tools_for(message) or None
    return parse(text, dialect, tools=tools, finish_reason="stop", on_defect=on_defect)


# -- what is written -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "calls", "expected"),
    [
        ("hermes", [PING], '<tool_call>\n{"name": "ping", "arguments": {"n": 1}}\n</tool_call>'),
        ("hermes", [ToolCall("ping")], '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'),
        (
            "qwen3_coder",
            [WRITE],
            "<tool_call>\n<function=write>\n<parameter=text>\na b\n</parameter>\n"
            "<parameter=path>\nc\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "qwen3_coder",
            [ToolCall("ping")],
            "<tool_call>\n<function=ping>\n</function>\n</tool_call>",
        ),
        (
            "gpt_oss",
            [PING],
            '<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{"n": 1}<|call|>',
        ),
        (
            "gemma4",
            [PING, PING],
            "<|tool_call>call:ping{n:1}<tool_call|><|tool_call>call:ping{n:1}<tool_call|>",
        ),
        ("gemma4", [WRITE], '<|tool_call>call:write{text:<|"|>a b<|"|>,path:<|"|>c<|"|>}<tool_call|>'),
        ("mistral_v3", [PING], '[TOOL_CALLS][{"name": "ping", "arguments": {"n": 1}}]'),
        ("mistral_v11", [PING, PING], '[TOOL_CALLS]ping[ARGS]{"n": 1}[TOOL_CALLS]ping[ARGS]{"n": 1}'),
        ("phi", [PING], 'functools[{"name": "ping", "arguments": {"n": 1}}]'),
        ("llama3_json", [PING], '{"name": "ping", "parameters": {"n": 1}}'),
        ("pythonic", [PING, WRITE], '[ping(n=1), write(text="a b", path="c")]'),
        ("pythonic", [NESTED], '[f(a={"b": [1, {"c": None}], "d": True, "e": 1.5})]'),
        ("bare_pythonic", [PING], "ping(n=1)"),
        ("loose_keyed", [PING], "ping\nn: 1"),
        ("loose_keyed", [WRITE], 'write\ntext: "a b"\npath: "c"'),
    ],
)
def test_calls_as_each_format_writes_them(dialect: str, calls: list[ToolCall], expected: str) -> None:
    assert render(calls, dialect, tools=TOOLS if calls[0] is PING else None) == expected


def test_a_message_with_all_that_it_can_hold() -> None:
    message = Message("Hi.", "hm", (PING, PING))
    call = '<tool_call>\n{"name": "ping", "arguments": {"n": 1}}\n</tool_call>'
    text = render(message, "hermes")
    assert text.startswith("<think>\nhm\n</think>\n")
    assert text.endswith(f"Hi.\n{call}\n{call}")
    start = "<|start|>assistant"
    call = '<|channel|>commentary to=functions.ping <|constrain|>json<|message|>{"n": 1}<|call|>'
    thought = "<|channel|>analysis<|message|>hm<|end|>"
    preamble = "<|channel|>commentary<|message|>Hi.<|end|>"
    assert render(message, "gpt_oss") == start.join([thought, preamble, call, call])
    final = "<|channel|>final<|message|>Hi.<|end|>"
    assert render(Message("Hi.", "hm"), "gpt_oss") == start.join([thought, final])


def test_one_call_many_calls_or_a_message() -> None:
    text = render(PING, "hermes")
    assert render([PING], "hermes") == text
    assert render((PING,), "hermes") == text
    assert render(Message(tool_calls=(PING,)), "hermes") == text


@pytest.mark.parametrize("dialect", ["hermes", "gpt_oss", "none", "pythonic"])
def test_nothing_is_written_as_nothing(dialect: str) -> None:
    assert render(Message(), dialect) == ""
    assert render([], dialect) == ""


def test_unicode_is_written_as_it_is() -> None:
    call = ToolCall("f", {"s": "é東👩‍🚀"})
    for dialect in ("hermes", "pythonic", "gemma4", "gpt_oss"):
        assert "é東👩‍🚀" in render(call, dialect)


def test_a_dialect_of_ones_own_is_written_with_its_first_spellings() -> None:
    own = {
        "slug": "mine",
        "envelope": {"open": ["<c>", "<call>"], "close": ["</c>", "</call>"]},
        "body": [
            {"codec": "json_object", "name_keys": ["tool", "name"], "arguments_keys": ["args", "arguments"]}
        ],
        "render": {"before": " ", "after_open": "\n", "before_close": "\n", "between": ", "},
        "reasoning": {"open": ["<t>"], "close": ["</t>"], "after": "none"},
    }
    assert render([PING], own) == '<c>\n{"tool": "ping", "args": {"n": 1}}\n</c>'
    assert render(Message("", "hm", (PING,)), own) == '<t>hm</t><c>\n{"tool": "ping", "args": {"n": 1}}\n</c>'


# -- the round trip --------------------------------------------------------------------------------

CALLS = [
    (),
    (ToolCall("ping"),),
    (PING,),
    (WRITE, PING),
    (NESTED,),
    (ToolCall("f", {"n": 123456789012345678901234, "x": -0.5, "on": False, "no": None, "tags": ["a", "b"]}),),
    (ToolCall("f", {"s": 'quote " and \\ and {braces} [x], y: z'}),),
    (ToolCall("f", {"s": "two\nlines\n"}),),
    (ToolCall("f", {"s": ""}),),
    (ToolCall("f", {"s": "  padded  "}),),
    (ToolCall("f", {"s": "</tool_call><tool_call|><|call|>[TOOL_CALLS]</parameter></function>"}),),
    (ToolCall("f", {"s": "7"}), ToolCall("g", {"n": 7})),
    (ToolCall("f", {"s": "null", "t": "True", "u": "[1]"}),),
    (ToolCall("f", {"key with space": 1, "a.b": 2, "é": 3}),),
    (ToolCall("f", {"": 1}),),
    (ToolCall("ns.tool-x", {"a": 1}),),
    (ToolCall("a b", {}),),
]
PROSE = [
    "",
    "One moment.",
    " padded ",
    "two\n\nparagraphs\n",
    "a < b",
    "<think>",
    "</think>",
    "`code`",
    '{"a": 1}',
]
THOUGHTS = ["", "Let me see.", "\nline\n", "a </think> b", "<tool_call>"]


@pytest.mark.parametrize("dialect", BUNDLED)
def test_what_is_written_reads_back(dialect: str) -> None:
    """Law 3 on messages that are hard on a format: it reads back the same, or is not written at all."""
    messages = [Message(tool_calls=calls) for calls in CALLS]
    messages += [
        Message(content, thought, calls)
        for content, thought, calls in itertools.product(PROSE, THOUGHTS, (CALLS[0], CALLS[2]))
    ]
    written = 0
    for message in messages:
        try:
            text = render(message, dialect, tools=tools_for(message) or None)
        except RenderError:
            continue
        written += 1
        for on_defect in ("repair", "strict"):
            got = back(text, dialect, message, on_defect)
            assert (got.content, got.reasoning) == (message.content, message.reasoning), text
            assert same_arguments(got.tool_calls, message.tool_calls), text
            assert got.defects == (), text
    assert written >= 4


@pytest.mark.parametrize("dialect", ["hermes", "mistral_v3", "phi", "llama3_json", "gpt_oss"])
@pytest.mark.parametrize("calls", [calls for calls in CALLS[1:] if calls[0].name != "a b"])
def test_json_carries_any_arguments(dialect: str, calls: tuple[ToolCall, ...]) -> None:
    message = Message(tool_calls=calls)
    text = render(message, dialect)
    assert same_arguments(back(text, dialect, message, "strict").tool_calls, calls)


# -- what cannot be written ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "message"),
    [
        ("none", Message(tool_calls=(PING,))),
        ("none", Message(reasoning="hm")),
        ("pythonic", Message(reasoning="hm")),
        # a raw value that holds its own close
        (
            "qwen3_coder",
            Message(tool_calls=(ToolCall("f", {"s": "a\n</parameter>\n</function>\n</tool_call>"}),)),
        ),
        ("gemma4", Message(tool_calls=(ToolCall("f", {"s": 'a <|"|> b'}),))),
        ("qwen3_coder", Message(tool_calls=(ToolCall("f", {"a>b": "x"}),))),
        # borders that are layout
        ("hermes", Message("Hi ", "", (PING,))),
        ("hermes", Message(" Hi", "hm")),
        # text that reads as markup
        ("hermes", Message("<think>")),
        ("hermes", Message('<tool_call>{"name": "x"}</tool_call>')),
        ("hermes", Message("x", "a </think> b")),
        ("gpt_oss", Message("x <|end|> y")),
        ("gpt_oss", Message("x", "a <|end|> b")),
        ("mistral", Message("x </s>")),
        ("llama3_json", Message('{"name": "f", "parameters": {}}')),
        ("pythonic", Message("[f()]")),
        # a call beside text where it has to be the whole answer
        ("llama3_json", Message("Hi.", "", (PING,))),
        # names and keys that the syntax does not have
        ("pythonic", Message(tool_calls=(ToolCall("a b"),))),
        ("pythonic", Message(tool_calls=(ToolCall("f", {"a b": 1}),))),
        ("pythonic", Message(tool_calls=(ToolCall("f", {"": 1}),))),
        ("mistral_v11", Message(tool_calls=(ToolCall("a b"),))),
        ("gemma4", Message(tool_calls=(ToolCall("a{b"),))),
        ("gemma4", Message(tool_calls=(ToolCall("f", {"a:b": 1}),))),
        ("gemma4", Message(tool_calls=(ToolCall("f", {"": 1}),))),
        ("gpt_oss", Message(tool_calls=(ToolCall("a b"),))),
        ("gpt_oss", Message(tool_calls=(ToolCall(""),))),
        ("qwen3_coder", Message(tool_calls=(ToolCall(""),))),
        ("loose_keyed", Message(tool_calls=(ToolCall("f"),))),
        ("loose_keyed", Message(tool_calls=(ToolCall("f", {"a": [1]}),))),
        ("loose_keyed", Message(tool_calls=(ToolCall("f", {"a": "x\ny"}),))),
        ("loose_keyed", Message(tool_calls=(ToolCall("f", {"a b": 1}),))),
        ("loose_keyed", Message(tool_calls=(PING, PING))),
        # not JSON
        ("hermes", Message(tool_calls=(ToolCall("f", {"n": float("nan")}),))),
        ("pythonic", Message(tool_calls=(ToolCall("f", {"n": float("inf")}),))),
        ("gemma4", Message(tool_calls=(ToolCall("f", {"n": float("-inf")}),))),
    ],
)
def test_what_a_format_cannot_carry_is_an_error(dialect: str, message: Message) -> None:
    with pytest.raises(RenderError):
        render(message, dialect)


def test_types_are_told_by_the_tools() -> None:
    """The text 7 in an untyped format is a string only where the schema says so."""
    call = ToolCall("f", {"s": "7"})
    with pytest.raises(RenderError, match=r"tools= may tell the types"):
        render(call, "qwen3_coder")
    tools = {"f": {"properties": {"s": {"type": "string"}}}}
    text = render(call, "qwen3_coder", tools=tools)
    assert parse(text, "qwen3_coder", tools=tools).tool_calls[0].arguments == {"s": "7"}
    with pytest.raises(RenderError):
        render(ToolCall("f", {"s": 7}), "qwen3_coder", tools=tools)


@pytest.mark.parametrize("dialect", ["auto", lambda text, context: toolglot.ParseResult(text)])
def test_only_a_dialect_is_written(dialect: Any) -> None:
    with pytest.raises(RenderError, match="only a dialect can be written"):
        render(PING, dialect)


def test_the_error_says_what_would_be_lost() -> None:
    with pytest.raises(RenderError, match=r"^hermes cannot carry .*its content would read back as 'Hi'"):
        render(Message("Hi ", "", (PING,)), "hermes")
    with pytest.raises(RenderError, match=r"^pythonic has no reasoning$"):
        render(Message(reasoning="hm"), "pythonic")
    with pytest.raises(RenderError, match=r"^none has no calls$"):
        render(PING, "none")
    with pytest.raises(ValueError, match="has no calls"):
        render(PING, "none")


def test_a_data_fault_of_the_dialect_is_told_before_anything_is_written() -> None:
    """Without delimiters the codec could write no string: an error of toolglot's own says so."""
    own = {"slug": "mine", "envelope": {"open": ["<c>"], "close": ["</c>"]}, "body": [{"codec": "braces"}]}
    with pytest.raises(DialectError, match="delims"):
        render(PING, own)


def test_written_arguments_keep_order_and_value() -> None:
    arguments = {"z": 1, "a": {"y": [], "b": {}}, "m": "é"}
    text = render(ToolCall("f", arguments), "hermes")
    (call,) = parse(text, "hermes").tool_calls
    assert json.dumps(call.arguments) == json.dumps(arguments)


def test_a_bundled_dialect_may_be_given_as_a_value() -> None:
    hermes = toolglot.resolve("hermes")
    assert isinstance(hermes, Dialect)
    assert render(PING, hermes) == render(PING, "hermes")
