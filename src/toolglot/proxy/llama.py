"""llama-server's own interface: chat requests as ``/completion``, and its answers as chat chunks.

Promises: the server's parser never runs: the prompt comes from its ``/apply-template``, and the model's
text as it was written, special tokens of the dialect included. Fields of sampling are passed on.

Does not: write what the chat interface cannot say of a completion (``logprobs``, several choices), or
send pictures: such a request is refused.

The fields are those of the server's README, of ``server-task.cpp`` and ``server-common.cpp``
(ggml-org/llama.cpp).
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping
from typing import Any

from ..auto import Auto, Resolved
from ..dialect import Dialect
from ..errors import WireError

# Fields of a chat request that are not the completion's: the template has used them, or we read them.
_CHAT_ONLY = frozenset(
    (
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "functions",
        "function_call",
        "stream_options",
        "response_format",
        "max_tokens",
        "max_completion_tokens",
        "chat_template_kwargs",
        "reasoning_format",
        "reasoning_effort",
        "model",
        "n",
        "logprobs",
        "top_logprobs",
        "user",
        "metadata",
        "store",
    )
)
_FINISH = {"eos": "stop", "word": "stop", "limit": "length"}


def check(request: Mapping[str, Any]) -> None:
    """Refuse what ``/completion`` cannot do. Raises ``WireError``."""
    if request.get("n", 1) not in (1, None):
        raise WireError("with --raw the server writes one choice: leave n out", param="n")
    if request.get("logprobs"):
        raise WireError("with --raw there are no logprobs: leave them out", param="logprobs")
    for message in request.get("messages") or ():
        content = message.get("content") if isinstance(message, Mapping) else None
        for part in content if isinstance(content, list) else ():
            if not isinstance(part, Mapping) or part.get("type") != "text":
                raise WireError("with --raw messages hold text only", param="messages")


def preserved(dialect: Resolved) -> list[str]:
    """The markers that the server must not leave out where they are special tokens."""
    families: tuple[object, ...] = (dialect,)
    if isinstance(dialect, Auto):
        families = (dialect.base, *dialect.families)
    return sorted(
        {marker for family in families if isinstance(family, Dialect) for marker in family.markers()}
    )


def completion(request: Mapping[str, Any], prompt: str, kept: list[str]) -> dict[str, Any]:
    """The body for ``/completion``."""
    body = {key: value for key, value in request.items() if key not in _CHAT_ONLY}
    limit = request.get("max_completion_tokens") or request.get("max_tokens")
    if limit is not None:
        body["n_predict"] = limit
    form = request.get("response_format")
    if isinstance(form, Mapping) and form.get("type") == "json_object":
        body["json_schema"] = {"type": "object"}
    elif isinstance(form, Mapping) and isinstance(form.get("json_schema"), Mapping):
        body["json_schema"] = form["json_schema"].get("schema", {})
    if isinstance(body.get("stop"), str):
        body["stop"] = [body["stop"]]
    return {**body, "prompt": prompt, "preserved_tokens": kept}


def whole(body: Mapping[str, Any], model: str) -> dict[str, Any]:
    """A completion's answer as that of a chat."""
    if "error" in body or "content" not in body:
        return dict(body)
    message = {"role": "assistant", "content": body["content"]}
    choice = {"index": 0, "message": message, "finish_reason": _finish(body)}
    return {**_head(model, "chat.completion"), "choices": [choice], "usage": _usage(body)}


class CompletionAsChat:
    """The event stream of a completion as that of a chat. ``usage``: whether the client asked for it."""

    def __init__(self, model: str, usage: bool) -> None:
        self._head = _head(model, "chat.completion.chunk")
        self._with_usage = usage
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """The next bytes of the completion's stream, in any split."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        return b"".join(self._frame(line.strip()) for line in lines)

    def end(self) -> bytes:
        """The completion's stream has ended."""
        return self._frame(self._rest.strip())

    def _frame(self, line: bytes) -> bytes:
        if line.startswith(b"error:"):
            # Older servers write an event of this name instead of data with an error in it.
            line = b'data: {"error": ' + line.removeprefix(b"error:") + b"}"
        if not line.startswith(b"data:"):
            return line + b"\n\n" if line.startswith(b":") else b""
        payload = line.removeprefix(b"data:").strip()
        try:
            body = json.loads(payload)
        except ValueError:
            return b"data: " + payload + b"\n\n"
        if not isinstance(body, dict) or "error" in body:
            return b"data: " + payload + b"\n\n"
        out = b""
        if body.get("content"):
            out = self._chunk({"content": body["content"]}, None)
        if body.get("stop"):
            out += self._chunk({}, _finish(body))
            if self._with_usage:
                out += _written({**self._head, "choices": [], "usage": _usage(body)})
        return out

    def _chunk(self, delta: dict[str, Any], finish: str | None) -> bytes:
        return _written({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _written(body: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


def _finish(body: Mapping[str, Any]) -> str:
    return _FINISH.get(str(body.get("stop_type")), "stop")


def _usage(body: Mapping[str, Any]) -> dict[str, int]:
    prompt, written = int(body.get("tokens_evaluated") or 0), int(body.get("tokens_predicted") or 0)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
