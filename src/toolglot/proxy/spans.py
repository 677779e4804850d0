"""Spans: OpenTelemetry, following its conventions for generative AI. Needs the extra ``otel``.

Promises: one span for each chat request, under the caller's trace where the request names one. No prompt
and no answer is in it.

Where the process has a tracer provider already, that is used; else one that exports by OTLP over HTTP,
which the standard ``OTEL_…`` variables of the environment configure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import propagate, trace

from .config import Config
from .record import Record

_ASKED = ("max_tokens", "temperature", "top_p", "seed", "frequency_penalty", "presence_penalty")


class Span:
    """The span of one request."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def end(self, record: Record) -> None:
        """The exchange is over."""
        report = record.report
        attributes: dict[str, Any] = {
            "gen_ai.response.model": report.model or record.model,
            "gen_ai.response.finish_reasons": [reason for _, reason in sorted(report.finish_reasons.items())],
            "http.response.status_code": record.status,
            "toolglot.dialect": report.dialect or record.choice.slug,
            "toolglot.calls.parsed": report.calls_parsed,
            "toolglot.calls.native": report.calls_native,
            "toolglot.calls.cut": report.calls_cut,
            "toolglot.defects": sum(report.defects.values()),
            "toolglot.residue": len(report.residue),
        }
        if record.outcome != "done":
            attributes["error.type"] = record.outcome
            if record.outcome != "client_gone":
                self._span.set_status(trace.StatusCode.ERROR, record.error)
        self._span.set_attributes(attributes)
        self._span.end()


class Spans:
    """Starts spans."""

    def __init__(self, config: Config) -> None:
        parts = urlsplit(config.upstream)
        self._shared: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai" if config.server == "auto" else config.server,
            "server.address": parts.hostname or "",
            "server.port": parts.port or (443 if parts.scheme == "https" else 80),
        }
        _provide()
        self._tracer = trace.get_tracer("toolglot")

    def start(self, headers: Mapping[str, str], request: Mapping[str, Any]) -> Span:
        """A chat request came."""
        model = str(request.get("model") or "")
        attributes = {**self._shared, "gen_ai.request.model": model}
        for name in _ASKED:
            value = request.get(name)
            if isinstance(value, (int, float)):
                attributes[f"gen_ai.request.{name}"] = value
        parent = propagate.extract({name.lower(): value for name, value in headers.items()})
        return Span(
            self._tracer.start_span(
                f"chat {model}".rstrip(), parent, kind=trace.SpanKind.CLIENT, attributes=attributes
            )
        )


def _provide() -> None:
    """Make a tracer provider, unless the process has one."""
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "toolglot"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
