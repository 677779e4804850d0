"""Dialects as data: what is read, and how a fault in it is told."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import toolglot
from toolglot import BUNDLED, Dialect, DialectError, Message, ToolCall
from toolglot.dialect import Body, Envelope, Example, Ids, Layout, Tag, Think, Unmarked

CALL = '{"name": "ping", "arguments": {"n": 1}}'


def own(**changes: Any) -> dict[str, Any]:
    """The smallest dict in the own form, with changes."""
    data: dict[str, Any] = {
        "slug": "mine",
        "envelope": {"open": ["<c>"], "close": ["</c>"]},
        "body": [{"codec": "json_object"}],
    }
    return {**data, **changes}


def error(data: Any, origin: str = "here") -> str:
    with pytest.raises(DialectError) as caught:
        Dialect.from_dict(data, origin)
    return str(caught.value)


# -- the own form ----------------------------------------------------------------------------------


def test_the_least_that_is_a_dialect() -> None:
    dialect = Dialect.from_dict(own())
    assert dialect == Dialect(
        slug="mine",
        envelope=Envelope(open=("<c>",), close=("</c>",)),
        bodies=(Body("json_object"),),
    )
    assert (dialect.ids, dialect.render, dialect.reasoning) == (Ids("call_"), Layout(), Think())
    assert toolglot.parse(f"Hi <c>{CALL}</c>", dialect).tool_calls[0].arguments == {"n": 1}


def test_all_that_can_be_said() -> None:
    dialect = Dialect.from_dict(
        own(
            title="Mine",
            aliases=["m", "n"],
            models=["*M*"],
            sources="one source",
            envelope={
                "kind": "delimited",
                "open": ["<c>", "<d>"],
                "close": "</c>",
                "gap": "none",
                "layout": "blank",
                "stops": ["<eos>"],
                "special": ["<c>"],
                "turn_open": ["<assistant>"],
            },
            body=[
                {
                    "codec": "tagged",
                    "name": {"open": "<f=", "close": ">", "end": "</f>"},
                    "param": {"open": "<p=", "close": ">", "end": "</p>"},
                    "trim": "newline",
                },
                {"codec": "braces", "delims": [["'", "'"], ["«", "»"]], "prefixes": ["call:"]},
            ],
            unmarked=[{"shape": "opener", "place": "line", "gate": "open", "standing": "repair"}],
            reasoning={"open": ["<t>"], "close": ["</t>"], "call_inside": "draft", "after": "none"},
            ids={"prefix": "id-"},
            render={"after_open": "\n", "between": " "},
            example=[
                {
                    "raw": "x",
                    "content": "x",
                    "reasoning": "r",
                    "tools": ["f"],
                    "calls": [{"name": "f", "arguments": {"a": [1]}}, {"name": "g"}],
                }
            ],
        )
    )
    assert dialect == Dialect(
        slug="mine",
        title="Mine",
        aliases=("m", "n"),
        models=("*M*",),
        sources=("one source",),
        envelope=Envelope(
            open=("<c>", "<d>"),
            close=("</c>",),
            gap="none",
            layout="blank",
            stops=("<eos>",),
            special=("<c>",),
            turn_open=("<assistant>",),
        ),
        bodies=(
            Body(
                "tagged",
                name=Tag("<f=", ">", "</f>"),
                param=Tag("<p=", ">", "</p>"),
                trim="newline",
            ),
            Body("braces", delims=(("'", "'"), ("«", "»")), prefixes=("call:",)),
        ),
        unmarked=(Unmarked("opener", "line", "open", "repair"),),
        reasoning=Think(open=("<t>",), close=("</t>",), call_inside="draft", after="none"),
        ids=Ids("id-"),
        render=Layout(after_open="\n", between=" "),
        examples=(Example("x", (("f", {"a": [1]}), ("g", {})), "x", "r", ("f",)),),
    )


def test_the_input_is_not_changed() -> None:
    data = own(reasoning={"open": ["<t>"], "close": ["</t>"]})
    before = repr(data)
    Dialect.from_dict(data)
    assert repr(data) == before


def test_a_dialect_is_frozen_and_can_be_varied() -> None:
    dialect = Dialect.from_dict(own())
    with pytest.raises(dataclasses.FrozenInstanceError):
        dialect.slug = "other"  # type: ignore[misc]  # that it cannot be set is what is tested
    other = dataclasses.replace(dialect, ids=Ids("x-"))
    assert toolglot.parse(f"<c>{CALL}</c>", other).tool_calls[0].id == "x-0"


def test_toml_is_the_same_form() -> None:
    text = """
