"""renderers' ``parse_response``: whole texts by token id, with a stand-in tokenizer; no streaming."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

from renderers import ToolCallParseStatus, create_renderer

from ..workloads import Workload
from .tokens import Tokens

MODELS = {
    "hermes": ("Qwen/Qwen3-4B-Instruct-2507", "<|im_end|>"),
    "qwen3_coder": ("Qwen/Qwen3.5-4B", "<|im_end|>"),
    "glm45": ("zai-org/GLM-4.5-Air", "<|observation|>"),
    "gemma4": ("google/gemma-4-E4B-it", "<turn|>"),
}


def version() -> str:
    """The package's release."""
    return f"renderers {metadata.version('renderers')}"


class Peer:
    """The renderer of a model that writes the format."""

    def __init__(self, option: str) -> None:
        pass

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Whole texts, for the formats that it knows a model of."""
        if workload.dialect not in MODELS:
            return {}
        model, stop = MODELS[workload.dialect]
        tokens = Tokens(workload.dialect, stop)
        tokens.name_or_path = model
        renderer = create_renderer(tokens)
        ids = tokens.encode(workload.text + stop)
        tools = [tool["function"] for tool in workload.tools]

        def oneshot() -> object:
            found = renderer.parse_response(ids, tools=tools, prompt_ids=[])
            return [(c.name, c.arguments) for c in found.tool_calls if c.status == ToolCallParseStatus.OK]

        return {"oneshot": oneshot}
