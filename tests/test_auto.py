"""What a caller may name as a dialect, and the automatic choice among several."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from tests.delivery import run
from toolglot import (
    DEFAULT_AUTO_ORDER,
    Auto,
    Context,
    Dialect,
    DialectError,
    Message,
    Parser,
    ParseResult,
    ToolCall,
    UnknownDialectError,
    create_auto,
    parse,
    resolve,
)
from toolglot.auto import AUTO

CALL = '{"name": "ping", "arguments": {"n": 1}}'
HERMES = f"<tool_call>{CALL}</tool_call>"
OWN: dict[str, Any] = {
    "slug": "mine",
    "envelope": {"open": ["<c>"], "close": ["</c>"]},
    "body": [{"codec": "json_object"}],
}
TOOLS = {
    "ping": {"properties": {"n": {"type": "integer"}}},
    "find": {"properties": {"q": {"type": "string"}}},
}


def echo(text: str, context: Context) -> ParseResult:
    """A parser of one's own: lines that begin with ! name a call."""
    calls = [ToolCall(line[1:], {"by": "echo"}) for line in text.splitlines() if line.startswith("!")]
    rest = "\n".join(line for line in text.splitlines() if not line.startswith("!"))
    return ParseResult(rest, calls)


def called(message: Message) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, call.arguments) for call in message.tool_calls]


# -- resolve ---------------------------------------------------------------------------------------


def test_resolve() -> None:
    hermes = resolve("hermes")
    assert isinstance(hermes, Dialect)
    assert hermes.slug == "hermes"
    assert resolve("qwen25") is hermes
    assert resolve(hermes) is hermes
    own = resolve(OWN)
    assert isinstance(own, Dialect)
    assert own.slug == "mine"
    auto = resolve(AUTO)
    assert isinstance(auto, Auto)
    assert resolve(AUTO) is auto
    assert resolve(auto) is auto
    assert resolve(echo) is echo


def test_what_is_no_dialect() -> None:
    with pytest.raises(UnknownDialectError, match="no dialect is called 'hermess'"):
        resolve("hermess")
    with pytest.raises(DialectError, match="slug"):
        resolve({})
    with pytest.raises(
        UnknownDialectError, match=r"^a dialect is a name, a Dialect, a dict or a callable, not int$"
    ):
        resolve(3)  # type: ignore[arg-type]  # what a caller without a type checker may write
    with pytest.raises(UnknownDialectError, match="not NoneType"):
        resolve(None)  # type: ignore[arg-type]  # as above


# -- the order -------------------------------------------------------------------------------------


def test_the_default_order() -> None:
    assert DEFAULT_AUTO_ORDER[0] == "gpt_oss"
    assert DEFAULT_AUTO_ORDER.index("hermes") < DEFAULT_AUTO_ORDER.index("llama3_json")
    assert set(DEFAULT_AUTO_ORDER) <= set(toolglot.BUNDLED)
    assert "none" not in DEFAULT_AUTO_ORDER
    assert len(set(DEFAULT_AUTO_ORDER)) == len(DEFAULT_AUTO_ORDER)
    auto = create_auto()
    assert tuple(f.slug for f in auto.families if isinstance(f, Dialect)) == DEFAULT_AUTO_ORDER
    assert auto == resolve(AUTO)


def test_an_order_of_ones_own() -> None:
    auto = create_auto(["mistral", "qwen25"])
    assert [f.slug for f in auto.families if isinstance(f, Dialect)] == ["mistral", "hermes"]
    assert called(parse(HERMES, auto)) == [("ping", {"n": 1})]
    assert parse("[ping(n=1)]", auto, tools=TOOLS).tool_calls == ()


def test_an_empty_order_finds_no_call() -> None:
    auto = create_auto([])
    assert auto.families == ()
    assert parse(HERMES, auto).content == HERMES
    assert parse("<think>a</think>b", auto).reasoning == "a"


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(UnknownDialectError, match="no dialect is called 'nope'"):
        create_auto(["hermes", "nope"])


def test_families_can_be_swapped() -> None:
    own = Dialect.from_dict(OWN)
    for given in (own, OWN):
        auto = create_auto(["hermes", "gemma"], {"gemma": given})
        assert auto.families == (resolve("hermes"), own)
        message = parse(f"<c>{CALL}</c>", auto)
        assert called(message) == [("ping", {"n": 1})]
        assert message.dialect == "mine"


def test_a_name_of_ones_own_can_stand_in_the_order() -> None:
    auto = create_auto(["house", "hermes"], {"house": OWN})
    assert parse(f"<c>{CALL}</c>", auto).dialect == "mine"
    assert parse(HERMES, auto).dialect == "hermes"


def test_a_swapped_family_that_is_not_in_the_order_is_refused() -> None:
    with pytest.raises(UnknownDialectError, match=r"^'gemma' is in parsers but not in the order$"):
        create_auto(["hermes"], {"gemma": OWN})
    with pytest.raises(DialectError, match="slug"):
        create_auto(["hermes"], {"hermes": {}})


def test_the_mappings_of_the_caller_are_left_alone() -> None:
    parsers = {"gemma": OWN}
    create_auto(None, parsers)
    assert parsers == {"gemma": OWN}


