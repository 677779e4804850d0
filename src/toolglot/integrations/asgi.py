"""asgi: a middleware that reads tool calls out of a server's chat completions, in the server's process.

    vllm serve MODEL --middleware toolglot.integrations.asgi.ToolCallMiddleware

Promises: pure ASGI, so a stream goes through piece by piece; only POST requests to
``…/chat/completions`` are touched. Configured by the environment alone, which is read once, when the
middleware is made; ``ENVIRONMENT`` lists the names, and a value that cannot work raises there. A client
that is gone is the server's to notice, as without the middleware.

Does not send keep-alive comments: the server does that, and they are passed on.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

from ..errors import WireError
from ..wire import Exchange, Settings, decode_object, encode_object, error_body, error_status, openai_error
from .choosing import Dialects, checked, settings_for

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

PATH: Final = "/chat/completions"
ENVIRONMENT: Final[Mapping[str, str]] = {
    "TOOLGLOT_DIALECT": "dialect",
    "TOOLGLOT_ON_DEFECT": "on_defect",
    "TOOLGLOT_ON_CUT": "on_cut",
    "TOOLGLOT_REASONING_FIELD": "reasoning_field",
    "TOOLGLOT_UPSTREAM_REASONING_FIELD": "upstream_reasoning_field",
    "TOOLGLOT_FORCED_FINISH": "forced_finish",
    "TOOLGLOT_TOOLS_ABSENT": "tools_absent",
    "TOOLGLOT_PROMPT_TAIL": "prompt_tail",
}
"""Names in the environment and the setting that each stands for; their values are the settings' own.

