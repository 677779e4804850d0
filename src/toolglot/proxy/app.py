"""App: the proxy's routes, and what all its requests share.

Promises: chat requests go through ``chat``, ``/status`` and ``/metrics`` are the proxy's own, the rest is
``forward``. Each chat request is counted, logged and, if wished, captured once, however it ended.

Does not: listen (``serve``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web

import toolglot

from ..errors import WireError
from ..wire import Exchange, Report, Settings, decode_object, openai_error
from . import llama, redact
from .capture import Capture, Tape, line_of
from .chat import Chat, asked_with
from .choice import Choice, Choices
from .config import Config
from .failures import FAULTS, not_json, refused, too_large, unreadable, upstream_failure
from .forward import forward
from .learning import Learning
from .live import KeepAlive
from .logs import log
from .metrics import CONTENT_TYPE, Metrics
from .record import Record, Tallies
from .spans import Spans
from .upstream import Upstream

# Upstreams whose clients send reasoning back under another name.
_REASONING_FIELDS = {"vllm": "reasoning", "ollama": "reasoning"}
_KEEP_SPECIAL = ("vllm", "sglang")

PROMPT_TAIL = 4_000
"""Characters of a prompt's end that a parser is given: its last turn begins there, if anywhere."""

MODEL = 200
"""Characters of a model's id that are kept for logs, metrics and the status page: clients choose it."""

ERROR = 200
"""Characters of an upstream's error message that are logged."""


