"""template_bodies: the field ``tool_calls`` of a response template, as the envelope and body of a dialect.

Promises: a body whose codec reads what the field's markers, content parser and transform describe. What fits
no codec raises ``ResponseTemplateError``.

Does not: read other fields, or guess at names: the transform says what a call's name and arguments are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from .pattern import Way
from .template_parts import (
    Calls,
    Data,
    Field,
    closed_by,
    cut_behind,
    fail,
    has_header,
    sections,
    split_name,
    table,
    texts_of,
    unique,
)
from .template_tags import read_inline

_PLACEHOLDER: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_WORD_BEHIND: Final = re.compile(r"(.*[>\])}])([^>\])}<\[]+)\Z", re.S)


@dataclass(frozen=True)
class Reshaped:
    """Where the transform finds a call's name and arguments: keys of the content, or a group of markers."""

    name: tuple[str, ...]
    arguments: tuple[str, ...]
    captured: bool
    ids: tuple[str, ...] = ()


def read_calls(opens: list[Way], closes: list[Way], spec: Field, closed: bool = False) -> Calls:
    """The calls of a field with these openers and closes. Raises ``ResponseTemplateError``.

    ``closed``: a section's close stands elsewhere, so that a call's own close is the last of several.
    """
    if not opens:
        raise fail("it has no opener, so that all text would be calls")
    content = spec.get("content", "text")
    reshaped = _reshaped(spec.get("transform"), bool(spec.get("transform_each")))
    opens = [cut_behind(way) for way in opens]
    calls = Calls(headed=[way for way in opens if has_header(way)])
    calls.ends = [text for way in closes if (text := "".join(texts_of(way)).strip())]
    arguments = table(spec, "content_args")
    if content == "json" and reshaped.captured:
        _named_json(calls, opens, closes, arguments, closed)
    elif content == "json":
        _json(calls, opens, closes, reshaped, bool(spec.get("transform_each")))
    elif content == "xml-inline" and reshaped.captured:
        read_inline(calls, opens, closes, arguments, closed)
    elif content == "python-call-list" and not reshaped.captured:
        _enveloped(calls, opens, closes, "list")
        calls.body = {"codec": "pythonic"}
    else:
        raise fail(f"no codec reads the content {content!r} with this transform")
    leads = {text[: -len(text.lstrip())] for way in opens for text in texts_of(way)[:1] if text.strip()}
    if gap := max(leads, key=len, default=""):
        calls.envelope["separator"] = gap
    return calls


# -- the transform -------------------------------------------------------------------------------------


def _reshaped(transform: Any, each: bool) -> Reshaped:
    if isinstance(transform, list) and len(transform) == 1:
        transform = transform[0]
    call = transform.get("function", transform) if isinstance(transform, Mapping) else None
    if isinstance(call, str) and (path := _path(call)) and path[0] == "content":
        return Reshaped((*path[1:], "name"), (*path[1:], "arguments"), False)
    if not isinstance(call, Mapping) or not {"name", "arguments"} <= set(call):
        raise fail("its transform makes no call with a name and arguments")
    if unknown := sorted(set(call) - {"name", "arguments", "id"}):
        raise fail(f"its transform writes {unknown[0]!r}, which is no part of a call")
    paths = {key: _path(call[key]) for key in ("name", "arguments")}
    name, arguments = paths["name"], paths["arguments"]
    if not name or not arguments:
        raise fail("its transform takes the name or the arguments from no part of the text")
    outside = transform.get("id") if isinstance(transform, Mapping) else None
    ids = _path(outside or call.get("id"))[0 if each else 1 :]
    if each:
        return Reshaped(name, arguments, False, ids)
    if name[0] == "content" and arguments[0] == "content":
        return Reshaped(name[1:], arguments[1:], False, ids)
    if len(name) == 1 and arguments == ("content",):
        return Reshaped(name, (), True)
    raise fail("its transform takes the name and the arguments from places that no codec has")


def _path(value: Any) -> tuple[str, ...]:
    found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    return tuple(found[1].split(".")) if found else ()


# -- JSON with the name in it --------------------------------------------------------------------------


def _enveloped(calls: Calls, opens: list[Way], closes: list[Way], shape: str) -> None:
    """Markers around one body; an opener that is the answer's start makes a call of the bare body."""
    marks: list[str] = []
    for way in opens:
        if any(piece.kind == "group" for piece in way):
            raise fail("its opener has a group that the transform does not use as the name")
        tail = way[1:] if has_header(way) else way
        runs = [number for number, piece in enumerate(tail) if piece.kind == "any"]
        texts = texts_of(tail[runs[-1] + 1 :] if runs else tail)
        if not texts and any(piece.kind == "start" for piece in way):
            calls.unmarked = [{"shape": shape, "place": "answer", "gate": "open"}]
        marks += [between.join(texts) for between in ("", " ", "\n")] if len(texts) > 1 else texts
    calls.envelope = {"open": unique([mark.strip() for mark in marks]), "close": unique(calls.ends)}
    if not calls.envelope["open"] and not calls.unmarked:
        raise fail("its opener has no marker")


