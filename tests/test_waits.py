"""Waits: what is held until more has come, and what never is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.casefile import tools_from
from tests.delivery import merge
from tests.test_work import working
from toolglot import Arguments, CallEnd, CallStart, Event, Markup, Parser, Text
from toolglot.claims import Claims
from toolglot.envelope import Machine
from toolglot.parts import Beginning
from toolglot.scanner import Source
from toolglot.stops import QUOTE_BEGUN, value_end_begun

TOOLS = tools_from("write_file(path: string, lines: integer)")
HERMES = '\n{"name": "write_file", "arguments": {"path": "ab", "lines": 3}}\n'
CODER = (
    "\n<function=write_file>\n<parameter=path>\nab\n</parameter>\n"
    "<parameter=lines>\n3\n</parameter>\n</function>\n"
)


def fed(text: str, dialect: str, **options: Any) -> list[list[Event]]:
    parser = Parser(dialect, tools=TOOLS, **options)
    return [merge(list(parser.feed(delta))) for delta in text]


def at_delta(sent: list[list[Event]], kind: type[Event]) -> list[int]:
    """The deltas, of one character each, with which events of a kind went out."""
    return [at for at, events in enumerate(sent) if any(isinstance(e, kind) for e in events)]


@pytest.mark.parametrize(
    ("dialect", "body", "named", "ended"),
    [
        ("hermes", HERMES, ', "', "}}"),
        ("qwen3_coder", CODER, "write_file>\n<parameter=", "</function>"),
    ],
)
def test_what_counts_goes_out_with_its_character(dialect: str, body: str, named: str, ended: str) -> None:
    opening, close = "\n<tool_call>", "</tool_call>"
    text = "So:" + (opening + body + close) * 2 + " done"
    sent = fed(text, dialect)
    calls = [3 + len(opening) + (len(opening) + len(body) + len(close)) * n for n in range(2)]
    assert at_delta(sent, Text) == [0, 1, 2, *range(len(text) - 4, len(text))]
    assert at_delta(sent, CallStart) == [at + body.index(named) + len(named) - 1 for at in calls]
    assert at_delta(sent, CallEnd) == [at + body.index(ended) + len(ended) - 1 for at in calls]
    letters = {at + body.index("ab") + n for at in calls for n in range(2)}
    assert letters <= set(at_delta(sent, Arguments))


@pytest.mark.parametrize("echoed", [True, False])
@pytest.mark.parametrize(("dialect", "body"), [("hermes", HERMES), ("qwen3_coder", CODER)])
def test_a_call_resumes_the_machine_a_few_times(
    dialect: str, body: str, echoed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(Source.feed, "__code__"):
        pytest.skip("a compiled class cannot be counted from outside; the pure one does the same work")
    text = f"<tool_call>{body}</tool_call>\n"
    if not echoed:
        monkeypatch.setattr(Claims, "expect_next", Machine.expect_next)
    parser = Parser(dialect, tools=TOOLS)
    for delta in text:
        parser.feed(delta)
    with working(monkeypatch) as work:
        for at in range(0, len(text) * 4, 4):
            parser.feed((text * 4)[at : at + 4])
    if echoed:
        # They have the form of the first one.
        assert work.resumed == 0
    else:
        # One more where a name and what must stand around it are longer than what is held.
        assert 3 * 4 - 1 <= work.resumed <= 4 * 4 + 1


def test_a_value_that_is_no_string_goes_out_with_the_end_of_the_call() -> None:
    parser = Parser("qwen3_coder", tools=TOOLS)
    parser.feed("<tool_call>\n<function=write_file>\n<parameter=path>\nab")
    for delta in ("\n</parameter>\n", "<parameter=lines>\n", "3\n</para", "meter>\n</function"):
        assert list(parser.feed(delta)) == []
    assert merge(list(parser.feed(">"))) == [
        Arguments(0, '"', (53, 54)),
        Markup((54, 85)),
        Arguments(0, ', "lines": 3}', (85, 100)),
        CallEnd(0, {"path": "ab", "lines": 3}, (100, 111)),
    ]


def test_in_strict_a_call_goes_out_with_its_close() -> None:
    for dialect, body in (("hermes", HERMES), ("qwen3_coder", CODER)):
        text = f"<tool_call>{body}</tool_call>"
        assert at_delta(fed(text, dialect, on_defect="strict"), CallEnd) == [len(text) - 1]


def test_the_dialect_is_told_by_the_close() -> None:
    parser = Parser("auto", tools=TOOLS)
    parser.feed(f"<tool_call>{HERMES}</tool_call")
    assert parser.dialect == "auto"
    parser.feed(">")
    assert parser.dialect == "hermes"


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("</p>\n", True),
        ("</p> <p=a", True),
        ("</p><p=a>", True),
        ("</p><p=a>\n", True),
        ("</p><p=a>\n12\n</p>\n</f", True),
        ("</p><p=a>\n12\n</p>\n<p=s>", True),
        ("</p><p=s>", True),
        ("</p><p=s>\n", False),
        ("</p><p=s>\n12\n</p>", False),
        ("</p><p=a>\n1<", True),
        ("</p><p=a>\n1<b", False),
        ("</p></f>", False),
        ("</p>x", False),
    ],
)
def test_what_may_stand_behind_a_value(text: str, begins: bool) -> None:
    plain = value_end_begun("</p>", "<p=", ">", False, "</f>", True)
    assert Beginning(plain.pattern, frozenset(("s",)), 1).begins(text, 0) is begins


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ('"', True),
        ('" ,', True),
        ('", "key"', True),
        ('", "key": ', True),
        ('", "key": 1', False),
        ('"}', False),
    ],
)
def test_what_may_stand_behind_a_string(text: str, begins: bool) -> None:
    assert QUOTE_BEGUN.begins(text, 0) is begins
