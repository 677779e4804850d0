"""Render: a message written as a model of the dialect would write it.

Promises: ``parse(render(message))`` is the message again, ids, spans and JSON spacing aside. That is
checked by parsing before anything is returned, so what a format cannot carry (a raw value that holds
its own close, text that reads as markup, blanks that are layout) raises ``RenderError`` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .auto import resolve
from .bodies import CODECS
from .dialect import Dialect, Envelope
from .errors import RenderError
from .message import Message, ToolCall
from .parser import Named, parse


def render(message: Message | ToolCall | Sequence[ToolCall], dialect: Named, *, tools: object = None) -> str:
    """The text of ``message`` (or of calls alone) in ``dialect``, whose first body and spellings are used.

    ``tools`` are the request's tools; a format whose values carry no type needs them to tell the text
    ``"7"`` from the number. Raises ``RenderError`` where the dialect cannot carry the message.
    """
    if isinstance(message, ToolCall):
        message = Message(tool_calls=(message,))
    elif not isinstance(message, Message):
        message = Message(tool_calls=tuple(message))
    resolved = resolve(dialect)
    if not isinstance(resolved, Dialect):
        raise RenderError("only a dialect can be written: auto and custom parsers read")
    text = (
        _write_messages(message, resolved)
        if resolved.envelope.kind == "messages"
        else _write(message, resolved)
    )
    _check(text, message, resolved, tools)
    return text


def _write(message: Message, dialect: Dialect) -> str:
    layout, think = dialect.render, dialect.reasoning
    parts: list[str] = []
    if message.reasoning:
        if not think.open:
            raise RenderError(f"{dialect.slug} has no reasoning")
        label = f"{think.label}\n" if think.label else ""
        parts.append(think.open[0] + label + layout.think_open + message.reasoning)
        parts.append(
            ("\n" if layout.think_open else "") + think.close[0] + layout.think_close.removeprefix("\n")
        )
    parts.append(message.content)
    if message.tool_calls:
        if dialect.envelope.kind == "none":
            raise RenderError(f"{dialect.slug} has no calls")
        parts.append(layout.before if message.content else "")
        parts.append(_calls(message.tool_calls, dialect))
    return "".join(parts)


def _calls(calls: Sequence[ToolCall], dialect: Dialect) -> str:
    body, layout, envelope = dialect.bodies[0], dialect.render, dialect.envelope
    codec = CODECS[body.codec]
    pairs = [(call.name, call.arguments) for call in calls]
    groups = [pairs] if codec.several == "all" else [[pair] for pair in pairs]
    bare = (
        any(u.place == "answer" and u.standing == "canonical" for u in dialect.unmarked) or not envelope.open
    )
    opener = "" if bare else envelope.open[0] + layout.after_open
    closer = "" if bare or not envelope.close else layout.before_close + envelope.close[0]
    between = layout.between or ("\n" if bare else "")
    around = (body.open[0] if body.open else "", body.close[0] if body.close else "")
    written = [around[0] + codec.write(group, body) + around[1] for group in groups]
    if body.open:
        return opener + layout.between.join(written) + closer
    return between.join(opener + text + closer for text in written)


def _write_messages(message: Message, dialect: Dialect) -> str:
    envelope = dialect.envelope
    roles = {role: name for name, role in reversed(envelope.channels)}
    parts: list[str] = []
    if message.reasoning:
        parts.append(_message(envelope, roles["reasoning"], message.reasoning, envelope.end[0]))
    commentary = envelope.channels[1][0]
    for call in message.tool_calls:
        to = f"{commentary}{envelope.recipient}{envelope.call_prefix}{call.name}"
        header = f"{to} {envelope.constrain}{envelope.content_types[0]}"
        text = CODECS[dialect.bodies[0].codec].write([(call.name, call.arguments)], dialect.bodies[0])
        parts.append(_message(envelope, header, text, envelope.call_end[0]))
    if message.content:
        last = not message.tool_calls
        content = _message(
            envelope, envelope.channels[-1 if last else 1][0], message.content, envelope.end[0]
        )
        parts.insert(1 if message.reasoning else 0, content)
    start = envelope.start[0] + envelope.role
    return start.join(parts)


def _message(envelope: Envelope, header: str, text: str, end: str) -> str:
    return envelope.channel + header + envelope.body + text + end


def _check(text: str, message: Message, dialect: Dialect, tools: object) -> None:
    """Raise where ``text`` does not read back as ``message``."""
    offered = tools if tools is not None else _offered(message)
    back = parse(text, dialect, tools=offered, finish_reason="stop")
    for what, got, wanted in (
        ("content", back.content, message.content),
        ("reasoning", back.reasoning, message.reasoning),
        ("calls", [(c.name, _key(c.arguments)) for c in back.tool_calls],
         [(c.name, _key(c.arguments)) for c in message.tool_calls]),
    ):  # fmt: skip
        if got != wanted:
            hint = "" if tools is not None else " (tools= may tell the types)"
            raise RenderError(
                f"{dialect.slug} cannot carry this message: its {what} would read back as {got!r}{hint}"
            )


def _offered(message: Message) -> dict[str, Any]:
    return {call.name: {} for call in message.tool_calls}


def _key(value: Any) -> Any:
    """A value with its JSON types told apart: ``1`` and ``True`` differ, ``1`` and ``1.0`` do not."""
    if isinstance(value, Mapping):
        return {str(key): _key(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_key(item) for item in value]
    return (isinstance(value, bool), value)
