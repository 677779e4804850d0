"""What toolglot makes of real-looking model outputs: whole, then as a stream of deltas.

Run it with ``make demo``, or ``python examples/demo.py`` where toolglot is installed. It checks what it
shows: that the stream, cut into token-like pieces or into single characters, gives what the whole gives.
At its end the proxy stands before an engine that does not parse: the same request, before and after.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import toolglot
from toolglot.cli import deltas

HERE = Path(__file__).parent
WIDTH = 104


class Sample(NamedTuple):
    """One bundled output and how to read it."""

    file: str
    title: str
    dialect: str = "auto"
    finish_reason: str = "stop"


SAMPLES = [
    Sample("hermes_thinking", "Hermes JSON, as Qwen3 writes it: thinking, then two parallel calls"),
    Sample("qwen3_coder", "Qwen3-Coder XML: the value holds its own closing tag", "qwen3_coder"),
    Sample("gpt_oss", "gpt-oss Harmony: analysis, a preamble, a call"),
    Sample("mistral", "Mistral name[ARGS], brackets inside a string", "mistral"),
    Sample("gemma4", "Gemma 4: thought channel, nested arguments, quotes that are data"),
    Sample("llama3_json", "Llama 3 bare JSON, two calls", "llama3_json"),
    Sample("pythonic", "Pythonic list, as Llama 4 writes it", "pythonic"),
    Sample(
        "broken", "Broken: a fence, a Python literal and a trailing comma; read, and each repair reported"
    ),
    Sample(
        "cut",
        "Cut by max_tokens: the finished call counts, the unfinished one never does",
        "hermes",
        "length",
    ),
]


def say(label: str, text: str, indent: int = 15) -> None:
    """Print ``text`` behind its label, folded to the width and with its line ends shown."""
    text = text.replace("\n", "↵")
    room = WIDTH - indent
    for start in range(0, max(1, len(text)), room):
        print(f"{'' if start else label:<{indent}}{text[start : start + room]}".rstrip())


def outcome(message: toolglot.Message) -> tuple[Any, ...]:
    """All that a caller sees of a message."""
    calls = [
        (call.id, call.name, call.arguments, call.arguments_json, call.span) for call in message.tool_calls
    ]
    return message.content, message.reasoning, calls, message.defects


def show(message: toolglot.Message) -> None:
    """Print what the whole text was read as."""
    print(f"  read as {message.dialect}")
    if message.reasoning:
        say("    reasoning", message.reasoning)
    say("    content", message.content or "(none)")
    for call in message.tool_calls:
        say("    call", f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}")
    for defect in message.defects:
        say("    defect", f"{defect.kind.value}: {defect.detail}: {defect.raw}")


def told(event: toolglot.Event) -> tuple[str, str] | None:
    """What the stream shows of an event: a label, and the text that came."""
    if isinstance(event, toolglot.Text):
        return "content", event.text
    if isinstance(event, toolglot.Reasoning):
        return "reasoning", event.text
    if isinstance(event, toolglot.CallStart):
        return f"start {event.index}", f"{event.name}  (id {event.id})"
    if isinstance(event, toolglot.Arguments):
        return f"args {event.index}", event.text
    if isinstance(event, toolglot.CallEnd):
        return f"end {event.index}", ""
    if isinstance(event, toolglot.Defect):
        return "defect", event.kind.value
    return None


def show_stream(steps: Iterable[tuple[str, toolglot.Event]]) -> None:
    """Print events in the order they came; neighbours of one kind share a line, with ``·`` between them."""
    shown = [(step, *said) for step, event in steps if (said := told(event))]
    for label, group in groupby(shown, key=itemgetter(1)):
        members = list(group)
        first, last = members[0][0], members[-1][0]
        numbers = first if first == last else f"{first}-{last}"
        say(f"    {numbers:>9}  {label}", "·".join(text for _, _, text in members), 26)


def stream(sample: Sample, text: str, split: str, tools: Any) -> list[tuple[str, toolglot.Event]]:
    """The events of ``text`` in deltas, each with the number of its delta."""
    parser = toolglot.Parser(sample.dialect, tools=tools)
    steps: list[tuple[str, toolglot.Event]] = []
    for number, delta in enumerate(deltas(text, split)):
        steps += [(str(number), event) for event in parser.feed(delta)]
    return steps + [("close", event) for event in parser.close(sample.finish_reason)]


async def before_and_after() -> bool:
    """One request to an engine that leaves calls in the text, then the same through the proxy."""
    import aiohttp
    from aiohttp import web

    from toolglot.proxy.app import Proxy
    from toolglot.proxy.config import Config, ModelRule
    from toolglot.proxy.serve import start

    text = (HERE / "outputs" / "hermes_thinking.txt").read_text(encoding="utf-8")
    tools = json.loads((HERE / "tools.json").read_text(encoding="utf-8"))

    async def engine(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in [*deltas(text, "token"), None]:
            choice = {"index": 0, "delta": {"content": piece} if piece else {}, "finish_reason": None}
            if piece is None:
                choice["finish_reason"] = "stop"
            chunk = {"id": "c", "object": "chat.completion.chunk", "model": "qwen3", "choices": [choice]}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application()
    app.router.add_post("/v1/chat/completions", engine)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    upstream = f"http://127.0.0.1:{runner.addresses[0][1]}"
    rules = (ModelRule("qwen3", "hermes"),)
    proxy, port = await start(Proxy(Config(upstream=upstream, port=0, server="other", given=rules)))
    found = []
    async with aiohttp.ClientSession() as session:
        for label, url in (("before", upstream), ("after", f"http://127.0.0.1:{port}")):
            body = {"model": "qwen3", "messages": [], "tools": tools, "stream": True}
            async with session.post(url + "/v1/chat/completions", json=body) as answer:
                found.append(client_has(await answer.read()))
            print(f"  {label}: what a client has")
            for field, value in found[-1].items():
                say(
                    f"    {field}",
                    value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
                    22,
                )
    await proxy.cleanup()
    await runner.cleanup()
    expected = toolglot.parse(text, "hermes", tools=tools)
    return [call["name"] for call in found[1]["tool_calls"]] == [call.name for call in expected.tool_calls]


def client_has(data: bytes) -> dict[str, Any]:
    """The deltas of a stream, joined as any client of the OpenAI API joins them."""
    got: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    for line in data.decode().splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                delta = choice["delta"]
                for field in ("content", "reasoning_content"):
                    got[field] += delta.get(field) or ""
                for part in delta.get("tool_calls", ()):
                    if part["index"] == len(got["tool_calls"]):
                        got["tool_calls"].append({"name": part["function"]["name"], "arguments": ""})
                    got["tool_calls"][part["index"]]["arguments"] += part["function"]["arguments"]
                got["finish_reason"] = choice["finish_reason"]
    return got


def show_proxy() -> bool:
    """The proxy's part; without the extra it only says how to get it."""
    print("The proxy, before an engine that leaves reasoning and calls in the text  [toolglot serve]")
    try:
        return asyncio.run(before_and_after())
    except ImportError:
        print("  not shown: pip install 'toolglot[proxy]'")
        return True
    finally:
        print()


