"""Every fixture and field case, read by the real clients through ``ToolCallTransport``, with no server.

Each client reads its share, so that every script is read by one of them, whole and streamed; with
``TOOLGLOT_EVERY_CLIENT=1`` (``make clients``) each reads all.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.clients import Calls, Script, dispatchable, fault, scripts, transport
from tests.known import known_failures
from toolglot.wire import Report

NO_CLIENTS = "needs the clients extra: pip install -e '.[clients]'"
openai = pytest.importorskip("openai", reason=NO_CLIENTS)
httpx = pytest.importorskip(openai.DefaultHttpxClient.__mro__[1].__module__.split(".")[0], reason=NO_CLIENTS)

KEY = "none"
URL = "http://upstream.invalid/v1"
ASK = [{"role": "user", "content": "go"}]


class Bench:
    """One client of each kind over one upstream, which answers with the current script."""

    def __init__(self) -> None:
        self.script: Script = scripts()[0]
        self.reports: list[Report] = []
        given = {"api_key": KEY, "base_url": URL, "max_retries": 0}
        sync = httpx.Client(transport=self._transport())
        self.http = httpx.AsyncClient(transport=self._transport())
        self.openai = openai.OpenAI(http_client=sync, **given)
        self.asynchronous = openai.AsyncOpenAI(http_client=self.http, **given)

    def _transport(self) -> Any:
        return transport(httpx, lambda: self.script, self.reports)

    def asked(self) -> dict[str, Any]:
        """A request. Its tools stand in the body alone: the helpers refuse those that are not strict."""
        return {"model": "m", "messages": ASK, "extra_body": {"tools": self.script.tools}}


def _of_openai(message: Any) -> Calls:
    return [c for t in message.tool_calls or () for c in dispatchable(t.function.name, t.function.arguments)]


async def openai_whole(bench: Bench) -> Calls:
    return _of_openai(bench.openai.chat.completions.create(**bench.asked()).choices[0].message)


async def openai_async_whole(bench: Bench) -> Calls:
    answer = await bench.asynchronous.chat.completions.create(**bench.asked())
    return _of_openai(answer.choices[0].message)


async def openai_helper(bench: Bench) -> Calls:
    with bench.openai.chat.completions.stream(**bench.asked()) as stream:
        for _ in stream:
            pass
        return _of_openai(stream.current_completion_snapshot.choices[0].message)


async def openai_async_stream(bench: Bench) -> Calls:
    calls: dict[int, list[str]] = {}
    async for chunk in await bench.asynchronous.chat.completions.create(stream=True, **bench.asked()):
        for entry in chunk.choices[0].delta.tool_calls or () if chunk.choices else ():
            name, text = calls.setdefault(entry.index, [entry.function.name or "", ""])
            calls[entry.index] = [name, text + (entry.function.arguments or "")]
    return [c for _, (name, text) in sorted(calls.items()) for c in dispatchable(name, text)]


def langchain(bench: Bench) -> Any:
    chat = pytest.importorskip("langchain_openai", reason=NO_CLIENTS).ChatOpenAI
    return chat(
        model="m",
        api_key=KEY,
        base_url=URL,
        max_retries=0,
        http_async_client=bench.http,
        use_responses_api=False,
    )


async def langchain_whole(bench: Bench) -> Calls:
    message = await langchain(bench).ainvoke("go", tools=bench.script.tools)
    return [(call["name"], call["args"]) for call in message.tool_calls]


async def langchain_stream(bench: Bench) -> Calls:
    message: Any = None
    async for piece in langchain(bench).astream("go", tools=bench.script.tools):
        message = piece if message is None else message + piece
    return [(call["name"], call["args"]) for call in message.tool_calls]


def pydantic_ai(bench: Bench) -> tuple[Any, list[Any], Any]:
    library, openai_models, messages, models, providers = (
        pytest.importorskip(f"pydantic_ai{name}", reason=NO_CLIENTS)
        for name in ("", ".models.openai", ".messages", ".models", ".providers.openai")
    )
    provider = providers.OpenAIProvider(openai_client=bench.asynchronous)
    functions = [tool["function"] for tool in bench.script.tools]
    tools = [
        library.ToolDefinition(name=f["name"], parameters_json_schema=f.get("parameters") or {}, strict=False)
        for f in functions
    ]
    asked = models.ModelRequestParameters(function_tools=tools)
    return (
        openai_models.OpenAIChatModel("m", provider=provider),
        [messages.ModelRequest.user_text_prompt("go")],
        asked,
    )


def _of_pydantic_ai(response: Any) -> Calls:
    parts = [part for part in response.parts if part.part_kind == "tool-call"]
    return [call for part in parts for call in dispatchable(part.tool_name, part.args)]


async def pydantic_ai_whole(bench: Bench) -> Calls:
    model, messages, asked = pydantic_ai(bench)
    return _of_pydantic_ai(await model.request(messages, None, asked))


async def pydantic_ai_stream(bench: Bench) -> Calls:
    model, messages, asked = pydantic_ai(bench)
    async with model.request_stream(messages, None, asked) as stream:
        async for _ in stream:
            pass
        return _of_pydantic_ai(stream.get())


def agents(bench: Bench) -> tuple[Any, dict[str, Any]]:
    library = pytest.importorskip("agents", reason=NO_CLIENTS)
    model = library.OpenAIChatCompletionsModel("m", bench.asynchronous)
    tools = [
        library.FunctionTool(
            name=tool["function"]["name"],
            description="",
            params_json_schema=tool["function"].get("parameters") or {},
            on_invoke_tool=_never,
            strict_json_schema=False,
        )
        for tool in bench.script.tools
    ]
    asked = {
        "system_instructions": None,
        "input": "go",
        "model_settings": library.ModelSettings(),
        "tools": tools,
        "output_schema": None,
        "handoffs": [],
        "tracing": library.ModelTracing.DISABLED,
        "previous_response_id": None,
        "conversation_id": None,
        "prompt": None,
    }
    return model, asked


async def _never(*_: Any) -> str:
    raise AssertionError("no tool is run here")


def _of_agents(output: list[Any]) -> Calls:
    calls = [item for item in output if item.type == "function_call"]
    return [c for call in calls for c in dispatchable(call.name, call.arguments)]


async def agents_whole(bench: Bench) -> Calls:
    model, asked = agents(bench)
    try:
        return _of_agents((await model.get_response(**asked)).output)
    except agents_error() as error:
        return _nothing(error)


async def agents_stream(bench: Bench) -> Calls:
    model, asked = agents(bench)
    output: list[Any] = []
    try:
        async for event in model.stream_response(**asked):
            if event.type in ("response.completed", "response.incomplete"):
                output = event.response.output
    except agents_error() as error:
        return _nothing(error)
    return _of_agents(output)


def agents_error() -> Any:
    return pytest.importorskip("agents", reason=NO_CLIENTS).exceptions.ModelBehaviorError


def _nothing(error: Exception) -> Calls:
    """An answer that was cut before anything came is an error to this client."""
    assert "length" in str(error)
    return []


Reader = Callable[[Bench], Awaitable[Calls]]
CLIENTS: tuple[tuple[Reader, Reader], ...] = (
    (openai_whole, openai_helper),
    (openai_async_whole, openai_async_stream),
    (langchain_whole, langchain_stream),
    (pydantic_ai_whole, pydantic_ai_stream),
    (agents_whole, agents_stream),
)
READERS = [(share, reader) for share, pair in enumerate(CLIENTS) for reader in pair]
EVERY = os.environ.get("TOOLGLOT_EVERY_CLIENT") == "1"


@pytest.mark.parametrize(("share", "reader"), READERS, ids=[reader.__name__ for _, reader in READERS])
def test_every_script(share: int, reader: Reader) -> None:
    """The client gets the expected calls, and no other."""
    known = {*known_failures("conformance", "defaults"), *known_failures("field")}

    async def run() -> list[str]:
        bench = Bench()
        wrong = []
        for script in scripts() if EVERY else scripts()[share :: len(CLIENTS)]:
            bench.script = script
            found = fault(script, await reader(bench))
            if found and script.id not in known:
                wrong.append(found)
        return wrong

    assert asyncio.run(run()) == []
