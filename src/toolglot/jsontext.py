"""JSON text that is all there: escaping, numbers, and decoding once.

Promises: integers are exact at any size, a repeated key counts with its last value at its first
position, and floats keep their spelling in the text that is given back. Only strict JSON is decoded.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_DIGITS: Final = 4000


def json_escape(text: str) -> str:
    """``text`` as the inside of a JSON string."""
    return _ENCODE(text)[1:-1]


def is_number(text: str) -> bool:
    """Whether ``text`` is a number of JSON."""
    return _NUMBER.fullmatch(text) is not None


def decode(text: str) -> tuple[Any, str | None]:
    """The value of valid JSON text, and the text with each key once where a key repeats, else None.

    Integers are exact at any size; the last value of a repeated key wins, at its first position.
    """
    try:
        return DECODER.decode(text), None
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


_ENCODE: Final = json.JSONEncoder(ensure_ascii=False).encode
DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
