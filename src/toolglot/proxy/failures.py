"""Failures: what the proxy itself answers when a request cannot be served, in OpenAI's error shape.

Promises: the message says what happened and what to do, and holds no key. Before the first byte a
failure is a status and a JSON body, after it an event of the stream.
"""

from __future__ import annotations

import asyncio
import json
from typing import NamedTuple

import aiohttp
from aiohttp import web

from ..wire import error_body
from .config import Config


class Failure(NamedTuple):
    """A failure: the HTTP status, OpenAI's ``type`` and ``code``, the message, the field at fault."""

    status: int
    kind: str
    code: str
    message: str
    param: str | None = None

    def response(self) -> web.Response:
        """The HTTP answer, in OpenAI's shape."""
        body = error_body(self.message, type=self.kind, param=self.param, code=self.code)
        return web.Response(
            status=self.status, body=json.dumps(body).encode(), content_type="application/json"
        )


FAULTS = (aiohttp.ClientError, asyncio.TimeoutError, ConnectionError)
"""What talking to an upstream may raise."""


def refused(message: str, status: int = 400, param: str | None = None) -> Failure:
    """The client's request cannot be used."""
    return Failure(status, "invalid_request_error", "invalid_request", message, param)


def unreadable() -> Failure:
    """The client's body does not fit what its headers say of it."""
    return refused("the request's body cannot be unpacked: its Content-Encoding does not fit")


def upstream_failure(error: BaseException, config: Config) -> Failure:
    """What went wrong with the upstream, as told to the client."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        seconds = f"{config.connect_timeout:g}"
        return Failure(
            504, "upstream_error", "upstream_timeout", f"no connection to the upstream in {seconds} s"
        )
    if isinstance(error, asyncio.TimeoutError):
        return Failure(
            504,
            "upstream_error",
            "upstream_timeout",
            f"the upstream sent nothing for {config.read_timeout:g} s (--read-timeout)",
        )
    if isinstance(error, aiohttp.ClientConnectorError):
        return Failure(502, "upstream_error", "upstream_unreachable", "the upstream cannot be reached")
    return Failure(502, "upstream_error", "upstream_broke", "the upstream closed the connection early")


def not_json() -> Failure:
    """The upstream answered with something else than a JSON object."""
    return Failure(502, "upstream_error", "upstream_not_json", "the upstream's answer is no JSON object")


def too_large(what: str, limit: int) -> Failure:
    """A body is over its limit, in bytes."""
    option = "--max-request" if what == "request" else "--max-response"
    status, kind = (413, "invalid_request_error") if what == "request" else (502, "upstream_error")
    return Failure(status, kind, f"{what}_too_large", f"the {what} is over {limit} bytes ({option})")