def _json(calls: Calls, opens: list[Way], closes: list[Way], reshaped: Reshaped, each: bool) -> None:
    if not reshaped.name or not reshaped.arguments:
        raise fail("its transform takes the name or the arguments from no key of the content")
    *wrap, name = reshaped.name
    *other, arguments = reshaped.arguments
    if wrap != other or len(wrap) > 1:
        raise fail("the name and the arguments are not in one object")
    _enveloped(calls, opens, closes, "array" if each else "object")
    calls.body = {
        "codec": "json_array" if each else "json_object",
        "name_keys": [name],
        "arguments_keys": [arguments],
        "wrap_keys": wrap,
        "id_keys": list(reshaped.ids[-1:]),
    }


# -- a name in the markers, then JSON ------------------------------------------------------------------


def _named_json(calls: Calls, opens: list[Way], closes: list[Way], arguments: Field, closed: bool) -> None:
    if _spelled_object(calls, opens, closes):
        return
    fronts, backs = zip(*map(split_name, opens), strict=True)
    _recipient(calls, fronts[0], backs[0])
    before = unique([texts_of(front)[-1] for front in fronts]) if _ids_first(min(fronts, key=len)) else []
    kept = [texts_of(front)[: -1 if before else None] for front in fronts]
    outer, inner, words = sections(kept)
    split = {mark: _WORD_BEHIND.fullmatch(mark) for mark in inner}
    own = unique([found[1] if found else mark for mark, found in split.items()])
    prefixes = unique([*words, *(found[2] for found in split.values() if found)])
    ends = [texts_of(way) for way in closes if texts_of(way)]
    body: Data = {"codec": "name_then_json", "prefixes": prefixes}
    if delims := _delims(arguments):
        body |= {"codec": "braces", "delims": delims, "key_marks": [":"]}
        if ['"', '"'] not in delims:
            body["loose_delims"] = [['"', '"']]
    else:
        marks = unique([text for back in backs for text in _marked_runs(back)])
        separators = [text for back in backs for text in texts_of(back)[-1:] if text not in marks]
        body |= {
            "separators": [text for text in dict.fromkeys(separators) if text],
            "id_mark": before or marks,
        }
        body["id_at"] = "before_name" if before else _id_place(marks)
    closed_by(calls, body, outer, own, ends, closed)


def _ids_first(front: Way) -> bool:
    """Whether an id and its marker stand between the opener and the name."""
    kinds = [piece.kind for piece in front if piece.kind in {"text", "any"}]
    return kinds[-3:] == ["text", "any", "text"]


def _marked_runs(back: Way) -> list[str]:
    """The texts behind the name that introduce an id: a run of anything follows them."""
    return [piece.text for piece, after in pairwise(back) if piece.kind == "text" and after.kind == "any"]


def _id_place(marks: list[str]) -> str:
    return "around_name" if marks and all(len(mark) == 1 for mark in marks) else ""


def _delims(arguments: Field) -> list[list[str]]:
    delims = arguments.get("string_delims") or []
    if not isinstance(delims, list):
        raise fail("string_delims is no list of pairs")
    return delims or ([['"', '"']] if arguments.get("unquoted_keys") else [])


def _recipient(calls: Calls, front: Way, back: Way) -> None:
    """What a stream of messages needs: the addressee's field, the channel and what may follow it."""
    text = "".join(piece.text if piece.kind == "text" else " " for piece in front)
    head, equals, prefix = text.rpartition("=")
    key = head.split()[-1] if equals and head.split() else ""
    if not key.isalpha() or (head + "x").isspace():
        return
    calls.recipient = (f" {key}=", prefix)
    calls.header = text + " ".join(texts_of(back))


def _spelled_object(calls: Calls, opens: list[Way], closes: list[Way]) -> bool:
    """Whether the markers spell out the object around a call: its keys, and its last brace."""
    found: set[tuple[str, str]] = set()
    marks: list[str] = []
    for way in opens:
        front, back = split_name(way)
        text = "".join(texts_of(front))
        brace = text.find("{")
        if brace < 0:
            return False
        whole = text[brace:] + "N" + "".join(texts_of(back)) + "0}"
        try:
            value = json.loads(whole)
        except ValueError:
            return False
        keys = (
            [key for key, item in value.items() if item == "N"],
            [key for key, item in value.items() if item == 0],
        )
        if [len(part) for part in keys] != [1, 1]:
            return False
        found.add((keys[0][0], keys[1][0]))
        marks.append(text[:brace].strip())
    calls.envelope = {"open": unique(marks), "close": []}
    if not all(marks):
        calls.unmarked = [{"shape": "object", "place": "answer", "gate": "open"}]
    stops = [text.lstrip().removeprefix("}").strip() for text in map("".join, map(texts_of, closes))]
    calls.envelope["stops"] = unique(stops)
    calls.body = {
        "codec": "json_object",
        "name_keys": unique([pair[0] for pair in sorted(found, reverse=True)]),
        "arguments_keys": unique([pair[1] for pair in sorted(found, reverse=True)]),
    }
    return True
