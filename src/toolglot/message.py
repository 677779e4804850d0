"""Message and ToolCall: what a whole output means, as pure values.

Promises: values only, no parsing. Spans are in characters of the input. Does not know any format.
"""

from __future__ import annotations

import json
from typing import Any

from .errors import DefectsError
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

    def raise_for_defects(self) -> None:
        """Raise ``DefectsError`` if anything was amiss; its message lists each defect."""
        if self.defects:
            lines = "; ".join(f"{d.kind.value} at {d.span[0]}-{d.span[1]}: {d.detail}" for d in self.defects)
            raise DefectsError(f"{len(self.defects)} defect(s): {lines}")
