"""Forward: every other request, as it stands, with both bodies streamed.

Promises: method, path, query, headers, status and bodies are not touched, but for what names the
connection itself; compressed bodies stay compressed. A client that is gone closes the upstream.

Does not: upgrade a connection (WebSocket): such a request is answered with 501.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from aiohttp import web
from multidict import CIMultiDict

from .config import Config
from .failures import FAULTS, Failure, too_large, unreadable, upstream_failure
from .upstream import Upstream, passed_on


class _UnusableError(Exception):
    """The request's body cannot be sent on."""


class _Body:
    """A request's body, piece by piece; ``failure`` says why it stopped, also where aiohttp does not."""

    def __init__(self, request: web.Request, most: int) -> None:
        self._request = request
        self._most = most
        self.failure: Failure | None = None

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. Raises ``_UnusableError``."""
        size = 0
        try:
            async for piece in self._request.content.iter_any():
                size += len(piece)
                if size > self._most:
                    self.failure = too_large("request", self._most)
                    raise _UnusableError
                yield piece
        except web.RequestPayloadError as error:
            self.failure = unreadable()
            raise _UnusableError from error


async def forward(request: web.Request, config: Config, upstream: Upstream) -> web.StreamResponse:
    """Ask the upstream the same, and answer the same."""
    if "upgrade" in request.headers.get("Connection", "").lower():
        text = "the proxy does not pass WebSocket connections on: connect to the upstream"
        return Failure(501, "invalid_request_error", "not_supported", text).response()
    if (request.content_length or 0) > config.max_request:
        return too_large("request", config.max_request).response()
    body = _Body(request, config.max_request)
    try:
        answer = await upstream.session.request(
            request.method,
            upstream.url(request.rel_url.raw_path_qs),
            headers=CIMultiDict(passed_on(request.headers, "expect", *_unpacked(request))),
            data=body.pieces() if request.can_read_body else None,
            allow_redirects=False,
        )
    except (*FAULTS, _UnusableError) as error:
        return (body.failure or upstream_failure(error, config)).response()
    response = web.StreamResponse(
        status=answer.status, reason=answer.reason, headers=CIMultiDict(passed_on(answer.headers))
    )
    try:
        await response.prepare(request)
        while chunk := await answer.content.readany():
            await response.write(chunk)
        await response.write_eof()
    except FAULTS:
        # The status is out: only a connection that breaks can tell the client that the body did.
        if request.transport is not None:
            request.transport.close()
    finally:
        answer.release()
    return response


def _unpacked(request: web.Request) -> tuple[str, ...]:
    """A compressed request has been unpacked on its way in, and its headers no longer fit."""
    return ("content-encoding", "content-length") if "Content-Encoding" in request.headers else ()
