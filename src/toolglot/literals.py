"""Literals: whole JSON and Python values, read from text and given back as JSON text.

Promises: what comes out is strict JSON in valid UTF-8 (lone surrogates become U+FFFD); numbers keep their
spelling and are never converted, so they are exact at any size; any text is answered in linear time,
without recursion and without an exception; nesting beyond ``DEPTH`` is no value.

Does not: repair anything, read a value that is not yet whole (``jsonstream`` does), evaluate code, or know
which type was wanted (``schema`` does).
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring

from .late import late

DEPTH = 128
"""How many arrays and objects may stand inside one another."""

JSON_BLANKS = " \t\r\n"


_SURROGATE = late(r"[\ud800-\udfff]")
_SURROGATE_PAIR = late(r"[\ud800-\udbff][\udc00-\udfff]")
_BRACKET = late(r'\\.|["\[\]{}]', re.DOTALL)
_ESCAPED_SURROGATE = late(r"\\u[dD][89a-fA-F]")
_JSON_ESCAPE = late(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def clean(text: str) -> str:
    """``text`` with each surrogate code point replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def json_string(text: str) -> str:
    """``text`` as a JSON string, in its quotes."""
    return encode_basestring(clean(text))


def _refuse(constant: str) -> object:
    raise ValueError(constant)


# The value is thrown away, only whether it parses counts: `str` as the number hook spares the conversion
# (quadratic for long digits, and refused by CPython beyond its limit), `_refuse` keeps NaN out.
_decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def strict_json(text: str) -> str | None:
    """``text`` without the blanks around it where that is one strict JSON value, else None."""
    stripped = clean(text.strip(JSON_BLANKS))
    try:
        _, end = _decoder.raw_decode(stripped)
    except (ValueError, RecursionError):
        return None
    if end < len(stripped):
        return None
    if stripped.count("[") + stripped.count("{") > DEPTH and _depth(stripped) > DEPTH:
        return None
    if _ESCAPED_SURROGATE.search(stripped):
        return _JSON_ESCAPE.sub(lambda m: "\\ufffd" if m["lone"] else m[0], stripped)
    return stripped


def _depth(valid_json: str) -> int:
    depth = deepest = 0
    in_string = False
    for match in _BRACKET.finditer(valid_json):
        mark = match[0]
        if mark == '"':
            in_string = not in_string
        elif in_string:
            continue
        elif mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