# -- the choice ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "text"),
    [
        ("hermes", f"Hi {HERMES}"),
        (
            "qwen3_coder",
            "<tool_call>\n<function=ping>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>",
        ),
        ("mistral", f"[TOOL_CALLS][{CALL}]"),
        ("mistral", '[TOOL_CALLS]ping[ARGS]{"n": 1}'),
        ("phi", f"functools[{CALL}]"),
        ("gemma4", "<|tool_call>call:ping{n:1}<tool_call|>"),
        ("gpt_oss", '<|channel|>commentary to=functions.ping<|message|>{"n": 1}<|call|>'),
        ("pythonic", "[ping(n=1)]"),
        ("llama3_json", '<|python_tag|>{"name": "ping", "parameters": {"n": 1}}'),
        ("bare_pythonic", "Let me see: ping(n=1)"),
        ("loose_keyed", "ping\nn: 1"),
    ],
)
def test_auto_finds_the_call_and_says_in_which_dialect(slug: str, text: str) -> None:
    message = parse(text, tools=TOOLS)
    assert called(message) == [("ping", {"n": 1})]
    reads = {slug, "hermes"} if slug == "qwen3_coder" else {slug}
    assert message.dialect in reads
    parser = Parser(tools=TOOLS)
    assert parser.dialect == "auto"
    for character in text:
        parser.feed(character)
    parser.close()
    assert parser.dialect == message.dialect


@pytest.mark.parametrize("key", ["parameters", "arguments"])
def test_a_bare_object_is_a_call_of_some_family(key: str) -> None:
    message = parse(f'{{"name": "ping", "{key}": {{"n": 1}}}}', tools=TOOLS)
    assert called(message) == [("ping", {"n": 1})]
    assert message.dialect in DEFAULT_AUTO_ORDER


def test_without_a_call_the_dialect_stays_open() -> None:
    assert parse("<think>hm</think>Hello.").dialect == "auto"
    assert parse("").dialect == "auto"


def test_the_first_call_in_the_text_decides() -> None:
    text = f"{HERMES} and functools[{CALL}]"
    message = parse(text)
    assert (message.dialect, len(message.tool_calls)) == ("hermes", 1)
    assert message.content == f" and functools[{CALL}]"
    message = parse(f"functools[{CALL}] and {HERMES}")
    assert (message.dialect, len(message.tool_calls)) == ("phi", 1)


def test_rank_decides_at_the_same_place() -> None:
    text = f"[TOOL_CALLS][{CALL}]"
    assert parse(text, create_auto(["mistral", "mistral_v3"])).dialect == "mistral"
    assert parse(text, create_auto(["mistral_v3", "mistral"])).dialect == "mistral_v3"


def test_a_family_that_cannot_read_the_body_does_not_claim_it() -> None:
    text = '[TOOL_CALLS]ping[ARGS]{"n": 1}'
    assert parse(text, create_auto(["mistral_v3", "mistral_v11"])).dialect == "mistral_v11"


@pytest.mark.parametrize("text", ['{"name": "Ada", "parameters": {}}', "[Ada(n=1)]", "Ada(n=1)", "Ada\nn: 1"])
def test_a_shape_without_markers_needs_an_offered_tool(text: str) -> None:
    assert parse(text, tools=TOOLS).content == text
    assert parse(text).content == text


def test_auto_is_blind_to_splits_and_keeps_ids() -> None:
    text = f"<think>a</think>\n\nHi {HERMES}\n{HERMES}"
    whole = toolglot.assemble(run([text], "auto"))
    assert toolglot.assemble(run(text, "auto")) == whole
    assert [call.id for call in whole.tool_calls] == ["call_0", "call_1"]


# -- a parser of one's own -------------------------------------------------------------------------


def test_a_parser_of_ones_own_in_the_order() -> None:
    auto = create_auto(["hermes", "mine"], {"mine": echo})
    message = parse("Hi\n!ping", auto)
    assert called(message) == [("ping", {"by": "echo"})]
    assert message.content == "Hi"
    message = parse(f"Hi\n!ping{HERMES}", auto)
    assert called(message) == [("ping", {"n": 1})]
    assert message.dialect == "hermes"
    message = parse(f"Hi\n!ping{HERMES}", create_auto(["mine", "hermes"], {"mine": echo}))
    assert called(message) == [("ping" + HERMES, {"by": "echo"})]


def test_where_no_family_finds_a_call_all_is_content() -> None:
    message = parse("Just prose.", create_auto(["mine", "hermes"], {"mine": echo}))
    assert message == Message(
        content="Just prose.", segments=(toolglot.Segment("content", (0, 11)),), dialect="auto"
    )


def test_reasoning_is_found_beside_a_parser_of_ones_own() -> None:
    message = parse("<think>hm</think>\n\nHello.", create_auto(["mine", "hermes"], {"mine": echo}))
    assert (message.reasoning, message.content) == ("hm", "Hello.")


def test_a_shape_without_markers_needs_an_offered_tool_beside_a_parser_of_ones_own() -> None:
    auto = create_auto(["mine", "llama3_json"], {"mine": echo})
    text = '{"name": "Ada", "parameters": {}}'
    assert parse(text, auto, tools=TOOLS).content == text


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        (f"Hi {HERMES}", {}, "'<tool_call>' at 3"),
        (HERMES.removeprefix("<tool_call>"), {"prompt_tail": "<tool_call>"}, "'<tool_call>' in the prompt"),
        (CALL, {"tools": TOOLS}, "a bare object at 0"),
        (f"```json\n{CALL}\n```", {"tools": TOOLS}, "calls alone in a fence at 0"),
        ("Then ping(n=1) ok", {"tools": TOOLS}, "a call without a marker at 5"),
        ("<|channel|>final<|message|>Hi", {}, "a message's header at 0"),
        ("Hi.", {}, ""),
    ],
)
def test_auto_says_why(text: str, options: dict[str, Any], why: str) -> None:
    parser = Parser(**options)
    parser.feed(text)
    parser.close()
    assert parser.chosen_by == why


def test_a_named_dialect_was_not_chosen() -> None:
    parser = Parser("hermes")
    parser.feed(HERMES)
    parser.close()
    assert parser.chosen_by == ""
