"""Case: a captured exchange as a case of ``tests/cases``, whose form is told in its README.

Promises: the text is what the model wrote as content, in its first choice. What is redacted still gives
the same calls by name, the same keys and the same kinds of defects; where it does not, a ``CaptureError``
says so and nothing is written.

Does not: know what is right: the expectation is what the parser makes of it today, to be checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..auto import Resolved, resolve
from ..errors import CaptureError
from ..message import Message
from ..parser import parse
from ..registry import BUNDLED
from ..wire import decode_object
from ..wire.choice import reasoning_of
from ..wire.sse import EventReader
from . import redact
from .capture import Exchanged
from .config import slug_of


def case(exchanged: Exchanged, redaction: str | None = None) -> str:
    """The case's text. ``redaction`` is ``secrets`` or ``contents``. Raises ``CaptureError``."""
    raw, finish, reasoned = _upstream(exchanged)
    if not raw:
        raise CaptureError(f"{exchanged.where}: the upstream sent no content, so there is nothing to parse")
    dialect = resolve(exchanged.settings.dialect)
    tools = exchanged.request.get("tools") or []
    if exchanged.request.get("tool_choice") == "none":
        tools = []
    options: dict[str, Any] = {
        "dialect": dialect,
        "tools": tools,
        "prompt_tail": exchanged.settings.prompt_tail or "",
        "on_defect": exchanged.settings.on_defect,
        "finish_reason": finish,
    }
    message = parse(raw, **options)
    if redaction is not None:
        hide, tools = _redaction(redaction, tools, dialect, message)
        raw, tail = hide(raw), hide(options["prompt_tail"])
        options.update(tools=tools, prompt_tail=tail)
        again = parse(raw, **options)
        if _shape(again) != _shape(message):
            raise CaptureError(
                f"{exchanged.where}: without its {redaction} the text parses otherwise; redact it by hand"
            )
        message = again
    lines = [f"=== captured from {exchanged.model or 'a model'}"]
    lines.append("# The expectation is what a run gave: compare it with the contract.")
    if reasoned:
        lines.append("# The upstream sent reasoning on a channel of its own, which is not shown here.")
    slug = slug_of(dialect)
    lines.append(f"dialect: {slug}" if slug in (*BUNDLED, "auto") else f"# dialect: {slug}, not bundled")
    lines.append(f"tools_json: {json.dumps(tools, ensure_ascii=False)}" if tools else "tools: none offered")
    if exchanged.settings.on_defect == "strict":
        lines.append("mode: strict")
    if finish in ("stop", "length"):
        lines.append(f"finish: {finish}")
    if options["prompt_tail"]:
        lines.append(f"prompt_tail: {json.dumps(options['prompt_tail'], ensure_ascii=False)}")
    lines += ["--- raw json", json.dumps(raw, ensure_ascii=False), "--- expect", _expectation(message), ""]
    return "\n".join(lines)


def _upstream(exchanged: Exchanged) -> tuple[str, str | None, bool]:
    """The first choice as the upstream wrote it: content, finish reason, whether there was reasoning.

    Read as ``wire`` reads it, since an upstream may write anything.
    """
    data = b"".join(exchanged.received)
    if exchanged.streamed:
        reader = EventReader(len(data) + 1)
        bodies = [frame.value for frame in (*reader.feed(data), *reader.close())]
    else:
        bodies = [decode_object(data)]
    content: list[str] = []
    finish: str | None = None
    reasoned = False
    for body in bodies:
        choices = body.get("choices") if isinstance(body, dict) else None
        for place, choice in enumerate(choices if isinstance(choices, list) else ()):
            if not isinstance(choice, dict) or choice.get("index", place) != 0:
                continue
            said = choice.get("delta") or choice.get("message")
            if isinstance(said, dict):
                content.append(said["content"] if isinstance(said.get("content"), str) else "")
                reasoned = reasoned or bool(reasoning_of(said))
            if isinstance(choice.get("finish_reason"), str):
                finish = choice["finish_reason"]
    return "".join(content), finish, reasoned


def _expectation(message: Message) -> str:
    expected: dict[str, Any] = {}
    if message.content:
        expected["content"] = message.content
    if message.reasoning:
        expected["reasoning"] = message.reasoning
    if message.tool_calls:
        expected["calls"] = [[call.name, call.arguments] for call in message.tool_calls]
    if message.defects:
        expected["defects"] = list(dict.fromkeys(defect.kind.value for defect in message.defects))
    return json.dumps(expected, ensure_ascii=False)


def _redaction(
    redaction: str, tools: Any, dialect: Resolved, message: Message
) -> tuple[Callable[[str], str], Any]:
    """What hides text, and the tools without theirs."""
    if redaction == "secrets":
        return redact.secrets, tools
    names = [call.name for call in message.tool_calls]
    for call in message.tool_calls:
        names += redact.argument_names(call.arguments)
    names += _said(tools)
    return (lambda text: redact.contents(text, dialect, names)), _bare(tools)


def _said(schema: Any) -> list[str]:
    """What a schema names: tools, parameters and the values of an enumeration."""
    if isinstance(schema, list):
        return [name for item in schema for name in _said(item)]
    if not isinstance(schema, dict):
        return []
    names = [value for value in (schema.get("name"),) if isinstance(value, str)]
    names += [value for value in schema.get("enum") or () if isinstance(value, str)]
    names += list(schema.get("properties") or ())
    return names + [name for inner in schema.values() for name in _said(inner)]


def _bare(schema: Any) -> Any:
    """The tools without their prose, which may say what the application does."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    prose = ("description", "title", "examples", "default", "$comment")
    return {
        key: {name: _bare(inner) for name, inner in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _bare(value)
        for key, value in schema.items()
        if key not in prose
    }


def _shape(message: Message) -> object:
    calls = [(call.name, sorted(redact.argument_names(call.arguments))) for call in message.tool_calls]
    return calls, [defect.kind for defect in message.defects], bool(message.content), bool(message.reasoning)
