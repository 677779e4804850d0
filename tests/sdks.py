"""Real clients: what each of them has of an answer, whole and streamed, by its own accumulator.

Each reader takes the model, the tools and whether to stream, and gives ``Got``. The SDKs are the extra
``clients``; they are imported where they are used, and closed at the end. To the type checkers they are
Any: the environment in which these run has none of them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from toolglot.proxy import summary

KEY = "sk-test-0123456789abcdef"
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "go on"}]

Tools = Sequence[dict[str, Any]]
Reader = Callable[[str, Tools, bool], Awaitable["Got"]]


@dataclass(frozen=True)
class Got:
    """What a client has; ``reasoning`` is None where the client has no place for it."""

    content: str
    calls: tuple[tuple[str, str], ...]
    reasoning: str | None = None


def sdk(name: str) -> Any:
    """A module of a client; the test is skipped where the client is not installed."""
    return pytest.importorskip(name, reason="the extra clients is not installed: make clients")


@asynccontextmanager
async def plain(base_url: str) -> AsyncIterator[Reader]:
    """No SDK: what the deltas say, joined."""
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as session:

        async def read(model: str, tools: Tools, stream: bool) -> Got:
            asked = {"model": model, "messages": ASKED, "tools": list(tools), "stream": stream}
            async with session.post(base_url + "/chat/completions", json=asked) as answer:
                data = await answer.read()
            (told,) = summary.of_stream(data) if stream else summary.of_whole(json.loads(data))
            calls = tuple((call["name"], call["arguments"]) for call in told["tool_calls"])
            return Got(told["content"], calls, told["reasoning"])

        yield read


@contextmanager
def openai_sync(base_url: str) -> Iterator[Callable[[str, Tools, bool], Got]]:
    """The openai SDK: whole answers, and chunks added up by its own rule."""
    accumulate_delta = sdk("openai.lib.streaming._deltas").accumulate_delta
    client = sdk("openai").OpenAI(base_url=base_url, api_key=KEY, max_retries=0)

    def read(model: str, tools: Tools, stream: bool) -> Got:
        asked: Any = {"model": model, "messages": ASKED, "tools": list(tools)}
        if not stream:
            message = client.chat.completions.create(**asked).choices[0].message
            return _got(message.model_dump(exclude_none=True))
        added: dict[Any, Any] = {}
        for chunk in client.chat.completions.create(stream=True, **asked):
            for choice in chunk.choices:
                added = dict(accumulate_delta(added, choice.delta.model_dump(exclude_unset=True)))
        return _got(added)

    with client:
        yield read


@asynccontextmanager
async def openai_async(base_url: str) -> AsyncIterator[Reader]:
    """The openai SDK's asynchronous client; streams through its helper ``chat.completions.stream``."""
    client = sdk("openai").AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0)

    async def read(model: str, tools: Tools, stream: bool) -> Got:
        asked: Any = {"model": model, "messages": ASKED}
        if not stream:
            answer = await client.chat.completions.create(tools=list(tools), **asked)
            return _got(answer.choices[0].message.model_dump(exclude_none=True))
        # The helper only takes tools that are strict, and it refuses an answer that was cut.
        strict = [{**tool, "function": {**tool["function"], "strict": True}} for tool in tools]
        async with client.chat.completions.stream(tools=strict, **asked) as events:
            # A cut call is refused as well: what is left of its arguments is no beginning of JSON.
            with suppress(sdk("openai").LengthFinishReasonError, ValueError):
                async for _ in events:
                    pass
            snapshot = events.current_completion_snapshot
        return _got(snapshot.choices[0].message.model_dump(exclude_none=True))

    async with client:
        yield read


