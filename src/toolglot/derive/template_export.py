"""template_export: a dialect as one of transformers' response templates.

Promises: what comes out is version 1 of that format, and transformers reads with it what the dialect's own
``render`` writes. ``losses`` says what of a dialect a response template has no words for.

Does not: carry anything that is not data of the dialect. Repairs belong to the machine, and transformers'
has none: it raises, or takes the text as it stands.

Source: transformers 5.24.0, ``utils/chat_parsing``, ``docs/source/en/chat_response_parsing.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..dialect import Dialect, Unmarked
from .template_calls import BLANKS, Field, call_field, either, left_open, maybe, quote, refuse

_NOTHING: Final = r"\Z"
"""An anchor that is always at the prompt's end: nothing of the prompt is read."""


def export(dialect: Dialect, reasoning: str, join: bool) -> dict[str, Any]:
    """See ``response_template.to_response_template``."""
    if dialect.envelope.kind == "none":
        raise refuse(dialect, "it has no calls and no markup")
    if dialect.envelope.kind == "messages":
        fields = _message_fields(dialect)
    else:
        fields = {"tool_calls": call_field(dialect), "content": _content(dialect)}
        if dialect.reasoning.open:
            fields = {"reasoning_content": _reasoning(dialect)} | fields
    if "reasoning_content" in fields:
        fields = {reasoning: fields.pop("reasoning_content")} | fields
    if not join:
        fields = {name: _last(field) for name, field in fields.items()}
    return {"version": 1, "defaults": {"role": "assistant"}, **_anchor(dialect), "fields": fields}


def _anchor(dialect: Dialect) -> dict[str, Any]:
    opens = dialect.envelope.turn_open
    if not opens:
        return {"start_anchor_pattern": _NOTHING}
    return (
        {"start_anchor_pattern": either(opens) + BLANKS}
        if _ends_open(dialect)
        else {"start_anchor": opens[0]}
    )


def _ends_open(dialect: Dialect) -> bool:
    """Whether white space may follow the turn's opener that is not the answer's."""
    opens = dialect.envelope.turn_open
    whole = dialect.envelope.kind == "messages" or all(text.endswith("\n") for text in opens)
    return len(opens) > 1 or not whole


def _joined(strip: bool) -> Field:
    """Text, all of whose pieces count; ``strip`` where blanks at a piece's border are layout."""
    return {"repeats": True, "join": "", "content": "text", "content_args": {"strip": strip}}


def _last(field: Field) -> Field:
    """The field with its last piece only, if it is text."""
    return {key: item for key, item in field.items() if "join" not in field or key not in ("join", "repeats")}


def _strips(dialect: Dialect) -> bool:
    envelope, think = dialect.envelope, dialect.reasoning
    trims = envelope.wrap_open and envelope.wrap_trim == "newline"
    return bool(envelope.layout == "blank" or trims or (think.open and think.after == "blank"))


def _content(dialect: Dialect) -> Field:
    """All text between the other fields; markers that are no call's end a piece of it and are dropped."""
    envelope, think, body = dialect.envelope, dialect.reasoning, dialect.bodies[0]
    ends = []
    if marks := [*envelope.stops, *envelope.wrap_open, *envelope.wrap_close]:
        ends.append(either(marks))
    if closes := left_open(dialect):
        ends.append(BLANKS + either(closes))
    if envelope.open and envelope.close and body.open:
        ends.append(either(envelope.open) + BLANKS + either(envelope.close))
    if think.close:
        ends.append(r"\A" + BLANKS + either(think.close))
    ends += [f"{quote(header)}[^{quote(header[0])}]*" for header in envelope.headers]
    if envelope.lead:
        ends.append(r"\A" + BLANKS + either(envelope.lead))
    return ({"close_pattern": "|".join(ends)} if ends else {}) | _joined(_strips(dialect))