_BLANKS = late(r"[ \t\r\n\f]*")
_NAME = late(r"(?:True|False|None|true|false|null)(?!\w)")
_NAMES = {"True": "true", "False": "false", "None": "null"}
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = late(
    rf"(?P<sign>[+-]?)(?:(?P<based>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)"
    rf"|(?P<whole>{_DIGITS})?(?P<fraction>\.(?:{_DIGITS})?)?(?P<exponent>[eE][+-]?{_DIGITS})?)(?![\w.])"
)
# Longer ones would meet CPython's limit on digits when they are written in decimal.
_BASED_LENGTH = 1024
_QUOTE = late(r"(?P<prefix>(?:[rR][bBfF]?|[bBfF][rR]?|[uU])?)(?P<quote>\"\"\"|'''|\"|')")
_STOP = {
    '"': late(r'["\\\r\n]'),
    "'": late(r"['\\\r\n]"),
    '"""': late(r'"""|\\'),
    "'''": late(r"'''|\\"),
}
# The bound on a name keeps a run of unclosed `\N{` linear; no character's name is that long.
_PYTHON_ESCAPE = late(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    r"|N\{(?P<name>[^{}]{1,120})\}|(?P<other>\r\n|.))",
    re.DOTALL,
)
_SIMPLE_ESCAPES = {
    "\r\n": "", "\n": "", "\r": "", "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def python_to_json(text: str) -> str | None:
    """The JSON text of the Python literal that ``text`` is, blanks around it aside; None where it is none.

    Read are strings (any quotes and prefixes, neighbours joined), numbers, ``True``, ``False``, ``None``,
    JSON's own three names, lists, tuples and dicts. A dict's number or constant key becomes a string of its
    JSON text. Not read: sets, complex numbers, comments, f-string fields (they stay as written).
    """
    text = clean(text)
    out: list[str] = []
    stack: list[_Open] = []
    state = "value"
    pos = 0
    while True:
        pos = _end_of_blanks(text, pos)
        char = text[pos : pos + 1]
        if state == "after" and not stack:
            return None if char else "".join(out)
        if state in ("item", "after") and char == stack[-1].close:
            stack.pop().finish(out)
            state = "after"
            pos += 1
        elif state == "after":
            if char != ",":
                return None
            stack[-1].commas += 1
            state = "item"
            pos += 1
        elif state == "colon":
            if char != ":":
                return None
            out.append(": ")
            state = "value"
            pos += 1
        else:
            is_key = state == "item" and stack[-1].close == "}"
            if state == "item" and stack[-1].commas:
                out.append(", ")  # only now: a trailing comma has nothing to separate
            if char and char in "[({":
                if is_key or len(stack) == DEPTH:
                    return None
                stack.append(_Open(_CLOSES[char], len(out)))
                out.append("{" if char == "{" else "[")
                state = "item"
                pos += 1
            else:
                scalar = _scalar(text, pos)
                if scalar is None:
                    return None
                value, pos = scalar
                out.append(f'"{value}"' if is_key and not value.startswith('"') else value)
                state = "colon" if is_key else "after"


_CLOSES = {"[": "]", "(": ")", "{": "}"}


class _Open:
    """A bracket whose end has not come; ``at`` is where its opening stands in the output."""

    __slots__ = ("close", "at", "commas")

    def __init__(self, close: str, at: int) -> None:
        self.close = close
        self.at = at
        self.commas = 0

    def finish(self, out: list[str]) -> None:
        if self.close == ")" and not self.commas and len(out) > self.at + 1:
            out[self.at] = ""  # parentheses around one value, not a tuple
        else:
            out.append("}" if self.close == "}" else "]")


def _end_of_blanks(text: str, pos: int) -> int:
    match = _BLANKS.match(text, pos)
    return match.end() if match else pos


def _scalar(text: str, pos: int) -> tuple[str, int] | None:
    name = _NAME.match(text, pos)
    if name:
        return _NAMES.get(name[0], name[0]), name.end()
    if _QUOTE.match(text, pos):
        return _strings(text, pos)
    number = _NUMBER.match(text, pos)
    if number:
        value = _number(number)
        return None if value is None else (value, number.end())
    return None


def _number(match: re.Match[str]) -> str | None:
    sign = "-" if match["sign"] == "-" else ""
    based = match["based"]
    if based is not None:
        if len(based) > _BASED_LENGTH:
            return None
        try:
            return f"{sign}{int(based, 0)}"
        except ValueError:  # underscores out of place
            return None
    whole = (match["whole"] or "").replace("_", "")
    fraction = (match["fraction"] or "").replace("_", "")
    if not whole and len(fraction) < 2:
        return None
    if len(whole) > 1 and whole[0] == "0":
        return None
    if fraction == ".":
        fraction = ".0"
    return f"{sign}{whole or '0'}{fraction}{(match['exponent'] or '').replace('_', '')}"


def _strings(text: str, pos: int) -> tuple[str, int] | None:
    parts: list[str] = []
    end = pos
    opening = _QUOTE.match(text, pos)
    while opening:
        start = opening.end()
        quote = opening["quote"]
        closing = _closing_quote(text, start, quote)
        if closing < 0:
            return None
        written = text[start:closing]
        body = written if "r" in opening["prefix"].lower() else _unescape(written)
        if body is None:
            return None
        parts.append(body)
        end = closing + len(quote)
        opening = _QUOTE.match(text, _end_of_blanks(text, end))
    return json_string("".join(parts)), end


def _closing_quote(text: str, pos: int, quote: str) -> int:
    stop = _STOP[quote]
    match = stop.search(text, pos)
    while match:
        if match[0] == quote:
            return match.start()
        if match[0] != "\\":
            return -1
        pos = match.end()
        match = stop.search(text, pos + (2 if text.startswith("\r\n", pos) else 1))
    return -1


def _unescape(body: str) -> str | None:
    if "\\" not in body:
        return body
    try:
        body = _PYTHON_ESCAPE.sub(_escape, body)
    except (ValueError, KeyError):
        return None
    # Python would keep two halves apart; a model that writes them means the one character, as in JSON.
    return _SURROGATE_PAIR.sub(lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), body)


def _escape(match: re.Match[str]) -> str:
    other = match["other"]
    if other is not None:
        if other in "xuUN":
            raise ValueError("escape is cut short")
        return _SIMPLE_ESCAPES.get(other, match[0])
    if match["name"] is not None:
        import unicodedata

        return unicodedata.lookup(match["name"])
    if match["octal"] is not None:
        return chr(int(match["octal"], 8))
    return chr(int(match["x"] or match["u"] or match["U"], 16))