def main() -> int:
    """Show and check every sample; the exit code says whether whole and stream agreed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    tools = json.loads((HERE / "tools.json").read_text(encoding="utf-8"))
    differing = []
    for number, sample in enumerate(SAMPLES, 1):
        text = (HERE / "outputs" / f"{sample.file}.txt").read_text(encoding="utf-8")
        print(f"{number}. {sample.title}  [--dialect {sample.dialect}]")
        for raw in text.split("\n"):
            for start in range(0, max(1, len(raw)), WIDTH):
                print(f"  {':' if start else '|'} {raw[start : start + WIDTH]}".rstrip())
        whole = toolglot.parse(text, sample.dialect, tools=tools, finish_reason=sample.finish_reason)
        show(whole)
        steps = stream(sample, text, "token", tools)
        print(f"  the same in {sum(1 for _ in deltas(text, 'token'))} deltas")
        show_stream(steps)
        for split in ("token", "char"):
            events = [event for _, event in stream(sample, text, split, tools)]
            if outcome(toolglot.assemble(events)) != outcome(whole):
                differing.append(f"{sample.file} ({split})")
        print()
    if not show_proxy():
        differing.append("the proxy")
    if differing:
        print(f"DIFFERENT from the whole: {', '.join(differing)}")
        return 1
    print(f"Checked: {len(SAMPLES)} outputs, each the same whole, token by token and character by character.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
