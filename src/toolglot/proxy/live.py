"""Live: a stream to one client, and the comments that keep silent ones open.

Promises: a client that is owed a word gets a comment, which every reader of server-sent events skips,
once nothing was sent for ``keep_alive`` seconds: because text is held, or because the upstream is silent.
One task serves all streams, so that a chunk costs no timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aiohttp import web

COMMENT = b": keep-alive\n\n"


class Live:
    """One client's open stream."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._busy = False

    async def send(self, data: bytes) -> None:
        """Write whole frames; waits while the client does not read. Raises ``ConnectionError``."""
        self._busy = True
        await self._response.write(data)
        self._busy = False
        self._last = self._loop.time()

    def silent_for(self, now: float) -> float:
        """Seconds since something was sent; 0 while a write waits for the client."""
        return 0.0 if self._busy else now - self._last

    async def comment(self) -> None:
        """Send a comment. A client that is gone is for the stream's own writer to notice."""
        with suppress(ConnectionError, RuntimeError):
            await self.send(COMMENT)


class KeepAlive:
    """Sends comments to the streams that are silent. ``run`` is its task."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._streams: set[Live] = set()
        self._writing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._streams)

    @contextmanager
    def following(self, live: Live) -> Iterator[None]:
        """Look after a stream while it is open."""
        self._streams.add(live)
        try:
            yield
        finally:
            self._streams.discard(live)

    async def run(self) -> None:
        """Look after the streams until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._seconds / 4)
            now = loop.time()
            for live in list(self._streams):
                if live.silent_for(now) >= self._seconds:
                    # A task for each: one client that does not read must not hold up the others.
                    task = asyncio.create_task(live.comment())
                    self._writing.add(task)
                    task.add_done_callback(self._writing.discard)
