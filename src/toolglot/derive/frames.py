"""frames: JSON values one after the other on a pipe.

Promises: each value has its length before it, four bytes, so that a reader knows how much to wait for and
can refuse what is too long before it reads it. Only JSON: reading a frame never runs code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

LARGEST: Final = 1 << 26
"""Bytes of one frame."""
_HEAD: Final = 4


class BrokenFrameError(Exception):
    """The other side closed the pipe or wrote something that is no frame."""


def pack(value: Mapping[str, Any]) -> bytes:
    """The frame of ``value``. Raises ``TypeError`` or ``ValueError`` where JSON cannot carry it."""
    # Lone surrogates are in no encoding, but escaped they are.
    raw = json.dumps(value).encode("ascii")
    if len(raw) > LARGEST:
        raise ValueError(f"{len(raw)} bytes as JSON; at most {LARGEST} are sent")
    return len(raw).to_bytes(_HEAD, "big") + raw


def send(pipe: BinaryIO, frame: bytes) -> None:
    """Write a frame. Raises ``BrokenFrameError`` where nobody reads any more."""
    try:
        pipe.write(frame)
        pipe.flush()
    except (OSError, ValueError) as error:
        raise BrokenFrameError("the pipe is closed") from error


def receive(pipe: BinaryIO) -> dict[str, Any]:
    """Read a frame, for as long as it takes. Raises ``BrokenFrameError``.

    >>> import io
    >>> receive(io.BytesIO(pack({"text": "é"})))
    {'text': 'é'}
    """
    length = int.from_bytes(_exactly(pipe, _HEAD), "big")
    if length > LARGEST:
        raise BrokenFrameError(f"a frame of {length} bytes")
    raw = _exactly(pipe, length)
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BrokenFrameError("a frame that is no JSON") from error
    if not isinstance(value, dict):
        raise BrokenFrameError("a frame that is no object")
    return value


def _exactly(pipe: BinaryIO, count: int) -> bytes:
    raw = pipe.read(count)
    if len(raw) < count:
        raise BrokenFrameError("the pipe is closed")
    return raw
