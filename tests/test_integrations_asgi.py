"""The middleware: chat completions are rewritten on their way through, and nothing else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.upstream import accumulate, body, frames, request, says
from toolglot import UnknownDialectError, WireError
from toolglot.integrations import asgi
from toolglot.integrations.asgi import ToolCallMiddleware, settings_from
from toolglot.wire import Settings

CALL = '<tool_call>{"name": "beep", "arguments": {}}</tool_call>'
PATH = "/v1/chat/completions"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("TOOLGLOT_DIALECT", "hermes")
    return monkeypatch


class Server:
    """An application that answers with what it is given, and notes what it was asked."""

    def __init__(
        self, data: bytes, kind: str = "text/event-stream", status: int = 200, headers: Any = None
    ) -> None:
        self._pieces = [data[i : i + 9] for i in range(0, len(data), 9)] or [b""]
        named = {"Content-Type": kind, "X-Own": "kept", **(headers or {})}
        self._headers = [(k.encode(), v.encode()) for k, v in named.items()]
        self._status = status
        self.asked = b""
        self.scope: Any = None
        self.after = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        message = await receive()
        while True:
            self.asked += message["body"]
            if not message.get("more_body"):
                break
            message = await receive()
        await send({"type": "http.response.start", "status": self._status, "headers": self._headers})
        for piece in self._pieces[:-1]:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        self.after = (await receive())["type"]
        await send({"type": "http.response.body", "body": self._pieces[-1]})


def serve(
    server: Server, asked: Any, path: str = PATH, method: str = "POST", pieces: int = 2
) -> tuple[int, dict[str, str], Sequence[bytes]]:
    """Status, headers and the pieces of the body that a client gets."""
    data = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    headers = [(b"content-length", b"%d" % len(data)), (b"accept-encoding", b"gzip"), (b"x-key", b"k")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    half = len(data) // pieces
    incoming = [
        {"type": "http.request", "body": data[:half], "more_body": True},
        {"type": "http.request", "body": data[half:], "more_body": False},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(ToolCallMiddleware(server)(scope, receive, send))
    start, *bodies = sent
    assert [m["type"] for m in bodies] == ["http.response.body"] * len(bodies)
    assert [bool(m.get("more_body")) for m in bodies] == [True] * (len(bodies) - 1) + [False]
    return (
        start["status"],
        {k.decode().lower(): v.decode() for k, v in start["headers"]},
        [m["body"] for m in bodies],
    )


def test_a_stream() -> None:
    server = Server(says("Hi", CALL), headers={"Content-Length": "7"})
    status, headers, pieces = serve(server, request())
    answer = accumulate(frames(b"".join(pieces)))
    assert (status, answer.content, answer.called, answer.reason) == (
        200,
        "Hi",
        [("beep", "{}")],
        "tool_calls",
    )
    assert len(pieces) > 3
    assert headers == {"content-type": "text/event-stream", "x-own": "kept"}
    assert server.after == "http.disconnect"


def test_a_whole_answer() -> None:
    status, headers, pieces = serve(
        Server(json.dumps(body(CALL)).encode(), "application/json"), request(stream=False)
    )
    assert status == 200
    assert json.loads(pieces[0])["choices"][0]["finish_reason"] == "tool_calls"
    assert headers == {
        "content-type": "application/json",
        "content-length": str(len(pieces[0])),
        "x-own": "kept",
    }


def test_the_request_that_the_server_sees() -> None:
    server = Server(says("Hi"))
    serve(server, request(messages=[{"role": "assistant", "content": "x", "reasoning": "Hm."}]))
    asked = json.loads(server.asked)
    assert asked["messages"] == [{"role": "assistant", "content": "x", "reasoning_content": "Hm."}]
    assert asked["skip_special_tokens"] is False
    headers = dict(server.scope["headers"])
    assert headers == {b"x-key": b"k", b"content-length": b"%d" % len(server.asked)}


@pytest.mark.parametrize(
    ("path", "method", "asked"),
    [("/v1/completions", "POST", request()), (PATH, "GET", request()), (PATH, "POST", b"no json, [1]")],
)
def test_other_requests_pass(path: str, method: str, asked: Any) -> None:
    server = Server(says(CALL))
    _, headers, pieces = serve(server, asked, path, method)
    assert b"".join(pieces) == says(CALL)
    assert headers["x-own"] == "kept"
    assert server.asked == (asked if isinstance(asked, bytes) else json.dumps(asked).encode())


def test_other_scopes_pass() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(ToolCallMiddleware(app)({"type": "lifespan"}, app, app))  # type: ignore[arg-type]  # never called
    assert seen == ["lifespan"]


def test_an_error_takes_openais_shape() -> None:
    status, _, pieces = serve(
        Server(b'{"object": "error", "message": "m"}', "application/json", 422), request()
    )
    assert status == 422
    assert json.loads(pieces[0])["error"]["message"] == "m"


def test_an_application_that_fails_in_the_middle() -> None:
    """What was held goes out, an error event says the rest, and the server still sees the failure."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        data = says("Hi <tool", reason=None, done=False)
        await send({"type": "http.response.body", "body": data, "more_body": True})
        raise LookupError

    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps(request()).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    with pytest.raises(LookupError):
        asyncio.run(
            ToolCallMiddleware(app)(
                {"type": "http", "method": "POST", "path": PATH, "headers": []}, receive, send
            )
        )
    assert sent[-1]["more_body"] is False
    found = frames(b"".join(message["body"] for message in sent[1:]))
    assert accumulate(found).content == "Hi <tool"
    assert found[-2]["error"]["message"] == "the server's answer broke off"


