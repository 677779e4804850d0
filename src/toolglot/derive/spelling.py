"""spelling: the bodies that a layout's literals may be, by the syntax that they have.

Promises: each proposal is a body's data with the literals that are left around all calls and around each.
Does not: choose among them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from .layout import ID, INDEX, KEY, NAME, Layout, Pairs
from .probe import IDS, NAMES, ONE
from .values import value_text

Data = dict[str, Any]
Proposal = tuple[Data, tuple[str, str], tuple[str, str]]
"""A body, the literals around the section and those around each call."""

_ARGUMENTS: Final = dict(ONE[0][1])
_NAME: Final = NAMES[0]
_ID: Final = IDS[0]


# -- JSON ------------------------------------------------------------------------------------------


def _filled(text: str) -> str:
    return text.replace(NAME, _NAME).replace(ID, _ID).replace(INDEX, "0")


def json_body(layout: Layout) -> Iterator[Proposal]:
    """Bodies in which a JSON value holds name and arguments."""
    assert isinstance(layout.arguments, str)
    before = layout.section_open + layout.head
    text = (
        _filled(before)
        + value_text(layout.arguments, _ARGUMENTS)
        + _filled(layout.tail + layout.section_close)
    )
    reach = len(_filled(before))
    for at in range(reach):
        if text[at] not in "{[":
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            continue
        inside = text[at:end]
        if end > reach and _NAME in inside:
            yield from _json(layout, value, at, len(text) - end)
            return


def _json(layout: Layout, value: Any, at: int, left: int) -> Iterator[Proposal]:
    """Proposals for a JSON ``value`` that begins at ``at`` and has ``left`` characters behind it."""
    opener, closer = layout.section_open, layout.section_close
    element = value[0] if isinstance(value, list) and value else value
    keys = _keys(element)
    if keys is None:
        return
    if at < len(opener):
        section = (opener[:at], closer[len(closer) - left :] if left else "")
        call = ("", "")
    else:
        head, tail = layout.head, _filled(layout.tail)
        start = at - len(opener)
        behind = left - len(closer)
        section = (opener, closer)
        call = (head[: _unfilled(head, start)], tail[len(tail) - behind :] if behind > 0 else "")
    codec = "json_array" if isinstance(value, list) else "json_object"
    if keys.get("keyed"):
        if codec == "json_array":
            yield {"codec": "json_keyed"}, section, call
        return
    yield {"codec": codec, **keys}, section, call


def _unfilled(slotted: str, at: int) -> int:
    """The index in a slotted text for an index in it when filled."""
    for size in range(len(slotted) + 1):
        if len(_filled(slotted[:size])) >= at:
            return size
    return len(slotted)


def _keys(element: Any) -> Data | None:
    """The keys under which a call's parts stand; None where it is no call."""
    if not isinstance(element, dict):
        return None
    if _NAME in element:
        return {"keyed": True}
    found: Data = {}
    for key, value in element.items():
        if value == _NAME:
            found["name_keys"] = [key]
        elif value == _ARGUMENTS or value == json.dumps(_ARGUMENTS):
            found["arguments_keys"] = [key]
        elif value == _ID:
            found["id_keys"] = [key]
            found["id_at"] = "after_arguments" if "arguments_keys" in found else "before_name"
        elif isinstance(value, (dict, list)):
            inner = _keys(value[0] if isinstance(value, list) and value else value)
            if inner and not inner.get("keyed"):
                wrap = "list_keys" if isinstance(value, list) else "wrap_keys"
                return {**found, **inner, wrap: [key]}
    return found if "name_keys" in found and "arguments_keys" in found else None


# -- a name as text, then JSON ---------------------------------------------------------------------

_EDGE: Final = re.compile(r"(?<=[>\]])|(?=<)|(?<=\n)|(?=\n)")


def splits(text: str) -> list[tuple[str, str]]:
    """A text in two at each edge of a tag or line, and whole on either side."""
    spots = sorted({0, len(text), *(match.start() for match in _EDGE.finditer(text))})
    return [(text[:at], text[at:]) for at in spots]


