"""template_import: a dialect from one of transformers' response templates.

Promises: what the template calls text, reasoning and calls is what the dialect reads as such. A field that
is no part of a message, or one whose markers are not literal, raises ``ResponseTemplateError``, which names
the field and the key.

Does not: run a pattern, or keep what transformers does beyond the format: a field that has to be there, text
outside all fields that is dropped. Such text is content here, since nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..dialect import Dialect
from ..errors import DialectError, ResponseTemplateError
from .pattern import Way, literal, ways
from .template_bodies import read_calls
from .template_parts import Calls, table

REASONING: Final = ("reasoning_content", "thinking", "reasoning")
_TEMPLATE_KEYS: Final = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_FIELD_KEYS: Final = {
    *("open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join"),
    *("optional", "transform", "transform_each"),
}

Data = dict[str, Any]


def read_template(template: Mapping[str, Any], slug: str) -> Dialect:
    """See ``response_template.from_response_template``."""
    fields = _fields(template)
    reasoning = next((fields[name] for name in REASONING if name in fields), None)
    content, calls = fields.get("content"), fields.get("tool_calls")
    anchors = _anchors(template)
    late = any(way[0].kind == "blank" for way in _ways(content, "content", "close") if _text(way))
    read = None
    if calls:
        opens, closes = _ways(calls, "tool_calls", "open"), _ways(calls, "tool_calls", "close")
        read = read_calls(opens, closes, calls, late)
    data = stream(anchors, reasoning, content, read)
    if data is None:
        data = delimited(anchors, reasoning, content, read)
    return build(data, slug)


def build(data: Data, slug: str) -> Dialect:
    """The dialect of these tables, checked as one from a file is."""
    try:
        return Dialect.from_dict({"slug": slug, "ids": {"prefix": "call_"}, **data}, slug)
    except DialectError as error:
        raise ResponseTemplateError(f"the response template gives no sound dialect: {error}") from error


# -- the template's shape ------------------------------------------------------------------------------


def _fields(template: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    if not isinstance(template, Mapping):
        raise ResponseTemplateError(f"a response template is an object, not {type(template).__name__}")
    if template.get("version", 1) != 1:
        raise ResponseTemplateError(f"response templates of version {template['version']!r} are not known")
    if unknown := sorted(set(template) - _TEMPLATE_KEYS):
        raise ResponseTemplateError(f"a response template has no key {unknown[0]!r}")
    fields = template.get("fields")
    if not isinstance(fields, Mapping) or not fields:
        raise ResponseTemplateError("a response template needs fields, and there are none")
    known = {"content", "tool_calls", *REASONING}
    for name, field in fields.items():
        if name not in known:
            raise ResponseTemplateError(
                f"field {name!r}: a message has no such part; there are: {sorted(known)}"
            )
        _check_field(name, field)
    if sum(name in fields for name in REASONING) > 1:
        raise ResponseTemplateError("two fields for reasoning: a message has one")
    return dict(fields)


def _check_field(name: str, field: Any) -> None:
    if not isinstance(field, Mapping):
        raise ResponseTemplateError(f"field {name!r}: expected an object")
    if unknown := sorted(set(field) - _FIELD_KEYS):
        raise ResponseTemplateError(f"field {name!r}: no key {unknown[0]!r} is known")
    if field.get("optional", True) is not True:
        raise ResponseTemplateError(
            f"field {name!r}: optional is false, and no part of a message is required here"
        )
    if name == "tool_calls":
        return
    if field.get("content", "text") != "text":
        raise ResponseTemplateError(
            f"field {name!r}: its content is {field['content']!r}, and only text is read"
        )
    if field.get("transform") is not None:
        raise ResponseTemplateError(f"field {name!r}: a transform of text is not read")
    if field.get("join"):
        raise ResponseTemplateError(
            f"field {name!r}: pieces are joined with {field['join']!r}, here with nothing"
        )


def _anchors(template: Mapping[str, Any]) -> list[str]:
    found = _ways({**template}, "the template", "start_anchor", "start_anchor_pattern")
    return list(dict.fromkeys(text for way in found if (text := _text(way))))


def _ways(field: Mapping[str, Any] | None, name: str, key: str, pattern_key: str = "") -> list[Way]:
    """All ways to read one of a field's anchors; none where it has none."""
    pattern_key = pattern_key or f"{key}_pattern"
    if field is None:
        return []
    if key in field and pattern_key in field:
        raise ResponseTemplateError(f"{name}: both {key} and {pattern_key}")
    if pattern_key in field:
        if not isinstance(field[pattern_key], str):
            raise ResponseTemplateError(f"{name}: {pattern_key} is no text")
        return ways(field[pattern_key])
    texts = field.get(key, [])
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) and text for text in texts):
        raise ResponseTemplateError(f"{name}: {key} is neither a text nor a list of texts")
    return [literal(text) for text in texts]


