"""Server-sent events of a Chat Completions stream: bytes in, frames out, and frames as bytes.

Promises: any split of the bytes, also inside of a character, gives the same frames; work grows with the
bytes alone. Tolerant: LF, CRLF and CR end lines; data that is one JSON text is a frame at once, so that
events without the blank line between them are told apart; a frame that the end of the stream cut is still
given if it is whole.

Does not know what a frame means, and does not raise for what an upstream sends.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from .jsonbody import NOT_JSON, decode_json, encode_json, to_bytes

DONE: Final = b"data: [DONE]\n\n"
_END: Final = "[DONE]"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class FrameKind(Enum):
    """What a frame of a stream is."""

    JSON = "json"
    DONE = "done"
    COMMENT = "comment"
    MALFORMED = "malformed"
    TOO_LONG = "too_long"


class Frame(NamedTuple):
    """One event or comment. ``value`` is the JSON value, or the text of a comment or of malformed data."""

    kind: FrameKind
    value: Any = None
    event: str = ""


class EventReader:
    """Reads the frames of one stream; ``longest`` is the most characters that one may have."""

    __slots__ = ("_after_cr", "_data", "_decoder", "_event", "_length", "_line", "_longest", "_over", "_size")

    def __init__(self, longest: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._longest = longest
        self._line: list[str] = []
        self._length = 0
        self._after_cr = False
        self._data: list[str] = []
        self._size = 0
        self._event = ""
        self._over = False

    def feed(self, data: bytes) -> list[Frame]:
        """Take the next bytes; the frames that are complete with them."""
        return self._text(self._decoder.decode(data))

    def close(self) -> list[Frame]:
        """The stream has ended; what is left of it."""
        frames = self._text(self._decoder.decode(b"", final=True))
        if self._line:
            self._read("".join(self._line), frames)
            self._line.clear()
        self._dispatch(frames)
        return frames

    def _text(self, text: str) -> list[Frame]:
        frames: list[Frame] = []
        if not text or self._over:
            return frames
        if self._after_cr and text[0] == "\n":
            text = text[1:]
        self._after_cr = text.endswith("\r")
        *lines, rest = _LINE_END.split(text)
        for line in lines:
            if self._line:
                self._line.append(line)
                line = "".join(self._line)
                self._line.clear()
            self._length = 0
            if self._too_long(len(line), frames):
                return frames
            self._read(line, frames)
        if rest:
            self._line.append(rest)
            self._length += len(rest)
            self._too_long(self._length, frames)
        return frames

    def _too_long(self, line: int, frames: list[Frame]) -> bool:
        """Whether a line of that length makes the frame too long; then nothing more is read."""
        if self._size + line > self._longest:
            self._over = True
            self._line.clear()
            self._data.clear()
            frames.append(Frame(FrameKind.TOO_LONG))
        return self._over

    def _read(self, line: str, frames: list[Frame]) -> None:
        if not line:
            self._dispatch(frames)
            return
        line = line.removeprefix("\ufeff")
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if not field:
            frames.append(Frame(FrameKind.COMMENT, value))
        elif field == "event":
            self._event = value
        elif field == "data":
            self._take(value, frames)
        elif field == "error":
            # Older builds of llama-server say an error so, in place of an event of that name.
            self._event = field
            self._take(value, frames)

    def _take(self, value: str, frames: list[Frame]) -> None:
        """A line of data: most often a whole frame, which need not wait for the blank line."""
        if not self._data:
            frame = _frame(value, self._event)
            if frame is not None:
                frames.append(frame)
                self._event = ""
                return
        if value or self._data:
            self._data.append(value)
            self._size += len(value)

    def _dispatch(self, frames: list[Frame]) -> None:
        if self._data:
            text = "\n".join(self._data)
            # Data of one line was no frame when it came, and is none now.
            frame = _frame(text, self._event) if len(self._data) > 1 else None
            frames.append(Frame(FrameKind.MALFORMED, text, self._event) if frame is None else frame)
            self._data.clear()
            self._size = 0
        self._event = ""


def _frame(text: str, event: str) -> Frame | None:
    if text.strip() == _END:
        return Frame(FrameKind.DONE)
    value = decode_json(text)
    return None if value is NOT_JSON else Frame(FrameKind.JSON, value, event)


def encode_frame(value: Mapping[str, Any]) -> bytes:
    """One event of the client's stream."""
    return to_bytes(f"data: {encode_json(value)}\n\n")


def encode_comment(text: str = "keep-alive") -> bytes:
    """A comment, which clients ignore and which keeps a connection open. ``text`` is one line."""
    return to_bytes(f": {text}\n\n")
