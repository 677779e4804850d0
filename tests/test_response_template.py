"""Response templates and schemas as dialects, and dialects as response templates. Needs no transformers."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

import toolglot
from tests.responses import by_toolglot, meant, published, tools_for
from toolglot.derive.pattern import Piece, ways
from toolglot.derive.response_template import (
    from_config,
    from_response_schema,
    from_response_template,
    losses,
    to_response_template,
)
from toolglot.errors import ResponseTemplateError
from toolglot.registry import load_file

EXPORTED = 60
REFUSED = {
    "apertus": "no content parser reads its body (json_keyed)",
    "bare_pythonic": "calls without a marker",
    "cwm": "no content parser reads its body (positional_text)",
    "gemma3_tool_code": "no content parser reads its body (call_lines)",
    "llama31_builtin": "no content parser reads its body (bare_call)",
    "loose_keyed": "no content parser reads its body (keyed_lines)",
    "minicpm3": "no content parser reads its body (call_lines)",
    "minimax_m1": "several objects in one section",
    "minimax_m3": "no content parser reads its body (xml_tree)",
    "muse_glimmer": "messages whose calls are written in tagged",
    "none": "it has no calls and no markup",
    "olmo3": "no content parser reads its body (call_lines)",
    "openai_json": "in several wrappers, none of which has a marker",
    "react": "no content parser reads its body (labelled_lines)",
}

MINIMAL: dict[str, Any] = {
    "start_anchor": "<|model|>",
    "fields": {
        "tool_calls": {
            "open": "<call>",
            "close": "</call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|end|>"},
    },
}


def changed(**fields: Any) -> dict[str, Any]:
    """The minimal template with keys of its call field, or fields, replaced."""
    template = copy.deepcopy(MINIMAL)
    for key, value in fields.items():
        (template["fields"] if key in {"content_field", "other"} else template["fields"]["tool_calls"])[
            {"content_field": "content"}.get(key, key)
        ] = value
    return template


# -- import ------------------------------------------------------------------------------------------


def texts(kind: str) -> list[Any]:
    return [
        pytest.param(row, text, id=f"{row['name']}-{number}")
        for row in published()[kind]
        for number, text in enumerate(row["texts"])
    ]


@pytest.mark.parametrize(("row", "text"), texts("templates"))
def test_published_template(row: dict[str, Any], text: dict[str, Any]) -> None:
    dialect = from_response_template(row["template"])
    read = by_toolglot(text["text"], dialect, text["prompt"], tools_for(text.get("calls", ())))
    assert read.stripped() == meant(text)


@pytest.mark.parametrize(("row", "text"), texts("schemas"))
def test_published_schema(row: dict[str, Any], text: dict[str, Any]) -> None:
    dialect = from_response_schema(row["schema"])
    read = by_toolglot(text["text"], dialect, text["prompt"], tools_for(text.get("calls", ())))
    assert read.stripped() == meant(text)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("trl/gptoss_schema", "rewrites the text before it is read"),
        ("tests/gpt_oss", "nothing says what opens one"),
    ],
)
def test_published_schema_refused(name: str, why: str) -> None:
    (schema,) = [row["schema"] for row in published()["schemas"] if row["name"] == name]
    with pytest.raises(ResponseTemplateError, match=why):
        from_response_schema(schema)


def test_what_is_published() -> None:
    """A template without a text would not be tested."""
    assert [row["name"] for row in published()["templates"] if not row["texts"]] == []
    assert [row["name"] for row in published()["schemas"] if not row["texts"]] == [
        "trl/gptoss_schema",
        "tests/gpt_oss",
    ]


def test_a_template_gives_the_dialect_of_a_file() -> None:
    """The markers and the tags of the bundled dialect, read from a template for its models."""
    (template,) = [row["template"] for row in published()["templates"] if row["name"] == "serve/qwen3_5"]
    dialect, bundled = from_response_template(template, "mine"), load_file("qwen3_coder")
    assert dialect.slug == "mine"
    assert (dialect.envelope.open, dialect.envelope.close) == (bundled.envelope.open, bundled.envelope.close)
    assert dialect.envelope.stops == bundled.envelope.stops
    assert dialect.envelope.turn_open == ("<|im_start|>assistant\n",)
    assert (dialect.bodies[0].name, dialect.bodies[0].param) == (
        bundled.bodies[0].name,
        bundled.bodies[0].param,
    )
    assert (dialect.reasoning.open, dialect.reasoning.close) == (
        bundled.reasoning.open,
        bundled.reasoning.close,
    )


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ([], "is an object, not list"),
        ({"version": 2}, "version 2"),
        ({**MINIMAL, "mode": 1}, "no key 'mode'"),
        ({"start_anchor": "x"}, "needs fields"),
        (changed(other={"open": "<a>"}), "field 'other': a message has no such part"),
        (changed(optional=False), "optional is false"),
        (changed(content_field={"join": " ", "repeats": True}), "joined with ' '"),
        (changed(content_field={"content": "int"}), "its content is 'int'"),
        (changed(content_field={"close_pattern": "<e(?P<x>.)>"}), "not literal"),
        (changed(open_pattern="<call>"), "both open and open_pattern"),
        (changed(content="kv-lines"), "no codec reads the content 'kv-lines'"),
        (changed(transform=None), "makes no call"),
        (changed(transform={"name": "{content.n}", "arguments": "{content.a.b}"}), "not in one object"),
        (changed(transform={"name": "{content.n}", "arguments": "{content.a}", "x": 1}), "writes 'x'"),
        (changed(open=[]), "it has no opener"),
        (changed(close_pattern=r"(\w+)\1", close=[]), "both close and close_pattern"),
    ],
)
def test_template_refused(template: Any, why: str) -> None:
    with pytest.raises(ResponseTemplateError, match=re.escape(why)):
        from_response_template(template)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a)\1", "\\1, which is not read"),
        ("(?i)a", "a group of a kind that is not read"),
        ("(a", "a group that is not closed"),
        ("a)", "a closing bracket"),
        ("[a", "a bracket that is not closed"),
        ("*", "nothing to repeat"),
        ("a\\", "a backslash at its end"),
        ("(?P<a", "a name that is not closed"),
        ("(" * 40, "more than 32 deep"),
        ("(?:a|b)" * 12, "more than 512 ways"),
        ("a" * 5000, "more than 4096 characters"),
        (None, "a pattern is a text, not NoneType"),
    ],
)
def test_pattern_refused(pattern: Any, why: str) -> None:
    with pytest.raises(ResponseTemplateError, match=re.escape(why)):
        ways(pattern)


def test_ways() -> None:
    assert ways(r"a\n(?:b|c)?\s*[\s]d+") == [
        (Piece("text", "a\nb"), Piece("blank"), Piece("any")),
        (Piece("text", "a\nc"), Piece("blank"), Piece("any")),
        (Piece("text", "a\n"), Piece("blank"), Piece("any")),
    ]
    assert ways(r"^(?P<n>x(y))(?=z)\Z") == [
        (Piece("start"), Piece("group", "n"), Piece("ahead", "z"), Piece("end"))
    ]


def test_no_template_brings_it_down() -> None:
    """Published templates with random damage: a dialect, or the one error that there is."""
    rng = random.Random(4)
    rows = [*published()["templates"], *published()["schemas"]]
    outcomes = {"read": 0, "refused": 0}
    for _ in range(300):
        row = rng.choice(rows)
        reader = from_response_template if "template" in row else from_response_schema
        try:
            reader(_damaged(row.get("template") or row["schema"], rng))
            outcomes["read"] += 1
        except ResponseTemplateError:
            outcomes["refused"] += 1
    assert outcomes["read"] > 20
    assert outcomes["refused"] > 100


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    "",
    "x",
    "{content}",
    "(",
    "a{2",
    [],
    [1],
    ["a", "b"],
    {},
    {"a": 1},
    [["x"]],
)


def _damaged(template: Any, rng: random.Random) -> Any:
    template = copy.deepcopy(template)
    for _ in range(rng.choice((1, 1, 2))):
        *path, last = rng.choice([path for path in _paths(template, ()) if path])
        node = template
        for key in path:
            node = node[key]
        if rng.random() < 0.3 and isinstance(node[last], str) and node[last]:
            at = rng.randrange(len(node[last]))
            node[last] = node[last][:at] + rng.choice("()[]{}?*+|\\^$.<> ") + node[last][at + 1 :]
        else:
            node[last] = copy.deepcopy(rng.choice(JUNK))
    return template


def _paths(node: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(node, (dict, list)):
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            yield from _paths(item, (*path, key))


# -- export ------------------------------------------------------------------------------------------


def exported() -> list[str]:
    return [slug for slug in toolglot.BUNDLED if slug not in REFUSED]


def test_every_dialect_is_exported_or_refused() -> None:
    assert len(exported()) == EXPORTED
    assert set(REFUSED) < set(toolglot.BUNDLED)


@pytest.mark.parametrize("slug", REFUSED)
def test_refused(slug: str) -> None:
    with pytest.raises(ResponseTemplateError, match=re.escape(f"{slug} cannot be written")) as caught:
        to_response_template(load_file(slug))
    assert REFUSED[slug] in str(caught.value)


@pytest.mark.parametrize("slug", exported())
def test_patterns_are_plain(slug: str) -> None:
    """The standard library compiles them, too: nothing in them needs transformers' own engine."""
    for pattern in _patterns(to_response_template(load_file(slug))):
        re.compile(pattern, re.DOTALL)


