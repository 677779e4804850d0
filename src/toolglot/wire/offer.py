"""Offer: what a request allows its answer to be, and the request made fit for an upstream.

Promises: the request is copied where it is changed, and every field that is not named here goes up as it
came. Calls are read only where tools were offered and ``tool_choice`` does not forbid them. History has its
reasoning under the upstream's name, arguments that are a JSON object, and the ids it came with.

Does not check a request beyond what it has to read; the upstream does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..errors import ToolsError, WireError
from ..schema import Tools, read_tools
from .jsonbody import encode_json
from .settings import Settings

REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
_UNREADABLE: Final = "unreadable_arguments"
_SPECIAL: Final = ("skip_special_tokens", "spaces_between_special_tokens")


@dataclass(frozen=True)
class Offer:
    """What a request allows.

    ``tools``: what the parser is given; None means unknown, none at all that envelopes are text.
    ``offered``: whether the model was offered tools. ``single``: whether only one call is wanted.
    ``legacy``: whether the client reads ``function_call``. ``forced``: whether one named function was
    demanded. ``taken``: call ids in the history. ``usage``, ``continuous``: the usage asked of a stream.
    """

    tools: Tools | None
    offered: bool
    single: bool
    legacy: bool
    forced: bool
    taken: frozenset[str]
    usage: bool
    continuous: bool


def read_offer(request: Mapping[str, Any], settings: Settings) -> Offer:
    """What ``request`` allows. Raises ``WireError`` where its tools or messages cannot be read."""
    tools, functions = request.get("tools"), request.get("functions")
    legacy = tools is None and functions is not None
    choice = request.get("function_call" if legacy else "tool_choice")
    try:
        known = read_tools(functions if legacy else tools)
    except ToolsError as error:
        raise WireError(str(error), param="functions" if legacy else "tools") from error
    offered = known is not None and bool(known.names)
    if choice == "none":
        known = read_tools([])
    elif tools is None and not legacy:
        known = None if settings.tools_absent == "read" else read_tools([])
    options = request.get("stream_options")
    options = options if isinstance(options, Mapping) else {}
    return Offer(
        tools=known,
        offered=offered and choice != "none",
        single=request.get("parallel_tool_calls") is False,
        legacy=legacy,
        forced=isinstance(choice, Mapping) and (legacy or choice.get("type") in ("function", "custom")),
        taken=frozenset(_ids(_messages(request))),
        usage=options.get("include_usage") is True,
        continuous=options.get("continuous_usage_stats") is True,
    )


def fit_request(request: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The request as the upstream needs it. Raises ``WireError``."""
    fit = dict(request)
    fit["messages"] = [
        _fit_message(m, settings.upstream_reasoning_field) if isinstance(m, Mapping) else m
        for m in _messages(request)
    ]
    if settings.keep_special:
        for name in _SPECIAL:
            fit.setdefault(name, False)
    return fit


def _messages(request: Mapping[str, Any]) -> list[Any]:
    messages = request.get("messages")
    if not isinstance(messages, (list, tuple)):
        raise WireError(
            f"messages: expected a list of messages, got {type(messages).__name__}", param="messages"
        )
    return list(messages)


def _ids(messages: list[Any]) -> list[str]:
    calls = [c for m in messages if isinstance(m, Mapping) for c in _list(m.get("tool_calls"))]
    return [c["id"] for c in calls if isinstance(c, Mapping) and isinstance(c.get("id"), str) and c["id"]]


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _fit_message(message: Mapping[str, Any], field: str) -> dict[str, Any]:
    if message.get("role") != "assistant":
        return dict(message)
    fit = {name: value for name, value in message.items() if name not in REASONING_FIELDS}
    spelled = [message[name] for name in REASONING_FIELDS if message.get(name) is not None]
    if spelled and field not in fit:
        # What a client sends under both names says the same twice.
        fit[field] = next((text for text in spelled if text), spelled[0])
    if _list(message.get("tool_calls")):
        fit["tool_calls"] = [
            _fit_call(c) if isinstance(c, Mapping) else c for c in _list(message["tool_calls"])
        ]
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        fit["function_call"] = {**legacy, "arguments": fit_arguments(legacy.get("arguments"))}
    return fit


def _fit_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    if not isinstance(function, Mapping):
        return dict(call)
    function = {**function, "arguments": fit_arguments(function.get("arguments"))}
    return {**call, "type": call.get("type") or "function", "function": function}


def fit_arguments(arguments: object) -> str:
    """A call's arguments as the text of a JSON object, as chat templates need them.

    What is one stays as it is, to the letter. Of what is none nothing is completed: the text goes up as
    a string inside an object.
    """
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return "{}"
    if isinstance(arguments, Mapping):
        return encode_json(arguments)
    if not isinstance(arguments, str):
        return encode_json({_UNREADABLE: arguments})
    value = _decoded(arguments)
    if isinstance(value, dict):
        return arguments
    if isinstance(value, str) and isinstance(_decoded(value), dict):
        return value
    return encode_json({_UNREADABLE: arguments})


def _decoded(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
