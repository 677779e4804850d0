"""overlays: what is added to a derived dialect, and that its own turns still read."""

from __future__ import annotations

import pytest

import toolglot
from tests.test_derive import HERMES, TAGGED, dialect_of
from toolglot.derive import Cache, derive
from toolglot.derive.overlays import Overlay, overlaid, overlays
from toolglot.derive.sandbox import Sandbox

OWN_KEYS = HERMES.replace('"name": "', '"tool": "').replace('"arguments": ', '"args": ')


@pytest.mark.parametrize("overlay", overlays())
def test_overlays_name_bundled_dialects(overlay: Overlay) -> None:
    assert set(overlay.also) <= set(toolglot.BUNDLED)


def test_a_derived_dialect_reads_what_models_write_besides() -> None:
    derived = derive(OWN_KEYS, renderer=Sandbox(), cache=Cache())
    dialect = dialect_of(derived)
    assert derived.confidence == "verified"
    assert [body.codec for body in dialect.bodies] == ["json_object", "json_array", "tagged"]
    texts = (
        '<tool_call>\n{"tool": "f", "args": {"x": "1"}}\n</tool_call>',
        '<tool_call>\n{"name": "f", "arguments": {"x": "1"}}\n</tool_call>',
        "<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>",
    )
    tools = {"f": {"type": "object", "properties": {"x": {"type": "string"}}}}
    for text in texts:
        call = toolglot.parse(text, dialect, tools=tools).tool_calls[0]
        assert (call.name, call.arguments) == ("f", {"x": "1"})


def test_what_is_written_is_the_template_s_own() -> None:
    derived = derive(OWN_KEYS, renderer=Sandbox(), cache=Cache())
    message = toolglot.Message(tool_calls=(toolglot.ToolCall("f", {"x": 1}),))
    assert '{"tool": "f", "args": {"x": 1}}' in derived.render(message)


def test_a_dialect_that_no_overlay_fits_is_left_alone() -> None:
    dialect = dialect_of(derive(TAGGED, renderer=Sandbox(), cache=Cache()))
    assert overlaid(dialect) is dialect
