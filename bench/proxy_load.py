"""The proxy under load, side by side with a plain byte-forwarding proxy of the same library.

    python bench/proxy_load.py [--loads closed,5,100,flood] [--streams 200] [--chunks 150] [--dialect NAME]

Four processes: this one is upstream and client at once, the plain forwarder and the proxy each have their
own. Each load goes first direct, then through the forwarder, then through the proxy:

* closed: a stream's next chunk is sent when its last one has arrived, so that each chunk is read and written
  on its own and none are lumped together. This gives chunks/s and the processor's time for a chunk.
* a number: so many chunks/s in each stream, evenly spread: the added latency. Each stream is followed by
  another over the same connections, so that all are open at once, and only what was sent meanwhile counts.
  The upstream sends the first text as soon as it is asked; its time counts from the client's request.
* flood: all chunks as fast as they go; a proxy that is slow finds many of them in one read. Ten times
  ``--chunks`` in each stream, without which the requests would be most of what is measured.

Prints a table; nothing here is a test.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

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
KEPT = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
HEAD = KEPT[:-2] + b"Connection: close\r\n\r\n"


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


@dataclass
class Stream:
    """One stream's way through: when its chunks were sent, and how long each took."""

    sent: float = 0.0
    delays: list[float] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    frames: int = 0


