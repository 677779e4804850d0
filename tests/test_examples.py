"""The examples in the dialect files, which the docs and the derivation lean on, are what the parser says."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from tests.delivery import run
from toolglot.dialect import Dialect, Example

DIALECTS = [found for found in map(toolglot.resolve, toolglot.BUNDLED) if isinstance(found, Dialect)]
EXAMPLES = [
    pytest.param(dialect, example, id=f"{dialect.slug} {number}")
    for dialect in DIALECTS
    for number, example in enumerate(dialect.examples)
]


@pytest.mark.parametrize(("dialect", "example"), EXAMPLES)
def test_example(dialect: Dialect, example: Example) -> None:
    tools = {name: {"type": "object"} for name in example.tools} or None
    for deltas in ([example.raw], list(example.raw)):
        options: dict[str, Any] = {
            "tools": tools,
            "prompt_tail": example.prompt_tail,
            "finish_reason": "stop",
        }
        message = toolglot.assemble(run(deltas, dialect, **options))
        assert message.content == example.content
        assert message.reasoning == example.reasoning
        assert [(call.name, call.arguments) for call in message.tool_calls] == list(example.calls)
        assert message.defects == ()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.slug)
def test_each_has_an_example(dialect: Dialect) -> None:
    assert dialect.examples


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.slug)
def test_names_resolve(dialect: Dialect) -> None:
    for name in (dialect.slug, *dialect.aliases):
        assert toolglot.resolve(name) == dialect