def text_bodies(layout: Layout) -> Iterator[Proposal]:
    """Bodies with the name as text in front of a JSON object."""
    before, _, middle = layout.head.partition(NAME)
    section = (layout.section_open, layout.section_close)
    if NAME not in layout.head:
        return
    yield from _whole_tags(layout, before, middle, section)
    for body, fore, mid in _ids(before, middle):
        for opener, word in reversed(splits(fore)):
            for ending, closer in splits(layout.tail):
                data = {"codec": "name_then_json", **body}
                data.update({"prefixes": [word]} if word.strip() else {})
                data.update({"separators": [mid]} if mid.strip() or mid else {})
                data.update({"endings": [ending]} if ending.strip() else {})
                yield data, section, (opener, closer)


def _ids(before: str, middle: str) -> Iterator[tuple[Data, str, str]]:
    """How an id may stand with the name: the body's fields, and what is left before and behind the name."""
    if ID in middle:
        mark, _, rest = middle.partition(ID)
        yield {"id_mark": [mark]}, before, rest
    elif ID in before:
        fore, _, mark = before.partition(ID)
        yield {"id_mark": [mark], "id_at": "before_name"}, fore, middle
    elif INDEX in middle:
        mark, _, rest = middle.partition(INDEX)
        word = next((right for _, right in reversed(splits(before)) if right), "")
        yield {"id_mark": [mark], "id_at": "around_name", "prefixes": [word]}, before.removesuffix(word), rest
    else:
        yield {}, before, middle


def _whole_tags(layout: Layout, before: str, middle: str, section: tuple[str, str]) -> Iterator[Proposal]:
    """A tag with the name, and the object inside of it."""
    for name, call in _name_tags(before, middle, layout.tail):
        param = {**name, "end": name["end"]}
        yield {"codec": "tagged", "inside": "json", "name": name, "param": param}, section, call


_ATTRIBUTE: Final = re.compile(r"\s+([\w:.-]+)=[\"']?$")
_OTHERS: Final = re.compile(r"^(\s+[\w:.-]+=\"[^\"]*\")*")
_COUNTED: Final = re.compile(rf"\s+([\w:.-]+)=\"?{INDEX}\"?")


def _name_tags(before: str, middle: str, tail: str) -> Iterator[tuple[Data, tuple[str, str]]]:
    """Tags that hold the name between ``before`` and ``middle`` and end in ``tail``; what is left around."""
    for left, opener in splits(before):
        counted = _COUNTED.search(opener + NAME + middle)
        for end, right in splits(tail):
            if not (opener.strip() and middle.strip() and end.strip()):
                continue
            yield {"open": opener.lstrip(), "close": middle.strip(), "end": end.strip()}, (left, right)
            named = _ATTRIBUTE.search(opener)
            if named:
                close = _OTHERS.sub("", middle.lstrip("\"'")).strip()
                tag: Data = {"open": opener[: named.start()].lstrip(), "key": named[1], "close": close}
                tag["end"] = end.strip()
                if counted:
                    tag["counter"] = counted[1]
                    tag["open"] = _COUNTED.sub("", tag["open"])
                yield tag, (left, right)


# -- arguments one by one --------------------------------------------------------------------------


def pair_bodies(layout: Layout, pairs: Pairs) -> Iterator[Proposal]:
    """Bodies whose arguments stand one by one."""
    section = (layout.section_open, layout.section_close)
    before, _, middle = layout.head.partition(NAME)
    text = pairs.forms["string"]
    if NAME not in layout.head:
        return
    if middle.endswith("(") and layout.tail.startswith(")"):
        yield from _pythonic(layout, before, section)
    if KEY in text.close:
        yield from _trees(layout, pairs, before, middle, section)
    if middle.endswith("{") and layout.tail.startswith("}"):
        yield from _braces(layout, pairs, before, section)
    yield from _tagged(layout, pairs, before, middle, section)
    if KEY in text.open:
        yield from _key_values(layout, pairs, before, middle, section)


