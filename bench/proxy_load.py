"""The proxy under load, side by side with a plain byte-forwarding proxy of the same library.

    python bench/proxy_load.py [--streams 200] [--chunks 60] [--rate 5] [--dialect NAME]

Four processes: this one is upstream and client at once, the plain forwarder and the proxy each have their
own. Three loads, each first direct, then through the forwarder, then through the proxy:

* closed: a stream's next chunk is sent when its last one has arrived, so that each chunk is read and written
  on its own and none are lumped together. This gives chunks/s and the processor's time for a chunk.
* paced: each stream gets ``--rate`` chunks/s, well below what the proxies can do: the added latency.
* flood: all chunks as fast as they go; a proxy that is slow finds many of them in one read.

Prints a table; nothing here is a test.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call>'
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
WORDS = [
    "",
    "the",
    "weather",
    "in",
    "Paris",
    "is",
    "mild",
    "today",
    "and",
    "it",
    "will",
    "stay",
    "so",
    "until",
    "the",
    "end",
    "of",
    "the",
    "week",
][1:]
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)


def frame(delta: dict[str, object], finish: str | None = None) -> bytes:
    """One chunk of HTTP that holds one frame."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    data = b"data: " + json.dumps(body).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


ROLE = frame({"role": "assistant", "content": ""})
TEXT = [frame({"content": " " + word}) for word in WORDS]
END = b"".join(frame({"content": piece}) for piece in CALL.split(" ")) + frame({}, "stop")
END += b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


SPREAD = 4.0
"""Seconds over which the requests of the paced load begin."""


@dataclass
class Stream:
    """One stream's way through: when its chunks were sent, and how long each took."""

    sent: float = 0.0
    delays: list[float] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    frames: int = 0


class Load:
    """Upstream and client: ``mode`` is closed, paced or flood."""

    def __init__(self, mode: str, chunks: int, rate: float) -> None:
        self.mode = mode
        self.chunks = chunks
        self.rate = rate
        self.streams: dict[str, Stream] = {}

    async def upstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(h[15:]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:"))
        stream = self.streams[json.loads(await reader.readexactly(length))["user"]]
        writer.write(HEAD + ROLE)
        if self.mode == "flood":
            writer.write(b"".join(TEXT[n % len(TEXT)] for n in range(self.chunks)) + END)
        else:
            start = time.monotonic()
            for number in range(self.chunks):
                if self.mode == "paced":
                    await asyncio.sleep(max(0.0, start + number / self.rate - time.monotonic()))
                stream.arrived.clear()
                stream.sent = time.monotonic()
                writer.write(TEXT[number % len(TEXT)])
                if self.mode == "closed":
                    await stream.arrived.wait()
            writer.write(END)
        await writer.drain()
        writer.close()

    async def client(self, port: int, name: str) -> None:
        if self.mode == "paced":
            # Requests that all come in one instant would only wait for each other.
            await asyncio.sleep(SPREAD * int(name) / len(self.streams))
        stream = self.streams[name]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = {"model": "m", "stream": True, "messages": [], "tools": [TOOL], "user": name}
        body = json.dumps(request).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        tail = b""
        while data := await reader.read(65536):
            stream.frames += data.count(b"data: ")
            if stream.sent and stream.frames > 1 and b'"content"' in data:
                stream.delays.append(time.monotonic() - stream.sent)
                stream.arrived.set()
            tail = (tail + data)[-16:]
            if tail.endswith(b"0\r\n\r\n"):
                break
        writer.close()


@dataclass
class Result:
    """One load through one way."""

    seconds: float
    chunks: int
    delays: list[float]
    first: list[float]
    cpu: float

    def row(self, name: str) -> str:
        def at(values: list[float], part: float) -> str:
            return f"{sorted(values)[int(len(values) * part)] * 1000:8.2f}" if values else "       -"

        return (
            f"  {name:10} {self.chunks / self.seconds:9.0f} {self.cpu / self.chunks * 1e6:9.1f}"
            f" {at(self.delays, 0.5)} {at(self.delays, 0.99)} {at(self.first, 0.5)} {at(self.first, 0.99)}"
        )


def cpu_of(pid: int) -> float:
    """Seconds of processor that a process has used (Linux)."""
    values = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


async def measure(load: Load, streams: int, port: int, pid: int) -> Result:
    """Run one load; the first text of each stream is its first delay."""
    load.streams = {str(number): Stream() for number in range(streams)}
    before, start = cpu_of(pid), time.monotonic()
    await asyncio.gather(*(load.client(port, name) for name in load.streams))
    seconds, cpu = time.monotonic() - start, cpu_of(pid) - before
    found = list(load.streams.values())
    delays = [] if load.mode == "flood" else [delay for stream in found for delay in stream.delays[1:]]
    first = [] if load.mode == "flood" else [stream.delays[0] for stream in found]
    return Result(seconds, streams * load.chunks, delays, first, cpu)


# -- the two proxies, each in its process ------------------------------------------------------------


async def plain(upstream: int) -> None:
    """The same server and the same client of aiohttp, and nothing in between."""
    import aiohttp
    from aiohttp import web

    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), auto_decompress=False, read_bufsize=2**18
    )

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        async with session.post(f"http://127.0.0.1:{upstream}{request.path}", data=body) as answer:
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            while chunk := await answer.content.readany():
                await response.write(chunk)
            await response.write_eof()
        return response

    app = web.Application(client_max_size=2**26)
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def proxy(upstream: int, dialect: str) -> None:
    """The proxy itself."""
    from toolglot.proxy.app import Proxy
    from toolglot.proxy.config import Config, ModelRule
    from toolglot.proxy.serve import start

    rules = (ModelRule("*", dialect),)
    config = Config(upstream=f"http://127.0.0.1:{upstream}", port=0, server="other", given=rules)
    _, port = await start(Proxy(config))
    print(port, flush=True)
    await asyncio.Event().wait()


