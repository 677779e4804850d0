"""Grammars by llguidance's matcher, and by a reader of GBNF: a part of ``python -m tests.grammars``."""

from __future__ import annotations

import json
from typing import Any

import pytest

import toolglot
from tests.bfcl import NOT_INSTALLED, folder
from tests.delivery import markers_of
from tests.gbnf import Gbnf
from tests.grammars import SLUGS, accepts, compiled, judge, sample, with_special
from tests.sentences import Sentences
from toolglot import DialectError, Message, ToolCall, ToolsError
from toolglot.grammar import grammar
from toolglot.grammar.answer import answer
from toolglot.schema import read_tools

MESSAGES = 20

TOOLS: dict[str, Any] = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["C", "F"]},
        },
        "required": ["city"],
    },
    "note": {
        "properties": {
            "text": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "at": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "ok": {"type": "boolean"}},
                "required": ["x"],
            },
        }
    },
    "many": {"properties": {key: {"type": "string"} for key in "abcdefgh"}, "required": ["b", "e"]},
    "ping": {"properties": {}},
}

try:
    folder()
    HAS_BFCL = True
except LookupError:
    HAS_BFCL = False


@pytest.mark.skipif(not HAS_BFCL, reason=NOT_INSTALLED)
@pytest.mark.parametrize("slug", SLUGS)
def test_llguidance_takes_what_render_writes_and_nothing_else(slug: str) -> None:
    asked = sample(every=110, start=SLUGS.index(slug))[:MESSAGES]
    result = judge(slug, asked, "lark")
    assert result.wrong == []
    assert result.accepted + result.unwritten == MESSAGES
    assert result.accepted >= MESSAGES // 2
    assert result.refused >= result.accepted // 2


@pytest.mark.parametrize("slug", SLUGS)
def test_gbnf_takes_what_render_writes(slug: str) -> None:
    """As whole answers and from a trigger on; not with something behind it, nor cut."""
    calls = [ToolCall("get_weather", {"days": 3, "city": "Pa<ris"}), ToolCall("note", {"text": "a, b"})]
    lone = slug == "loose_keyed"
    text = toolglot.render(calls[:1] if lone else calls, slug, tools=TOOLS)
    whole = Gbnf(grammar(slug, TOOLS, choice="required", format="gbnf").text)
    assert whole.accepts(text)
    assert not whole.accepts(text + "\n\nx")
    assert not whole.accepts(text[:-1])
    lazy = grammar(slug, TOOLS, format="gbnf")
    assert lazy.lazy
    start = min(at for trigger in lazy.triggers if (at := text.find(trigger)) >= 0)
    assert Gbnf(lazy.text).accepts(text[start:])
    one = Gbnf(grammar(slug, TOOLS, choice="get_weather", parallel=False, format="gbnf").text)
    assert one.accepts(toolglot.render(calls[:1], slug, tools=TOOLS))
    assert lone or not one.accepts(text)
    assert not one.accepts(toolglot.render(ToolCall("note", {"text": "a"}), slug, tools=TOOLS))


@pytest.mark.parametrize("slug", SLUGS)
def test_each_sentence_is_read_without_a_defect(slug: str) -> None:
    """Law 4, on sentences drawn from the form that all writers spell."""
    tools = read_tools(TOOLS)
    dialect = toolglot.resolve(slug)
    assert tools is not None
    assert isinstance(dialect, toolglot.Dialect)
    made = answer(dialect, list(tools), parallel=True)
    sentences = Sentences(made.rules, tuple(markers_of(slug)), seed=SLUGS.index(slug))
    for _ in range(25):
        text = sentences.draw(made.calls)
        message = toolglot.parse(text, dialect, tools=TOOLS, finish_reason="stop")
        assert message.defects == (), text
        assert message.content == "", text
        assert message.tool_calls, text


def test_free_text_may_stand_around_calls() -> None:
    made = grammar("hermes", TOOLS)
    assert (made.lazy, made.triggers) == (False, ("<tool_call>",))
    matcher = compiled(made.text, "lark")
    call = toolglot.render(ToolCall("ping", {}), "hermes")
    for text in ("", "No call.", f"First.\n{call}", f"{call}\n{call} Done.", "a < b"):
        assert accepts(matcher, text) == -1, text
    for text in ("<tool_call>", call.replace("ping", "pong"), call.removesuffix("</tool_call>")):
        assert accepts(matcher, text) != -1, text


@pytest.mark.parametrize(
    ("choice", "weather", "ping"),
    [
        ("required", True, True),
        ("ping", False, True),
        ({"type": "function", "function": {"name": "ping"}}, False, True),
        ({"type": "tool", "name": "get_weather"}, True, False),
        ({"type": "any"}, True, True),
    ],
)
def test_choices(choice: Any, weather: bool, ping: bool) -> None:
    matcher = compiled(grammar("hermes", TOOLS, choice=choice).text, "lark")
    for name, arguments, taken in (("get_weather", {"city": "Ulm"}, weather), ("ping", {}, ping)):
        text = toolglot.render(ToolCall(name, arguments), "hermes")
        assert (accepts(matcher, text) == -1) is taken
    assert accepts(matcher, "No call.") != -1


