"""Message and ToolCall: what a whole output means, as pure values.

Promises: values only, no parsing. Spans are in characters of the input. Does not know any format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .errors import DefectsError, MessageError
from .events import Defect, Span
from .record import dataclass, field


@dataclass(frozen=True)
class ToolCall:
    """One finished call.

    ``arguments_json`` is the argument text as JSON with the model's own spelling of numbers, each key
    once; made from ``arguments`` where it is not given. ``span`` is the call's part of the input.
    """

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    arguments_json: str = ""
    span: Span = (0, 0)

    def __post_init__(self) -> None:
        if not self.arguments_json:
            object.__setattr__(self, "arguments_json", json.dumps(self.arguments, ensure_ascii=False))


@dataclass(frozen=True)
class Segment:
    """A stretch of the input and what it was taken for.

    ``kind`` is one of ``content``, ``reasoning``, ``name``, ``arguments``, ``end``, ``markup``;
    ``index`` is the call's index for the three that belong to a call.
    """

    kind: str
    span: Span
    index: int | None = None

    # Several are made for each call: what all records share would be a third of what a message costs.
    def __init__(self, kind: str, span: Span, index: int | None = None) -> None:
        values = self.__dict__
        values["kind"] = kind
        values["span"] = span
        values["index"] = index


@dataclass(frozen=True)
class Message:
    """A parsed output. ``segments`` tile the input in order; absent content or reasoning is ``""``."""

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    defects: tuple[Defect, ...] = ()
    segments: tuple[Segment, ...] = ()
    dialect: str = ""

    def to_openai(self) -> dict[str, Any]:
        """The assistant message as OpenAI's Chat Completions writes it.

        ``content`` is None when there is none; ``reasoning_content`` and ``tool_calls`` are left out
        when empty.
        """
        message: dict[str, Any] = {"role": "assistant", "content": self.content or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments_json}}
                for c in self.tool_calls
            ]
        return message

    @classmethod
    def from_openai(cls, data: Mapping[str, Any]) -> Message:
        """The message that an assistant message of OpenAI's form holds: the inverse of ``to_openai``.

        ``content`` may be a list of text parts; reasoning goes by ``reasoning_content`` or ``reasoning``;
        arguments are JSON, or an object as some servers want them. Raises ``MessageError``.

        >>> Message.from_openai({"content": None, "tool_calls": [
        ...     {"id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}]}).tool_calls[0].arguments
        {'x': 1}
        """
        calls = data.get("tool_calls") or ()
        if not isinstance(calls, (list, tuple)):
            raise MessageError("tool_calls: expected a list")
        reasoning = data.get("reasoning_content") or data.get("reasoning")
        return cls(
            _text(data.get("content"), "content"),
            _text(reasoning, "reasoning"),
            tuple(_call(call, number) for number, call in enumerate(calls)),
        )

    def raise_for_defects(self) -> None:
        """Raise ``DefectsError`` if anything was amiss; its message lists each defect."""
        if self.defects:
            lines = "; ".join(f"{d.kind.value} at {d.span[0]}-{d.span[1]}: {d.detail}" for d in self.defects)
            raise DefectsError(f"{len(self.defects)} defect(s): {lines}")


def _text(value: object, where: str) -> str:
    if isinstance(value, (list, tuple)):
        return "".join(
            _text(part.get("text") if isinstance(part, Mapping) else part, where) for part in value
        )
    if value is not None and not isinstance(value, str):
        raise MessageError(f"{where}: expected text, or a list of text parts, not {value!r:.40}")
    return value or ""


def _call(data: object, number: int) -> ToolCall:
    where = f"tool_calls[{number}]"
    function = data.get("function", data) if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(function, Mapping):
        raise MessageError(f"{where}: expected an object with a function in it")
    name, given = function.get("name"), function.get("arguments")
    if not isinstance(name, str) or not name:
        raise MessageError(f"{where}: the function has no name")
    written = ""
    if isinstance(given, str) and given.strip():
        written = given
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise MessageError(f"{where}: the arguments are not JSON: {error}") from None
    if not given:
        given = {}
    if not isinstance(given, Mapping):
        raise MessageError(f"{where}: the arguments are {type(given).__name__}, not an object")
    arguments: dict[str, Any] = dict(given)
    return ToolCall(name, arguments, _text(data.get("id"), f"{where}.id"), written)