slug = "mine"
[envelope]
open = ["<c>"]
close = ["</c>"]
[[body]]
codec = "json_object"
"""
    assert Dialect.from_toml(text) == Dialect.from_dict(own())


# -- faults ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slug": ""}, "here: slug: expected a name, got ''"),
        ({"slug": 3}, "here: slug: expected a string, got 3"),
        ({"title": ["x"]}, "here: title: expected a string, got ['x']"),
        ({"aliases": 3}, "here: aliases: expected a list of strings, got 3"),
        ({"aliases": ["a", 1]}, "here: aliases: expected a list of strings, got ['a', 1]"),
        ({"envelope": "x"}, "here: envelope: expected a table, got 'x'"),
        ({"body": {"codec": "json_object"}}, "here: body: expected a list of tables"),
        ({"body": []}, "here: body: expected at least one body, got []"),
        ({"body": [{}]}, "here: body[0].codec: expected the name of a body codec, got None"),
        ({"colour": 1}, "here: colour: unknown key"),
        ({"envelope": {"opens": ["<c>"]}}, "here: envelope.opens: unknown key"),
        ({"envelope": {"open": [""]}}, "here: envelope.open: expected markers that are not empty, got ['']"),
        ({"envelope": {"open": "  "}}, "here: envelope.open: expected markers that are not empty, got '  '"),
        ({"envelope": {"stops": ["\n"]}}, "here: envelope.stops: expected markers that are not empty"),
        (
            {"envelope": {"kind": "other"}},
            "here: envelope.kind: expected one of ",
        ),
        ({"envelope": {"gap": True}}, "here: envelope.gap: expected one of "),
        (
            {"body": [{"codec": "json_object"}, {"codec": "json_array", "nam": "x"}]},
            "here: body[1].nam: unknown key",
        ),
        (
            {"body": [{"codec": "tagged", "name": "<f="}]},
            "here: body[0].name: expected a table with open, close and end, got '<f='",
        ),
        (
            {"body": [{"codec": "tagged", "name": {"open": "<f=", "close": ">"}}]},
            "here: body[0].name.end: expected a marker that is not empty",
        ),
        (
            {"body": [{"codec": "tagged", "param": {"open": "<", "close": ">", "end": "/", "x": 1}}]},
            "here: body[0].param.x: unknown key",
        ),
        (
            {"body": [{"codec": "braces", "delims": [["'"]]}]},
            'here: body[0].delims: expected a list of pairs of strings, got [["\'"]]',
        ),
        (
            {"body": [{"codec": "tagged", "trim": "all"}]},
            "here: body[0].trim: expected one of ",
        ),
        (
            {"unmarked": [{"shape": "round", "place": "word"}]},
            "here: unmarked[0].shape: expected one of ",
        ),
        (
            {"reasoning": {"open": ["<t>", "<u>"], "close": ["</t>"]}},
            "here: reasoning.close: expected as many markers as open (2), got ['</t>']",
        ),
        (
            {"reasoning": {"call_inside": "never"}},
            "here: reasoning.call_inside: expected one of ",
        ),
        ({"ids": {"prefix": 1}}, "here: ids.prefix: expected a string, got 1"),
        ({"render": {"after": ""}}, "here: render.after: unknown key"),
        (
            {"example": [{"raw": "x", "calls": [{"name": "f", "arguments": []}]}]},
            "here: example[0].calls[0].arguments: expected a table, got []",
        ),
        (
            {"example": [{"raw": "x", "calls": [{}]}]},
            "here: example[0].calls[0].name: expected a string, got None",
        ),
        (
            {"example": [{"raw": "x", "calls": [{"name": "f", "argumens": {}}]}]},
            "here: example[0].calls[0].argumens: unknown key",
        ),
    ],
)
def test_a_fault_names_where_it_is_and_what_was_expected(changes: dict[str, Any], message: str) -> None:
    assert error(own(**changes)).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unmarked": [{"place": "word"}]}, "here: unmarked[0].shape: "),
        ({"unmarked": [{"shape": "object"}]}, "here: unmarked[0].place: "),
        ({"example": [{"content": "x"}]}, "here: example[0].raw: "),
    ],
)
def test_a_key_that_is_needed_is_asked_for(changes: dict[str, Any], message: str) -> None:
    assert error(own(**changes)).startswith(message)


@pytest.mark.parametrize(
    "changes",
    [
        {"body": [{"codec": "jsn"}]},
        {"body": [{"codec": "tagged"}]},
        {"unmarked": [{"shape": "lines", "place": "answer"}]},
        {"envelope": {"kind": "messages"}},
        {"body": [{"codec": "json_object", "name_keys": []}]},
    ],
)
def test_what_does_not_hold_together_is_refused_before_any_text_comes(changes: dict[str, Any]) -> None:
    """Not in the middle of a stream, and as nothing else than a ``DialectError``."""
    with pytest.raises(DialectError):
        toolglot.Parser(Dialect.from_dict(own(**changes)))


def test_what_is_no_table_is_refused() -> None:
    assert error([]) == "here: expected a table, got list"
    assert error(None) == "here: expected a table, got NoneType"
    assert error({}) == "here: slug: expected a name, got None"


def test_the_origin_defaults_to_a_word() -> None:
    with pytest.raises(DialectError, match=r"^dialect: slug: "):
        Dialect.from_dict({})


def test_a_toml_fault_names_the_origin() -> None:
    with pytest.raises(DialectError, match=r"^a\.toml: not TOML: "):
        Dialect.from_toml("slug = ", "a.toml")
    with pytest.raises(DialectError, match=r"^a\.toml: colour: unknown key$"):
        Dialect.from_toml('slug = "x"\ncolour = 1\n[[body]]\ncodec = "json_object"', "a.toml")


def test_a_dialect_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="expected a name"):
        Dialect.from_dict({})
    assert issubclass(DialectError, toolglot.ToolglotError)


# -- gglib's form ----------------------------------------------------------------------------------

SPEC: dict[str, Any] = {"id": "acme", "tool_open": "«act»", "tool_close": "«/act»"}
FUNCTION = "<function=ping>\n<parameter=n>\n 1 \n</parameter>\n</function>"


def spec(**changes: Any) -> Dialect:
    return Dialect.from_dict({**SPEC, **changes})


def test_a_spec_with_its_defaults() -> None:
    dialect = spec()
    assert dialect.slug == "acme"
    assert dialect.envelope == Envelope(open=("«act»",), close=("«/act»",))
    assert [body.codec for body in dialect.bodies] == ["json_object"]
    assert dialect.reasoning.call_inside == "execute"
    assert dialect.ids == Ids("call_dialect_")
    assert dialect.aliases == ()
    message = toolglot.parse(f"Hi «act»{CALL}«/act»", dialect)
    assert [(c.name, c.arguments, c.id) for c in message.tool_calls] == [("ping", {"n": 1}, "call_dialect_0")]


def test_a_spec_needs_no_id() -> None:
    assert Dialect.from_dict({"tool_open": "<x>", "tool_close": "</x>"}).slug == "derived"


def test_a_spec_with_both_codecs() -> None:
    dialect = spec(body_codecs=["json", "function_xml"], id_prefix="x_")
    assert [body.codec for body in dialect.bodies] == ["json_object", "tagged"]
    message = toolglot.parse(f"«act»{CALL}«/act»«act»{FUNCTION}«/act»", dialect)
    assert [(c.name, c.arguments, c.id) for c in message.tool_calls] == [
        ("ping", {"n": 1}, "x_0"),
        ("ping", {"n": 1}, "x_1"),
    ]


def test_the_first_codec_is_written() -> None:
    tools = {"ping": {"properties": {"n": {"type": "integer"}}}}
    call = ToolCall("ping", {"n": 1})
    assert toolglot.render(call, spec(body_codecs=["json", "function_xml"])) == f"«act»\n{CALL}\n«/act»"
    assert toolglot.render(call, spec(body_codecs=["function_xml", "json"]), tools=tools).startswith(
        "«act»\n<function=ping>"
    )


@pytest.mark.parametrize(
    ("emission", "expected"),
    [
        ({}, f"«act»\n{CALL}\n«/act»"),
        ({"newline_after_open": False}, f"«act»{CALL}\n«/act»"),
        ({"newline_before_close": False}, f"«act»\n{CALL}«/act»"),
        ({"newline_after_open": False, "newline_before_close": False, "more": 1}, f"«act»{CALL}«/act»"),
    ],
)
def test_emission(emission: dict[str, Any], expected: str) -> None:
    assert toolglot.render(ToolCall("ping", {"n": 1}), spec(emission=emission)) == expected


def test_unknown_keys_of_a_spec_are_ignored() -> None:
    assert spec(colour="red", grammar={"x": 1}, reasoning=3, slug=7) == spec()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tool_open": ""}, "here: tool_open: expected a marker that is not empty, got ''"),
        ({"tool_close": ""}, "here: tool_close: expected a marker that is not empty, got ''"),
        ({"tool_open": 3}, "here: tool_open: expected a string, got 3"),
        ({"body_codecs": []}, "here: body_codecs: expected at least one codec, got []"),
        ({"body_codecs": ["yaml"]}, "here: body_codecs: expected json or function_xml, got 'yaml'"),
        ({"body_codecs": 1}, "here: body_codecs: expected a list of strings, got 1"),
        ({"id_prefix": 1}, "here: id_prefix: expected a string, got 1"),
        ({"id": 1}, "here: id: expected a string, got 1"),
        ({"emission": "x"}, "here: emission: expected a table, got 'x'"),
    ],
)
def test_a_faulty_spec(changes: dict[str, Any], message: str) -> None:
    assert error({**SPEC, **changes}).startswith(message)


@pytest.mark.parametrize("missing", ["tool_open", "tool_close"])
def test_a_spec_needs_both_markers(missing: str) -> None:
    data = {key: value for key, value in SPEC.items() if key != missing}
    assert error(data) == f"here: {missing}: expected a marker that is not empty, got ''"


def test_a_spec_takes_calls_wherever_they_stand() -> None:
    message = toolglot.parse(f"<think>a «act»{CALL}«/act» b</think>c", spec())
    assert (message.reasoning, message.content, len(message.tool_calls)) == ("a  b", "c", 1)


def test_a_spec_trims_tagged_values() -> None:
    text = "«act»<function=f>\n<parameter=s>\n\n  a b \n\n</parameter>\n</function>«/act»"
    tools = {"f": {"properties": {"s": {"type": "string"}}}}
    message = toolglot.parse(text, spec(body_codecs=["function_xml"]), tools=tools)
    assert message.tool_calls[0].arguments == {"s": "a b"}


# -- what a dialect knows of itself ----------------------------------------------------------------


def test_markers_come_the_longest_first() -> None:
    assert Dialect.from_dict(own()).markers() == ("</c>", "<c>")
    for slug in BUNDLED:
        markers = toolglot.resolve(slug)
        assert isinstance(markers, Dialect)
        lengths = [len(marker) for marker in markers.markers()]
        assert lengths == sorted(lengths, reverse=True)
        assert len(set(markers.markers())) == len(lengths)
        assert "" not in markers.markers()


def test_the_markers_of_a_dialect_with_tags() -> None:
    dialect = toolglot.resolve("qwen3_coder")
    assert isinstance(dialect, Dialect)
    assert dialect.markers() == (
        "<|endoftext|>",
        "</parameter>",
        "</tool_call>",
        "</function>",
        "<parameter=",
        "<tool_call>",
        "<function=",
        "<|im_end|>",
        "</think>",
        "<think>",
    )


def test_the_markers_of_a_message_stream() -> None:
    dialect = toolglot.resolve("gpt_oss")
    assert isinstance(dialect, Dialect)
    special = {
        "<|start|>",
        "<|end|>",
        "<|message|>",
        "<|channel|>",
        "<|constrain|>",
        "<|return|>",
        "<|call|>",
    }
    assert set(dialect.markers()) == special


def test_a_dialect_without_markers() -> None:
    none = toolglot.resolve("none")
    assert isinstance(none, Dialect)
    assert none.markers() == ()


@pytest.mark.parametrize("slug", BUNDLED)
def test_each_example_parses_as_it_says(slug: str) -> None:
    dialect = toolglot.resolve(slug)
    assert isinstance(dialect, Dialect)
    assert dialect.examples
    for example in dialect.examples:
        tools = [{"name": name, "input_schema": {}} for name in example.tools] or None
        message = toolglot.parse(example.raw, dialect, tools=tools, prompt_tail=example.prompt_tail)
        calls = tuple((call.name, call.arguments) for call in message.tool_calls)
        assert (message.content, message.reasoning, calls) == (
            example.content,
            example.reasoning,
            example.calls,
        )


def test_a_message_says_which_dialect_it_was_read_with() -> None:
    assert toolglot.parse("x", Dialect.from_dict(own())) == Message(
        content="x", segments=(toolglot.Segment("content", (0, 1)),), dialect="mine"
    )


def test_a_marker_has_a_bounded_length() -> None:
    body = [{"codec": "json_object"}]
    fits: dict[str, Any] = {
        "slug": "x",
        "envelope": {"open": ["<" + "a" * 127], "close": ["</a>"]},
        "body": body,
    }
    text = fits["envelope"]["open"][0] + '{"name": "ping", "arguments": {}}</a>'
    assert toolglot.parse(text, fits).tool_calls[0].name == "ping"
    long = {"slug": "x", "envelope": {"open": ["<" + "a" * 128]}, "body": body}
    with pytest.raises(DialectError, match=r"envelope\.open: expected markers of at most 128 characters"):
        Dialect.from_dict(long)
    made = Dialect("x", envelope=Envelope(open=("<" + "a" * 500,)), bodies=(Body("json_object"),))
    with pytest.raises(DialectError, match="a marker has at most 128 characters"):
        toolglot.parse("text", made)


def test_a_tool_of_a_very_long_name_has_no_bare_form() -> None:
    name = "n" * 600
    assert toolglot.parse(f"{name}(a=1)", "auto", tools={name: {}}).tool_calls == ()
    marked = f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>'
    assert toolglot.parse(marked, "auto", tools={name: {}}).tool_calls[0].name == name


def test_a_name_alone_is_no_whole_answer() -> None:
    spec = {"slug": "x", "body": [{"codec": "bare_call"}], "unmarked": [{"shape": "name", "place": "answer"}]}
    with pytest.raises(DialectError, match=r"unmarked\.place: expected line, word or text"):
        Dialect.from_dict(spec)
