"""values: the ways in which templates spell values, each named, and each a function of the value alone.

Promises: no codec looks at its surroundings. Names with a colon carry a parameter (a string's delimiter, or
a tag). Raises ``ValueError`` for a codec that nobody knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

TYPES: Final = ("string", "integer", "number", "boolean", "null", "object", "array")


def kind_of(value: Any) -> str:
    """The JSON type of a value; ``integer`` apart from ``number``."""
    if value is None:
        return "null"
    names: tuple[tuple[type, str], ...] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (Mapping, "object"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "array")


def _html(value: Any) -> str:
    text = json.dumps(value)
    for char in "<>&'":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _json(**options: Any) -> Callable[[Any], str]:
    return lambda value: json.dumps(value, **options)


def _deeper(indent: int, margin: int) -> Callable[[Any], str]:
    """JSON on lines, all but the first of them set in by ``margin``."""
    return lambda value: json.dumps(value, ensure_ascii=False, indent=indent).replace(
        "\n", "\n" + " " * margin
    )


def _escaped(value: Any) -> str:
    return json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)


def _single(value: Any, *, lines: bool = False) -> str:
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return text.replace("\n", "\\n") if lines else text


_PLAIN: Final[dict[str, Callable[[Any], str]]] = {
    "json": _json(ensure_ascii=False),
    "json-ascii": _json(),
    "json-tight": _json(ensure_ascii=False, separators=(",", ":")),
    "json-sorted": _json(ensure_ascii=False, sort_keys=True),
    "json-indent2": _json(ensure_ascii=False, indent=2),
    "json-indent4": _json(ensure_ascii=False, indent=4),
    "json-indent4+4": _deeper(4, 4),
    "json-indent4+8": _deeper(4, 8),
    "json-indent2+2": _deeper(2, 2),
    "json-indent2+4": _deeper(2, 4),
    "json-html": _html,
    "json-in-string": _escaped,
    "json-in-string-ascii": lambda value: json.dumps(json.dumps(value, ensure_ascii=False)),
    "json-in-string-plain": lambda value: json.dumps(json.dumps(value)),
    "python": str,
    "repr": repr,
    "lower": lambda value: str(value).lower(),
}

_TEXTS: Final[dict[str, Callable[[Any], str]]] = {
    "raw": str,
    "trimmed": lambda value: str(value).strip(),
    "single-quoted": _single,
    "single-quoted-lines": lambda value: _single(value, lines=True),
}

OBJECT_CODECS: Final = tuple(name for name in _PLAIN if name.startswith("json"))
OTHER_CODECS: Final = (*OBJECT_CODECS, "python", "repr", "lower")
TEXT_CODECS: Final = (*_TEXTS, *OBJECT_CODECS, "repr")

_DELIMITED: Final = "delimited:"
_DELIMITED_NONE: Final = "delimited-none:"
_QUOTED: Final = "quoted:"
_ELEMENTS: Final = "elements:"
SPECIALS: Final = "<&\n>"
"""What makes some templates put a text between quotation markers."""


def delimited(delimiter: str) -> tuple[str, ...]:
    """The codecs that write strings between ``delimiter`` at any depth, keys bare and sorted."""
    return (_DELIMITED + delimiter, _DELIMITED_NONE + delimiter)


def quoted(opener: str, closer: str) -> str:
    """The codec that puts a text between markers where it holds one of ``SPECIALS``."""
    return f"{_QUOTED}{opener}\x00{closer}"


def elements(opener: str, closer: str, key: str, item: str) -> str:
    """The codec that puts each member, and each item under one name, into an element of its own."""
    return _ELEMENTS + "\x00".join((opener, closer, key, item))


def _elements(value: Any, opener: str, closer: str, key: str, item: str) -> str:
    if isinstance(value, Mapping):
        pairs = [(name, member) for name, member in value.items() if member is not None]
    elif isinstance(value, (list, tuple)):
        pairs = [(item, member) for member in value]
    else:
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return "".join(
        opener.replace(key, name) + _elements(member, opener, closer, key, item) + closer.replace(key, name)
        for name, member in pairs
    )


def value_text(codec: str, value: Any) -> str:
    """``value`` as ``codec`` spells it."""
    for table in (_PLAIN, _TEXTS):
        if codec in table:
            return table[codec](value)
    if codec.startswith(_DELIMITED):
        return _delimited(value, codec.removeprefix(_DELIMITED), "null")
    if codec.startswith(_DELIMITED_NONE):
        return _delimited(value, codec.removeprefix(_DELIMITED_NONE), "None")
    if codec.startswith(_ELEMENTS):
        opener, closer, key, item = codec.removeprefix(_ELEMENTS).split("\x00")
        return _elements(value, opener, closer, key, item)
    if codec.startswith(_QUOTED):
        opener, closer = codec.removeprefix(_QUOTED).split("\x00")
        return opener + value + closer if any(char in value for char in SPECIALS) else str(value)
    raise ValueError(f"no codec is called {codec!r}")


def _delimited(value: Any, delimiter: str, null: str) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{key}:{_delimited(item, delimiter, null)}" for key, item in sorted(value.items()))
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_delimited(item, delimiter, null) for item in value) + "]"
    if isinstance(value, str):
        return delimiter + value + delimiter
    return null if value is None else json.dumps(value)


PROBES: Final[dict[str, tuple[Any, ...]]] = {
    "string": (
        *("zvuno", "a b", 'q"q', "b\\b", "l1\nl2", "it's", "p<q & r>s", "é😀", "123", "true"),
        *('{"a": 1}', ""),
    ),
    "integer": (123456789012, 3, 0, -12),
    "number": (-0.25, 1.5, 3.75),
    "boolean": (False, True),
    "null": (None,),
    "object": ({"a": 1, "b": "x y"}, {}, {"a": {"b": [1, None, True, 'q"q'], "c": 1.5}}, {"k": "é<&>'\n"}),
    "array": ([1, "p"], ["p", "q'"], [], [{"a": 1}, [None, False]]),
}
"""Values of each type, the most distinctive first."""
