"""The transport for httpx and httpx2: what goes through, what is rewritten, and what a break looks like."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.upstream import accumulate, body, chunk, frames, request, says, sse
from toolglot import UnknownDialectError, WireError
from toolglot.integrations.httpx import ToolCallTransport
from toolglot.wire import Report, Settings

URL = "http://upstream.invalid/v1/chat/completions"
CALL = '<tool_call>{"name": "beep", "arguments": {}}</tool_call>'
NO_CLIENTS = "needs the clients extra: pip install -e '.[clients]'"


@pytest.fixture(params=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param, reason=NO_CLIENTS)


class Upstream:
    """An inner transport of either kind, which answers with what it is given and notes what it gets."""

    def __init__(
        self, library: Any, data: bytes | Iterator[bytes], kind: str, status: int = 200, headers: Any = None
    ):
        self._library = library
        self._data = data
        self._headers = {"content-type": kind, "x-own": "kept", **(headers or {})}
        self._status = status
        self.requests: list[Any] = []
        self.closed = 0

    def handle_request(self, asked: Any) -> Any:
        self.requests.append(asked)
        outer = self
        library: Any = self._library

        class Stream(library.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                yield from outer._pieces()

            def close(self) -> None:
                outer.closed += 1

        return self._library.Response(self._status, headers=self._headers, stream=Stream())

    async def handle_async_request(self, asked: Any) -> Any:
        self.requests.append(asked)
        outer = self
        library: Any = self._library

        class Stream(library.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                for piece in outer._pieces():
                    yield piece

            async def aclose(self) -> None:
                outer.closed += 1

        return self._library.Response(self._status, headers=self._headers, stream=Stream())

    def _pieces(self) -> Iterator[bytes]:
        if isinstance(self._data, bytes):
            yield from (self._data[i : i + 7] for i in range(0, len(self._data), 7))
        else:
            yield from self._data

    def close(self) -> None:
        self.closed += 100

    async def aclose(self) -> None:
        self.closed += 100


def post(library: Any, upstream: Upstream, asked: Any, url: str = URL, **options: Any) -> Any:
    """A sync client's answer, read whole."""
    transport = ToolCallTransport(upstream, **{"dialect": "hermes", **options})
    with library.Client(transport=transport) as client:
        return client.post(url, content=asked if isinstance(asked, bytes) else json.dumps(asked))


async def post_async(library: Any, upstream: Upstream, asked: Any) -> Any:
    async with library.AsyncClient(transport=ToolCallTransport(upstream, dialect="hermes")) as client:
        return await client.post(URL, json=asked)


def both(library: Any, make: Callable[[], Upstream], asked: Any) -> Iterator[tuple[Any, Upstream]]:
    """The answer to a sync and to an async client."""
    upstream = make()
    yield post(library, upstream, asked), upstream
    upstream = make()
    yield asyncio.run(post_async(library, upstream, asked)), upstream


def test_a_stream(library: Any) -> None:
    def make() -> Upstream:
        return Upstream(
            library, says("Hi", CALL), "text/event-stream; charset=utf-8", headers={"connection": "close"}
        )

    for response, upstream in both(library, make, request()):
        answer = accumulate(frames(response.content))
        assert (answer.content, answer.called, answer.reason) == ("Hi", [("beep", "{}")], "tool_calls")
        assert response.headers["x-own"] == "kept"
        assert upstream.closed >= 101


