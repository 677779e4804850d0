"""Live: a stream to one client, and who looks after all of them.

Promises: a client that is owed a word gets a comment, which every reader of server-sent events skips,
once nothing was sent for ``keep_alive`` seconds: because text is held, or because the upstream is silent.
An upstream that sent nothing for ``read_timeout`` seconds is given up, at most a quarter of that later. One
task serves all streams, so that a chunk costs no timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aiohttp import web

from .source import Source

COMMENT = b": keep-alive\n\n"


class Live:
    """One client's open stream."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self.busy = False
        """Whether a write waits for the client."""

    async def send(self, data: bytes) -> None:
        """Write whole frames; waits while the client does not read. Raises ``ConnectionError``."""
        self.busy = True
        await self._response.write(data)
        self.busy = False
        self._last = self._loop.time()

    def silent_for(self, now: float) -> float:
        """Seconds since something was sent; 0 while a write waits for the client."""
        return 0.0 if self.busy else now - self._last

    async def comment(self) -> None:
        """Send a comment. A client that is gone is for the stream's own writer to notice."""
        with suppress(ConnectionError, RuntimeError):
            await self.send(COMMENT)


class KeepAlive:
    """Sends comments to clients that hear nothing for ``seconds``; gives up upstreams silent for ``most``.

    ``run`` is its task.
    """

    def __init__(self, seconds: float, most: float) -> None:
        self._seconds = seconds
        self._most = most
        self._streams: dict[Live, Source] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._streams)

    @contextmanager
    def following(self, live: Live, source: Source) -> Iterator[None]:
        """Look after a stream while it is open."""
        self._streams[live] = source
        try:
            yield
        finally:
            del self._streams[live]

    async def run(self) -> None:
        """Look after the streams until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(self._seconds, self._most) / 4)
            now = loop.time()
            for live, source in list(self._streams.items()):
                if not live.busy and source.silent_for(now) >= self._most:
                    source.give_up()
                if live.silent_for(now) >= self._seconds:
                    # A task for each: one client that does not read must not hold up the others.
                    task = asyncio.create_task(live.comment())
                    self._writing.add(task)
                    task.add_done_callback(self._writing.discard)
