"""transformers' response parsing: its streaming parser, with templates of ours for three formats.

The templates of real models lie in their repositories; these say the same in the same form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import transformers
from transformers.utils.chat_parsing import ResponseParser, parse_response
from transformers.utils.chat_parsing.response_templates import load_response_template

from ..workloads import Workload

_CALL = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
_THINKING = {"open": "<think>\n", "close": "\n</think>\n\n", "content": "text"}
_CONTENT = {"content": "text"}


def _tags(pattern: str) -> dict[str, Any]:
    return {"content": "xml-inline", "content_args": {"tag_pattern": pattern}}


FIELDS: dict[str, dict[str, Any]] = {
    "hermes": {
        "open_pattern": r"<tool_call>\n",
        "close_pattern": r"\n</tool_call>\n?",
        "content": "json",
        "transform": {"type": "function", "function": "{content}"},
    },
    "qwen3_coder": {
        "open_pattern": r"<tool_call>\n<function=(?P<name>[^>]+)>\n",
        "close_pattern": r"</function>\n</tool_call>\n?",
        **_tags(r"<parameter=(?P<key>[^>]+)>\n(?P<value>.*?)\n</parameter>"),
        "transform": _CALL,
    },
    "glm45": {
        "open_pattern": r"<tool_call>(?P<name>[^\n<]+)\n",
        "close_pattern": r"</tool_call>\n?",
        **_tags(r"<arg_key>(?P<key>.*?)</arg_key>\n<arg_value>(?P<value>.*?)</arg_value>"),
        "transform": _CALL,
    },
}


def version() -> str:
    """The package's release."""
    return f"transformers {transformers.__version__}"


class Peer:
    """Its parser with the template of a format."""

    def __init__(self, option: str) -> None:
        pass

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Both entry points."""
        if workload.dialect not in FIELDS:
            return {}
        calls = {**FIELDS[workload.dialect], "repeats": True}
        template = load_response_template(
            {
                "start_anchor": "<|im_start|>assistant\n",
                "fields": {"content": _CONTENT, "thinking": _THINKING, "tool_calls": calls},
            }
        )
        tools, deltas, text = workload.tools, workload.deltas, workload.text

        def found(message: dict[str, Any]) -> object:
            functions = [call["function"] for call in message.get("tool_calls", ())]
            return [(function["name"], function["arguments"]) for function in functions]

        def stream() -> object:
            parser = ResponseParser(template, prefix="", tools=tools)
            for delta in deltas:
                parser.feed(delta)
            return found(parser.finalize()[0])

        def oneshot() -> object:
            return found(parse_response(text, template, prefix="", tools=tools))

        return {"stream": stream, "oneshot": oneshot}