def test_an_error_with_a_good_status_gets_a_bad_one() -> None:
    status, _, pieces = serve(Server(b'{"error": "m"}', "application/json"), request(stream=False))
    assert (status, json.loads(pieces[0])["error"]["message"]) == (502, "m")


def test_a_compressed_answer_passes() -> None:
    _, headers, pieces = serve(Server(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), request())
    assert (b"".join(pieces), headers["content-encoding"]) == (b"\x1f\x8b", "gzip")


def test_a_server_that_does_not_stream() -> None:
    _, headers, pieces = serve(Server(json.dumps(body(CALL)).encode(), "application/json"), request())
    assert headers["content-type"] == "text/event-stream"
    assert accumulate(frames(pieces[0])).called == [("beep", "{}")]


def test_a_request_that_cannot_be_read_is_answered() -> None:
    status, _, pieces = serve(Server(b""), request(messages=4))
    assert status == 400
    assert json.loads(pieces[0])["error"]["param"] == "messages"


def test_limits(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TOOLGLOT_REQUEST_LIMIT", "50")
    status, _, pieces = serve(Server(b""), request())
    assert status == 413
    assert json.loads(pieces[0])["error"]["message"] == "the request is longer than 50 bytes"
    environment.delenv("TOOLGLOT_REQUEST_LIMIT")
    environment.setenv("TOOLGLOT_RESPONSE_LIMIT", "50")
    data = json.dumps(body(CALL)).encode()
    _, headers, pieces = serve(Server(data, "application/json"), request(stream=False))
    assert b"".join(pieces) == data
    assert headers["x-own"] == "kept"


def test_settings_of_the_environment() -> None:
    given = {
        "TOOLGLOT_DIALECT": "mistral",
        "TOOLGLOT_ON_CUT": "leave",
        "TOOLGLOT_REASONING_FIELD": "both",
        "TOOLGLOT_DIALECTS": "qwen*=hermes, *coder*=qwen3_coder",
        "TOOLGLOT_KEEP_SPECIAL": "0",
    }
    settings, dialects = settings_from(given)
    assert (settings.dialect, settings.on_cut, settings.reasoning_field) == ("mistral", "leave", "both")
    assert settings.keep_special is False
    assert dialects == {"qwen*": "hermes", "*coder*": "qwen3_coder"}
    assert settings_from({})[0].keep_special is True


def test_every_name_is_a_setting() -> None:
    assert set(asgi.ENVIRONMENT.values()) <= set(Settings.__dataclass_fields__)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("TOOLGLOT_DIALECT", "nope", UnknownDialectError),
        ("TOOLGLOT_ON_CUT", "close", WireError),
        ("TOOLGLOT_DIALECTS", "qwen", WireError),
        ("TOOLGLOT_REQUEST_LIMIT", "1k", WireError),
    ],
)
def test_an_environment_that_cannot_work(
    environment: pytest.MonkeyPatch, name: str, value: str, error: type[Exception]
) -> None:
    environment.setenv(name, value)
    with pytest.raises(error):
        ToolCallMiddleware(Server(b""))
