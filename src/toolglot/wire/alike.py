"""Alike: frames of one stream that differ in nothing but their text, which is nearly all of them.

Promises: what ``pieces`` and ``said`` read is what a JSON reader would read in each frame; where that is not
certain they read nothing. A frame is taken for alike only once it was proven on one: with other text in the
same place it is the same JSON with other text.

Does not remember text. However many the frames, what is done with each is a split and a join.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from .jsonbody import decode_json
from .offer import REASONING_FIELDS

_SPECIAL: Final = re.compile(r'["\\\x00-\x1f]')
_BORDERS: Final = (b"\r\n\r\n", b"\n\n")
_MARK: Final = "0123 mark 4567"
_FIELDS: Final = frozenset({"content", *REASONING_FIELDS})
_CHUNK: Final = frozenset(
    {"id", "object", "created", "model", "choices", "system_fingerprint", "service_tier"}
)
_ATTEMPTS: Final = 16
"""Proofs that one stream may cost: an upstream that writes each frame anew is not asked for ever."""


class Alike:
    """The form that frames share: the ``field`` that holds their text, and the ``index`` of their choice."""

    __slots__ = ("_attempts", "_between", "_border", "_prefix", "_suffix", "field", "index")

    def __init__(self) -> None:
        self.field = ""
        self.index = 0
        self._prefix = self._suffix = self._between = self._border = b""
        self._attempts = 0

    def fits(self, data: bytes) -> bool:
        """Whether ``data`` begins as these frames do, and ends so: one frame, or several."""
        # The ends may not overlap.
        return (
            bool(self._prefix)
            and data.startswith(self._prefix)
            and data.endswith(self._suffix, len(self._prefix))
        )

    def cut(self, frames: list[bytes], at: int, border: bytes) -> list[bytes]:
        """As ``pieces``, of as many ``frames`` from ``at`` on as are alike, each without its ``border``."""
        pieces: list[bytes] = []
        prefix, suffix = self._prefix, self._suffix.removesuffix(border)
        if prefix and border == self._border:
            begin, end = len(prefix), -len(suffix)
            for frame in itertools.islice(frames, at, None):
                if not (frame.startswith(prefix) and frame.endswith(suffix, begin)):
                    break
                pieces.append(frame[begin:end])
        return pieces

    def pieces(self, data: bytes) -> list[bytes] | None:
        """The texts of ``data``'s frames, as they are escaped; None where not all are known to be alike."""
        if not self.fits(data):
            return None
        prefix, suffix, border = self._prefix, self._suffix, self._border
        if data.find(border) == len(data) - len(border):
            return [data[len(prefix) : -len(suffix)]]
        begin, end = len(prefix), len(border) - len(suffix)
        pieces = [frame[begin:end] for frame in data.split(border)]
        del pieces[-1]
        # Whether each frame was cut where its text is shows in all of them put together again.
        return pieces if prefix + self._between.join(pieces) + suffix == data else None

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
                    self._border = next(border for border in _BORDERS if suffix.endswith(border))
                return


def said(pieces: list[bytes]) -> str | None:
    """What the insides of JSON strings say, joined, or None where one is no such inside."""
    try:
        text = b"".join(pieces).decode("utf-8")
        if not text.isascii():
            # Half a character in each of two frames is none.
            b'"'.join(pieces).decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _SPECIAL.search(text) is None:
        return text
    lines = b"\n".join(pieces)
    if b"\\\n" in lines or lines.endswith(b"\\"):
        # A backslash may escape the quote behind its piece, or be an escaped one itself: told one by one.
        texts = [decode_json(f'"{piece.decode()}"') for piece in pieces]
    else:
        # Not as bytes: what they begin with would tell the reader how they are encoded.
        inside = b'","'.join(pieces).decode()
        texts = decode_json(f'["{inside}"]')
        # Each quote between two pieces is one of JSON's, so that any quote within a piece makes more strings.
        if not isinstance(texts, list) or len(texts) != len(pieces):
            return None
    try:
        return "".join(texts)
    except TypeError:
        return None


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