class Proxy:
    """One proxy: its settings and all that its requests share."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.upstream = Upstream(config)
        self.choices = Choices(config.given, config.models)
        self.learning = Learning(self.upstream, self.choices)
        self.tallies = Tallies(time.monotonic, config.evidence)
        self.metrics = Metrics()
        self.keep_alive = KeepAlive(config.keep_alive, config.read_timeout)
        self._capture = (
            Capture(Path(config.capture), config.capture_all, config.capture_limit)
            if config.capture
            else None
        )
        self._spans = Spans(config) if config.otel else None
        self._settings = config.wire()
        self._told: dict[str, Choice] = {}
        self._started = time.time()

    def app(self) -> web.Application:
        """The application; it serves as long as it runs."""
        app = web.Application(client_max_size=self.config.max_request)
        app.cleanup_ctx.append(self._running)
        for path in ("/v1/chat/completions", "/chat/completions"):
            app.router.add_post(path, self._chat)
        app.router.add_get("/status", self._status)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_route("*", "/{path:.*}", self._forward)
        return app

    async def _running(self, app: web.Application) -> AsyncIterator[None]:
        await self.upstream.open()
        # The dialects' patterns are read once, before a request waits for them.
        await asyncio.to_thread(toolglot.dialect_for_model, "")
        await self.learning.start()
        comments = asyncio.create_task(self.keep_alive.run())
        yield
        comments.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await comments
        await self.learning.stop()
        await self.upstream.close()

    # -- chat -----------------------------------------------------------------------------------

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        try:
            body = decode_object(await request.read())
        except web.HTTPRequestEntityTooLarge:
            return too_large("request", self.config.max_request).response()
        except web.RequestPayloadError:
            return unreadable().response()
        if body is None:
            return refused("the request's body is no JSON object: send one").response()
        model = _model_of(body)
        self.learning.requested(model)
        choice = self._choice(model)
        settings = replace(
            self._settings,
            dialect=choice.dialect,
            prompt_tail=choice.prompt_tail or None,
            keep_special=self.upstream.kind in _KEEP_SPECIAL,
            upstream_reasoning_field=_REASONING_FIELDS.get(self.upstream.kind, "reasoning_content"),
        )
        try:
            exchange = Exchange(body, settings)
            if self.config.raw:
                llama.check(exchange.request)
        except WireError as error:
            self._unanswered(model, choice, str(error), error.status, "refused")
            return refused(str(error), error.status, error.param).response()
        prompt: str | None = None
        if self.config.raw:
            rendered = await self._prompt(request, exchange.request)
            if not isinstance(rendered, str):
                self._unanswered(
                    model, choice, "the prompt could not be had", rendered.status, "upstream_error"
                )
                return rendered
            prompt = rendered
            settings = replace(settings, prompt_tail=prompt[-PROMPT_TAIL:])
            exchange = Exchange(body, settings)
        return await self._exchange(request, body, exchange, settings, choice, prompt)

    async def _exchange(
        self,
        request: web.Request,
        body: dict[str, Any],
        exchange: Exchange,
        settings: Settings,
        choice: Choice,
        prompt: str | None,
    ) -> web.StreamResponse:
        record = Record(_model_of(body), choice, exchange.report, exchange.streamed)
        tape = Tape(self.config.capture_limit // 16) if self._capture is not None else None
        chat = Chat(self.config, self.upstream, self.keep_alive, exchange, record, prompt=prompt, tape=tape)
        started = time.monotonic()
        span = self._spans.start(request.headers, body) if self._spans is not None else None
        self.metrics.open.inc()
        try:
            return await chat.serve(request)
        except asyncio.CancelledError:
            record.client_left()
            raise
        finally:
            self.metrics.open.dec()
            record.seconds = time.monotonic() - started
            self._done(record)
            if span is not None:
                span.end(record)
            if self._capture is not None and tape is not None and self._capture.wants(record):
                self._keep(self._capture, line_of(record, body, settings, tape))

    async def _prompt(self, request: web.Request, body: dict[str, Any]) -> str | web.StreamResponse:
        """The prompt as llama-server's template writes it, or the answer that says why there is none."""
        try:
            answer = await self.upstream.post("/apply-template", body, asked_with(request, streamed=False))
            async with answer:
                data = await answer.read()
        except FAULTS as error:
            return upstream_failure(error, self.config).response()
        if answer.status >= 400:
            return web.json_response(openai_error(data, answer.status), status=answer.status)
        said = decode_object(data)
        if said is None or "prompt" not in said:
            return not_json().response()
        return str(said["prompt"])

    def _choice(self, model: str) -> Choice:
        choice = self.choices.of(model)
        label = self.tallies.label(model)
        if self._told.get(label) != choice:
            if len(self._told) < 1_000:
                self._told[label] = choice
            log("dialect", model=model, dialect=choice.slug, reason=choice.reason)
        return choice

    def _unanswered(self, model: str, choice: Choice, error: str, status: int, outcome: str) -> None:
        report = Report(model=model)
        self._done(Record(model, choice, report, False, status=status, outcome=outcome, error=error))

    def _done(self, record: Record) -> None:
        self.metrics.add(record, self.tallies.label(record.model))
        self.tallies.add(record)
        report = record.report
        log(
            "chat",
            logging.INFO if record.outcome in ("done", "client_gone") else logging.WARNING,
            model=record.model,
            dialect=report.dialect or record.choice.slug,
            outcome=record.outcome,
            status=record.status,
            streamed=record.streamed,
            chunks=record.chunks,
            seconds=round(record.seconds, 3),
            calls={"parsed": report.calls_parsed, "native": report.calls_native, "cut": report.calls_cut},
            defects=dict(report.defects),
            residue=len(report.residue),
            # An upstream's own words, which may hold a key, and may go on to quote a prompt.
            **({"error": redact.secrets(record.error)[:ERROR]} if record.error else {}),
        )

    def _keep(self, capture: Capture, line: str) -> None:
        def write() -> None:
            try:
                capture.write(line)
            except OSError as error:
                log("capture_failed", logging.ERROR, reason=error.strerror or str(error))

        asyncio.get_running_loop().run_in_executor(None, write)

    # -- the rest -------------------------------------------------------------------------------

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        response = await forward(request, self.config, self.upstream)
        self.metrics.forwarded(response.status)
        return response

    async def _status(self, request: web.Request) -> web.Response:
        config = self.config
        return web.json_response(
            {
                "toolglot": toolglot.__version__,
                "upstream": {
                    "url": config.upstream,
                    "kind": self.upstream.kind,
                },
                "raw": config.raw,
                "on_defect": config.on_defect,
                "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._started)),
                "open_streams": len(self.keep_alive),
                "dialects": {
                    model: {"dialect": choice.slug, "chosen_because": choice.reason}
                    for model, choice in sorted(self.choices.made().items())
                },
                "models": self.tallies.as_json(),
            }
        )

    async def _metrics(self, request: web.Request) -> web.Response:
        return web.Response(body=self.metrics.text(), headers={"Content-Type": CONTENT_TYPE})


def _model_of(body: dict[str, Any]) -> str:
    return str(body.get("model") or "")[:MODEL]
