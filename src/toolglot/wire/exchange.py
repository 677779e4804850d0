"""Exchange: one Chat Completions request and its answer, whole or streamed. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .report import Report
from .settings import Settings
from .stream import AnswerStream


class Exchange:
    """One request and its answer. Raises ``WireError`` for a request that cannot be read.

    ``request``: the request, made fit for the upstream. ``streamed``: whether it asks for a stream.
    ``report``: what came of it.
    """

    def __init__(self, request: Mapping[str, Any], settings: Settings | None = None) -> None:
        self.settings = Settings() if settings is None else settings
        self.request: dict[str, Any] = dict(request)
        self.streamed = self.request.get("stream") is True
        self.report = Report(streamed=self.streamed)

    def whole(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The upstream's JSON answer, with its calls parsed."""
        return dict(body)

    def stream(self) -> AnswerStream:
        """A reader of the upstream's stream, for one answer."""
        return AnswerStream()
