"""Unasked: an upstream that answers a request for a stream with one JSON body, as some do with tools.

Promises: the client gets the stream that it asked for.
"""

from __future__ import annotations

import json
from typing import Any


class WholeAsStream:
    """Collects a JSON answer, and gives it as one chunk at its end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> bytes:
        """The next bytes of the body."""
        self._pieces.append(data)
        return b""

    def end(self) -> bytes:
        """The body is complete."""
        data = b"".join(self._pieces)
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        if isinstance(body, dict) and isinstance(body.get("choices"), list):
            data = json.dumps(_chunk(body), ensure_ascii=False).encode("utf-8", "replace")
        # What is no answer goes on as it is: the stream's reader says what it is.
        return b"data: " + b" ".join(data.split(b"\n")) + b"\n\n"


def _chunk(body: dict[str, Any]) -> dict[str, Any]:
    choices = []
    for choice in body["choices"]:
        if isinstance(choice, dict):
            message = choice.get("message") or {}
            calls = message.get("tool_calls") or ()
            numbered = [
                {**call, "index": index} for index, call in enumerate(calls) if isinstance(call, dict)
            ]
            delta = {**message, "tool_calls": numbered} if numbered else message
            choices.append({**{k: v for k, v in choice.items() if k != "message"}, "delta": delta})
    return {**body, "object": "chat.completion.chunk", "choices": choices}
