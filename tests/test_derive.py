"""derive: from templates written here, whose turns are known, to dialects and refusals."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from toolglot.derive import Derived, derive

pytest.importorskip("jinja2")

TURN = """{%- for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}{{ m.content or '' }}
{%- if m.tool_calls %}{% for c in m.tool_calls %}BODY{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

HERMES = TURN.replace(
    "BODY",
    """{{ '\n<tool_call>\n{"name": "' + c.function.name + '", "arguments": ' }}"""
    """{{ c.function.arguments|tojson }}"""
    """{{ '}\n</tool_call>' }}""",
)
TAGGED = TURN.replace(
    "BODY",
    """{{ '<call:' + c.function.name + '>' }}{% for k, v in c.function.arguments.items() %}"""
    """{{ '<arg:' + k + '>' }}{{ v if v is string else v|tojson }}{{ '</arg>' }}{% endfor %}"""
    """{{ '</call>' }}""",
)


def dialect_of(derived: Derived) -> toolglot.Dialect:
    assert derived.dialect is not None, derived.refusals
    return derived.dialect


def test_json_between_tags_is_the_bundled_dialect() -> None:
    derived = derive(HERMES)
    assert (derived.confidence, derived.builtin, derived.refusals) == ("builtin", "hermes", ())


def test_tags_of_its_own() -> None:
    derived = derive(TAGGED)
    dialect = dialect_of(derived)
    assert derived.confidence == "verified"
    assert dialect.bodies[0].codec == "tagged"
    text = "<call:ping><arg:host>a.b</arg><arg:count>2</arg></call>"
    tools = {"ping": {"properties": {"host": {"type": "string"}, "count": {"type": "integer"}}}}
    message = toolglot.parse(text, dialect, tools=tools)
    assert [(c.name, c.arguments) for c in message.tool_calls] == [("ping", {"host": "a.b", "count": 2})]


def test_render_is_the_turn_of_the_template() -> None:
    derived = derive(TAGGED)
    calls = (toolglot.ToolCall("ping", {"host": "a b"}), toolglot.ToolCall("pong", {}))
    assert derived.render(toolglot.Message(tool_calls=calls)) == (
        "<|im_start|>assistant\n<call:ping><arg:host>a b</arg></call><call:pong></call><|im_end|>\n"
    )


def test_the_prompt_s_tail() -> None:
    assert derive(HERMES).prompt_tail == "<|im_start|>assistant\n"


def test_strings_are_sent_where_the_template_prints_them() -> None:
    text = TURN.replace("BODY", "{{ '[CALL]' + c.function.name + ' ' + c.function.arguments }}")
    assert dict(derive(text).shape)["arguments"] == "string"


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{ messages[0].content }}", "no-tool-calls-in-template"),
        ("{{ messages[0].tool_calls", "syntax"),
        ("{# tool_calls #}{{ raise_exception('not today') }}", "raises:not today"),
        ("{# tool_calls #}{{ helper(messages) }}", "needs-variable:helper"),
        (TURN.replace("BODY", "{{ c.id }}"), "no-tool-calls-in-template"),
        (
            HERMES.replace('{"name": "\' + c.function.name + \'"', '{"name": "\' + c.function.name + \''),
            "ambiguous-body",
        ),
    ],
)
def test_refusals(template: str, code: str) -> None:
    derived = derive(template)
    assert derived.confidence in ("refused", "guessed")
    assert [reason.code for reason in derived.refusals] == [code]


def test_a_refused_template_writes_nothing() -> None:
    with pytest.raises(toolglot.RenderError, match="nothing was derived"):
        derive("{{ messages[0].content }}").render(toolglot.Message())


def test_toggles_tell_the_tails() -> None:
    prompt = "{% if enable_thinking is defined and not enable_thinking %}{{ '<think></think>' }}{% endif %}"
    template = HERMES.removesuffix("{% endif %}") + prompt + "{% endif %}"
    tails: dict[Any, str] = dict(derive(template).toggles[0].tails)
    assert tails == {True: "<|im_start|>assistant\n", False: "<|im_start|>assistant\n<think></think>"}


def test_the_tool_s_result() -> None:
    assert derive(HERMES).result == ("<|im_start|>tool\n", "<|im_end|>\n")
