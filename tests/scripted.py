"""A scripted upstream: a real HTTP server that answers as an OpenAI-compatible engine without parsers does.

What it answers hangs on the request's model: ``answers`` has a text for each, which goes out whole, or in
token-sized deltas where a stream is asked for; ``faults`` has a coroutine that does as it likes. Where
``by_request`` has the first message's content, that decides. What was asked is kept in ``requests``, and
``open`` counts the requests that are running, to see what is left.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.delivery import tokens
from toolglot.proxy.app import Proxy
from toolglot.proxy.config import Config, ModelRule
from toolglot.proxy.serve import start

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}

Fault = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Answer:
    """What a model says. ``markers`` stay whole where the text is cut into tokens."""

    text: str
    finish: str | None = "stop"
    markers: Sequence[str] = ()
    reasoning: str = ""
    tool_calls: Sequence[dict[str, Any]] = ()


@dataclass
class Script:
    """The scripted upstream's answers, and what it saw."""

    answers: dict[str, Answer] = field(default_factory=dict)
    by_request: dict[str, Answer] = field(default_factory=dict)
    faults: dict[str, Fault] = field(default_factory=dict)
    routes: dict[str, Any] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open: int = 0
    gone: int = 0

    def app(self) -> web.Application:
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_route("*", "/{path:.*}", self._other)
        return app

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.open += 1
        try:
            if body["model"] in self.faults:
                return await self.faults[body["model"]](request, body)
            asked = json.dumps(body["messages"][0]["content"]) if self.by_request else ""
            answer = self.by_request.get(asked) or self.answers[body["model"]]
            return await _answer(request, body, answer)
        except asyncio.CancelledError:
            self.gone += 1
            raise
        finally:
            self.open -= 1

    async def _other(self, request: web.Request) -> web.StreamResponse:
        """JSON by path; without one, what was asked comes back."""
        path = request.path
        if path in self.routes:
            found: Any = self.routes[path]
            if isinstance(found, dict):
                return web.json_response(found)
            answered: web.StreamResponse = await found(request)
            return answered
        if path != "/echo":
            return web.json_response({"error": {"message": "no such path"}}, status=404)
        response = web.StreamResponse(headers={"X-Method": request.method, "X-Query": request.query_string})
        if "Content-Encoding" in request.headers:
            response.headers["X-Encoding"] = request.headers["Content-Encoding"]
        await response.prepare(request)
        async for piece in request.content.iter_any():
            await response.write(piece)
        return response


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    """One frame of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    return b"data: " + json.dumps({**body, **more}, ensure_ascii=False).encode() + b"\n\n"


def frames(answer: Answer, usage: bool = False) -> list[bytes]:
    """A whole stream, a frame for each token."""
    out = [chunk({"role": "assistant", "content": ""})]
    out += [chunk({"reasoning_content": piece}) for piece in tokens(answer.reasoning)]
    out += [chunk({"content": piece}) for piece in tokens(answer.text, answer.markers)]
    for index, call in enumerate(answer.tool_calls):
        out.append(chunk({"tool_calls": [{"index": index, **call}]}))
    if answer.finish is not None:
        out.append(chunk({}, answer.finish))
    if usage:
        out.append(
            chunk({}).replace(
                b'"choices": [{"index": 0, "delta": {}, "finish_reason": null}]', b'"choices": []'
            )
        )
        out[-1] = out[-1][:-3] + b', "usage": ' + json.dumps(USAGE).encode() + b"}\n\n"
    return [*out, DONE]


def pieces(data: bytes, most: int = 4) -> list[bytes]:
    """The bytes in a few writes, cut where no frame ends, and inside of a character where one is there.

    A write for each frame would only cost time: what a reader gets at once is up to the network anyhow.
    """
    size = max(1, len(data) // most + 1)
    return [data[start : start + size] for start in range(0, len(data), size)]


async def sse(request: web.Request) -> web.StreamResponse:
    """A prepared event stream."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Request-Id": "r1"})
    await response.prepare(request)
    return response


async def _answer(request: web.Request, body: dict[str, Any], answer: Answer) -> web.StreamResponse:
    if body.get("stream"):
        response = await sse(request)
        usage = bool((body.get("stream_options") or {}).get("include_usage"))
        for piece in pieces(b"".join(frames(answer, usage))):
            await response.write(piece)
        return response
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.tool_calls:
        message["tool_calls"] = list(answer.tool_calls)
    choice = {"index": 0, "message": message, "finish_reason": answer.finish}
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
    return web.json_response({**whole, "choices": [choice], "usage": USAGE})


# -- running -----------------------------------------------------------------------------------------


async def listen(app: web.Application) -> tuple[web.AppRunner, str]:
    """Serve an application on a free port; its runner and its URL."""
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


def config(upstream: str, dialects: Mapping[str, str | ModelRule] | None = None, **settings: Any) -> Config:
    """Settings for a test: a free port, and a dialect for each model by its exact id."""
    rules = tuple(
        ModelRule(model, rule) if isinstance(rule, str) else rule for model, rule in (dialects or {}).items()
    )
    values: dict[str, Any] = {"port": 0, "server": "other", "given": rules, "grace": 5.0, **settings}
    return Config(upstream=upstream, **values)


class Running:
    """A scripted upstream and a proxy before it, on a thread with a loop of its own, for blocking clients."""

    def __init__(self, script: Script, **settings: Any) -> None:
        self.script = script
        self.upstream = self.proxy = ""
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))

    async def _run(self) -> None:
        upstream, self.upstream = await listen(self.script.app())
        self.served = Proxy(config(self.upstream, **self._settings))
        proxy, port = await start(self.served)
        self.proxy = f"http://127.0.0.1:{port}"
        self._ready.set()
        await self._stop.wait()
        await proxy.cleanup()
        await upstream.cleanup()

    def start(self) -> Running:
        self._thread.start()
        self._ready.wait(10)
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()


@contextmanager
def running(script: Script, **settings: Any) -> Iterator[Running]:
    """Both servers while the block runs."""
    both = Running(script, **settings).start()
    try:
        yield both
    finally:
        both.stop()
