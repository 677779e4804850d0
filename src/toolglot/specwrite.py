"""specwrite: a dialect's data, written as ``spec`` reads it: the inverse of that module.

Promises: ``Dialect.from_dict(as_data(d)) == d`` and ``Dialect.from_toml(as_toml(d)) == d``; a field that has
its default is left out. Does not: write comments, or keep a file's own order of keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass

from ._typing import TYPE_CHECKING, Any
from .dialect import Dialect

if TYPE_CHECKING:
    from typing import Final

_KEYS: Final = {"bodies": "body", "examples": "example"}
"""Fields that have another name as data."""
_TABLES: Final = ("envelope", "reasoning", "ids", "render")
_LISTS: Final = ("body", "unmarked", "example")


def as_data(dialect: Dialect) -> dict[str, Any]:
    """The dialect as ``Dialect.from_dict`` takes it, of JSON's types only."""
    data: dict[str, Any] = _plain(dialect)
    for example in data.get("example", ()):
        if "calls" in example:
            example["calls"] = [{"name": name, "arguments": given} for name, given in example["calls"]]
    return data


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        found: dict[str, Any] = {}
        for item in fields(value):
            plain = _plain(getattr(value, item.name))
            default = item.default_factory() if item.default_factory is not MISSING else item.default
            if plain != _plain(default):
                found[_KEYS.get(item.name, item.name)] = plain
        return found
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value


def as_toml(dialect: Dialect) -> str:
    """The dialect as a dialect file's text.

    Raises ``TypeError`` where an example's arguments hold null, which TOML does not have.
    """
    return "\n".join(_lines(as_data(dialect))) + "\n"


def _lines(data: dict[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        if key not in _TABLES and key not in _LISTS:
            yield f"{key} = {_value(value)}"
    for key in _TABLES:
        if key in data:
            yield from ("", f"[{key}]", *(f"{name} = {_value(item)}" for name, item in data[key].items()))
    for key in _LISTS:
        for table in data.get(key, ()):
            yield from ("", f"[[{key}]]", *(f"{name} = {_value(item)}" for name, item in table.items()))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_string(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return _string(value)
    if value is None:
        raise TypeError("TOML has no null")
    return json.dumps(value)


def _string(text: str) -> str:
    # JSON's strings are TOML's, but for one control character that JSON may hold as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