def _patterns(node: Any) -> Iterator[str]:
    for key, item in node.items():
        if key.endswith("_pattern"):
            yield item
        elif isinstance(item, dict):
            yield from _patterns(item)


@pytest.mark.parametrize("slug", exported())
def test_there_and_back(slug: str) -> None:
    """A text is read alike by the dialect and by the one that its template gives."""
    dialect = load_file(slug)
    back = from_response_template(to_response_template(dialect))
    example = dialect.examples[0]
    tools = tools_for(example.calls, example.tools)
    text, prompt = UNLIKE.get(slug, example.raw), example.prompt_tail
    given = prompt or dialect.envelope.prefill
    assert by_toolglot(text, back, given, tools) == by_toolglot(text, dialect, prompt, tools)


UNLIKE = {
    "claude_xml": '<function_calls>\n<invoke name="f">\n</invoke>\n</function_calls>',
    "cohere_cofl": "<|START_THINKING|>hm<|END_THINKING|>Hello.",
    "gemma": "<|tool_call>call:f{a:1}<tool_call|>",
    "mistral": '[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]',
}
"""Texts for those whose first example shows what a template does not carry (``losses``)."""


def test_template() -> None:
    """One template as a whole, so that a change of what is written shows in review."""
    assert to_response_template(load_file("qwen3_coder")) == {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor_pattern": r"<\|im_start\|>assistant\s*",
        "fields": {
            "reasoning_content": {
                "open_pattern": "<think>",
                "close_pattern": "</think>",
                "repeats": True,
                "join": "",
                "content": "text",
                "content_args": {"strip": True},
            },
            "tool_calls": {
                "open_pattern": (r"(?:\s*<tool_call>\s*|\s*(?<![^\n]))<function=(?P<name>[^\n>]+?)>"),
                "close_pattern": r"(?<=[>])\s*</function>",
                "repeats": True,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": (
                        r"<parameter=(?P<key>[^\n>]+?)>\n?(?P<value>.*?)\n?</parameter>"
                        r"(?=\s*(?:<parameter=|$))"
                    ),
                    "value_parser": {"name": "text", "args": {"strip": False}},
                },
                "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
            },
            "content": {
                "close_pattern": r"(?:<\|endoftext\|>|<\|im_end\|>)|\s*</tool_call>|\A\s*</think>",
                "repeats": True,
                "join": "",
                "content": "text",
                "content_args": {"strip": True},
            },
        },
    }