@asynccontextmanager
async def langchain(base_url: str) -> AsyncIterator[Reader]:
    """LangChain's ``ChatOpenAI``; it has no place for reasoning."""
    chat = sdk("langchain_openai").ChatOpenAI(
        base_url=base_url, api_key=KEY, max_retries=0, model="any", stream_usage=True
    )

    async def read(model: str, tools: Tools, stream: bool) -> Got:
        asked: Any = {"input": [("user", "go on")], "model": model, "tools": list(tools)}
        message: Any = None
        if stream:
            async for piece in chat.astream(**asked):
                message = piece if message is None else message + piece
        else:
            message = await chat.ainvoke(**asked)
        calls = [(call["name"], json.dumps(call["args"])) for call in message.tool_calls]
        return Got(str(message.text), tuple(calls))

    yield read
    await chat.root_async_client.close()
    chat.root_client.close()


@asynccontextmanager
async def pydantic_ai(base_url: str) -> AsyncIterator[Reader]:
    """pydantic-ai's model requests."""
    direct, messages = sdk("pydantic_ai.direct"), sdk("pydantic_ai.messages")
    openai, models = sdk("pydantic_ai.models.openai"), sdk("pydantic_ai.models")
    client = sdk("openai").AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0)
    provider = sdk("pydantic_ai.providers.openai").OpenAIProvider(openai_client=client)
    definition = sdk("pydantic_ai.tools").ToolDefinition

    async def read(model: str, tools: Tools, stream: bool) -> Got:
        offered = [
            definition(name=f["name"], parameters_json_schema=f.get("parameters") or {"type": "object"})
            for f in (tool["function"] for tool in tools)
        ]
        asked: Any = {
            "model": openai.OpenAIChatModel(model, provider=provider),
            "messages": [messages.ModelRequest.user_text_prompt("go on")],
            "model_request_parameters": models.ModelRequestParameters(function_tools=offered),
        }
        if stream:
            async with direct.model_request_stream(**asked) as events:
                async for _ in events:
                    pass
                parts = events.get().parts
        else:
            parts = (await direct.model_request(**asked)).parts
        calls = [(p.tool_name, _text(p.args)) for p in parts if isinstance(p, messages.ToolCallPart)]
        content = "".join(p.content for p in parts if isinstance(p, messages.TextPart))
        return Got(
            content, tuple(calls), "".join(p.content for p in parts if isinstance(p, messages.ThinkingPart))
        )

    async with client:
        yield read


@asynccontextmanager
async def agents(base_url: str) -> AsyncIterator[Reader]:
    """The OpenAI Agents SDK over Chat Completions."""
    library = sdk("agents")
    client = sdk("openai").AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0)

    async def nothing(context: Any, text: str) -> str:
        return text

    async def read(model: str, tools: Tools, stream: bool) -> Got:
        offered = [
            library.FunctionTool(
                f["name"],
                f.get("description") or "",
                f.get("parameters") or {},
                nothing,
                strict_json_schema=False,
            )
            for f in (tool["function"] for tool in tools)
        ]
        asked: Any = (
            None,
            "go on",
            library.ModelSettings(),
            offered,
            None,
            [],
            library.ModelTracing.DISABLED,
        )
        chat = library.OpenAIChatCompletionsModel(model, client)
        output: Any = []
        # It refuses an answer that was cut before it said anything.
        with suppress(library.ModelBehaviorError):
            if not stream:
                output = (await chat.get_response(*asked)).output
            else:
                async for event in chat.stream_response(*asked):
                    if event.type == "response.completed":
                        output = event.response.output
        calls = [(item.name, item.arguments) for item in output if item.type == "function_call"]
        texts = [part.text for item in output if item.type == "message" for part in item.content]
        return Got("".join(texts), tuple(calls))

    async with client:
        yield read


def gather(
    reader: AbstractAsyncContextManager[Reader], asked: Sequence[tuple[str, Tools, bool]]
) -> list[Got]:
    """All answers to what is asked, in its order."""

    async def run() -> list[Got]:
        async with reader as read:
            return [await read(*one) for one in asked]

    return asyncio.run(run())


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _got(message: dict[str, Any]) -> Got:
    calls = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or ()]
    return Got(message.get("content") or "", tuple(calls), message.get("reasoning_content") or "")