def test_a_whole_answer(library: Any) -> None:
    def make() -> Upstream:
        data = json.dumps(body("Hi" + CALL)).encode()
        return Upstream(library, data, "application/json", headers={"content-length": str(len(data))})

    for response, upstream in both(library, make, request(stream=False)):
        choice = response.json()["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("Hi", "tool_calls")
        assert int(response.headers["content-length"]) == len(response.content)
        assert upstream.closed >= 101


def test_compressed_answers(library: Any) -> None:
    for data, kind in (
        (says(CALL), "text/event-stream"),
        (json.dumps(body(CALL)).encode(), "application/json"),
    ):
        upstream = Upstream(library, gzip.compress(data), kind, headers={"content-encoding": "gzip"})
        response = post(library, upstream, request(stream=kind.startswith("text")))
        assert b'"tool_calls"' in response.content
        assert "content-encoding" not in response.headers


def test_the_request_goes_up_made_fit(library: Any) -> None:
    history = [{"role": "assistant", "content": "é", "reasoning": "Hm."}]
    settings = Settings(dialect="hermes", keep_special=True)
    upstream = Upstream(library, says("Hi"), "text/event-stream")
    post(library, upstream, request(messages=history), dialect=None, settings=settings)
    [sent] = upstream.requests
    asked = json.loads(sent.content)
    assert asked["messages"] == [{"role": "assistant", "content": "é", "reasoning_content": "Hm."}]
    assert asked["skip_special_tokens"] is False
    assert int(sent.headers["content-length"]) == len(sent.content)
    assert sent.headers["host"] == "upstream.invalid"


@pytest.mark.parametrize("url", [URL.replace("chat/completions", "completions"), URL + "/render"])
def test_other_requests_pass(library: Any, url: str) -> None:
    upstream = Upstream(library, says(CALL), "text/event-stream")
    assert post(library, upstream, request(), url).content == says(CALL)


def test_a_body_that_is_no_json_object_passes(library: Any) -> None:
    upstream = Upstream(library, says(CALL), "text/event-stream")
    assert post(library, upstream, b"[1]").content == says(CALL)
    assert upstream.requests[0].content == b"[1]"


def test_a_request_that_cannot_be_read_is_answered(library: Any) -> None:
    def make() -> Upstream:
        return Upstream(library, b"", "text/event-stream")

    for response, upstream in both(library, make, request(messages="hi")):
        assert response.status_code == 400
        assert response.json()["error"]["param"] == "messages"
        assert upstream.requests == []


@pytest.mark.parametrize("stream", [True, False])
def test_an_error_takes_openais_shape(library: Any, stream: bool) -> None:
    flat = json.dumps({"object": "error", "message": "m", "code": 400}).encode()
    response = post(library, Upstream(library, flat, "application/json", 400), request(stream=stream))
    assert response.status_code == 400
    assert response.json() == {
        "error": {"message": "m", "type": "invalid_request_error", "param": None, "code": 400}
    }


def test_an_error_with_a_good_status_gets_a_bad_one(library: Any) -> None:
    said = b'{"error": {"message": "m", "code": 429}}'
    response = post(library, Upstream(library, said, "application/json"), request(stream=False))
    assert (response.status_code, response.json()["error"]["message"]) == (429, "m")


def test_a_server_that_does_not_stream(library: Any) -> None:
    upstream = Upstream(library, json.dumps(body(CALL)).encode(), "application/json")
    response = post(library, upstream, request())
    assert response.headers["content-type"] == "text/event-stream"
    assert accumulate(frames(response.content)).called == [("beep", "{}")]


def test_an_answer_that_is_no_json_passes(library: Any) -> None:
    response = post(library, Upstream(library, b"<html>", "text/html"), request(stream=False))
    assert (response.status_code, response.content) == (200, b"<html>")


def test_a_connection_that_breaks(library: Any) -> None:
    def make() -> Upstream:
        def pieces() -> Iterator[bytes]:
            yield sse(chunk({"content": "Hi <tool"}), done=False)
            raise library.ReadError("reset")

        return Upstream(library, pieces(), "text/event-stream")

    for response, _ in both(library, make, request()):
        found = frames(response.content)
        assert accumulate(found).content == "Hi <tool"
        assert "ReadError: reset" in found[-2]["error"]["message"]


def test_a_client_that_leaves_closes_the_upstream(library: Any) -> None:
    reports: list[Report] = []
    upstream = Upstream(library, says("Hi", CALL), "text/event-stream")
    transport = ToolCallTransport(upstream, dialect="hermes", on_report=reports.append)
    client = library.Client(transport=transport)
    with client.stream("POST", URL, json=request()) as response:
        next(response.iter_raw())
    assert upstream.closed == 1
    assert [(r.ended, r.failed) for r in reports] == [(True, "the client closed the stream")]


def test_reports(library: Any) -> None:
    reports: list[Report] = []
    for data, kind in (
        (says(CALL), "text/event-stream"),
        (json.dumps(body(CALL)).encode(), "application/json"),
    ):
        asked = request(stream=kind.startswith("text"))
        post(library, Upstream(library, data, kind), asked, on_report=reports.append)
    assert [(r.calls_parsed, r.ended, r.streamed) for r in reports] == [(1, True, True), (1, True, False)]


@pytest.mark.parametrize(
    ("model", "options", "dialect"),
    [
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", {}, "qwen3_coder"),
        ("mine-7b", {"dialects": {"mine*": "mistral", "*": "hermes"}}, "mistral"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", {"dialect": "mistral"}, "mistral"),
        ("nobody-knows", {}, "auto"),
    ],
)
def test_the_dialect_is_chosen_by_the_model(
    library: Any, model: str, options: dict[str, Any], dialect: str
) -> None:
    reports: list[Report] = []
    upstream = Upstream(library, says("Hi"), "text/event-stream")
    post(library, upstream, request(model=model), **{"dialect": None, "on_report": reports.append, **options})
    assert reports[0].dialect == dialect


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"dialect": "hermes", "settings": Settings()}, WireError),
        ({"dialect": "nope"}, UnknownDialectError),
        ({"dialects": {"*": "nope"}}, UnknownDialectError),
    ],
)
def test_options_that_cannot_work(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ToolCallTransport(**options)


def test_the_librarys_own_transport_is_the_default(library: Any) -> None:
    with library.Client(transport=ToolCallTransport()) as client, pytest.raises(library.TransportError):
        client.post("http://127.0.0.1:1/v1/chat/completions", json=request())


def test_the_openai_sdk_sees_a_break_as_its_error() -> None:
    openai = pytest.importorskip("openai", reason=NO_CLIENTS)
    own = pytest.importorskip(openai.DefaultHttpxClient.__mro__[1].__module__.split(".")[0])
    upstream = Upstream(
        own, says("Hi", reason=None, done=False) + b'data: {"error": "boom"}\n\n', "text/event-stream"
    )
    http = own.Client(transport=ToolCallTransport(upstream, dialect="hermes"))
    client = openai.OpenAI(api_key="none", base_url="http://upstream.invalid/v1", http_client=http)
    asked = request()
    with pytest.raises(openai.APIError, match="boom"):
        list(client.chat.completions.create(**asked))
