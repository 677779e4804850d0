"""message: an assistant message of OpenAI's form, there and back."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from toolglot import Message, ToolCall


def test_there_and_back() -> None:
    message = Message("Hi", "hm", (ToolCall("f", {"x": 1}, "call_0"), ToolCall("g", {}, "call_1")))
    assert Message.from_openai(message.to_openai()) == message


def test_arguments_keep_their_spelling() -> None:
    calls = [{"id": "a", "function": {"name": "f", "arguments": '{"x":1.0}'}}]
    call = Message.from_openai({"content": None, "tool_calls": calls}).tool_calls[0]
    assert (call.arguments, call.arguments_json) == ({"x": 1.0}, '{"x":1.0}')


@pytest.mark.parametrize("given", ["", None, {}, "{}"])
def test_no_arguments(given: Any) -> None:
    calls = [{"function": {"name": "f", "arguments": given}}]
    assert Message.from_openai({"tool_calls": calls}).tool_calls[0].arguments == {}


def test_parts_and_other_names() -> None:
    content = [{"type": "text", "text": "a"}, "b"]
    message = Message.from_openai({"content": content, "reasoning": "c", "tool_calls": [{"name": "f"}]})
    assert (message.content, message.reasoning, message.tool_calls) == ("ab", "c", (ToolCall("f"),))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"content": 3}, "content: expected text, or a list of text parts, not 3"),
        ({"tool_calls": {}, "content": ""}, None),
        ({"tool_calls": "x"}, "tool_calls: expected a list"),
        ({"tool_calls": ["x"]}, r"tool_calls\[0\]: expected an object with a function in it"),
        ({"tool_calls": [{"function": {}}]}, r"tool_calls\[0\]: the function has no name"),
        ({"tool_calls": [{"name": "f", "arguments": "{"}]}, r"tool_calls\[0\]: the arguments are not JSON: "),
        ({"tool_calls": [{"name": "f", "arguments": "[1]"}]}, "the arguments are list, not an object"),
    ],
)
def test_what_cannot_be_read(data: dict[str, Any], said: str | None) -> None:
    if said is None:
        assert Message.from_openai(data) == Message()
        return
    with pytest.raises(toolglot.MessageError, match=said):
        Message.from_openai(data)
