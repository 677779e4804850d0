"""Chat: one ``/v1/chat/completions`` request through ``wire``, whole or streamed.

Promises: what the client gets is ``wire``'s. A client that is gone closes the upstream at once; an upstream
that breaks off ends the client's stream with an error event, after everything that had come. Every
exchange fills its ``Record``, whichever way it ends.

The path of a chunk is kept short: read what there is, feed it, write what came of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from ..wire import AnswerStream, Exchange, decode_object, encode_object, error_status, openai_error
from . import llama
from .capture import Tape
from .config import Config
from .failures import FAULTS, Failure, not_json, too_large, upstream_failure
from .live import KeepAlive, Live
from .record import Record
from .source import Source, Translation
from .timing import Timing
from .unasked import WholeAsStream
from .upstream import Upstream, passed_on

STREAM_HEADERS = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-cache"),
    # nginx would else collect the chunks.
    ("X-Accel-Buffering", "no"),
)
# What is written anew with the body. Of a request also its own compression, and what an answer may have.
_REQUEST_OWN = ("content-length", "content-type", "content-encoding", "accept-encoding", "accept", "expect")
_RESPONSE_OWN = ("content-length", "content-type", "content-encoding", "cache-control", "x-accel-buffering")


class Chat:
    """Serves one chat request. ``prompt`` is what the upstream completes, where its chat is not used."""

    def __init__(
        self,
        config: Config,
        upstream: Upstream,
        keep_alive: KeepAlive,
        exchange: Exchange,
        record: Record,
        *,
        prompt: str | None = None,
        tape: Tape | None = None,
    ) -> None:
        self._config = config
        self._upstream = upstream
        self._keep_alive = keep_alive
        self._exchange = exchange
        self._record = record
        self._prompt = prompt
        self._tape = tape

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Ask the upstream, and answer. Faults of the upstream are answers, too."""
        # Made while the upstream thinks, so that its first chunk need not wait for it.
        stream = self._exchange.stream() if self._exchange.streamed else None
        try:
            async with self._asked(request) as answer:
                if answer.status >= 400:
                    return await self._error(answer)
                if stream is not None:
                    return await self._stream(request, answer, stream)
                return await self._whole(answer)
        except FAULTS as error:
            return self._fail(upstream_failure(error, self._config))

    @asynccontextmanager
    async def _asked(self, request: web.Request) -> AsyncIterator[aiohttp.ClientResponse]:
        """The upstream's answer. If it was not read to its end it is closed, so that the upstream stops."""
        path, body = chat_path(request), self._exchange.request
        if self._prompt is not None:
            kept = llama.preserved(self._record.choice.dialect)
            path, body = "/completion", llama.completion(body, self._prompt, kept)
        answer = await self._upstream.post(path, body, asked_with(request, self._exchange.streamed))
        try:
            yield answer
        finally:
            answer.release()

    async def _whole(self, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        data = await self._read(answer)
        if data is None:
            return self._fail(too_large("response", self._config.max_response))
        body = decode_object(data)
        if body is None:
            return self._fail(not_json())
        if self._prompt is not None:
            body = llama.whole(body, self._record.model)
        made = self._exchange.whole(body)
        out, status = encode_object(made), answer.status
        if self._tape is not None:
            self._tape.take(encode_object(body), out)
        if self._exchange.report.failed:
            # Some say an error with a good status, which a client would read as an answer without choices.
            status = error_status(made)
            self._record.outcome, self._record.status = "upstream_error", status
            self._record.error = self._exchange.report.failed
        return _json_response(answer, out, status)

    async def _stream(
        self, request: web.Request, answer: aiohttp.ClientResponse, stream: AnswerStream
    ) -> web.StreamResponse:
        headers = [*passed_on(answer.headers, *_RESPONSE_OWN), *STREAM_HEADERS]
        response = web.StreamResponse(status=answer.status, headers=CIMultiDict(headers))
        try:
            await response.prepare(request)
            live = Live(response)
            source = Source(answer, self._config, self._translation(answer))
            with self._keep_alive.following(live, source):
                await self._pump(source, stream, live)
            await response.write_eof()
            if self._record.outcome == "done" and not self._exchange.report.failed:
                await source.drain()
        except ConnectionError:
            self._record.client_left()
        return response

    async def _pump(self, source: Source, stream: AnswerStream, live: Live) -> None:
        """Every chunk of the upstream, until it ends or breaks off. Raises if the client is gone."""
        record = self._record
        timing = Timing(record, asyncio.get_running_loop().time)
        take = None if self._tape is None else self._tape.take
        try:
            while not stream.ended and (chunk := await source.next()) is not None:
                record.chunks += 1
                timing.received(chunk)
                out = stream.feed(chunk)
                if take is not None:
                    take(chunk, out)
                if out:
                    await live.send(out)
                timing.sent(out, stream.held)
        finally:
            # Also for a client that is gone: the report is complete only when the stream is closed.
            timing.ended()
            out = stream.close(source.error)
            if take is not None:
                take(b"", out)
            failed = source.error or self._exchange.report.failed
            if failed:
                record.outcome, record.error = "upstream_broke", failed
        if out:
            await live.send(out)
        record.sent = True

    def _translation(self, answer: aiohttp.ClientResponse) -> Translation | None:
        """What makes the upstream's bytes a chat stream, where they are none."""
        if self._prompt is not None:
            options = self._exchange.request.get("stream_options")
            usage = isinstance(options, dict) and options.get("include_usage") is True
            return llama.CompletionAsChat(self._record.model, usage)
        return WholeAsStream() if answer.content_type == "application/json" else None

    async def _error(self, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        """The upstream's error in OpenAI's shape, with its status."""
        data = await self._read(answer) or b""
        body = openai_error(data, answer.status)
        self._record.outcome, self._record.status = "upstream_error", answer.status
        return _json_response(answer, encode_object(body), answer.status)

    async def _read(self, answer: aiohttp.ClientResponse) -> bytes | None:
        """The whole body, or None where it is over the limit."""
        pieces, size = [], 0
        async for piece in answer.content.iter_any():
            size += len(piece)
            if size > self._config.max_response:
                return None
            pieces.append(piece)
        return b"".join(pieces)

    def _fail(self, failure: Failure) -> web.StreamResponse:
        self._record.outcome, self._record.status = "upstream_broke", failure.status
        self._record.error = failure.message
        return failure.response()


def chat_path(request: web.Request) -> str:
    """The upstream's path for a chat request, with the query; some clients leave ``/v1`` out."""
    path = request.rel_url.raw_path_qs
    return path if path.startswith("/v1/") else "/v1" + path


def asked_with(request: web.Request, streamed: bool) -> list[tuple[str, str]]:
    """The client's headers, its key among them, and those of the body that is written anew."""
    accept = "text/event-stream" if streamed else "application/json"
    return [
        *passed_on(request.headers, *_REQUEST_OWN),
        ("Accept", accept),
        ("Content-Type", "application/json"),
    ]


def _json_response(answer: aiohttp.ClientResponse, body: bytes, status: int) -> web.Response:
    headers = CIMultiDict(passed_on(answer.headers, *_RESPONSE_OWN))
    return web.Response(status=status, body=body, content_type="application/json", headers=headers)
