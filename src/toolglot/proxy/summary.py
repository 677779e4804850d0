"""Summary: what a client has at the end of an answer, read as the official SDKs do.

Promises: one value for whole and streamed answers, so that two can be compared. Does not judge.
"""

from __future__ import annotations

import json
from typing import Any


def of_whole(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Each choice of a whole answer."""
    return [
        _told(choice.get("message") or {}, choice.get("finish_reason"))
        for choice in body.get("choices") or ()
    ]


def of_stream(data: bytes) -> list[dict[str, Any]]:
    """Each choice of a streamed answer; an error event is a choice of its own."""
    choices: dict[int, dict[str, Any]] = {}
    errors: list[dict[str, Any]] = []
    for line in data.split(b"\n"):
        payload = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or payload == b"[DONE]":
            continue
        try:
            chunk = json.loads(payload)
        except ValueError:
            # No client's reader takes it for an event.
            continue
        if chunk.get("error"):
            errors.append({"error": chunk["error"].get("message")})
        for choice in chunk.get("choices") or ():
            into = choices.setdefault(choice.get("index", 0), {"calls": {}, "finish_reason": None})
            into["finish_reason"] = choice.get("finish_reason") or into["finish_reason"]
            _add(into, choice.get("delta") or {})
    told = [
        _told(
            {**into, "tool_calls": [call for _, call in sorted(into["calls"].items())]}, into["finish_reason"]
        )
        for _, into in sorted(choices.items())
    ]
    return told + errors


def _add(into: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("content", "reasoning_content", "reasoning"):
        if delta.get(key):
            into[key] = into.get(key, "") + delta[key]
    for part in delta.get("tool_calls") or ():
        call = into["calls"].setdefault(part.get("index", 0), {"function": {"name": "", "arguments": ""}})
        for key in ("name", "arguments"):
            call["function"][key] += (part.get("function") or {}).get(key) or ""


def _told(message: dict[str, Any], finish: str | None) -> dict[str, Any]:
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return {
        "content": message.get("content") or "",
        "reasoning": message.get("reasoning_content") or message.get("reasoning") or "",
        "tool_calls": [{"name": call["name"], "arguments": call["arguments"]} for call in calls],
        "finish_reason": finish,
    }
