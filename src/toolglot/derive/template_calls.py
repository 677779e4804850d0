"""template_calls: the field ``tool_calls`` of a response template, from a dialect.

Promises: a field as transformers reads it, with plain regular expressions: no recursion, no look-behind of
varying width, so that other readers of the format can follow. No pattern ends in something that may be
missing: a stream would take it for complete before the rest has come. What no content parser can read raises
``ResponseTemplateError`` with the feature that stands in the way.

Does not: carry repairs, other spellings of a key, or a second body: ``template_export.losses`` names those.

Source: transformers 5.24.0, ``utils/chat_parsing``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..dialect import Body, Dialect, Tag
from ..errors import ResponseTemplateError

BLANKS: Final = r"\s*"
_SPECIAL: Final = frozenset("\\.^$*+?{}[]|()")
_SPELLED: Final = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}

Field = dict[str, Any]

_NAMED: Final = {"name": "{name}", "arguments": "{content}"}
"""Where the name stands in the markers, and all that is between them are the arguments."""


def quote(text: str) -> str:
    """A pattern for ``text`` itself.

    >>> quote("<|a|>\\n")
    '<\\\\|a\\\\|>\\\\n'
    """
    return "".join(_SPELLED.get(char) or ("\\" + char if char in _SPECIAL else char) for char in text)


def either(texts: Iterable[str]) -> str:
    """A pattern for any of the texts, the longest first; one alone needs no group."""
    return one_of([quote(text) for text in sorted(dict.fromkeys(texts), key=len, reverse=True)])


def one_of(patterns: list[str]) -> str:
    """A pattern for any of the patterns, in their order."""
    return patterns[0] if len(patterns) == 1 else "(?:" + "|".join(patterns) + ")"


def maybe(pattern: str) -> str:
    """The pattern, or nothing."""
    return f"(?:{pattern})?" if pattern else ""


def refuse(dialect: Dialect, feature: str) -> ResponseTemplateError:
    return ResponseTemplateError(f"{dialect.slug} cannot be written as a response template: {feature}")


def before(dialect: Dialect) -> str:
    """What in front of a call's markers belongs to them."""
    envelope = dialect.envelope
    return BLANKS if envelope.layout == "blank" else maybe(quote(envelope.separator))


def call_field(dialect: Dialect) -> Field:
    """The field that reads the dialect's calls in its first body. Raises ``ResponseTemplateError``."""
    body = dialect.bodies[0]
    if not (dialect.envelope.open or opens_itself(dialect) or _is_answer(dialect)):
        raise refuse(dialect, "calls without a marker: any answer that looks like one would have to be read")
    writer = _CODECS.get(body.codec)
    if writer is None:
        raise refuse(dialect, f"no content parser reads its body ({body.codec})")
    return writer(dialect, body)


def opens_itself(dialect: Dialect) -> bool:
    """Whether the body's own opener may stand without the envelope, or is all there is."""
    body = dialect.bodies[0]
    return bool(body.open or body.name) and any(form.shape == "opener" for form in dialect.unmarked)


def _is_answer(dialect: Dialect) -> bool:
    """Whether a call without markers is the whole answer, and the dialect's own form."""
    return any(form.place == "answer" and form.standing == "canonical" for form in dialect.unmarked)


# -- JSON --------------------------------------------------------------------------------------------


def _json_object(dialect: Dialect, body: Body) -> Field:
    if dialect.render.calls == "together":
        raise refuse(dialect, "several objects in one section, with nothing but white space between them")
    if _is_answer(dialect):
        return _bare_object(dialect, body)
    path = ".".join(["content", *body.wrap_keys[:1]])
    plain = body.name_keys[0] == "name" and body.arguments_keys[0] == "arguments"
    function: Any = f"{{{path}}}"
    if not plain:
        function = {
            "name": f"{{{path}.{body.name_keys[0]}}}",
            "arguments": f"{{{path}.{body.arguments_keys[0]}}}",
        }
    field = {"repeats": True, "content": "json", "transform": _call(function)}
    return _enveloped(dialect, "}", "") | field


