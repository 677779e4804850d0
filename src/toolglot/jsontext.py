"""JSON text that is all there: escaping, numbers, and decoding once.

Promises: integers are exact at any size, a repeated key counts with its last value at its first
position, and floats keep their spelling in the text that is given back. Only strict JSON is decoded.
"""

from __future__ import annotations

import json
import re
import sys
from json.encoder import encode_basestring

from ._typing import TYPE_CHECKING, Any
from .late import late
from .scanner import examined

if TYPE_CHECKING:
    from typing import Final

_NUMBER: Final = late(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_DIGITS: Final = 4000
_ESCAPED_APART: Final = 512
# In the order in which they are made: the first makes the character of which the others consist.
_COMMON_ESCAPES: Final = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"))
_RARE_CONTROLS: Final = bytes(c for c in range(0x20) if chr(c) not in "\n\t\r")
_HALF: Final = late(r"\\u[dD]")
_CLOSING: Final = {"{": "}", "[": "]"}
# Digits cost more than linear time to convert; no value that a tool can use is longer.
SCALAR_MOST: Final = 1 << 16


def json_escape(text: str) -> str:
    """``text`` as the inside of a JSON string."""
    if len(text) > _ESCAPED_APART:
        # Long text goes twice as fast by what is escaped, if that is only what code and prose have.
        utf8 = text.encode("utf-8", "surrogatepass")
        if len(utf8.translate(None, _RARE_CONTROLS)) == len(utf8):
            for character, escape in _COMMON_ESCAPES:
                text = text.replace(character, escape)
            return text
    return encode_basestring(text)[1:-1]


def is_number(text: str) -> bool:
    """Whether ``text`` is a number of JSON."""
    return _NUMBER.fullmatch(text) is not None


def whole_at(text: str, start: int, depth: int) -> tuple[Any, str] | None:
    """The JSON value that begins at ``start`` and its text, where all of it is there, in one go.

    None where it is cut, repeats a key, is nested deeper than ``depth``, or holds what needs care: the
    halves of surrogate pairs, digits without end.
    """
    if text.rfind(_CLOSING.get(text[start], ""), start + 1) < 0:
        return None
    examined(len(text) - start)
    long = len(text) - start > SCALAR_MOST
    if long and not 0 < _int_digits() <= SCALAR_MOST:
        return None
    try:
        value, end = (_LONG_DECODER if long else DECODER).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    piece = text[start:end]
    if "\\" in piece and not _ascii(value) and _HALF.search(piece) is not None:
        return None
    nested = depth < 1 or piece.find("{", 1) >= 0 or piece.find("[", 1) >= 0
    if nested and piece.count("{") + piece.count("[") > depth and _deeper(value, depth):
        return None
    return value, piece


def _ascii(value: Any) -> bool:
    """Whether all strings in a value are ASCII, which costs next to nothing to ask of a string."""
    rest = [value]
    while rest:
        outer = rest.pop()
        if type(outer) is dict:
            if not all(map(str.isascii, outer)):
                return False
            outer = outer.values()
        for inner in outer:
            if type(inner) is str:
                if not inner.isascii():
                    return False
            elif type(inner) is dict or type(inner) is list:
                rest.append(inner)
    return True


def _deeper(value: Any, depth: int) -> bool:
    """Whether more than ``depth`` objects and arrays stand in one another."""
    level = [value]
    for _ in range(depth):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return bool(level)


def _int_digits() -> int:
    """How many digits the interpreter makes an integer of; 0 where it knows no end."""
    limit = getattr(sys, "get_int_max_str_digits", None)
    return 0 if limit is None else int(limit())


def decode(text: str) -> tuple[Any, str | None]:
    """The value of valid JSON text, and the text with each key once where a key repeats, else None.

    Integers are exact at any size; the last value of a repeated key wins, at its first position.
    """
    try:
        # Nearly always nothing stands around the value, which ``decode`` would look for.
        value, end = DECODER.raw_decode(text)
        return (value if end == len(text) else DECODER.decode(text)), None
    except (ValueError, RecursionError):
        repeats = _Repeats()
        value = json.loads(text, parse_int=_integer, object_pairs_hook=repeats.pairs)
        if not repeats.found:
            return value, None
        spelled = json.loads(text, parse_int=_Spelled, parse_float=_Spelled)
        return value, _write(spelled)


class _Spelled:
    """A number as it was written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def _write(value: Any) -> str:
    if isinstance(value, _Spelled):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_write(str(k))}: {_write(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_write(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


class _Repeats:
    """Notices repeated keys while JSON is decoded."""

    def __init__(self) -> None:
        self.found = False

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        self.found |= len(members) != len(pairs)
        return members


def _integer(text: str) -> int:
    """``int`` without CPython's limit on digits, by halves that stay below it."""
    if len(text) <= _DIGITS:
        return int(text)
    if text[0] == "-":
        return -_integer(text[1:])
    half = len(text) // 2
    shift: int = 10**half
    return _integer(text[:-half]) * shift + _integer(text[-half:])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key repeats")
    return members


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _short_float(text: str) -> float:
    if len(text) > SCALAR_MOST:
        raise ValueError("a number is too long")
    return float(text)


DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
_LONG_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_short_float
)
