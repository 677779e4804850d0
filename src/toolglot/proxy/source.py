"""Source: the chunks of an upstream's answer, and how it ended.

Promises: everything that arrived is handed out, also what came right before the connection broke; then
``error`` says why, or is None after a proper end. Past ``most`` bytes the answer counts as broken off, and
so it does when ``give_up`` is called.

Does not keep time: who follows all streams asks each how long it has been silent (``live``). A timer that
is set anew for each chunk would cost as much as reading it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

import aiohttp

from .config import Config
from .failures import FAULTS, too_large, upstream_failure

DRAIN_TIMEOUT = 1.0


class Translation(Protocol):
    """Makes a chat stream of bytes that are none."""

    def feed(self, data: bytes) -> bytes:
        """The next bytes, in any split."""
        ...

    def end(self) -> bytes:
        """The upstream has ended."""
        ...


class Source:
    """The chunks of one answer."""

    def __init__(
        self, answer: aiohttp.ClientResponse, config: Config, translation: Translation | None
    ) -> None:
        self._content = answer.content
        self._config = config
        self._translation = translation
        self._ended = False
        self._size = 0
        self._chunks = self._seen = 0
        self._since: float | None = None
        self.error: str | None = None
        connection = answer.connection
        if connection is not None and connection.protocol is not None:
            # The one that runs stays until something comes, and is not set again.
            connection.protocol.read_timeout = None

    async def next(self) -> bytes | None:
        """What has arrived since; None at the end."""
        if self._ended:
            return None
        try:
            chunk = await self._content.readany()
        except FAULTS as fault:
            self.error, self._ended = upstream_failure(fault, self._config).message, True
            # aiohttp raises the fault of a connection before it hands out what had come over it.
            chunk = b"".join(getattr(self._content, "_buffer", ()))
        self._chunks += 1
        self._size += len(chunk)
        if self._size > self._config.max_response:
            self.error, self._ended = too_large("response", self._config.max_response).message, True
            return None
        if not chunk and not self._ended:
            self._ended = True
            return None if self._translation is None else self._translation.end()
        return chunk if self._translation is None else self._translation.feed(chunk)

    def silent_for(self, now: float) -> float:
        """Seconds since this was first asked after something had come."""
        if self._since is None or self._chunks != self._seen:
            self._seen, self._since = self._chunks, now
        return now - self._since

    def give_up(self) -> None:
        """Nothing came for too long: what waits for the upstream is told so."""
        self._content.set_exception(aiohttp.SocketTimeoutError("nothing came for too long"))

    async def drain(self) -> None:
        """Read what follows the answer's end, so that the connection can be used again.

        An upstream that leaves it open behind the end mark is not waited for.
        """
        if not self._ended:
            with suppress(*FAULTS):
                while await asyncio.wait_for(self._content.readany(), DRAIN_TIMEOUT):
                    pass