def _bare_object(dialect: Dialect, body: Body) -> Field:
    """Objects that are the whole answer: their keys are spelled out, so that others stay content."""
    if body.wrap_keys or body.list_keys:
        raise refuse(dialect, "answers in several wrappers, none of which has a marker")
    envelope = dialect.envelope
    marked = rf"|{before(dialect)}{either(envelope.open)}" if envelope.open else ""
    name = rf"\s*\"{either(body.name_keys)}\"\s*:\s*\"(?P<name>[^\"]+)\"\s*,"
    arguments = rf"\s*\"{either(body.arguments_keys)}\"\s*:\s*(?=\{{)"
    ends = r"\Z" if not envelope.stops else rf"\Z|{either(envelope.stops)}"
    return {
        "open_pattern": rf"(?:{_answer_starts(dialect)}|(?<=\}})\s*;?{marked}){BLANKS}\{{{name}{arguments}",
        "close_pattern": rf"(?<=\}})\s*\}}(?:\s*(?={ends})|(?=\s*;?\s*\{{\s*\"{either(body.name_keys)}\"))",
        "repeats": True,
        "content": "json",
        "transform": _call(dict(_NAMED)),
    }


def _answer_starts(dialect: Dialect) -> str:
    """Where an answer starts: at once, or behind the reasoning."""
    return "|".join([r"\A", *(f"(?<={quote(close)})" for close in dialect.reasoning.close)])


def _json_array(dialect: Dialect, body: Body) -> Field:
    path = "".join(f"{key}." for key in body.wrap_keys[:1])
    function = {"name": f"{{{path}{body.name_keys[0]}}}", "arguments": f"{{{path}{body.arguments_keys[0]}}}"}
    start = rf"\[\s*\{{\s*\"{quote(body.name_keys[0])}\"\s*:"
    field = {"content": "json", "transform_each": True, "transform": _call(function)}
    return _enveloped(dialect, "]", start) | field


def _pythonic(dialect: Dialect, body: Body) -> Field:
    function = {"name": "{name}", "arguments": "{arguments}"}
    listed = {"content": "python-call-list", "transform_each": True, "transform": _call(function)}
    return _enveloped(dialect, "]", r"\[\s*[A-Za-z_][\w.]*\(") | listed


def _call(function: Any) -> Field:
    return {"type": "function", "function": function}


def _enveloped(dialect: Dialect, last: str, start: str) -> Field:
    """Markers around one body, whose ``last`` character a close has to follow, or else it is in a string.

    ``start``: how a body begins that is the whole answer and has no markers.
    """
    envelope = dialect.envelope
    opener = (
        before(dialect) + _at_line(dialect, envelope.open) + (either(envelope.open) if envelope.open else "")
    )
    if _is_answer(dialect):
        if dialect.bodies[0].wrap_keys:
            raise refuse(dialect, "answers in several wrappers, none of which has a marker")
        bare = rf"(?:{_answer_starts(dialect)}){BLANKS}(?={start})"
        opener = f"{opener}|{bare}" if envelope.open else bare
    return {"open_pattern": opener} | _closed(dialect, last, "")


def _closed(dialect: Dialect, last: str, ending: str) -> Field:
    """The close of a body whose last character is ``last``: the marker, a stop token, or the next call."""
    envelope = dialect.envelope
    marks = (*envelope.close, *envelope.late_close)
    ends = [ending + BLANKS + either(marks)] if marks else []
    ends += [f"{BLANKS}(?={either(envelope.stops)})"] if envelope.stops else []
    if not envelope.close and envelope.open:
        ends.append(f"(?={before(dialect)}{either(envelope.open)})")
    return {"close_pattern": _behind(last) + one_of(ends)} if ends else {}


def _behind(chars: str) -> str:
    """Only where one of these characters stands in front."""
    return f"(?<=[{_in_class(chars)}])" if chars else ""


def _at_line(dialect: Dialect, markers: tuple[str, ...]) -> str:
    return r"(?<![^\n])" if set(markers) & set(dialect.envelope.lines) else ""


