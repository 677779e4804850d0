"""What the client sees when something breaks, and that nothing is lost and nothing is left open.

No test waits for a real timeout: they are set to fractions of a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.places import ROOT
from tests.scripted import DONE, Answer, Script, chunk, config, listen, sse
from toolglot.proxy import summary
from toolglot.proxy.app import Proxy
from toolglot.proxy.serve import start

PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
CALL = '<tool_call>{"name": "ping", "arguments": {"n": 1}}</tool_call>'


class Both:
    """A scripted upstream, a proxy before it and a client."""

    def __init__(self, script: Script, proxy: Proxy, url: str, session: aiohttp.ClientSession) -> None:
        self.script = script
        self.proxy = proxy
        self.url = url
        self.session = session

    def ask(self, model: str = "m", stream: bool = True, **fields: Any) -> Any:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": "go"}],
            "tools": [PING],
            "stream": stream,
        }
        return self.session.post(self.url + "/v1/chat/completions", json={**body, **fields})

    async def read(self, model: str = "m", **fields: Any) -> bytes:
        async with self.ask(model, **fields) as answer:
            assert answer.status == 200
            return bytes(await answer.read())

    async def settled(self) -> None:
        """Wait until both servers have noticed that a connection is gone: turns of the loop, not seconds."""
        for _ in range(500):
            # A handler counts as open until it has also read what follows the upstream's end mark.
            done = b"toolglot_open_streams 0.0" in self.proxy.metrics.text()
            if done and not self.script.open and not len(self.proxy.keep_alive):
                return
            await asyncio.sleep(0.002)
        raise AssertionError(f"open: {self.script.open} upstream, {len(self.proxy.keep_alive)} streams")

    def outcomes(self) -> dict[str, int]:
        tally = self.proxy.tallies.as_json().get("m")
        return {} if tally is None else tally["outcomes"]


@asynccontextmanager
async def both(script: Script, **settings: Any) -> AsyncIterator[Both]:
    upstream, url = await listen(script.app())
    proxy = Proxy(config(url, {"m": "hermes"}, **settings))
    runner, port = await start(proxy)
    try:
        async with aiohttp.ClientSession(read_bufsize=2**20) as session:
            yield Both(script, proxy, f"http://127.0.0.1:{port}", session)
    finally:
        await runner.cleanup()
        await upstream.cleanup()


class BrokenOffError(Exception):
    """The upstream's connection is to be closed in the middle of a body."""


def faulty(fault: Callable[[web.StreamResponse], Awaitable[None]]) -> Script:
    """An upstream whose stream ends by a fault."""

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await sse(request)
        try:
            await fault(response)
        except BrokenOffError:
            assert request.transport is not None
            request.transport.close()
        return response

    return Script(faults={"m": answer})


async def broken_off(response: web.StreamResponse) -> None:
    """Close the connection without an end of the body."""
    await response.drain()
    raise BrokenOffError


def events(data: bytes) -> list[Any]:
    """The events of a stream; all of them are JSON but for the end mark."""
    lines = [line.removeprefix(b"data: ") for line in data.split(b"\n\n") if line.startswith(b"data: ")]
    return [line.decode() if line == b"[DONE]" else json.loads(line) for line in lines]


# -- the upstream breaks -----------------------------------------------------------------------------


def test_upstream_closes_in_mid_stream() -> None:
    async def fault(response: web.StreamResponse) -> None:
        await response.write(chunk({"content": "Wait. "}) + chunk({"content": CALL[:-14]}))
        await broken_off(response)

    async def run() -> None:
        async with both(faulty(fault)) as b:
            got = events(await b.read())
            assert got[-2]["error"] == {
                "message": "the upstream closed the connection early",
                "type": "upstream_error",
                "param": None,
                "code": None,
            }
            assert got[-1] == "[DONE]"
            said = summary.of_stream(b"".join(b"data: " + json.dumps(e).encode() + b"\n\n" for e in got[:-2]))
            assert said[0]["content"] == "Wait."
            assert said[0]["tool_calls"][0]["name"] == "ping"
            with pytest.raises(json.JSONDecodeError):
                json.loads(said[0]["tool_calls"][0]["arguments"])
            assert b.outcomes() == {"upstream_broke": 1}
            await b.settled()

    asyncio.run(run())


def test_upstream_closes_without_a_finish_but_properly() -> None:
    async def fault(response: web.StreamResponse) -> None:
        await response.write(chunk({"content": CALL}))

    async def run() -> None:
        async with both(faulty(fault)) as b:
            data = await b.read()
            assert summary.of_stream(data)[0]["finish_reason"] == "tool_calls"
            assert data.endswith(DONE)

    asyncio.run(run())