def spawn(role: str, upstream: int, dialect: str) -> tuple[subprocess.Popen[str], int]:
    """Start one of the proxies; its process and its port."""
    command = [sys.executable, __file__, "--role", role, "--upstream", str(upstream), "--dialect", dialect]
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


async def run(options: argparse.Namespace) -> None:
    """All loads through all ways."""
    current: list[Load] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await current[-1].upstream(reader, writer)

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=1024)
    upstream = server.sockets[0].getsockname()[1]
    ways: dict[str, tuple[subprocess.Popen[str] | None, int]] = {"direct": (None, upstream)}
    for role in ("plain", "proxy"):
        ways[role] = spawn(role, upstream, options.dialect)
    try:
        print(
            f"{options.streams} streams: {options.chunks} chunks of text and a call each ({options.dialect})"
        )
        for mode in ("closed", "paced", "flood"):
            print(f"\n{mode:12}  chunks/s   µs CPU/c   chunk ms: median, p99   first text ms: median, p99")
            results = {}
            for name, (process, port) in ways.items():
                pid = os.getpid() if process is None else process.pid
                current.append(Load(mode, 5, options.rate))
                await measure(current[-1], options.streams, port, pid)  # warm
                current.append(Load(mode, options.chunks, options.rate))
                results[name] = await measure(current[-1], options.streams, port, pid)
                print(results[name].row(name), flush=True)
            share = results["plain"].seconds / results["proxy"].seconds
            print(
                f"  the proxy moves {share:.0%} of the plain forwarder's chunks/s" if mode != "paced" else ""
            )
            if mode == "paced":
                for what in ("delays", "first"):
                    added = [
                        statistics.quantiles(getattr(results["proxy"], what), n=100)[q]
                        - statistics.quantiles(getattr(results["direct"], what), n=100)[q]
                        for q in (49, 98)
                    ]
                    label = "each chunk" if what == "delays" else "the first text"
                    print(
                        f"  added to {label}: median {added[0] * 1000:.2f} ms, p99 {added[1] * 1000:.2f} ms"
                    )
    finally:
        for process, _ in ways.values():
            if process is not None:
                process.terminate()
        server.close()


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="the proxy under load, beside a plain forwarder")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=60)
    parser.add_argument("--rate", type=float, default=5.0, help="chunks/s of each stream in the paced load")
    parser.add_argument("--dialect", default="hermes")
    parser.add_argument("--role", choices=("plain", "proxy"), help=argparse.SUPPRESS)
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role is None:
        asyncio.run(run(options))
    else:
        role = (
            plain(options.upstream) if options.role == "plain" else proxy(options.upstream, options.dialect)
        )
        asyncio.run(role)


if __name__ == "__main__":
    main()