def _text(way: Way) -> str:
    """The marker that a way spells: its texts, where nothing but white space stands between them."""
    return "".join(piece.text for piece in way if piece.kind == "text")


def _marks(found: list[Way], place: str, strip: bool = True) -> list[str]:
    """The literal markers of an anchor. Blanks at their border are layout where the text is stripped."""
    marks: list[str] = []
    for way in found:
        if any(piece.kind in {"group", "any"} for piece in way):
            raise ResponseTemplateError(f"{place}: a marker that is not literal")
        text = _text(way)
        if mark := text.strip() if strip else text:
            marks.append(mark)
    return list(dict.fromkeys(marks))


# -- calls between markers -----------------------------------------------------------------------------


def delimited(
    anchors: list[str],
    reasoning: Mapping[str, Any] | None,
    content: Mapping[str, Any] | None,
    calls: Calls | None,
) -> Data:
    """The tables of a dialect whose parts stand between markers: what is between them is content."""
    envelope: Data = {"kind": "delimited" if calls else "none"}
    data: Data = {"envelope": envelope}
    think = _think(reasoning, anchors, calls) if reasoning else {}
    strip = _strips(content)
    opens, closers = _ways(content, "content", "open"), _ways(content, "content", "close")
    ends = [way for way in closers if way and not _headed(way)]
    stops = _marks([way for way in ends if way[0].kind != "start"], "content", strip)
    late = [_text(way) for way in ends if way[0].kind == "blank" and _text(way)]
    heads = [way for way in (*opens, *closers, *(calls.headed if calls else ())) if _headed(way)]
    if calls:
        envelope |= calls.envelope
        if late and not envelope.get("close"):
            envelope["close"] = late
            stops = [mark for mark in stops if mark not in late]
        stops = [mark for mark in stops if not _is_empty_section(mark, envelope)]
        if not envelope["open"]:
            stops += envelope.pop("close", [])
        stops += [mark for mark in envelope.get("stops", []) if mark not in stops]
        data |= {"body": [calls.body], "unmarked": calls.unmarked}
    if think:
        envelope["prefill"] = think.pop("prefill", "")
        data["reasoning"] = think
    if opens:
        wraps, unwraps, stops = _last_texts(opens, "content", strip), stops, []
    else:
        unwraps = [mark for mark in stops if mark.startswith("</") and mark.replace("/", "", 1) in stops]
        wraps = [mark.replace("/", "", 1) for mark in unwraps]
        if shared := [mark for mark in stops if mark in think.get("close", ())]:
            wraps, unwraps = [mark for mark in stops if mark not in shared], shared
        stops = [mark for mark in stops if mark not in (*wraps, *unwraps)]
    leads = _marks([way for way in ends if way[0].kind == "start"], "content", strip)
    envelope |= {
        "wrap_open": wraps,
        "wrap_close": unwraps,
        "wrap_trim": "newline" if strip else "none",
        "lead": [mark for mark in leads if mark not in think.get("close", ())],
        "headers": list(dict.fromkeys(way[0].text for way in heads if way[0].kind == "text")),
        "stops": stops,
        "layout": "blank" if strip else "none",
        "turn_open": _turn_opens(anchors, think),
    }
    return data


def _is_empty_section(mark: str, envelope: Data) -> bool:
    closes = tuple(envelope.get("close", ()))
    return bool(closes) and mark.startswith(tuple(envelope["open"])) and mark.endswith(closes)


def _strips(field: Mapping[str, Any] | None) -> bool:
    return bool(table(field or {}, "content_args").get("strip", True))


def _headed(way: Way) -> bool:
    """Whether a header stands in front: a marker, then anything up to the next."""
    return bool(way) and "any" in {piece.kind for piece in way[:2]}


def _last_texts(found: list[Way], place: str, strip: bool) -> list[str]:
    """The markers of an opener, without a header in front of them."""
    tails: list[Way] = []
    for way in found:
        runs = [number for number, piece in enumerate(way) if piece.kind == "any"]
        tails.append(way[runs[-1] + 1 :] if runs else way)
    return _marks(tails, place, strip)


