"""Unasked: an upstream that answers a request for a stream with one JSON body, as some do with tools.

Promises: the client gets the stream that it asked for.
"""

from __future__ import annotations

from ..wire import decode_object, encode_frame


class WholeAsStream:
    """Collects a JSON answer, and gives it as one event at its end, which ``wire`` can read."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> bytes:
        """The next bytes of the body."""
        self._pieces.append(data)
        return b""

    def end(self) -> bytes:
        """The body is complete."""
        data = b"".join(self._pieces)
        body = decode_object(data)
        # What is no answer goes on as it is: the stream's reader says what it is.
        return b"data: " + b" ".join(data.split(b"\n")) + b"\n\n" if body is None else encode_frame(body)
