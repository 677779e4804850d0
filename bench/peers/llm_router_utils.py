"""SGLang's function-call detectors, as the package ``llm-router-utils`` brings them, without its server."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

from llm_router_utils.sglang.srt.entrypoints.openai.protocol import Tool
from llm_router_utils.sglang.srt.function_call.function_call_parser import FunctionCallParser

from ..workloads import Workload
from .gathered import Gathered

NAMES = {
    "hermes": "qwen25",
    "qwen3_coder": "qwen3_coder",
    "glm45": "glm45",
    "gpt_oss": "gpt-oss",
    "pythonic": "pythonic",
    "gemma4": "gemma4",
}


def version() -> str:
    """The package's release."""
    return f"llm-router-utils {metadata.version('llm-router-utils')}"


class Peer:
    """A new detector for each text."""

    def __init__(self, option: str) -> None:
        pass

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Both entry points."""
        tools = [Tool(**tool) for tool in workload.tools]
        name, deltas, text = NAMES[workload.dialect], workload.deltas, workload.text

        def stream() -> object:
            parser, gathered = FunctionCallParser(tools, name), Gathered()
            for delta in deltas:
                for call in parser.parse_stream_chunk(delta)[1]:
                    gathered.add(call.tool_index, call.name, call.parameters)
            for call in parser.parse_stream_end()[1]:
                gathered.add(call.tool_index, call.name, call.parameters)
            return gathered.calls()

        def oneshot() -> object:
            found = FunctionCallParser(tools, name).parse_non_stream(text)[1]
            return [(call.name, call.parameters) for call in found]

        return {"stream": stream, "oneshot": oneshot}