def _reasoning(dialect: Dialect) -> Field:
    think = dialect.reasoning
    lines = r"(?<![^\n])" if set(think.open) & set(dialect.envelope.lines) else ""
    opens = [lines + either(text + think.label for text in think.open)]
    rests = [m[len(turn) :] for m in think.open for turn in dialect.envelope.turn_open if m.startswith(turn)]
    if rests:
        opens.append(r"\A" + either(rests))
    ends = [either(think.close)]
    early = [*think.ends, *(dialect.envelope.open if think.call_inside == "ends" else ())]
    if early:
        ends.append(f"(?={either(early)})")
    return {"open_pattern": "|".join(opens), "close_pattern": "|".join(ends)} | _joined(
        think.trim == "newline"
    )


# -- streams of messages -----------------------------------------------------------------------------


def _message_fields(dialect: Dialect) -> dict[str, Field]:
    """One field for each kind of message: the header decides, and a call's names the tool."""
    envelope, body = dialect.envelope, dialect.bodies[0]
    if body.codec != "header_json" or not envelope.channel:
        raise refuse(dialect, f"messages whose calls are written in {body.codec}")
    border = quote(envelope.start[0][0])
    rest, start = f"[^{border}]*", maybe(quote(envelope.start[0] + envelope.role))
    constrain = maybe(quote(envelope.constrain) + rest)
    thoughts = either(name for name, what in envelope.channels if what == "reasoning")
    tool = rf"{BLANKS}{quote(envelope.recipient.strip() + envelope.call_prefix)}(?P<name>[^\s{border}]+)"
    channel = quote(envelope.channel) + rf"[^\s{border}]+"

    def said(name: str) -> Field:
        header = start + quote(envelope.channel) + name + BLANKS + constrain + quote(envelope.body)
        return {"open_pattern": header, "close_pattern": either(envelope.end)} | _joined(False)

    called = start + maybe(channel) + tool + BLANKS + maybe(channel) + rest + constrain
    call: Field = {
        "open_pattern": called + quote(envelope.body),
        "close_pattern": rf"(?<=\}})\s*{either((*envelope.call_end, *envelope.end))}",
        "repeats": True,
        "content": "json",
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
    }
    other = rf"(?!{thoughts}\b)[^\s{border}]+"
    return {"reasoning_content": said(thoughts), "tool_calls": call, "content": said(other)}


# -- what is left out --------------------------------------------------------------------------------


def losses(dialect: Dialect) -> tuple[str, ...]:
    """What of the dialect its response template does not carry, for a person to read."""
    return tuple(_losses(dialect))


def _is_bare(form: Unmarked) -> bool:
    return form.place == "answer" and form.standing == "canonical"


def _losses(dialect: Dialect) -> Iterator[str]:
    body, envelope, think = dialect.bodies[0], dialect.envelope, dialect.reasoning
    if len(dialect.bodies) > 1:
        yield "further bodies: " + ", ".join(item.codec for item in dialect.bodies[1:])
    carried = {"opener"} if body.open or body.name else set()
    forms = [form.shape for form in dialect.unmarked if not (form.shape in carried or _is_bare(form))]
    if forms:
        yield "calls without markers: " + ", ".join(dict.fromkeys(forms))
    if body.codec in {"json_object", "json_array"}:
        keys = [*body.name_keys[1:], *body.arguments_keys[1:]]
        if keys:
            yield "other keys: " + ", ".join(keys)
    if body.id_keys or body.id_mark:
        yield "the format's own ids"
    if body.loose_delims:
        yield "loose delimiters of strings"
    if any(tag is not None and tag.types for tag in (body.name, body.param)):
        yield "types stated in tags"
    if any(tag is not None and tag.escapes != "none" for tag in (body.name, body.param)):
        yield "escapes in tags"
    if body.quote or body.whole or body.inside == "json":
        yield "quoted values, or one object in the place of parameters"
    if think.label:
        yield f"reasoning without its label ({think.label})"
    if body.empty == "object":
        yield "no text at all for no arguments"
    if not envelope.close and not body.open and not body.name:
        yield "text behind a call, which has no close"
    if envelope.ends:
        yield "what ends the turn after a call: " + ", ".join(envelope.ends)
    if not envelope.turn_open:
        yield "prefilled reasoning: what opens the turn is not known"
    if think.open and think.call_inside == "execute":
        yield "calls inside reasoning"
