"""Ways: a call right behind another one is read as if nothing about it were known."""

from __future__ import annotations

from typing import Any

import pytest

from tests.casefile import tools_from
from tests.delivery import merge
from toolglot import Event, Message, Parser, ToolCall, render
from toolglot.auto import dialects_of, resolve
from toolglot.claims import Claims
from toolglot.dialect import Dialect
from toolglot.table import Kind, table_of
from toolglot.ways import ways_of

TOOLS = tools_from("ping(); get_weather(city: string, days?: integer)")
CALL = ToolCall("get_weather", {"city": "Paris", "days": 3}, "call_0", '{"city": "Paris", "days": 3}', (0, 0))


def repeats(slug: str, opener: str) -> dict[str, bool]:
    """Which bodies behind ``opener`` are known again without a second look, by codec."""
    dialect = resolve(slug)
    assert isinstance(dialect, Dialect)
    table = table_of(dialects_of(dialect), frozenset())
    found = [m for m in table.meanings[opener] if m.kind is Kind.OPEN]
    ways, _, known = ways_of(table, opener, found)
    return {way.body.codec: id(way) in known for way in ways}


def test_what_is_known_again() -> None:
    assert repeats("hermes", "<tool_call>") == {"json_object": True, "tagged": True, "json_array": False}
    assert repeats("qwen3_coder", "<tool_call>") == {"tagged": True}
    # What others write behind a call without a close may follow here.
    assert repeats("granite3", "<tool_call>") == {"json_array": False, "json_object": False}


def test_what_may_begin_alike_is_weighed() -> None:
    # Two bodies with tags: which of them reads what stands there is not told by its first character.
    tag = {"open": "<function=", "close": ">", "end": "</function>"}
    own = {"open": "<parameter=", "close": ">", "end": "</parameter>"}
    bodies = [{"codec": "tagged", "name": tag, "param": own} for _ in range(2)]
    envelope = {"open": ["<call>"], "close": ["</call>"], "layout": "blank"}
    dialect = resolve({"slug": "twice", "envelope": envelope, "body": bodies})
    assert isinstance(dialect, Dialect)
    table = table_of((dialect,), frozenset())
    ways, _, known = ways_of(table, "<call>", table.meanings["<call>"])
    assert [id(way) in known for way in ways] == [True, False]


def read(text: str, deltas: list[str], slug: str, **options: Any) -> list[Event]:
    parser = Parser(slug, tools=TOOLS, **options)
    events = [event for delta in deltas for event in parser.feed(delta)]
    return merge([*events, *parser.close()])


BETWEEN = ("", "\n", " \n\n ", "\nand\n", " `", "\n```\n", "\n\n" * 40)
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"on_defect": "strict"}, {"arguments": "whole"})


@pytest.mark.parametrize("options", OPTIONS, ids=["repair", "strict", "whole"])
@pytest.mark.parametrize("slug", ["hermes", "qwen3_coder", "seed_oss", "longcat", "minimax_m1", "auto"])
def test_a_repeat_is_read_as_any_call(
    slug: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(Claims.again, "__code__"):
        pytest.skip("a compiled class cannot be changed from outside; the pure one does the same")
    one = render(Message("", "", (CALL,), (), (), slug), "hermes" if slug == "auto" else slug, tools=TOOLS)
    seconds = (one, one.replace("Paris", "<"), one[:-9], one[:-30], one.replace("get_weather", "other"))
    texts = [one + between + second + one for between in BETWEEN for second in seconds]

    def all_read() -> list[list[Event]]:
        return [
            read(text, [text[i : i + size] for i in range(0, len(text), size)], slug, **options)
            for text in texts
            for size in (1, 5, 7, len(text))
        ]

    again, known = Claims.again, []

    def noted(claims: Claims) -> int:
        known.append(again(claims))
        return known[-1]

    monkeypatch.setattr(Claims, "again", noted)
    found = all_read()
    assert any(at >= 0 for at in known) is ("on_defect" not in options)
    monkeypatch.setattr(Claims, "again", lambda self: -1)
    assert found == all_read()
