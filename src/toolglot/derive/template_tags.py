"""template_tags: calls of a response template that write one tag per argument.

Promises: a ``tag_pattern`` with a key and a value between literal markers is read as the codec ``tagged`` or
``kv_pairs``, and calls in Python's syntax as ``pythonic``.

Does not: read JSON, or values of which every one has another type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from .pattern import Way, ways
from .template_parts import Calls, Data, Field, closed_by, fail, sections, split_name, table, texts_of, unique


def read_inline(calls: Calls, opens: list[Way], closes: list[Way], arguments: Field, closed: bool) -> None:
    pattern = arguments.get("tag_pattern")
    if not isinstance(pattern, str):
        raise fail("content_args has no tag_pattern")
    if arguments.get("merge_duplicates"):
        raise fail("merge_duplicates: of a repeated argument the last value counts here")
    parser = table(arguments, "value_parser").get("name", "text")
    if parser not in ("text", "json"):
        raise fail(f"values are read as {parser!r}, whatever their type")
    splits = [split_name(way) for way in opens]
    if all("".join(texts_of(back)).strip() == "(" for _, back in splits):
        _python(calls, splits, closes)
        return
    tags = [tag for way in ways(pattern) if (tag := _tag_parts(way))]
    tags = [tag for tag in tags if not any(re.search(">.+<", text) for text in tag.between)]
    if not tags:
        raise fail("its tag_pattern is no key and value between literal markers")
    least = min(len(tag.between) for tag in tags)
    plain = sorted((tag for tag in tags if len(tag.between) == least), key=lambda tag: len(tag.back))
    body: Data = {"untyped": parser, "trim": plain[0].trim}
    quoted = [tag for tag in tags if len(tag.between) == 2 and _encloses(tag.back, plain[0].back)]
    if least == 1 and quoted:
        body["quote"] = [quoted[0].between[1], quoted[0].back.removesuffix(plain[0].back)]
    if least == 1:
        _tagged(calls, body, splits, closes, plain[0])
        return
    typed = [tag.between for tag in tags if len(tag.between) == 4]
    body |= {
        "codec": "kv_pairs",
        "key_open": unique([tag.front for tag in plain]),
        "key_close": unique([tag.between[0] for tag in plain]),
        "value_open": unique([tag.between[-1] for tag in plain]),
        "value_close": unique([tag.back for tag in plain]),
        "type_open": unique([texts[1] for texts in typed]),
        "type_close": unique([texts[2] for texts in typed]),
        "separators": unique(["".join(texts_of(back)).strip() for _, back in splits]),
    }
    outer, own, _ = sections([texts_of(front) for front, _ in splits])
    closed_by(calls, body, outer, own, [texts_of(way) for way in closes if texts_of(way)], closed)


def _encloses(back: str, close: str) -> bool:
    return back.endswith(close) and back != close


@dataclass(frozen=True)
class _Tag:
    """A parameter: ``front`` KEY ``between`` VALUE ``back``."""

    front: str
    between: list[str]
    back: str
    trim: str


def _tag_parts(way: Way) -> _Tag | None:
    names = [piece.text if piece.kind == "group" else "" for piece in way]
    if "key" not in names or "value" not in names or names.index("value") < names.index("key"):
        raise fail("its tag_pattern has no groups key and value, in this order")
    key, value = names.index("key"), names.index("value")
    front, between, back = _runs(way[:key]), way[key + 1 : value], way[value + 1 :]
    if not front or not texts_of(between) or not texts_of(back):
        return None
    trim = "none"
    if between[-1].kind == "blank" or between[-1].text.endswith("\n"):
        trim = "newline" if "\n" in between[-1].text else "blank"
    middle = [text for run in _runs(between) for text in _tag_borders(run) if text.strip("\"'")]
    return _Tag(front[-1], middle, texts_of(back)[0].strip(), trim)


_BLANK: Final = "\0"
_ANY: Final = "\1"
_ATTRIBUTE: Final = re.compile(rf"[{_BLANK}{_ANY} ]+(\w+){_BLANK}?={_BLANK}?[\"']?\Z")


def _runs(pieces: Way) -> list[str]:
    """The texts between blanks; an attribute in front of a name stays with its tag, one blank before it."""
    kinds = {"blank": _BLANK, "any": _ANY}
    flat = "".join(
        kinds.get(piece.kind, piece.text) for piece in pieces if piece.kind not in {"ahead", "start"}
    )
    attribute = _ATTRIBUTE.search(flat)
    if attribute:
        flat = flat[: attribute.start()]
    runs = [text.strip() for text in re.split(f"[{_BLANK}{_ANY}]+", flat) if text.strip()]
    if attribute and runs:
        runs[-1] += f" {attribute[1]}="
    return runs


def _tag_borders(text: str) -> list[str]:
    """Two tags that nothing stands between are two markers."""
    return re.sub(r">\s*(?=<)", ">\0", text).split("\0")


def _tagged(calls: Calls, body: Data, splits: list[tuple[Way, Way]], closes: list[Way], param: _Tag) -> None:
    fronts = [[part for run in _runs(front) for part in _tag_borders(run)] for front, _ in splits]
    outer, inner, _ = sections(fronts)
    if not inner:
        raise fail("no literal text stands in front of the name")
    longest = max(fronts, key=len)
    if len(longest) > 2:
        outer = [mark for mark in outer if mark not in longest[1:]]
        body |= {"open": longest[1:2], "prefixes": longest[2:-1]}
    ends = [texts_of(way) for way in closes if texts_of(way)]
    if not ends:
        raise fail("its close has no marker")
    name_end = unique([texts[0].strip() for texts in ends if len(texts) > 1])
    last = unique([texts[-1].strip() for texts in ends])
    if not name_end:
        named = inner[0].split("=")[0].lstrip("<").rsplit(" ", 1)
        own = any(named[0] in mark for mark in last)
        name_end = last if own or not outer else [_end_of(inner[0])]
    calls.envelope = {"open": outer, "close": [mark for mark in last if mark not in name_end]}
    calls.body = body | {
        "codec": "tagged",
        "name": _tag(inner[0], "".join(texts_of(splits[0][1])), name_end[0]),
        "param": _tag(param.front, param.between[-1], param.back),
    }
    alone = any(len(front) == 1 for front in fronts)
    if alone or not outer:
        calls.unmarked = [{"shape": "opener", "place": "line" if outer else "text", "gate": "open"}]


def _tag(opener: str, close: str, end: str) -> Data:
    found = re.fullmatch(r"(.*?) (\w+)=", opener, re.S)
    close = close.strip().lstrip("\"'").strip()
    if found is None:
        return {"open": opener, "close": close, "end": end}
    return {"open": found[1], "key": found[2], "close": close, "end": end}


def _end_of(opener: str) -> str:
    """The end tag that belongs to an opener with a name or attributes in it."""
    if not opener.startswith("<"):
        raise fail(f"the tag {opener!r} has no end, and none can be made from it")
    word = re.split(r"[= ]", opener[1:])[0]
    return f"</{word}>"


def _python(calls: Calls, splits: list[tuple[Way, Way]], closes: list[Way]) -> None:
    """Calls in Python's syntax, one a region: the list's bracket is part of the first opener."""
    marks = [
        text.strip() for front, _ in splits for text in texts_of(front) if text.strip() not in {",", ";"}
    ]
    if not marks or not all(mark.endswith("[") for mark in marks):
        raise fail("calls in Python's syntax stand in a list, and its opener has no bracket")
    ends = [text.strip().lstrip(")").lstrip("]") for text in map("".join, map(texts_of, closes))]
    calls.envelope = {"open": unique([mark[:-1] for mark in marks]), "close": unique(ends)}
    calls.body = {"codec": "pythonic"}
