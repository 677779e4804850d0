"""A writer of GGUF files for the tests: a metadata block, well-formed or not, and no tensors."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

STRING, ARRAY = 8, 9
CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class Items(NamedTuple):
    """An array: the number of its items' type, and the items."""

    kind: int
    values: Sequence[Any]


class Pair(NamedTuple):
    """A key with its value and the number of the value's type."""

    key: str
    kind: int
    value: Any


def text(key: str, value: str) -> Pair:
    """A string."""
    return Pair(key, STRING, value)


def strings(key: str, values: Sequence[str]) -> Pair:
    """A list of strings."""
    return Pair(key, ARRAY, Items(STRING, values))


def number(key: str, value: int, kind: int = 4) -> Pair:
    """A number, 32 bits without a sign unless ``kind`` says otherwise."""
    return Pair(key, kind, value)


def gguf(pairs: Sequence[Pair], *, version: int = 3, order: str = "<", count: int | None = None) -> bytes:
    """A file; ``count`` is the number of keys that it claims to have."""
    claimed = len(pairs) if count is None else count
    head = b"GGUF" + struct.pack(order + "IQQ", version, 0, claimed)
    return head + b"".join(
        string(pair.key, order) + struct.pack(order + "I", pair.kind) + _value(pair.kind, pair.value, order)
        for pair in pairs
    )


def string(value: str, order: str = "<") -> bytes:
    """A string with its length before it."""
    raw = value.encode()
    return struct.pack(order + "Q", len(raw)) + raw


def _value(kind: int, value: Any, order: str) -> bytes:
    if kind == STRING:
        return string(value, order)
    if kind == ARRAY:
        items: Items = value
        head = struct.pack(order + "IQ", items.kind, len(items.values))
        return head + b"".join(_value(items.kind, item, order) for item in items.values)
    return struct.pack(order + CODES[kind], value)
