"""Ten questions for a real model, each with the tool that would answer it: ``tests.realmodel`` asks them.

Their parameters have every kind of schema that a grammar knows: strings, integers, numbers, booleans, enums,
arrays, nested objects, optional ones. Strings have a length, and numbers bounds where a small model might
else write digits without end: what a format of raw text cannot hold to is left to the model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_SHORT = {"type": "string", "maxLength": 40}


@dataclass(frozen=True)
class Asked:
    """A question, the tool that would answer it, and the arguments of the call in an example."""

    question: str
    name: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    arguments: dict[str, Any]

    @property
    def tool(self) -> dict[str, Any]:
        """The tool as OpenAI's API has it."""
        schema = {"type": "object", "properties": self.properties, "required": [*self.required]}
        says = self.name.replace("_", " ").capitalize()
        return {
            "type": "function",
            "function": {"name": self.name, "description": says, "parameters": schema},
        }

    def messages(self) -> list[dict[str, Any]]:
        """The question, its call, and what came of it."""
        function = {"name": self.name, "arguments": self.arguments}
        call = {"id": "call_0", "type": "function", "function": function}
        return [
            {"role": "user", "content": self.question},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {
                "role": "tool",
                "name": self.name,
                "tool_call_id": "call_0",
                "content": json.dumps({"ok": True}),
            },
            {"role": "assistant", "content": "Done."},
        ]


def tools_of(*asked: Asked) -> list[dict[str, Any]]:
    """The tools of those questions."""
    return [one.tool for one in asked]


EXAMPLE = Asked(
    "Remind me to water the plants in 2 days.",
    "add_reminder",
    {"text": _SHORT, "days": {"type": "integer", "minimum": 0, "maximum": 365}},
    ("text", "days"),
    {"text": "Water the plants", "days": 2},
)

QUESTIONS = (
    Asked("What is the weather in Paris?", "get_weather", {"city": _SHORT}, ("city",), {}),
    Asked(
        "Set a timer for 12 minutes.",
        "set_timer",
        {"minutes": {"type": "integer", "minimum": 1, "maximum": 600}, "label": _SHORT},
        ("minutes",),
        {},
    ),
    Asked(
        "Convert 12.5 kilometres to miles.",
        "convert_length",
        {
            "value": {"type": "number", "minimum": 0},
            "from": {"enum": ["km", "mi", "m"]},
            "to": {"enum": ["km", "mi", "m"]},
        },
        ("value", "from", "to"),
        {},
    ),
    Asked(
        "Turn the kitchen light on.",
        "switch_light",
        {"room": {"type": "string", "enum": ["kitchen", "bath", "hall"]}, "on": {"type": "boolean"}},
        ("room", "on"),
        {},
    ),
    Asked(
        "Send a mail to Ann and Bob that lunch is ready.",
        "send_mail",
        {"to": {"type": "array", "items": _SHORT, "minItems": 1, "maxItems": 3}, "subject": _SHORT},
        ("to", "subject"),
        {},
    ),
    Asked(
        "Book a table for four people at eight.",
        "book_table",
        {
            "people": {"type": "integer", "minimum": 1, "maximum": 20},
            "when": {
                "type": "object",
                "properties": {
                    "hour": {"type": "integer", "minimum": 0, "maximum": 23},
                    "minute": {"type": "integer", "minimum": 0, "maximum": 59},
                },
                "required": ["hour"],
            },
        },
        ("people", "when"),
        {},
    ),
    Asked(
        "Add the numbers 3, 5 and 8.",
        "add_numbers",
        {
            "numbers": {
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "maximum": 999},
                "minItems": 2,
                "maxItems": 5,
            }
        },
        ("numbers",),
        {},
    ),
    Asked(
        "Search for red shoes under 50 euros.",
        "search_shop",
        {
            "query": _SHORT,
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
            "sort": {"type": "string", "enum": ["price", "rating"]},
        },
        ("query",),
        {},
    ),
    Asked(
        "Move the robot arm to the point 1, 2.",
        "move_arm",
        {
            "target": {
                "type": "object",
                "properties": {
                    "x": {"type": "integer", "minimum": -9, "maximum": 9},
                    "y": {"type": "integer", "minimum": -9, "maximum": 9},
                },
                "required": ["x", "y"],
            },
            "fast": {"type": "boolean"},
        },
        ("target",),
        {},
    ),
    Asked(
        "Create a contact for Eva in Vienna.",
        "add_contact",
        {
            "name": _SHORT,
            "address": {
                "type": "object",
                "properties": {"city": _SHORT, "zip": {"type": ["string", "integer"], "maxLength": 10}},
                "required": ["city"],
            },
            "tags": {"type": "array", "items": {"enum": ["friend", "work"]}, "maxItems": 2},
        },
        ("name", "address"),
        {},
    ),
)