def test_structural_tag() -> None:
    made = json.loads(grammar("hermes", {"ping": {"properties": {}}}, format="structural-tag").text)
    assert made == {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<tool_call>"],
            "tags": [
                {
                    "type": "tag",
                    "begin": "<tool_call>",
                    "content": {
                        "type": "const_string",
                        "value": '\n{"name": "ping", "arguments": {}}\n</tool_call>',
                    },
                    "end": "",
                }
            ],
            "at_least_one": False,
            "stop_after_first": False,
        },
    }
    named = json.loads(grammar("hermes", TOOLS, choice="ping", format="structural-tag").text)
    assert named["format"]["type"] == "grammar"
    assert Gbnf(named["format"]["grammar"]).accepts(toolglot.render(ToolCall("ping", {}), "hermes"))


@pytest.mark.parametrize(
    ("dialect", "tools", "choice", "error", "says"),
    [
        ("none", TOOLS, "auto", DialectError, "has no calls"),
        ("auto", TOOLS, "auto", DialectError, "name the one that the model writes"),
        ("hermes", None, "auto", ToolsError, "needs the tools"),
        ("hermes", {}, "auto", ToolsError, "needs the tools"),
        ("hermes", TOOLS, "pong", ToolsError, "'pong' is neither"),
        ("hermes", TOOLS, {"type": "function"}, ToolsError, "names no tool"),
        ("loose_keyed", {"ping": {"properties": {}}}, "auto", ToolsError, "a call of none of the tools"),
    ],
)
def test_what_has_no_grammar(
    dialect: str, tools: Any, choice: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        grammar(dialect, tools, choice=choice)


def test_notes() -> None:
    assert grammar("hermes", {"ping": {"properties": {}}}).notes == ()
    schema = {"properties": {"code": {"type": "string", "pattern": "[A-Z]+"}, "any": {}}}
    assert grammar("hermes", {"f": schema}).notes == (
        "members of any name may repeat: no rule can tell that one was there",
        "the keyword 'pattern' is not held to",
    )
    assert grammar("hermes", {"f": TOOLS["many"]}).notes == (
        "objects with more than 6 members have them in the schema's order",
    )


def test_any_order_up_to_the_cap() -> None:
    few = {"properties": {key: {"type": "integer"} for key in "abcdef"}, "required": ["b", "f"]}
    matcher = compiled(grammar("hermes", {"f": few}, choice="required").text, "lark")

    def takes(keys: str) -> bool:
        return accepts(matcher, toolglot.render(ToolCall("f", dict.fromkeys(keys, 1)), "hermes")) == -1

    assert all(takes(keys) for keys in ("bf", "fb", "abcdef", "fedcba", "dbf"))
    assert not any(takes(keys) for keys in ("", "b", "acde", "bfg"))
    many = {"properties": {key: {"type": "integer"} for key in "abcdefg"}, "required": ["b", "f"]}
    matcher = compiled(grammar("hermes", {"f": many}, choice="required").text, "lark")
    assert all(takes(keys) for keys in ("bf", "abcdefg", "bdfg"))
    assert not any(takes(keys) for keys in ("fb", "a", "b", "cf"))


def test_nothing_of_a_message_is_lost_to_a_call_at_the_start() -> None:
    """A bare format's free text is any that does not begin as a call."""
    matcher = compiled(grammar("llama3_json", TOOLS).text, "lark")
    text = toolglot.render(Message(tool_calls=(ToolCall("ping", {}),)), "llama3_json")
    for given in (text, "Hello.", '{"name": "Ada"}', '{"na'):
        assert accepts(matcher, given) == -1, given
    assert accepts(matcher, text[:-1]) != -1


def test_special_tokens_are_matched_as_tokens() -> None:
    """As llguidance has it, text never matches a special token."""
    marker = "<|tool_call|>"
    made = grammar("granite3", TOOLS, special=[marker])
    assert f"T1 {marker}" in made.text
    text = toolglot.render(ToolCall("ping", {}), "granite3")
    inside = [*text.removeprefix(marker).encode()]
    special = with_special(marker.encode())
    for free in (True, False):
        made = grammar("granite3", TOOLS, choice="auto" if free else "required", special=[marker])
        matcher = compiled(made.text, "lark", special)
        ids = [*b"Hm. "] if free else []
        assert matcher.try_consume_tokens([*ids, 257, *inside]) == len(ids) + 1 + len(inside)
        assert matcher.is_accepting()
    with pytest.raises(ValueError, match=r"cannot name '\[TOOL_CALLS\]'"):
        grammar("mistral", TOOLS, special=["[TOOL_CALLS]"])
