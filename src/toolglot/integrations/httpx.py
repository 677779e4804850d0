"""httpx: a transport that reads tool calls for any client that is built on httpx or httpx2.

    OpenAI(http_client=httpx2.Client(transport=ToolCallTransport()))

Promises: one class for both libraries and for sync and async; neither is imported before a request comes,
and the request says which. Chat completions go through ``wire``; every other request passes untouched. A
stream is closed upstream as soon as the client closes it.

Does not retry, keep time or pool connections: the inner transport does what it always did.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..errors import WireError
from ..parser import Named
from ..wire import (
    AnswerStream,
    Exchange,
    Report,
    Settings,
    decode_object,
    encode_object,
    error_body,
    error_status,
    openai_error,
)
from .choosing import Dialects, checked, settings_for

if TYPE_CHECKING:
    _Transport = Any
else:
    _Transport = object

PATH: Final = "/chat/completions"
_REWRITTEN: Final = frozenset({"content-length", "content-encoding", "transfer-encoding"})
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"


class ToolCallTransport(_Transport):
    """A transport for ``httpx.Client``, ``httpx.AsyncClient`` and their httpx2 twins.

    ``inner``: the transport that talks to the server; by default the library's own. ``settings``: how
    answers are read and written; ``dialect`` is short for the one of them. ``dialects``: patterns of model
    ids and their dialects. ``on_report`` is called with each exchange's ``Report`` when its answer ended.

    Raises ``WireError``, ``UnknownDialectError`` or ``DialectError`` for what cannot be read.
    """

    def __init__(
        self,
        inner: Any = None,
        *,
        dialect: Named | None = None,
        dialects: Dialects | None = None,
        settings: Settings | None = None,
        on_report: Callable[[Report], None] | None = None,
    ) -> None:
        if dialect is not None and settings is not None:
            raise WireError("give dialect or settings, not both: settings have a dialect", param="dialect")
        self._settings = settings or (Settings() if dialect is None else Settings(dialect=dialect))
        self._dialects = checked(dialects)
        self._inner = inner
        self._on_report = on_report

    # -- sync -------------------------------------------------------------------------------------

    def handle_request(self, request: Any) -> Any:
        """Send one request of a sync client."""
        library = _library(request)
        if self._inner is None:
            self._inner = library.HTTPTransport()
        if not _is_chat(request):
            return self._inner.handle_request(request)
        exchange = self._exchange(request.read())
        if isinstance(exchange, WireError):
            return _refused(library, exchange)
        if exchange is None:
            return self._inner.handle_request(request)
        response = self._inner.handle_request(_sent(library, request, exchange))
        if exchange.streamed and _is_stream(response):
            stream = _streams(library)[0](response, self._answer(exchange))
            return _streamed(library, response, stream)
        body = b"".join(response.iter_bytes())
        response.close()
        return self._whole(library, response, exchange, body)

    def close(self) -> None:
        """Close the inner transport."""
        if self._inner is not None:
            self._inner.close()

    def __enter__(self) -> ToolCallTransport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- async ------------------------------------------------------------------------------------

    async def handle_async_request(self, request: Any) -> Any:
        """Send one request of an async client."""
        library = _library(request)
        if self._inner is None:
            self._inner = library.AsyncHTTPTransport()
        if not _is_chat(request):
            return await self._inner.handle_async_request(request)
        exchange = self._exchange(await request.aread())
        if isinstance(exchange, WireError):
            return _refused(library, exchange)
        if exchange is None:
            return await self._inner.handle_async_request(request)
        response = await self._inner.handle_async_request(_sent(library, request, exchange))
        if exchange.streamed and _is_stream(response):
            stream = _streams(library)[1](response, self._answer(exchange))
            return _streamed(library, response, stream)
        body = b"".join([piece async for piece in response.aiter_bytes()])
        await response.aclose()
        return self._whole(library, response, exchange, body)

    async def aclose(self) -> None:
        """Close the inner transport of an async client."""
        if self._inner is not None:
            await self._inner.aclose()

    async def __aenter__(self) -> ToolCallTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # -- both -------------------------------------------------------------------------------------

    def _exchange(self, body: bytes) -> Exchange | WireError | None:
        """The exchange that a request's body begins; None where it is none that we read."""
        request = decode_object(body)
        if request is None:
            return None
        try:
            return Exchange(request, settings_for(request.get("model"), self._settings, self._dialects))
        except WireError as error:
            return error

    def _answer(self, exchange: Exchange) -> _Answer:
        return _Answer(exchange, self._on_report)

    def _whole(self, library: Any, response: Any, exchange: Exchange, body: bytes) -> Any:
        answer = decode_object(body)
        headers = _headers(response)
        if response.status_code >= 400:
            error = openai_error(answer if answer is not None else body, response.status_code)
            return _json(library, response, response.status_code, error, headers)
        if answer is None:
            return library.Response(response.status_code, headers=headers, content=body)
        if exchange.streamed:
            # A server that does not stream: the client gets the stream that it reads.
            data = exchange.whole_as_stream(answer)
            self._tell(exchange)
            kept = [(k, v) for k, v in headers if k.lower() != "content-type"]
            return library.Response(
                response.status_code, headers=[*kept, ("content-type", _EVENTS)], content=data
            )
        made = exchange.whole(answer)
        self._tell(exchange)
        # Some say an error with a good status, which a client would read as an answer without choices.
        status = error_status(made) if exchange.report.failed else response.status_code
        return _json(library, response, status, made, headers)

    def _tell(self, exchange: Exchange) -> None:
        if self._on_report is not None:
            self._on_report(exchange.report)


