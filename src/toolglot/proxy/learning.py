"""Learning: at the start and beside the requests, what the upstream is and which templates it offers.

Promises: no request waits for it. An upstream that was not there at the start is asked again when a
request comes, every few seconds at most; each model is asked about once.

Does not: decide (``choice``).
"""

from __future__ import annotations

import asyncio
from typing import Any

from . import template
from .choice import Choices
from .logs import log
from .upstream import Upstream

START_TIMEOUT = 15.0
"""Seconds that the start waits; what takes longer goes on while requests are served."""
AGAIN_AFTER = 5.0
MOST_MODELS = 32
"""Models whose templates are read: each reading costs seconds of a processor."""


class Learning:
    """Asks the upstream, and offers to the choices what its templates gave."""

    def __init__(self, upstream: Upstream, choices: Choices) -> None:
        self._upstream = upstream
        self._choices = choices
        self._asked: set[str] = set()
        self._running: set[asyncio.Task[None]] = set()
        self._next = 0.0

    async def start(self) -> None:
        """Ask for the first time, if anything is to be asked."""
        if self._upstream.asked:
            return
        task = self._spawn(self._ask())
        await asyncio.wait({task}, timeout=START_TIMEOUT)

    async def stop(self) -> None:
        """End what still runs."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def requested(self, model: str) -> None:
        """A request for this model came."""
        if not self._upstream.asked and asyncio.get_running_loop().time() >= self._next:
            self._spawn(self._ask())
        elif self._upstream.kind == "ollama" and self._wanted(model):
            self._spawn(self._show(model))

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        self._next = asyncio.get_running_loop().time() + AGAIN_AFTER
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _ask(self) -> None:
        props = await self._upstream.ask()
        if not self._upstream.asked:
            log("upstream_unreachable", retry="with the next request")
            return
        log("upstream", kind=self._upstream.kind)
        if self._upstream.kind == "llama-server":
            await self._derive("", template.of_props(props))
        elif self._upstream.kind == "ollama":
            for model in await self._upstream.models():
                if self._wanted(model):
                    await self._show(model)

    async def _show(self, model: str) -> None:
        self._asked.add(model)
        await self._derive(model, template.of_show(await self._upstream.show(model)))

    async def _derive(self, model: str, found: tuple[str, dict[str, str]] | None) -> None:
        """Read a template in a thread; ``model`` "" is every model of the server."""
        if found is None:
            return
        offered = await asyncio.to_thread(template.derive, *found)
        if offered.dialect is None:
            log("template", model=model, dialect=None, reason=offered.reason)
        else:
            self._choices.offer(model, offered.dialect, offered.reason)

    def _wanted(self, model: str) -> bool:
        return not (
            model in self._asked or len(self._asked) >= MOST_MODELS or self._choices.ruled(model) or not model
        )