def test_malformed_event() -> None:
    async def fault(response: web.StreamResponse) -> None:
        await response.write(
            chunk({"content": "one"}) + b'data: {"choices": [{"del\n\n' + chunk({"content": "two"})
        )

    async def run() -> None:
        async with both(faulty(fault)) as b:
            got = events(await b.read())
            assert got[-2]["error"]["message"] == "the upstream sent an event that is not JSON"
            assert [e["choices"][0]["delta"].get("content") for e in got[:-2]] == ["", "one"]
            await b.settled()

    asyncio.run(run())


def test_half_a_character() -> None:
    """A character that comes in two chunks is whole; one that the end cut is a replacement character."""

    async def fault(response: web.StreamResponse) -> None:
        data = chunk({"content": "Grüße"})
        at = data.index("ü".encode()) + 1
        await response.write(data[:at])
        await asyncio.sleep(0.01)
        await response.write(data[at:] + chunk({"content": "日"})[:-7])
        await broken_off(response)

    async def run() -> None:
        async with both(faulty(fault)) as b:
            got = events(await b.read())
            assert got[1]["choices"][0]["delta"]["content"] == "Grüße"
            assert "error" in got[-2]
            await b.settled()

    asyncio.run(run())


@pytest.mark.parametrize("stream", [True, False])
def test_error_status_in_openai_shape(stream: bool) -> None:
    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        flat = {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400}
        return web.json_response(flat, status=400, headers={"Retry-After": "7", "X-Request-Id": "r9"})

    async def run() -> None:
        async with both(Script(faults={"m": answer})) as b, b.ask(stream=stream) as got:
            assert got.status == 400
            assert (got.headers["Retry-After"], got.headers["X-Request-Id"]) == ("7", "r9")
            error = {"message": "too long", "type": "BadRequestError", "param": None, "code": 400}
            assert await got.json() == {"error": error}
            assert b.outcomes() == {"upstream_error": 1}

    asyncio.run(run())


def test_500_after_100_chunks() -> None:
    """An engine that fails in mid-stream can only say so in an event."""

    async def fault(response: web.StreamResponse) -> None:
        for number in range(100):
            await response.write(chunk({"content": f"{number} "}))
        await response.write(
            b'data: {"error": {"code": 500, "message": "out of memory", "type": "server_error"}}\n\n'
        )
        await response.write(chunk({"content": "never"}))

    async def run() -> None:
        async with both(faulty(fault)) as b:
            got = events(await b.read())
            text = "".join(e["choices"][0]["delta"].get("content", "") for e in got[:-2])
            assert text == "".join(f"{number} " for number in range(100))
            assert got[-2]["error"]["message"] == "out of memory"
            assert got[-1] == "[DONE]"
            await b.settled()

    asyncio.run(run())


def test_silence() -> None:
    """Nothing for as long as the read timeout: comments meanwhile, then an error event. Scaled down."""

    async def fault(response: web.StreamResponse) -> None:
        await response.write(chunk({"content": "Hm <tool"}))
        await asyncio.sleep(60)

    async def run() -> None:
        async with both(faulty(fault), read_timeout=0.25, keep_alive=0.04) as b:
            data = await b.read()
            assert data.count(b": keep-alive\n\n") >= 2
            got = events(data)
            assert got[-2]["error"]["message"] == "the upstream sent nothing for 0.25 s (--read-timeout)"
            assert summary.of_stream(data)[0]["content"] == "Hm <tool"
            await b.settled()
            assert b.script.gone == 1

    asyncio.run(run())


def test_a_slow_upstream_is_not_silent() -> None:
    async def fault(response: web.StreamResponse) -> None:
        for number in range(8):
            await response.write(chunk({"content": f"{number} "}))
            await asyncio.sleep(0.2)
        await response.write(DONE)

    async def run() -> None:
        async with both(faulty(fault), read_timeout=1.2) as b:
            assert summary.of_stream(await b.read())[0]["content"] == "0 1 2 3 4 5 6 7 "

    asyncio.run(run())


def test_silence_before_the_first_byte() -> None:
    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(60)
        raise AssertionError

    async def run() -> None:
        async with both(Script(faults={"m": answer}), read_timeout=0.1) as b:
            async with b.ask() as got:
                assert got.status == 504
                assert (await got.json())["error"]["code"] == "upstream_timeout"
            await b.settled()

    asyncio.run(run())