def test_for_other_readers() -> None:
    """vLLM knows one name for reasoning, and no join."""
    template = to_response_template(load_file("hermes"), reasoning="thinking", join=False)
    assert template["fields"]["thinking"] == {
        "open_pattern": "<think>",
        "close_pattern": "</think>",
        "content": "text",
        "content_args": {"strip": True},
    }
    assert list(template["fields"]) == ["thinking", "tool_calls", "content"]
    assert "join" not in template["fields"]["content"]
    assert template["fields"]["tool_calls"]["repeats"] is True


def test_config() -> None:
    """A tokenizer's configuration: the newer form goes before the older one."""
    schema = published()["schemas"][2]["schema"]
    newer = from_config({"response_template": MINIMAL, "response_schema": schema})
    assert newer is not None
    assert newer.envelope.open == ("<call>",)
    older = from_config({"response_schema": schema}, "old")
    assert older is not None
    assert (older.slug, older.envelope.open) == ("old", ("<tool_call>",))
    assert from_config({"chat_template": "x"}) is None


def test_losses() -> None:
    assert losses(load_file("qwen3_coder")) == ()
    assert losses(load_file("hermes")) == (
        "further bodies: json_array, tagged",
        "calls without markers: object",
        "other keys: parameters",
    )
    assert "types stated in tags" in losses(load_file("kimi_k3"))
