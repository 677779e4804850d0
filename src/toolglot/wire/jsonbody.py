"""JSON bodies: bytes to an object and back, for everything that is sent or received.

Promises: compact text, always valid UTF-8. What is no JSON object is None, and raises nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

NOT_JSON: Final = object()
# Made once: an encoder for each chunk would cost more than what it encodes.
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def decode_json(text: str | bytes) -> Any:
    """The value of JSON text, or ``NOT_JSON``."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON


def decode_object(body: str | bytes) -> dict[str, Any] | None:
    """The JSON object that a body is, or None where it is none."""
    value = decode_json(body)
    return value if isinstance(value, dict) else None


def encode_json(value: Any) -> str:
    """Compact JSON text."""
    return _ENCODE(value)


def encode_object(value: Mapping[str, Any]) -> bytes:
    """A body."""
    return to_bytes(encode_json(value))


def to_bytes(text: str) -> bytes:
    """UTF-8, with a question mark for a lone surrogate that somebody escaped."""
    return text.encode("utf-8", "replace")