Besides them ``TOOLGLOT_DIALECTS`` holds ``PATTERN=DIALECT`` pairs with commas between, for model ids;
``TOOLGLOT_KEEP_SPECIAL=0`` leaves special tokens out, ``TOOLGLOT_REQUEST_LIMIT`` is the longest request
in bytes (64 MiB), and ``TOOLGLOT_RESPONSE_LIMIT`` the longest answer that is not streamed (the same).
"""

_LIMIT: Final = 1 << 26
_REWRITTEN: Final = frozenset({b"content-length", b"content-encoding"})
_EVENTS: Final = b"text/event-stream"
_JSON: Final = b"application/json"


def settings_from(environment: Mapping[str, str]) -> tuple[Settings, Dialects]:
    """Settings and dialects by model id. Raises ``WireError`` or ``UnknownDialectError``."""
    given: dict[str, Any] = {
        field: environment[name] for name, field in ENVIRONMENT.items() if environment.get(name)
    }
    given["keep_special"] = environment.get("TOOLGLOT_KEEP_SPECIAL", "1") != "0"
    dialects: dict[str, str] = {}
    for pair in filter(None, (p.strip() for p in environment.get("TOOLGLOT_DIALECTS", "").split(","))):
        pattern, sign, dialect = pair.partition("=")
        if not (pattern and sign and dialect):
            raise WireError(f"TOOLGLOT_DIALECTS: expected PATTERN=DIALECT, got {pair!r}")
        dialects[pattern] = dialect
    return Settings(**given), checked(dialects)


def _limit(environment: Mapping[str, str], name: str) -> int:
    value = environment.get(name, "") or str(_LIMIT)
    if not value.isdecimal():
        raise WireError(f"{name}: expected a number of bytes, got {value!r}")
    return int(value)


class ToolCallMiddleware:
    """Wraps an ASGI application. Raises ``WireError`` or ``UnknownDialectError`` for the environment."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._settings, self._dialects = settings_from(os.environ)
        self._most_asked = _limit(os.environ, "TOOLGLOT_REQUEST_LIMIT")
        self._most_answered = _limit(os.environ, "TOOLGLOT_RESPONSE_LIMIT")

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection."""
        chat = scope["type"] == "http" and scope["method"] == "POST" and scope["path"].endswith(PATH)
        if not chat:
            await self._app(scope, receive, send)
            return
        body = await _body(receive, self._most_asked)
        if body is None:
            await _refuse(send, WireError(f"the request is longer than {self._most_asked} bytes", status=413))
            return
        request = decode_object(body)
        if request is None:
            await self._app(scope, _replayed(body, receive), send)
            return
        try:
            exchange = Exchange(request, settings_for(request.get("model"), self._settings, self._dialects))
        except WireError as error:
            await _refuse(send, error)
            return
        sent = encode_object(exchange.request)
        answer = _Answer(exchange, send, self._most_answered)
        try:
            await self._app(_rescoped(scope, len(sent)), _replayed(sent, receive), answer.send)
        finally:
            await answer.close()


class _Answer:
    """The ``send`` that the application gets: what it says, rewritten for the client."""

    def __init__(self, exchange: Exchange, send: Send, most: int) -> None:
        self._exchange = exchange
        self._send = send
        self._most = most
        self._start: Message = {}
        self._stream = exchange.stream()
        self._body: list[bytes] = []
        self._length = 0
        self._open = False
        self._how = self._pass

    async def send(self, message: Message) -> None:
        """Take one message of the application."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] == "http.response.body":
            await self._how(message)
        else:
            await self._send(message)

    async def close(self) -> None:
        """The application is through. A stream that it did not end broke off, and ends as such."""
        if self._open:
            data = self._stream.close("the server's answer broke off")
            # A client that is gone is told nothing, which some servers answer with an error.
            with suppress(OSError):
                await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def _begin(self, message: Message) -> None:
        headers = {name.lower(): value for name, value in message.get("headers", ())}
        kind = headers.get(b"content-type", b"").lower()
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            # Compressed by something inside of us: nothing that can be read here.
            await self._send(message)
        elif kind.startswith(_EVENTS) and message["status"] < 400:
            self._how, self._open = self._pipe, True
            kept = [(k, v) for k, v in message["headers"] if k.lower() not in _REWRITTEN]
            await self._send({**message, "headers": kept})
        elif kind.startswith(_JSON):
            self._how = self._gather
            self._start = message
        else:
            await self._send(message)

    async def _pass(self, message: Message) -> None:
        await self._send(message)

    async def _pipe(self, message: Message) -> None:
        data = self._stream.feed(message.get("body", b""))
        more = message.get("more_body", False)
        if not more:
            self._open = False
            data += self._stream.close()
        if data or not more:
            await self._send({**message, "body": data, "more_body": more})

    async def _gather(self, message: Message) -> None:
        self._body.append(message.get("body", b""))
        self._length += len(self._body[-1])
        body = b"".join(self._body) if not message.get("more_body") or self._length > self._most else None
        if body is None:
            return
        if message.get("more_body"):
            # Longer than may be held: it goes on as it is.
            self._how = self._pass
            await self._send(self._start)
            await self._send({**message, "body": body})
            return
        await self._send_whole(body)

    async def _send_whole(self, body: bytes) -> None:
        answer, status, kind = decode_object(body), self._start["status"], _JSON
        if status >= 400:
            body = encode_object(openai_error(answer if answer is not None else body, status))
        elif answer is not None and self._exchange.streamed:
            # A server that does not stream: the client gets the stream that it reads.
            body, kind = self._exchange.whole_as_stream(answer), _EVENTS
        elif answer is not None:
            made = self._exchange.whole(answer)
            body = encode_object(made)
            # An error with a good status would be read as an answer without choices.
            status = error_status(made) if self._exchange.report.failed else status
        dropped = {*_REWRITTEN, b"content-type"}
        headers = [(k, v) for k, v in self._start["headers"] if k.lower() not in dropped]
        headers += [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await self._send({**self._start, "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


async def _body(receive: Receive, most: int) -> bytes | None:
    """A request's body; None where it is longer than ``most`` bytes."""
    pieces: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        length += len(pieces[-1])
        if length > most:
            return None
        if message["type"] != "http.request" or not message.get("more_body", False):
            return b"".join(pieces)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives the body once, and then what really comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _rescoped(scope: MutableMapping[str, Any], length: int) -> MutableMapping[str, Any]:
    """The scope for the new body; the answer must not be compressed on its way here."""
    dropped = (*_REWRITTEN, b"accept-encoding", b"transfer-encoding")
    headers: Headers = [(k, v) for k, v in scope["headers"] if k.lower() not in dropped]
    return {**scope, "headers": [*headers, (b"content-length", str(length).encode())]}


async def _refuse(send: Send, error: WireError) -> None:
    body = encode_object(error_body(str(error), param=error.param))
    headers = [(b"content-type", _JSON), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
