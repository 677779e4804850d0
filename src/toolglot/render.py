"""Render: a message written as a model of the dialect would write it.

Promises: ``parse(render(message))`` is the message again, ids, spans and JSON spacing aside. That is
checked by parsing before anything is returned, so what a format cannot carry (a raw value that holds
its own close, text that reads as markup, blanks that are layout) raises ``RenderError`` instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._typing import TYPE_CHECKING, Any
from .auto import resolve
from .bodies import codec_of
from .dialect import Body, Dialect, Layout
from .errors import RenderError
from .parser import Named, OnDefect, parse

if TYPE_CHECKING:
    from .message import Message, ToolCall


def render(message: Message | ToolCall | Sequence[ToolCall], dialect: Named, *, tools: object = None) -> str:
    """The text of ``message`` (or of calls alone) in ``dialect``, whose first body and spellings are used.

    ``tools`` are the request's tools; a format whose values carry no type needs them to tell the text
    ``"7"`` from the number. Raises ``RenderError`` where the dialect cannot carry the message.
    """
    from .message import Message, ToolCall

    if isinstance(message, ToolCall):
        message = Message(tool_calls=(message,))
    elif not isinstance(message, Message):
        message = Message(tool_calls=tuple(message))
    if not all(call.name for call in message.tool_calls):
        raise RenderError("a call without a name cannot be written")
    resolved = resolve(dialect)
    if not isinstance(resolved, Dialect):
        raise RenderError("only a dialect can be written: auto and custom parsers read")
    text = write(message, resolved)
    _check(text, message, resolved, tools)
    return text


def write(message: Message, dialect: Dialect) -> str:
    """The text of ``message``, which is not read back here. Raises ``RenderError`` where there is none."""
    if dialect.envelope.kind == "messages":
        return _write_messages(message, dialect)
    return _write(message, dialect)


def _write(message: Message, dialect: Dialect) -> str:
    layout, think = dialect.render, dialect.reasoning
    parts: list[str] = []
    if message.reasoning:
        if not think.open:
            raise RenderError(f"{dialect.slug} has no reasoning")
        label = f"{think.label}\n" if think.label else ""
        parts.append(think.open[0] + label + layout.think_open + message.reasoning)
        parts.append(_think_close(message, dialect))
    envelope = dialect.envelope
    wrapped = (envelope.wrap_open[:1], envelope.wrap_close[:1]) if message.content else ((), ())
    if message.reasoning and think.close[:1] == envelope.wrap_open[:1]:
        wrapped = ((), wrapped[1])
    parts += [*wrapped[0], message.content, *wrapped[1]]
    if message.tool_calls:
        if dialect.envelope.kind == "none":
            raise RenderError(f"{dialect.slug} has no calls")
        parts.append(layout.before if message.content else "")
        parts.append(write_calls(message.tool_calls, dialect))
    return "".join(parts).removeprefix(envelope.prefill)


def _think_close(message: Message, dialect: Dialect) -> str:
    """What ends the reasoning: its close, or nothing but white space where a call ends it."""
    layout, think = dialect.render, dialect.reasoning
    if think.call_inside == "ends" and message.tool_calls and not message.content:
        return layout.before
    line = layout.think_open or think.close[0] in dialect.envelope.lines
    return ("\n" if line else "") + think.close[0] + layout.think_close.removeprefix("\n")


def write_calls(calls: Sequence[ToolCall], dialect: Dialect) -> str:
    """The text of calls between markers, which is not read back here."""
    body, around = dialect.bodies[0], frame(dialect)
    codec = codec_of(body.codec)
    pairs = [(call.name, call.arguments) for call in calls]
    groups = [pairs] if codec.several == "all" else [[pair] for pair in pairs]
    if codec.several == "counted":
        written = [codec.write(group, body, before) for before, group in enumerate(groups)]
    else:
        written = [codec.write(group, body) for group in groups]
    written = [around.call_open + text + around.call_close for text in written]
    if around.section:
        return around.opener + around.between.join(written) + around.closer
    return around.between.join(around.opener + text + around.closer for text in written)


class Frame:
    """What stands around and between calls between markers.

    ``opener`` and ``closer`` stand around each call, or with ``section`` around all of them; ``between``
    between each two; ``call_open`` and ``call_close`` around each single one inside.
    """

    __slots__ = ("between", "call_close", "call_open", "closer", "opener", "section")

    def __init__(
        self, opener: str, closer: str, call_open: str, call_close: str, between: str, section: bool
    ) -> None:
        self.opener = opener
        self.closer = closer
        self.call_open = call_open
        self.call_close = call_close
        self.between = between
        self.section = section


def frame(dialect: Dialect) -> Frame:
    """What ``render`` writes around the calls of a dialect with markers."""
    body, layout, envelope = dialect.bodies[0], dialect.render, dialect.envelope
    bare = (
        any(u.place == "answer" and u.standing == "canonical" for u in dialect.unmarked) or not envelope.open
    )
    opener = "" if bare else envelope.open[0] + layout.after_open
    closer = "" if bare or not envelope.close else layout.before_close + envelope.close[0]
    section = bool(body.open) or layout.calls == "together"
    between = layout.between if section else layout.between or ("\n" if bare else "")
    return Frame(opener, closer, *around_call(body, layout), between, section)


def around_call(body: Body, layout: Layout) -> tuple[str, str]:
    """What stands around each single call of a section."""
    before = body.open[0] + layout.call_open if body.open else ""
    return before, layout.call_close + body.close[0] if body.close else ""


def _write_messages(message: Message, dialect: Dialect) -> str:
    envelope, body = dialect.envelope, dialect.bodies[0]
    kinds = [(envelope.channel + name, kind) for name, kind in envelope.channels]
    kinds += [(envelope.recipient + name, kind) for name, kind in envelope.recipients]
    thoughts = [header for header, kind in kinds if kind == "reasoning"]
    answers = [header for header, kind in kinds if kind == "content"]
    parts: list[str] = []
    if message.reasoning:
        parts.append(thoughts[0] + envelope.body + message.reasoning + envelope.end[0])
    if message.content:
        header = answers[0 if message.tool_calls else -1]
        parts.append(header + envelope.body + message.content + envelope.end[0])
    around = around_call(body, dialect.render)
    for call in message.tool_calls:
        header = f"{envelope.recipient}{envelope.call_prefix}{call.name}"
        if envelope.channel:
            header = f"{answers[0]}{header} {envelope.constrain}{envelope.content_types[0]}"
        text = codec_of(body.codec).write([(call.name, call.arguments)], body)
        end = (envelope.call_end or envelope.end)[0]
        parts.append(header + envelope.body + around[0] + text + around[1] + end)
    start = envelope.start[0] + envelope.role
    return start.join(parts)


def _check(text: str, message: Message, dialect: Dialect, tools: object) -> None:
    """Raise where ``text`` does not read back as ``message``, well-formed and without a defect."""
    offered = tools if tools is not None else _offered(message)
    calls = [(call.name, _key(call.arguments)) for call in message.tool_calls]
    hint = "" if tools is not None else " (tools= may tell the types)"
    modes: tuple[OnDefect, ...] = ("strict", "repair")
    for on_defect in modes:
        back = parse(text, dialect, tools=offered, finish_reason="stop", on_defect=on_defect)
        for what, got, wanted in (
            ("content", back.content, message.content),
            ("reasoning", back.reasoning, message.reasoning),
            ("calls", [(call.name, _key(call.arguments)) for call in back.tool_calls], calls),
            ("defects", [defect.kind.value for defect in back.defects], []),
        ):
            if got != wanted:
                raise RenderError(
                    f"{dialect.slug} cannot carry this: its {what} would read back as {got!r}{hint}"
                )


def _offered(message: Message) -> dict[str, Any] | None:
    """Tools without schemas for the calls; None, so that anything may be a call, where there are none."""
    return {call.name: {} for call in message.tool_calls} or None


def _key(value: Any) -> Any:
    """A value with its JSON types told apart: ``1`` and ``True`` differ, ``1`` and ``1.0`` do not."""
    if isinstance(value, Mapping):
        return {str(key): _key(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_key(item) for item in value]
    return (isinstance(value, bool), value)
