"""Serve: listens, and stops without cutting a stream.

Promises: on SIGTERM or SIGINT nothing new is taken, running answers finish within ``grace`` seconds, and a
second signal ends them at once. ``serve`` takes the process for its own: signals, and what is collected.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
from collections.abc import Callable

from aiohttp import web

from ..errors import ConfigError
from .app import Proxy
from .config import Config
from .logs import log


async def start(proxy: Proxy) -> tuple[web.AppRunner, int]:
    """Listen; the runner, whose ``cleanup`` stops it, and the port. Raises ``ConfigError``."""
    config = proxy.config
    runner = web.AppRunner(
        proxy.app(), handler_cancellation=True, shutdown_timeout=config.grace, access_log=None
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, config.host, config.port, backlog=1024).start()
    except OSError as error:
        await runner.cleanup()
        raise ConfigError(
            f"cannot listen on {config.host}:{config.port}: {error.strerror or error}; choose another --port"
        ) from error
    port: int = runner.addresses[0][1]
    log("listening", host=config.host, port=port, upstream=config.upstream)
    return runner, port


async def serve(config: Config, ready: Callable[[int], None] | None = None) -> None:
    """Run a proxy until a signal stops it; ``ready`` is told the port. Raises ``ConfigError``."""
    loop = asyncio.get_running_loop()
    once, twice = asyncio.Event(), asyncio.Event()

    def stop() -> None:
        (twice if once.is_set() else once).set()

    for name in ("SIGTERM", "SIGINT"):
        # Windows has no such handlers: there a signal ends the process as Python does.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(getattr(signal, name), stop)
    proxy = Proxy(config)
    runner, port = await start(proxy)
    # What is loaded now stays: each look through it for garbage would stop all streams for ten milliseconds.
    gc.collect()
    gc.freeze()
    if ready is not None:
        ready(port)
    await once.wait()
    for site in list(runner.sites):
        await site.stop()
    log("stopping", open_streams=len(proxy.keep_alive), grace=config.grace)
    cleaning, hurry = asyncio.create_task(runner.cleanup()), asyncio.create_task(twice.wait())
    await asyncio.wait({cleaning, hurry}, return_when=asyncio.FIRST_COMPLETED)
    for task in (cleaning, hurry):
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await cleaning
    log("stopped")
