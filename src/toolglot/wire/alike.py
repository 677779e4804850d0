"""Alike: frames of one stream that differ in nothing but their text, which is nearly all of them.

Promises: what ``texts`` reads is what a JSON reader would read in each frame; where that is not certain it
reads nothing. A frame is taken for alike only once it was proven on one: with other text in the same place
it is the same JSON with other text.

Does not remember text, nor look into more of the bytes than a comparison and one split.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from .offer import REASONING_FIELDS

_PLAIN: Final = re.compile(rb'[^"\\\x00-\x1f]*')
_MARK: Final = "0123 mark 4567"
_FIELDS: Final = frozenset({"content", *REASONING_FIELDS})
_CHUNK: Final = frozenset(
    {"id", "object", "created", "model", "choices", "system_fingerprint", "service_tier"}
)
_ATTEMPTS: Final = 16
"""Proofs that one stream may cost: an upstream that writes each frame anew is not asked for ever."""


class Alike:
    """The form that frames share: the ``field`` that holds their text, and the ``index`` of their choice."""

    __slots__ = ("_attempts", "_between", "_prefix", "_suffix", "field", "index")

    def __init__(self) -> None:
        self.field = ""
        self.index = 0
        self._prefix = self._suffix = self._between = b""
        self._attempts = 0

    def texts(self, data: bytes) -> list[str] | None:
        """The texts of ``data``'s frames, or None where they are not all known to be alike."""
        prefix, suffix = self._prefix, self._suffix
        if not prefix or not data.startswith(prefix) or not data.endswith(suffix):
            return None
        if len(data) < len(prefix) + len(suffix):
            return None
        texts = []
        for piece in data[len(prefix) : -len(suffix)].split(self._between):
            try:
                text = piece.decode("utf-8")
                texts.append(text if _PLAIN.fullmatch(piece) else json.loads(f'"{text}"'))
            except ValueError:
                return None
        return texts

    def learn(self, data: bytes, value: Any) -> None:
        """``data`` was one frame, and ``value`` what it says: later ones may be alike."""
        field, index = _text_only(value)
        if not field or self._attempts >= _ATTEMPTS:
            return
        self._attempts += 1
        text = value["choices"][0]["delta"][field]
        for written in (json.dumps(text, ensure_ascii=False), json.dumps(text)):
            quoted = written.encode("utf-8", "replace")
            at = data.find(quoted)
            # A short text may stand elsewhere too, which the proof would show.
            if at >= 0 and data.count(quoted) == 1:
                prefix, suffix = data[: at + 1], data[at + len(quoted) - 1 :]
                if _proven(prefix, suffix, value, field):
                    self.field, self.index = field, index
                    self._prefix, self._suffix, self._between = prefix, suffix, suffix + prefix
                return


def _text_only(value: Any) -> tuple[str, int]:
    """Field and index of a chunk that holds nothing but text of one choice; an empty field otherwise."""
    nothing = "", 0
    if not isinstance(value, Mapping) or any(v is not None for k, v in value.items() if k not in _CHUNK):
        return nothing
    choices = value.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        return nothing
    choice = choices[0]
    if any(v is not None for k, v in choice.items() if k not in ("index", "delta")):
        return nothing
    index, delta = choice.get("index"), choice.get("delta")
    if not isinstance(index, int) or not isinstance(delta, Mapping):
        return nothing
    said = [k for k, v in delta.items() if v is not None and k != "role"]
    if len(said) != 1 or said[0] not in _FIELDS:
        return nothing
    text = delta[said[0]]
    return (said[0], index) if isinstance(text, str) and text else nothing


def _proven(prefix: bytes, suffix: bytes, value: Any, field: str) -> bool:
    """Whether other text in this place makes the same JSON with other text, and one event of it."""
    frame = prefix + _MARK.encode() + suffix
    if (
        not frame.startswith(b"data:")
        or not frame.endswith((b"}\n\n", b"}\r\n\r\n"))
        or frame.count(b"\n") != 2
    ):
        return False
    try:
        read = json.loads(frame[5:].decode("utf-8"))
    except ValueError:
        return False
    choice = value["choices"][0]
    marked = {**choice, "delta": {**choice["delta"], field: _MARK}}
    return bool(read == {**value, "choices": [marked]})