def _think(field: Mapping[str, Any], anchors: list[str], calls: Calls | None) -> Data:
    """The reasoning tags; ``prefill`` where the text starts inside them."""
    found, strip = _ways(field, "reasoning", "open"), _strips(field)
    opens = _last_texts(found, "reasoning", strip)
    closing = _ways(field, "reasoning", "close")
    closes = _marks(closing, "reasoning", strip)
    if not closes:
        raise ResponseTemplateError("reasoning: it has no close")
    think: Data = {"trim": "newline" if strip else "none", "after": "blank" if strip else "none"}
    if not opens:
        opens = [_prefilled(closes[0], anchors)]
    elif any(way and way[0].kind == "start" and not _text(way) for way in found):
        think["prefill"] = (anchors[0] if anchors else "") + opens[0]
    early = {
        piece.text.strip() for way in closing for piece in way if piece.kind == "ahead" and piece.text.strip()
    }
    if calls and early & set(calls.envelope.get("open", [])):
        think["call_inside"] = "ends"
    else:
        think |= {"call_inside": "draft", "ends": sorted(early)}
    pairs = [(mark, closes[0]) for mark in opens] + [(opens[0], mark) for mark in closes[1:]]
    return think | {"open": [pair[0] for pair in pairs], "close": [pair[1] for pair in pairs]}


def _prefilled(close: str, anchors: list[str]) -> str:
    """The opener that only the prompt has: the close without its slash, as it ends an anchor."""
    mark = close.replace("/", "", 1)
    if mark == close or not any(mark in anchor for anchor in anchors):
        raise ResponseTemplateError(
            "reasoning: its opener is no text, and no anchor holds one that fits its close"
        )
    return mark


def _turn_opens(anchors: list[str], think: Data) -> list[str]:
    """The anchors, without a reasoning tag that the prompt may have behind them."""
    marks = (*think.get("open", ()), *think.get("close", ()))
    cut: list[str] = []
    for anchor in anchors:
        places = [anchor.index(mark) for mark in marks if mark in anchor]
        cut.append(anchor[: min(places)] if places else anchor)
    return [anchor for anchor in dict.fromkeys(cut) if anchor.strip()]


# -- streams of messages -------------------------------------------------------------------------------


def stream(
    anchors: list[str],
    reasoning: Mapping[str, Any] | None,
    content: Mapping[str, Any] | None,
    calls: Calls | None,
) -> Data | None:
    """The tables of a stream of messages: reasoning and content differ in one word of a header only."""
    if not (reasoning and content and calls and calls.recipient):
        return None
    thoughts = [_flat(way) for way in _ways(reasoning, "reasoning", "open")]
    answers = [_flat(way) for way in _ways(content, "content", "open")]
    if not thoughts or not answers:
        return None
    thought, answer = min(thoughts, key=len), min(answers, key=len)
    front = _shared(thought, answer)
    back = _shared(thought[::-1], answer[::-1])[::-1]
    word, other = thought[len(front) : len(thought) - len(back)], answer[len(front) : len(answer) - len(back)]
    if not (front and back and word.isalpha() and (other.isalpha() or other == "\0")):
        return None
    if not anchors:
        raise ResponseTemplateError("a stream of messages, and nothing says what opens one")
    start, role = _role(anchors[0])
    ends = [*_marks(_ways(reasoning, "reasoning", "close"), "reasoning")]
    ends += _marks(_ways(content, "content", "close"), "content")
    spoken = re.findall(re.escape(front) + r"([a-z]+)", calls.header)
    channels = {word: "reasoning"} | {name: "content" for name in (other, *spoken) if name.isalpha()}
    recipient, prefix = calls.recipient
    envelope: Data = {
        "kind": "messages",
        "open": [start],
        "close": [*calls.ends, *ends],
        "start": [start],
        "role": role,
        "body": back,
        "end": list(dict.fromkeys(ends)),
        "call_end": [mark for mark in calls.ends if mark not in ends],
        "channel": front,
        "recipient": recipient,
        "call_prefix": prefix,
        "channels": channels,
        "turn_open": anchors,
    }
    return {"envelope": envelope, "body": [{"codec": "header_json"}]}


def _flat(way: Way) -> str:
    """A header with its blanks taken out and NUL for a run of anything."""
    return "".join(
        "\0" if piece.kind == "any" else piece.text for piece in way if piece.kind in {"text", "any"}
    )


def _shared(one: str, other: str) -> str:
    """What both begin with."""
    length = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[:length]


def _role(anchor: str) -> tuple[str, str]:
    """What opens a message, and the role behind it."""
    role = anchor[len(anchor.rstrip("abcdefghijklmnopqrstuvwxyz")) :]
    return anchor[: len(anchor) - len(role)] or anchor, role