# -- a name, then the arguments ----------------------------------------------------------------------


def _name_then_json(dialect: Dialect, body: Body) -> Field:
    marks = () if body.id_at == "around_name" else body.id_mark
    stops = [*body.separators, *marks, "{"]
    head = maybe(either(body.prefixes)) if body.prefixes else ""
    name = BLANKS + head + _name("".join(stop[0] for stop in stops))
    separator = either(body.separators) if body.separators else ""
    separator += "+" if len(body.separators) > 1 and not separator.endswith("n)") else ""
    if body.id_at == "before_name":
        name = rf"\s*[^\s<]+?{either(body.id_mark)}" + name
    elif body.id_at == "around_name":
        name += maybe(either(body.id_mark) + r"\d+")
    elif body.id_mark:
        name += maybe(either(body.id_mark) + r"[^\s\[<{]+?")
    blank = "" if any(text[0].isspace() for text in body.separators) else BLANKS
    opener = name + blank + separator
    empty = rf"(?:{BLANKS}(?=\{{))" if not separator else ""
    ending = maybe(BLANKS + either(body.endings)) if body.endings else ""
    field = _around(dialect, opener + empty, ending, "}")
    return field | {"repeats": True, "content": "json", "transform": _call(dict(_NAMED))}


def _braces(dialect: Dialect, body: Body) -> Field:
    if body.key_marks[:1] != (":",):
        raise refuse(
            dialect, f"keys are ended by {body.key_marks[0]!r}, and the json parser knows the colon only"
        )
    head = maybe(either(body.prefixes)) if body.prefixes else ""
    opener = BLANKS + head + _name("{(") + BLANKS + r"(?=\{)"
    loose: Field = {"unquoted_keys": True}
    if delims := [list(pair) for pair in body.delims if pair != ('"', '"')]:
        loose["string_delims"] = delims
    field = _around(dialect, opener, "", "}")
    return field | {
        "repeats": True,
        "content": "json",
        "content_args": loose,
        "transform": _call(dict(_NAMED)),
    }


def _name(stops: str) -> str:
    """A tool's name: it ends where one of these characters could begin what follows."""
    return f"(?P<name>[^\\s{_in_class(stops)}]+?)"


def _in_class(chars: str) -> str:
    return "".join(
        dict.fromkeys("\\" + char if char in "\\]^-[" else char for char in chars if not char.isspace())
    )


def _around(dialect: Dialect, opener: str, ending: str, last: str) -> Field:
    """The field's markers where a call's name stands behind them, and ``ending`` behind its arguments.

    In a section, whose own markers may be missing, they are those around a single call.
    """
    envelope, body = dialect.envelope, dialect.bodies[0]
    front, own = before(dialect), body.open
    if not own:
        start = front + _at_line(dialect, envelope.open) + either(envelope.open) + _not_content(dialect)
        return {"open_pattern": start + opener} | _closed(dialect, last, ending)
    noise = f"[^{quote(own[0][0])}]*" if envelope.gap == "text" else BLANKS
    section = [front + either(envelope.open) + noise] if envelope.open else []
    start = one_of([*section, BLANKS]) + either(own)
    end = _behind(last) + ending + BLANKS + either(body.close)
    return {"open_pattern": start + opener, "close_pattern": end}


def _not_content(dialect: Dialect) -> str:
    """What behind the opener makes it no call but the opener of an answer."""
    opens = dialect.envelope.open
    tails = [
        text[len(marker) :]
        for text in dialect.envelope.wrap_open
        for marker in opens
        if text.startswith(marker)
    ]
    return f"(?!{either(tails)})" if tails else ""


# -- one tag per argument ----------------------------------------------------------------------------


