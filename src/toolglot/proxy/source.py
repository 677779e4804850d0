"""Source: the chunks of an upstream's answer, and how it ended.

Promises: everything that arrived is handed out, also what came right before the connection broke; then
``error`` says why, or is None after a proper end. Past ``most`` bytes the answer counts as broken off.
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
        self.error: str | None = None

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
        self._size += len(chunk)
        if self._size > self._config.max_response:
            self.error, self._ended = too_large("response", self._config.max_response).message, True
            return None
        if not chunk and not self._ended:
            self._ended = True
            return None if self._translation is None else self._translation.end()
        return chunk if self._translation is None else self._translation.feed(chunk)

    async def drain(self) -> None:
        """Read what follows the answer's end, so that the connection can be used again.

        An upstream that leaves it open behind the end mark is not waited for.
        """
        if not self._ended:
            with suppress(*FAULTS):
                while await asyncio.wait_for(self._content.readany(), DRAIN_TIMEOUT):
                    pass