def test_nobody_listens() -> None:
    async def run() -> None:
        upstream, url = await listen(Script().app())
        await upstream.cleanup()
        proxy = Proxy(config(url, {"m": "hermes"}))
        runner, port = await start(proxy)
        async with aiohttp.ClientSession() as session:
            for path, body in (
                ("/v1/chat/completions", {"model": "m", "messages": []}),
                ("/v1/embeddings", {}),
            ):
                async with session.post(f"http://127.0.0.1:{port}{path}", json=body) as got:
                    assert got.status == 502
                    assert (await got.json())["error"]["code"] == "upstream_unreachable"
        await runner.cleanup()

    asyncio.run(run())


@pytest.mark.parametrize("closings", [1, 2])
def test_connection_that_closes_before_an_answer(closings: int) -> None:
    """An idle connection that the upstream has closed costs a second try, and no more than that."""

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if len(script.requests) <= closings:
            assert request.transport is not None
            request.transport.close()
        return web.json_response({"choices": []})

    script = Script(faults={"m": answer})

    async def run() -> None:
        async with both(script) as b, b.ask(stream=False) as got:
            assert got.status == (200 if closings == 1 else 502)
            assert len(script.requests) == 2
            if closings == 2:
                assert (await got.json())["error"]["code"] == "upstream_broke"

    asyncio.run(run())


# -- sizes -------------------------------------------------------------------------------------------


def test_one_chunk_of_8_mb() -> None:
    async def fault(response: web.StreamResponse) -> None:
        await response.write(chunk({"content": "x" * 8_000_000}) + chunk({}, "stop") + DONE)

    async def run() -> None:
        async with both(faulty(fault)) as b:
            assert summary.of_stream(await b.read())[0]["content"] == "x" * 8_000_000

    asyncio.run(run())


def test_10_000_tiny_chunks() -> None:
    async def fault(response: web.StreamResponse) -> None:
        frame = chunk({"content": "a"})
        for _ in range(100):
            await response.write(frame * 100)
        await response.write(DONE)

    async def run() -> None:
        async with both(faulty(fault)) as b:
            got = summary.of_stream(await b.read())[0]
            assert (got["content"], got["finish_reason"]) == ("a" * 10_000, "stop")

    asyncio.run(run())


def test_request_too_large() -> None:
    async def run() -> None:
        async with both(Script(), max_request=1000) as b:
            for path in ("/v1/chat/completions", "/v1/embeddings"):
                async with b.session.post(b.url + path, data=b"x" * 2000) as got:
                    assert got.status == 413
                    assert (await got.json())["error"]["code"] == "request_too_large"

            async def pieces() -> AsyncIterator[bytes]:
                yield b"x" * 900
                yield b"x" * 900

            async with b.session.post(b.url + "/v1/embeddings", data=pieces()) as got:
                assert got.status == 413
                assert (await got.json())["error"]["code"] == "request_too_large"

    asyncio.run(run())


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
def test_request_that_is_not_packed_as_it_says(path: str) -> None:
    async def run() -> None:
        async with both(Script()) as b:
            headers = {"Content-Encoding": "gzip"}
            async with b.session.post(b.url + path, data=b"{}", headers=headers) as got:
                assert got.status == 400
                assert (await got.json())["error"]["message"].startswith(
                    "the request's body cannot be unpacked"
                )

    asyncio.run(run())


def test_what_the_proxy_answered_is_not_expected_of_the_upstream() -> None:
    """An upstream that knows no ``Expect`` would wait for a body that waits for its word."""

    async def run() -> None:
        async def echo(request: web.Request) -> web.StreamResponse:
            return web.json_response({"expected": request.headers.get("Expect")})

        async with both(Script(routes={"/v1/embeddings": echo})) as b:
            asked = b.session.post(b.url + "/v1/embeddings", data=b"x", expect100=True)
            async with asked as got:
                assert await got.json() == {"expected": None}

    asyncio.run(run())


@pytest.mark.parametrize("stream", [True, False])
def test_response_too_large(stream: bool) -> None:
    async def run() -> None:
        script = Script(answers={"m": Answer("word " * 2000)})
        async with both(script, max_response=5000) as b:
            async with b.ask(stream=stream) as got:
                data = await got.read()
            message = "the response is over 5000 bytes (--max-response)"
            error = events(data)[-2]["error"] if stream else json.loads(data)["error"]
            assert (got.status, error["message"]) == (200 if stream else 502, message)
            await b.settled()

    asyncio.run(run())


# -- the client, and the end -------------------------------------------------------------------------