class _Answer:
    """An answer's stream, which reports once when it is over, however it ends."""

    def __init__(self, exchange: Exchange, on_report: Callable[[Report], None] | None) -> None:
        self._stream: AnswerStream = exchange.stream()
        self._report = exchange.report
        self._on_report = on_report
        self.over = False

    def feed(self, data: bytes) -> bytes:
        return self._stream.feed(data)

    def close(self, error: str | None) -> bytes:
        if self.over:
            return b""
        self.over = True
        data = self._stream.close(error)
        if self._on_report is not None:
            self._on_report(self._report)
        return data


def _library(request: Any) -> Any:
    """The library that a request belongs to."""
    return importlib.import_module(type(request).__module__.split(".")[0])


@lru_cache(maxsize=2)
def _streams(library: Any) -> tuple[Any, Any]:
    """The byte streams, sync and async, of one library."""

    class Stream(library.SyncByteStream):
        """The client's stream of a sync answer."""

        def __init__(self, response: Any, answer: _Answer) -> None:
            self._response = response
            self._answer = answer

        def __iter__(self) -> Iterator[bytes]:
            error: str | None = None
            try:
                for piece in self._response.iter_bytes():
                    data = self._answer.feed(piece)
                    if data:
                        yield data
            except library.TransportError as broken:
                error = _broken(broken)
            yield self._answer.close(error)

        def close(self) -> None:
            self._response.close()
            self._answer.close(_LEFT)

    class AsyncStream(library.AsyncByteStream):
        """The client's stream of an async answer."""

        def __init__(self, response: Any, answer: _Answer) -> None:
            self._response = response
            self._answer = answer

        async def __aiter__(self) -> AsyncIterator[bytes]:
            error: str | None = None
            try:
                async for piece in self._response.aiter_bytes():
                    data = self._answer.feed(piece)
                    if data:
                        yield data
            except library.TransportError as broken:
                error = _broken(broken)
            yield self._answer.close(error)

        async def aclose(self) -> None:
            await self._response.aclose()
            self._answer.close(_LEFT)

    return Stream, AsyncStream


_LEFT: Final = "the client closed the stream"


def _broken(error: Exception) -> str:
    return f"the connection to the upstream broke off: {type(error).__name__}: {error}"


def _is_chat(request: Any) -> bool:
    return bool(request.method == "POST" and request.url.path.endswith(PATH))


def _is_stream(response: Any) -> bool:
    kind = str(response.headers.get("content-type", ""))
    return response.status_code < 400 and kind.lower().startswith(_EVENTS)


def _sent(library: Any, request: Any, exchange: Exchange) -> Any:
    """The request as it goes up: the body made fit, everything else as it was."""
    headers = [(k, v) for k, v in request.headers.multi_items() if k.lower() not in _REWRITTEN]
    body = encode_object(exchange.request)
    return library.Request(
        request.method, request.url, headers=headers, content=body, extensions=request.extensions
    )


def _headers(response: Any) -> list[tuple[str, str]]:
    return [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _REWRITTEN]


def _streamed(library: Any, response: Any, stream: Any) -> Any:
    return library.Response(
        response.status_code, headers=_headers(response), stream=stream, extensions=response.extensions
    )


def _json(
    library: Any, response: Any, status: int, body: Mapping[str, Any], headers: list[tuple[str, str]]
) -> Any:
    kept = [(k, v) for k, v in headers if k.lower() != "content-type"]
    data = encode_object(body)
    extensions = {k: v for k, v in response.extensions.items() if k != "network_stream"}
    return library.Response(
        status, headers=[*kept, ("content-type", _JSON)], content=data, extensions=extensions
    )


def _refused(library: Any, error: WireError) -> Any:
    body = encode_object(error_body(str(error), param=error.param))
    return library.Response(error.status, headers=[("content-type", _JSON)], content=body)