def _pythonic(layout: Layout, before: str, section: tuple[str, str]) -> Iterator[Proposal]:
    closer = layout.tail[1:]
    if section[0].rstrip().endswith("[") and section[1].lstrip().startswith("]"):
        outer = (section[0].rstrip()[:-1], section[1].lstrip()[1:])
        yield {"codec": "pythonic"}, outer, (before, closer)
    if before.rstrip().endswith("[") and closer.lstrip().startswith("]"):
        yield {"codec": "pythonic"}, section, (before.rstrip()[:-1], closer.lstrip()[1:])
    for codec in ("call_lines", "bare_call"):
        yield {"codec": codec, "line": layout.separator or "\n"}, section, (before, closer)


def _braces(layout: Layout, pairs: Pairs, before: str, section: tuple[str, str]) -> Iterator[Proposal]:
    text = pairs.forms["string"]
    mark, _, opener = text.open.partition(KEY)[2].partition(text.close)
    if not mark or opener:
        return
    for left, word in reversed(splits(before)):
        body: Data = {"codec": "braces", "delims": [[text.close, text.close]], "key_marks": [mark]}
        yield {**body, **({"prefixes": [word]} if word else {})}, section, (left, layout.tail[1:])


def _trees(
    layout: Layout, pairs: Pairs, before: str, middle: str, section: tuple[str, str]
) -> Iterator[Proposal]:
    """Elements named after their keys, nested for lists and objects."""
    namespace = pairs.forms["string"].open.partition(KEY)[0].removesuffix("<")
    array = pairs.forms.get("array")
    item = array.codec.rpartition("\x00")[2] if array else "item"
    for name, call in _name_tags(before, middle, layout.tail):
        yield {"codec": "xml_tree", "name": name, "namespace": namespace, "item": item}, section, call


def _tagged(
    layout: Layout, pairs: Pairs, before: str, middle: str, section: tuple[str, str]
) -> Iterator[Proposal]:
    text = pairs.forms["string"]
    trim = "newline" if text.open.endswith("\n") and text.close.startswith("\n") else "none"
    quote = _quote(text.codec)
    for param in _param_tags(pairs):
        for name, call in _name_tags(before, middle, layout.tail):
            for line in ("\n", ""):
                body: Data = {"codec": "tagged", "name": name, "param": param, "trim": trim, "line": line}
                yield {**body, **quote}, section, call


def _quote(codec: str) -> Data:
    """Markers around a text with special characters, where the codec has such."""
    kind, _, marks = codec.partition(":")
    if kind != "quoted":
        return {}
    return {"quote": marks.split("\x00"), "quoted": "<&\n>"}


def _param_tags(pairs: Pairs) -> Iterator[Data]:
    """Tags of a parameter, from how a text stands and how other values differ from it."""
    text = pairs.forms["string"]
    opener, _, close = text.open.partition(KEY)
    end = text.close.strip()
    opener = opener.lstrip()
    if not (opener and close.strip() and end):
        return
    named = _ATTRIBUTE.search(opener)
    if named:
        others = {form.open for form in pairs.forms.values()}
        typed = re.match(r"[\"']?\s+([\w:.-]+)=[\"'](\w+)[\"']", close)
        tag: Data = {"open": opener[: named.start()], "key": named[1], "end": end}
        if typed and len(others) > 1:
            stated = "boolean" if typed[2] == "true" else "name"
            tag.update(close=close[typed.end() :].strip(), types=typed[1], stated=stated)
        else:
            tag.update(close=close.lstrip("\"'").strip())
        yield {**tag, "escapes": "xml"}
        yield tag
    yield {"open": opener, "close": close.strip(), "end": end}


def _key_values(
    layout: Layout, pairs: Pairs, before: str, middle: str, section: tuple[str, str]
) -> Iterator[Proposal]:
    text = pairs.forms["string"]
    opener, _, between = text.open.partition(KEY)
    for key_close, value_open in splits(between):
        if not (opener.strip() and key_close.strip() and value_open.strip() and text.close.strip()):
            continue
        body: Data = {
            "codec": "kv_pairs",
            "key_open": [opener.strip()],
            "key_close": [key_close.strip()],
            "value_open": [value_open.strip()],
            "value_close": [text.close.strip()],
        }
        if middle.strip():
            body["separators"] = [middle.strip()]
        yield body, section, (before, layout.tail)
