"""Echo: calls in the form of the one before are read without the machine, and as the machine reads them."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.casefile import tools_from
from tests.delivery import cut, merge
from toolglot import CallEnd, CallStart, Defect, Event, Limits, Markup, Parser, Reasoning
from toolglot.claims import Claims
from toolglot.echo import MOST, Echo
from toolglot.envelope import Machine
from toolglot.window import Window

TOOLS = tools_from(
    "get_weather(city: string, days?: integer, deep?: object, sunny?: boolean); ping(); "
    "a_tool_with_a_name_as_long_as_some_have_it(an_argument_with_a_long_name_too: string)"
)
compiled = not hasattr(Echo.feed, "__code__")
pytestmark = pytest.mark.skipif(
    compiled, reason="a compiled class cannot be changed from outside; the pure one does the same"
)
Feed = tuple[str, Literal["content", "reasoning"], bool | None]


def tagged(name: str, arguments: dict[str, Any], line: str = "\n") -> str:
    values = {k: v if isinstance(v, str) else json.dumps(v) for k, v in arguments.items()}
    own = "".join(f"<parameter={k}>{line}{v}{line}</parameter>{line}" for k, v in values.items())
    return f"<tool_call>{line}<function={name}>{line}{own}</function>{line}</tool_call>"


def listed(name: str, arguments: dict[str, Any], line: str = "\n") -> str:
    separators = (", ", ": ") if line else (",", ":")
    own = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False, separators=separators)
    return f"<tool_call>{line}{own}{line}</tool_call>"


FORMS = {"qwen3_coder": tagged, "hermes": listed}
"""The dialects whose calls are read here, and how such calls are written."""
PARIS = {slug: form("get_weather", {"city": "Paris", "days": 3}) for slug, form in FORMS.items()}
forms = pytest.mark.parametrize("slug", list(FORMS))


def read(feeds: list[Feed], dialect: str, finish: str | None = "stop", **options: Any) -> Any:
    """All events, and how much of the text is in those that are no markup after each delta."""
    parser = Parser(dialect, **{"tools": TOOLS, **options})
    events: list[Event] = []
    reached = []
    for delta, channel, special in feeds:
        events += parser.feed(delta, channel, special)
        reached.append(sum(e.span[1] - e.span[0] for e in events if not isinstance(e, (Defect, Markup))))
    return merge([*events, *parser.close(finish)]), reached


def plain(deltas: list[str]) -> list[Feed]:
    return [(delta, "content", None) for delta in deltas]


@contextmanager
def alone() -> Iterator[None]:
    """Without echoes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Claims, "expect_next", Machine.expect_next)
        yield


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each text that an echo was asked to read was its own."""
    went: list[bool] = []
    feed = Echo.feed

    def noted(echo: Echo, delta: str, events: list[Event]) -> str | None:
        rest = feed(echo, delta, events)
        went.append(rest is None)
        return rest

    monkeypatch.setattr(Echo, "feed", noted)
    return went


# -- what is read here -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7, 40, 200])
@pytest.mark.parametrize("dialect", ["own", "auto"])
@forms
def test_calls_behind_one_of_their_form(slug: str, dialect: str, size: int, gone: list[bool]) -> None:
    rome = FORMS[slug]("get_weather", {"days": 14, "city": "Rome\n\nor <Bonn>"})
    text = "\n".join((PARIS[slug], rome, PARIS[slug], PARIS[slug]))
    deltas = [text[i : i + size] for i in range(0, len(text), size)]
    dialect = slug if dialect == "own" else dialect
    events, reached = read(plain(deltas), dialect)
    assert [e.name for e in events if isinstance(e, CallStart)] == ["get_weather"] * 4
    assert [e.arguments for e in events if isinstance(e, CallEnd)] == [
        {"city": "Paris", "days": 3},
        {"days": 14, "city": "Rome\n\nor <Bonn>"},
        {"city": "Paris", "days": 3},
        {"city": "Paris", "days": 3},
    ]
    # Of longer deltas none ends where a call does, but by chance.
    assert any(gone) or size > 10
    with alone():
        others, goals = read(plain(deltas), dialect)
    assert events == others
    assert reached == goals or size > 1


@forms
def test_most_of_a_turn_is_read_without_the_machine(
    slug: str, gone: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join([PARIS[slug]] * 20)
    fed: list[str] = []
    feed = Window.feed

    def noted(source: Window, delta: str, special: bool | None = None) -> None:
        fed.append(delta)
        feed(source, delta, special)

    monkeypatch.setattr(Window, "feed", noted)
    parser = Parser(slug, tools=TOOLS)
    ended: list[int] = []
    for i in range(0, len(text), 4):
        ended += [len(fed) for event in parser.feed(text[i : i + 4]) if isinstance(event, CallEnd)]
    # The first call is the machine's.
    assert ended == [ended[0]] * 20
    assert gone == [True] * len(gone)


TAGS, LIST = PARIS.values()
ODD = {
    "qwen3_coder": [
        TAGS.replace("get_weather", "other"),
        TAGS.replace("3", "three"),
        TAGS.replace("=days", "=city"),
        TAGS.replace("Paris", "a</parameter>b"),
        TAGS.replace("Paris", "x" * MOST),
        TAGS.replace("</parameter>", "", 1),
        tagged("ping", {}),
        TAGS.replace("\nParis\n", "Paris"),
    ],
    "hermes": [
        LIST.replace("get_weather", "other"),
        LIST.replace("3", "03"),
        LIST.replace("days", "city"),
        LIST.replace("3", '{"a": 3}'),
        LIST.replace("Paris", "x" * MOST),
        LIST.replace("Paris", "a\nb"),
        LIST.replace("Paris", "\\ud800"),
        LIST.replace("arguments", "parameters"),
        LIST.replace("}}", "}"),
        LIST.replace("}}", '}, "id": "a"}'),
        LIST.replace('"Paris"', "'Paris'"),
    ],
}


@forms
def test_a_call_that_is_not_of_the_form_is_the_machine_s(slug: str, gone: list[bool]) -> None:
    for odd in ODD[slug]:
        text = "\n".join((PARIS[slug], odd, PARIS[slug]))
        deltas = [text[i : i + 5] for i in range(0, len(text), 5)]
        gone.clear()
        found, _ = read(plain(deltas), slug)
        assert False in gone, odd
        with alone():
            assert found == read(plain(deltas), slug)[0]


@forms
def test_after_two_that_were_read_again_all_are_the_machine_s(slug: str, gone: list[bool]) -> None:
    deep = FORMS[slug]("get_weather", {"deep": {"a": 3}, "city": "a <b"}).replace("a <b", "a</parameter>b")
    text = "\n".join((PARIS[slug], deep, deep, PARIS[slug], PARIS[slug]))
    read(plain(list(text)), slug)
    assert gone.count(False) == 2
    assert not gone[-1]


@forms
def test_a_closed_parser_leaves_nothing_to_the_collector(slug: str) -> None:
    text = "\n".join([PARIS[slug]] * 3)
    read(plain(list(text)), slug)
    gc.collect()
    gc.disable()
    try:
        read(plain(list(text)), slug)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "options",
    [{"limits": Limits(header=40)}, {"arguments": "whole"}, {"on_defect": "strict"}, {"ids": "random"}],
    ids=["limits", "whole", "strict", "random"],
)
@forms
def test_where_more_counts_there_is_none(slug: str, options: dict[str, Any], gone: list[bool]) -> None:
    parser = Parser(slug, tools=TOOLS, **options)
    events = [event for c in "\n".join([PARIS[slug]] * 3) for event in parser.feed(c)]
    assert len([e for e in [*events, *parser.close()] if isinstance(e, CallEnd)]) == 3
    assert gone == []


# -- as the machine reads it -----------------------------------------------------------------------

TEXTS = st.sampled_from(
    [
        *(
            "Paris",
            "",
            "a b",
            "x\ny",
            "line\n",
            "<",
            "</p",
            "a<b>c",
            '"q"',
            "\\n",
            "é ü",
            "😀",
            "  lead",
            "\n",
        ),
        *(
            "null",
            "3",
            '{"a": 1}',
            "x" * 70,
            "word " * 60,
            "`code`",
            "```\nfence\n```",
            "\ud83d",
            "}",
            "\r\n",
        ),
        *("a</parameter>b", "<tool_call>", "x" * (MOST + 100)),
    ]
)
ARGUMENTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "city": TEXTS,
            "days": st.sampled_from([3, 0, -5, 10**20, 2.5, "abc", "07", " 4", True]),
            "deep": st.sampled_from([{}, {"a": {"b": [1, 2]}}, "text"]),
            "sunny": st.sampled_from([True, False, "yes"]),
            "undeclared": TEXTS,
        },
    )
)
LONG = "a_tool_with_a_name_as_long_as_some_have_it"
CALLS: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    st.tuples(st.just("get_weather"), ARGUMENTS),
    st.tuples(st.just(LONG), st.fixed_dictionaries({"an_argument_with_a_long_name_too": TEXTS})),
    st.tuples(st.sampled_from(["ping", "other"]), st.just({})),
)
BETWEEN = st.sampled_from(["", "\n", "\n", "\n", " ", "\n\n", " and ", "\n" * 70])
PIECES = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<function=get_weather>", "<parameter=city>", "</parameter>"),
        *(
            "</function>",
            '"city": "Bonn"',
            "{",
            "}",
            "[",
            ",",
            ":",
            "\\",
            "\\u12",
            "0",
            "\n",
            " ",
            "<",
            "</",
            ">",
            "`",
            "```",
            "<think>",
            "</think>",
            '"',
            "\ud800",
        ),
    ]
)
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(st.just(""), PIECES)), max_size=2)


@st.composite
def turns(draw: st.DrawFn) -> tuple[str, str]:
    """Calls, some of them not as they should be, and their dialect."""
    slug = draw(st.sampled_from(list(FORMS)))
    line = draw(st.sampled_from(["\n"] * 6 + [""]))
    calls = draw(st.lists(st.tuples(CALLS, BETWEEN), min_size=2, max_size=5))
    text = draw(st.sampled_from(["", "Hi.\n", "<think>\nhm\n</think>\n\n"]))
    text += "".join(FORMS[slug](name, arguments, line) + between for (name, arguments), between in calls)
    for place, length, piece in draw(CHANGES):
        at = int(place * len(text))
        text = text[:at] + piece + text[at + length :]
    return text, slug


SPLITS = st.one_of(st.sampled_from([1, 2, 3, 4, 7, 13, 40, 200]), st.lists(st.floats(0, 1), max_size=40))


@given(
    turn=turns(),
    split=SPLITS,
    guess=st.sampled_from([False, False, False, True]),
    finish=st.sampled_from([None, "stop", "length"]),
    tools=st.sampled_from([TOOLS, TOOLS, TOOLS, None]),
    prompt=st.sampled_from(["", "", "", "<|im_start|>assistant\n<think>\n"]),
    turned=st.sampled_from([0, 0, 0, 50]),
    special=st.sampled_from([None, None, None, False, 3]),
)
def test_an_echo_reads_as_the_machine_does(
    turn: tuple[str, str],
    split: int | list[float],
    guess: bool,
    finish: str,
    tools: Any,
    prompt: str,
    turned: int,
    special: Any,
) -> None:
    text, slug = turn
    dialect = "auto" if guess else slug
    if isinstance(split, int):
        deltas = [text[i : i + split] for i in range(0, len(text), split)]
    else:
        deltas = cut(text, [int(place * len(text)) for place in split])
    feeds: list[Feed] = []
    at = 0
    for number, delta in enumerate(deltas):
        channel: Any = "reasoning" if turned and (at // turned) % 3 == 1 else "content"
        # Now and then the caller says that a delta is ordinary text, or of all.
        says = False if special is False or (special and number % special == 2) else None
        feeds.append((delta, channel, says))
        at += len(delta)
    options = {"tools": tools, "prompt_tail": prompt}
    events, reached = read(feeds, dialect, finish, **options)
    with alone():
        others, goals = read(feeds, dialect, finish, **options)
    assert events == others
    # What stands behind a value of JSON the machine says earlier or later, as the deltas are.
    assert reached == goals or slug == "hermes"


# -- beside another channel ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 200])
def test_a_call_in_reasoning_is_a_draft_once_the_answer_has_begun(size: int) -> None:
    """However often the machine is asked: what came as reasoning before is over by then."""
    answer = f"\n{TAGS} <tool_call>\n<function={LONG}_and_longer_still"
    feeds: list[Feed] = [("<tool_call>\n<function=ping", "reasoning", None)]
    feeds += plain([answer[i : i + size] for i in range(0, len(answer), size)])
    feeds.append(("s on and on", "reasoning", None))
    events, _ = read(feeds, "qwen3_coder")
    thought = "".join(e.text for e in events if isinstance(e, Reasoning))
    assert thought == "<tool_call>\n<function=pings on and on"