class Load:
    """Upstream and client: ``mode`` is closed or flood."""

    def __init__(self, mode: str, chunks: int) -> None:
        self.mode = mode
        self.chunks = chunks
        self.streams: dict[str, Stream] = {}

    async def upstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(h[15:]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:"))
        stream = self.streams[json.loads(await reader.readexactly(length))["user"]]
        writer.write(HEAD + ROLE)
        if self.mode == "flood":
            writer.write(b"".join(TEXT[n % len(TEXT)] for n in range(self.chunks)) + END)
        else:
            for number in range(self.chunks):
                stream.arrived.clear()
                stream.sent = time.monotonic()
                writer.write(TEXT[number % len(TEXT)])
                await stream.arrived.wait()
            writer.write(END)
        await writer.drain()
        writer.close()

    async def client(self, port: int, name: str) -> None:
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


LENGTH = 4.0
"""Seconds that each stream of a steady load takes."""
WINDOW = 8.0
"""Seconds of a steady load that are measured."""
STEP = 0.001
"""Seconds between the instants at which the streams of a steady load get their chunks, in turn."""


class Line:
    """One stream after another of a steady load, over the same connections."""

    def __init__(self, load: Steady, name: int) -> None:
        self.load = load
        self.asked = 0.0
        self.sent: list[float] = []
        self.frames = 0
        request = {"model": "m", "stream": True, "messages": [], "tools": [TOOL], "user": str(name)}
        body = json.dumps(request).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        self.request = head.encode() + body

    def chunk(self, upstream: asyncio.WriteTransport, now: float) -> bool:
        """Send the next chunk; whether there are more."""
        number = len(self.sent)
        self.sent.append(now)
        upstream.write(TEXT[number % len(TEXT)])
        if number < self.load.chunks and not self.load.over:
            return True
        upstream.write(END)
        return False

    def arrived(self, data: bytes) -> None:
        """Chunks have reached the client."""
        now, load = time.monotonic(), self.load
        begin = self.frames
        self.frames += data.count(b"data: ")
        # The first frame says the role, and what comes behind the text is the call.
        for number in range(max(begin, 1), min(self.frames, len(self.sent) + 1)):
            if load.since <= self.sent[number - 1] < load.until:
                if number == 1:
                    load.first.append(now - self.asked)
                else:
                    load.delays.append(now - self.sent[number - 1])


class Asking(asyncio.Protocol):
    """The client's side of a line."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.tail = b""
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.ask()

    def ask(self) -> None:
        line = self.line
        line.sent, line.frames, line.asked = [], 0, time.monotonic()
        self.transport.write(line.request)

    def data_received(self, data: bytes) -> None:
        self.line.arrived(data)
        self.tail = (self.tail + data[-7:])[-7:]
        if self.tail == b"\r\n0\r\n\r\n":
            if self.line.load.over:
                self.transport.close()
            else:
                self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set_result(None)


class Answering(asyncio.Protocol):
    """The upstream's side of whichever line asks."""

    def __init__(self, load: Steady) -> None:
        self.load = load
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.load.asked.append(self.transport)

    def data_received(self, data: bytes) -> None:
        self.data += data
        if self.data.endswith(b"}"):
            head, _, body = self.data.partition(b"\r\n\r\n")
            if f"content-length: {len(body)}".encode() in head.lower():
                self.data = b""
                self.transport.write(KEPT + ROLE)
                self.load.begin(int(json.loads(body)["user"]), self.transport)


class Steady:
    """Upstream and client of streams that get ``rate`` chunks/s each, one at each instant in turn."""

    def __init__(self, rate: float, streams: int) -> None:
        self.rate = rate
        self.chunks = int(LENGTH * rate)
        self.lines = [Line(self, name) for name in range(streams)]
        self.turns: list[dict[int, asyncio.WriteTransport]] = [
            {} for _ in range(max(1, round(1 / rate / STEP)))
        ]
        self.turn = 0
        self.since = self.until = float("inf")
        self.over = False
        self.delays: list[float] = []
        self.first: list[float] = []
        self.asked: list[asyncio.Transport] = []

    def begin(self, name: int, upstream: asyncio.WriteTransport) -> None:
        """A request has reached the upstream: its first text goes out now, the rest in turn."""
        if self.lines[name].chunk(upstream, time.monotonic()):
            self.turns[name % len(self.turns)][name] = upstream

    async def tick(self) -> None:
        """Send what is due, until cancelled."""
        due = time.monotonic()
        step = 1 / self.rate / len(self.turns)
        while True:
            now = time.monotonic()
            while due <= now:
                due += step
                self.turn = (self.turn + 1) % len(self.turns)
                turn = self.turns[self.turn]
                for name, upstream in list(turn.items()):
                    if not self.lines[name].chunk(upstream, time.monotonic()):
                        del turn[name]
            # Less than a millisecond may be none to a loop, which would then turn for nothing.
            await asyncio.sleep(max(STEP, due - time.monotonic()))

    async def run(self, port: int, pid: int) -> Result:
        """Measure what goes through ``port``, a process of the id ``pid``."""
        loop = asyncio.get_running_loop()
        ticker = asyncio.create_task(self.tick())
        asking = []
        for line in self.lines:
            _, one = await loop.create_connection(functools.partial(Asking, line), "127.0.0.1", port)
            asking.append(one)
            await asyncio.sleep(LENGTH / len(self.lines))
        await asyncio.sleep(1)
        # What the measuring itself keeps is not looked through again and again.
        gc.collect()
        gc.freeze()
        before = cpu_of(pid)
        self.since = time.monotonic()
        self.until = self.since + WINDOW
        await asyncio.sleep(WINDOW)
        cpu = cpu_of(pid) - before
        await asyncio.sleep(0.5)
        self.over = True
        await asyncio.gather(*(one.closed for one in asking))
        ticker.cancel()
        # The next load must not be asked over these.
        for transport in self.asked:
            transport.close()
        await asyncio.sleep(0.5)
        return Result(WINDOW, len(self.delays) + len(self.first), self.delays, self.first, cpu)


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
    from toolglot.proxy.config import Config, ModelRule
    from toolglot.proxy.serve import serve

    rules = (ModelRule("*", dialect),)
    config = Config(upstream=f"http://127.0.0.1:{upstream}", port=0, server="other", given=rules)
    await serve(config, lambda port: print(port, flush=True))


def spawn(role: str, upstream: int, dialect: str) -> tuple[subprocess.Popen[str], int]:
    """Start one of the proxies; its process and its port."""
    command = [sys.executable, __file__, "--role", role, "--upstream", str(upstream), "--dialect", dialect]
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    # Linux shares the processor between sessions before it does between processes.
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


async def run(options: argparse.Namespace) -> None:
    """All loads through all ways."""
    current: list[Load | Steady] = []

    def protocol() -> asyncio.Protocol:
        load = current[-1]
        if isinstance(load, Steady):
            return Answering(load)
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(), load.upstream)

    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, backlog=1024)
    upstream = server.sockets[0].getsockname()[1]
    ways: dict[str, tuple[subprocess.Popen[str] | None, int]] = {"direct": (None, upstream)}
    for role in ("plain", "proxy"):
        ways[role] = spawn(role, upstream, options.dialect)
    try:
        print(f"{options.streams} streams, a call at the end of each ({options.dialect})")
        for mode in options.loads.split(","):
            title = mode if mode in ("closed", "flood") else f"{mode}/s each"
            print(f"\n{title:12}  chunks/s   µs CPU/c   chunk ms: median, p99   first text ms: median, p99")
            results = {}
            for name, (process, port) in ways.items():
                pid = os.getpid() if process is None else process.pid
                if mode in ("closed", "flood"):
                    times = 10 if mode == "flood" else 1
                    for chunks in (5, options.chunks * times):  # the first is to warm up
                        load = Load(mode, chunks)
                        current.append(load)
                        results[name] = await measure(load, options.streams, port, pid)
                else:
                    steady = Steady(float(mode), options.streams)
                    current.append(steady)
                    results[name] = await steady.run(port, pid)
                print(results[name].row(name), flush=True)
            if mode in ("closed", "flood"):
                share = results["plain"].seconds / results["proxy"].seconds
                print(f"  the proxy moves {share:.0%} of the plain forwarder's chunks/s")
            else:
                for name in ("plain", "proxy"):
                    print(f"  {name} adds " + added(results[name], results["direct"]))
    finally:
        for process, _ in ways.values():
            if process is not None:
                process.kill()
        server.close()


def added(through: Result, direct: Result) -> str:
    """What a way adds to the quantiles of the direct one."""
    parts = []
    for what, name in (("delays", "each chunk"), ("first", "the first text")):
        more, less = (statistics.quantiles(getattr(r, what), n=100) for r in (through, direct))
        median, p99 = ((more[at] - less[at]) * 1000 for at in (49, 98))
        parts.append(f"to {name}: median {median:.2f} ms, p99 {p99:.2f} ms")
    return "; ".join(parts)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="the proxy under load, beside a plain forwarder")
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=150)
    parser.add_argument(
        "--loads", default="closed,5,100,flood", help="closed, flood, or chunks/s of each stream"
    )
    parser.add_argument("--dialect", default="hermes")
    parser.add_argument("--role", choices=("plain", "proxy"), help=argparse.SUPPRESS)
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(SRC))
    from toolglot.proxy import loop

    if options.role is None:
        loop.run(run(options))
    else:
        loop.run(
            plain(options.upstream) if options.role == "plain" else proxy(options.upstream, options.dialect)
        )


if __name__ == "__main__":
    main()
