"""A plain conversation to render templates with, and a tool."""

from __future__ import annotations

from typing import Any

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Where."}},
            "required": ["city"],
        },
    },
}
USER = {"role": "user", "content": "Is it warm?"}
ANSWER = {"role": "assistant", "content": "Quite warm."}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "call12345",
            "type": "function",
            "function": {"name": "get_weather", "arguments": {"city": "Zürich <3>", "days": [1, None]}},
        }
    ],
}
RESULT = {"role": "tool", "tool_call_id": "call12345", "name": "get_weather", "content": '{"degrees": 21}'}

TOKENS = {"bos_token": "<BOS>", "eos_token": "<EOS>", "unk_token": "<UNK>", "pad_token": "<PAD>"}
GIVEN: dict[str, Any] = {
    "messages": [USER, ANSWER],
    "tools": [TOOL],
    "documents": None,
    "add_generation_prompt": False,
    **TOKENS,
}
"""What a template is given."""