def _tagged(dialect: Dialect, body: Body) -> Field:
    name, param = body.name, body.param
    if name is None or param is None:
        raise refuse(dialect, "its tags have no name or no parameter")
    envelope = dialect.envelope
    tag = _tag(name, "name")
    alone = opens_itself(dialect)
    section = bool(body.open) or dialect.render.calls == "together" or not envelope.open
    kind = maybe(either(body.prefixes) + BLANKS) if body.prefixes else ""
    start = _outer(dialect, alone, section) + kind + tag
    end = _behind(param.end[-1] + name.close[-1]) + BLANKS + quote(name.end)
    field = {"open_pattern": start, "close_pattern": end}
    value = _value(body, quote(param.end), [quote(param.open)])
    return field | _inline(_tag(param, "key") + value)


def _outer(dialect: Dialect, alone: bool, section: bool) -> str:
    """The markers in front of a call's own tag, which counts without them only where a line starts."""
    envelope, body, front = dialect.envelope, dialect.bodies[0], before(dialect)
    parts = [either(opens) + BLANKS for opens in (envelope.open, body.open) if opens]
    if not parts:
        return front
    together = front + parts[0] + "".join(maybe(part) for part in parts[1:])
    if section:
        return one_of([together, BLANKS + "".join(maybe(part) for part in parts[1:])])
    return one_of([together, front + r"(?<![^\n])"]) if alone else together


def left_open(dialect: Dialect) -> list[str]:
    """Markers that close what holds calls, and that no call's own field reads."""
    envelope, body = dialect.envelope, dialect.bodies[0]
    if body.codec == "tagged":
        return [*envelope.close, *body.close]
    return list(envelope.close) if body.open else []


def _tag(tag: Tag, group: str) -> str:
    """A tag's opener, whose name is the group."""
    border = _in_class(tag.close[0])
    if not tag.key:
        return f"{quote(tag.open)}(?P<{group}>[^\\n{border}]+?){quote(tag.close)}"
    front, rest = rf"\s+(?:[^{border}]*?\s)?", rf"(?:\s[^{border}]*)?"
    named = rf"{quote(tag.key)}\s*=\s*\"(?P<{group}>[^\"]*)\""
    return quote(tag.open) + front + named + rest + quote(tag.close)


def _value(body: Body, close: str, siblings: list[str]) -> str:
    """A raw value up to a close behind which only a sibling or the end may stand."""
    trim = {"newline": r"\n?", "blank": BLANKS}.get(body.trim, "")
    last = rf"(?={BLANKS}(?:{'|'.join([*siblings, '$'])}))"
    opened, closed = (maybe(quote(mark)) for mark in body.quote) if body.quote else ("", "")
    return rf"{trim}{opened}(?P<value>.*?){closed}{trim}{close}{last}"


def _inline(tag_pattern: str) -> Field:
    """Values stay text, and the request's tools give them their types: what was typed cannot be undone."""
    return {
        "repeats": True,
        "content": "xml-inline",
        "content_args": {
            "tag_pattern": tag_pattern,
            "value_parser": {"name": "text", "args": {"strip": False}},
        },
        "transform": _call(dict(_NAMED)),
    }


def _kv_pairs(dialect: Dialect, body: Body) -> Field:
    if body.name is not None:
        raise refuse(dialect, "its keys stand in tags of their own inside a tag with the name")
    follow = [*body.key_open, *dialect.envelope.close, *body.close, *body.separators]
    end = BLANKS + either(body.separators) if body.separators else rf"(?=\s|{either(follow)})"
    opener = BLANKS + _name("".join(text[0] for text in follow)) + end
    gap = rf"(?:\s|{either(body.gaps)})*" if [text for text in body.gaps if text.strip()] else BLANKS
    key = either(body.key_open) + rf"{BLANKS}(?P<key>.*?){BLANKS}" + either(body.key_close) + gap
    if body.type_open:
        key += maybe(either(body.type_open) + ".*?" + either(body.type_close) + gap)
    key += either(body.value_open)
    field = _around(dialect, opener, "", "")
    value = _value(body, either(body.value_close), [either(body.key_open)])
    return field | _inline(key + value)


_CODECS: Final = {
    "json_object": _json_object,
    "json_array": _json_array,
    "pythonic": _pythonic,
    "name_then_json": _name_then_json,
    "braces": _braces,
    "tagged": _tagged,
    "kv_pairs": _kv_pairs,
}
