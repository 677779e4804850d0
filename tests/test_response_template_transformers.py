"""What transformers itself reads with the templates that toolglot writes, and with those that it reads.

Against the real package, which needs no torch for this: the test extra ``transformers`` has the version.
"""

from __future__ import annotations

from typing import Any

import pytest
from canitoolcall.fixtures import Fixture

import toolglot
from tests.conformance import STRICT, dialect_of, fixtures, prompt_tail
from tests.responses import (
    RAISES,
    Read,
    by_toolglot,
    by_transformers,
    differences,
    meant,
    published,
    tools_for,
)
from tests.test_response_template import exported
from toolglot.derive.response_template import to_response_template
from toolglot.registry import load_file

transformers = pytest.importorskip(
    "transformers", minversion="5.24", reason="the extra transformers is not installed, or is older than 5.24"
)

FIXTURES = {fixture.id: fixture for fixture in fixtures()}
EXAMPLES = {
    f"{slug}#{number}": (slug, example)
    for slug in exported()
    for number, example in enumerate(load_file(slug).examples)
}


def both(where: str) -> tuple[Read, Read | str]:
    """What toolglot reads, and what transformers does with the exported template."""
    if where in EXAMPLES:
        slug, example = EXAMPLES[where]
        tools, prompt = tools_for(example.calls, example.tools), example.prompt_tail
        return _both(slug, example.raw, prompt, tools, None)
    fixture = FIXTURES[where]
    tools = [dict(tool) for tool in fixture.tools] or None
    finish = "length" if fixture.truncated else "stop"
    return _both(dialect_of(fixture, STRICT), fixture.raw_output, prompt_tail(fixture), tools, finish)


def _both(slug: str, text: str, prompt: str, tools: Any, finish: str | None) -> tuple[Read, Read | str]:
    dialect = load_file(slug)
    ours = by_toolglot(text, dialect, prompt, tools, finish)
    theirs = by_transformers(text, to_response_template(dialect), prompt or dialect.envelope.prefill, tools)
    return ours, theirs


def test_all_families_are_expressed() -> None:
    """Each public fixture belongs to a dialect that can be exported."""
    assert {dialect_of(fixture, STRICT) for fixture in FIXTURES.values()} <= set(exported())


def test_fixtures_and_examples() -> None:
    """All are read alike, but for those that are listed with a reason; and each of these is indeed not."""
    unlike = set()
    for where in (*FIXTURES, *EXAMPLES):
        ours, theirs = both(where)
        if ours != theirs:
            unlike.add(where)
    assert unlike == set(differences())


def test_the_rest_is_alike() -> None:
    """The share that is claimed in the docs."""
    assert len(FIXTURES) == 469
    assert len(EXAMPLES) == 87
    assert len(set(differences()) & set(FIXTURES)) == 51
    assert len(set(differences()) & set(EXAMPLES)) == 16


@pytest.mark.parametrize("slug", sorted({dialect_of(fixture, STRICT) for fixture in FIXTURES.values()}))
def test_streamed(slug: str) -> None:
    """One character at a time an exported template reads what it reads at once."""
    dialect = load_file(slug)
    template = to_response_template(dialect)
    for fixture in _some(slug):
        prompt = prompt_tail(fixture) or dialect.envelope.prefill
        whole = by_transformers(fixture.raw_output, template, prompt)
        assert by_transformers(fixture.raw_output, template, prompt, each=True) == whole, fixture.id


def _some(slug: str) -> list[Fixture]:
    """Ten fixtures of a dialect, the shortest: a stream costs transformers the square of its length."""
    found = [fixture for fixture in FIXTURES.values() if dialect_of(fixture, STRICT) == slug]
    return sorted(found, key=lambda fixture: len(fixture.raw_output))[:10]


@pytest.mark.parametrize("row", published()["templates"], ids=lambda row: row["name"])
def test_published(row: dict[str, Any]) -> None:
    """The meaning that the imported dialects are held to is what transformers reads."""
    for text in row["texts"]:
        tools = tools_for(text.get("calls", ()))
        read = by_transformers(text["text"], row["template"], text["prompt"], tools)
        assert isinstance(read, Read)
        assert read.stripped() == meant(text)


def test_raising_is_seen() -> None:
    template = to_response_template(load_file("hermes"))
    assert by_transformers("<tool_call>{</tool_call>", template) == RAISES


ARGUMENTS: dict[str, Any] = {
    "text": 'a "b"\nc',
    "n": 3,
    "x": 2.5,
    "on": True,
    "none": None,
    "list": [1, "a"],
    "map": {"k": "v"},
}


@pytest.mark.parametrize("slug", exported())
def test_what_is_rendered(slug: str) -> None:
    """Calls with values of each type as ``render`` writes them, behind reasoning and content where it can."""
    dialect = load_file(slug)
    calls = (toolglot.ToolCall(name="get_it", arguments=ARGUMENTS), toolglot.ToolCall(name="do-it"))
    tools = tools_for([("get_it", ARGUMENTS), ("do-it", {})])
    template, rendered = to_response_template(dialect), 0
    for message in (
        toolglot.Message(tool_calls=calls),
        toolglot.Message(content="Let me look.", tool_calls=calls),
        toolglot.Message(reasoning="Hm.", tool_calls=calls),
        toolglot.Message(reasoning="Hm.", content="Hello."),
    ):
        try:
            text = toolglot.render(message, dialect, tools=tools)
        except toolglot.RenderError:
            continue
        rendered += 1
        read = by_transformers(text, template, dialect.envelope.prefill, tools)
        assert read == by_toolglot(text, dialect, tools=tools)
    assert rendered > 0