def test_client_vanishes() -> None:
    """The upstream is closed at once, though it is silent, and so is what waits in the proxy."""

    async def fault(response: web.StreamResponse) -> None:
        await response.write(chunk({"content": "one"}))
        await asyncio.sleep(60)

    async def run() -> None:
        async with both(faulty(fault)) as b:
            for _ in range(3):
                async with b.ask() as got:
                    await got.content.readany()
                    got.close()
            await b.settled()
            assert b.script.gone == 3
            assert b.outcomes() == {"client_gone": 3}

    asyncio.run(run())


def test_client_vanishes_before_the_answer() -> None:
    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(60)
        raise AssertionError

    async def run() -> None:
        async with both(Script(faults={"m": answer})) as b:
            with pytest.raises(asyncio.TimeoutError):
                async with b.session.post(
                    b.url + "/v1/chat/completions",
                    json={"model": "m", "messages": []},
                    timeout=aiohttp.ClientTimeout(total=0.1),
                ):
                    pass
            await b.settled()
            assert b.script.gone == 1

    asyncio.run(run())


def test_nothing_is_left() -> None:
    """Connections and memory return to the start, whether streams end, break off or are left."""

    async def fault(response: web.StreamResponse) -> None:
        await response.write(chunk({"content": "x" * 20_000}))
        await broken_off(response)

    async def leave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await sse(request)
        await response.write(chunk({"content": "one"}))
        await asyncio.sleep(60)
        return response

    async def run() -> None:
        script = faulty(fault)
        script.answers["good"] = Answer(CALL)
        script.faults["left"] = leave
        async with both(script) as b:

            async def one(number: int) -> None:
                await b.read("good")
                await b.read("m")
                async with b.ask("left") as got:
                    await got.content.readany()
                    got.close()

            async def objects() -> int:
                await b.settled()
                gc.collect()
                kinds = (
                    "Live",
                    "Chat",
                    "AnswerStream",
                    "Exchange",
                    "Record",
                    "Tape",
                    "Parser",
                    "ClientResponse",
                )
                return sum(type(found).__name__ in kinds for found in gc.get_objects())

            await asyncio.gather(*map(one, range(5)))
            before = await objects()
            await asyncio.gather(*map(one, range(20)))
            assert await objects() <= before
            assert len(b.proxy.upstream.session.connector._conns) <= 1  # type: ignore[union-attr]
            assert not b.proxy.upstream.session.connector._acquired  # type: ignore[union-attr]

    asyncio.run(run())


def test_sigterm_finishes_ten_streams(tmp_path: Path) -> None:
    """The command itself: streams that run when the signal comes end properly, and so does the process."""

    async def run() -> None:
        go_on, begun = asyncio.Event(), asyncio.Semaphore(0)

        async def fault(response: web.StreamResponse) -> None:
            await response.write(chunk({"content": "Wait. " + CALL[:20]}))
            begun.release()
            await go_on.wait()
            await response.write(chunk({"content": CALL[20:]}) + chunk({}, "stop") + DONE)

        upstream, url = await listen(faulty(fault).app())
        command = [sys.executable, "-m", "toolglot", "serve", "--upstream", url, "--port", "0"]
        process = await asyncio.create_subprocess_exec(
            *command,
            *("--server", "other", "--dialect", "hermes"),
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        assert process.stderr is not None
        line = json.loads(await process.stderr.readline())
        assert line["event"] == "listening"
        proxy = f"http://127.0.0.1:{line['port']}/v1/chat/completions"
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def read() -> bytes:
                body = {"model": "m", "messages": [], "tools": [PING], "stream": True}
                async with session.post(proxy, json=body) as answer:
                    return await answer.read()

            reading = [asyncio.create_task(read()) for _ in range(10)]
            for _ in range(10):
                await begun.acquire()
            process.send_signal(signal.SIGTERM)
            stopping = json.loads(await process.stderr.readline())
            while stopping["event"] != "stopping":
                stopping = json.loads(await process.stderr.readline())
            with contextlib.suppress(aiohttp.ClientOSError):
                async with session.post(proxy, json={}) as refused:
                    raise AssertionError(f"taken after SIGTERM: {refused.status}")
            go_on.set()
            for data in await asyncio.gather(*reading):
                got = summary.of_stream(data)[0]
                assert (got["content"], got["finish_reason"]) == ("Wait.", "tool_calls")
                assert got["tool_calls"] == [{"name": "ping", "arguments": '{"n": 1}'}]
                assert data.endswith(DONE)
        rest = await process.stderr.read()
        assert await process.wait() == 0
        assert json.loads(rest.splitlines()[-1])["event"] == "stopped"
        await upstream.cleanup()

    asyncio.run(run())
