"""vLLM's own parsers, without a GPU: ``parse_delta`` and ``parse``, with ids made beforehand.

The tokenizer is a stand-in; the request is built as its server does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import vllm
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager

from ..workloads import Workload
from .gathered import Gathered
from .tokens import Tokens

NAMES = {
    "hermes": ("hermes", "<|im_end|>"),
    "qwen3_coder": ("qwen3_coder", "<|im_end|>"),
    "glm45": ("glm45", "<|observation|>"),
    "pythonic": ("pythonic", "<|eot|>"),
    "gemma4": ("gemma4", "<turn|>"),
}


def version() -> str:
    """The package's release."""
    return f"vllm {vllm.__version__}"


class Peer:
    """A new parser for each text. Harmony is left out: its parser needs the real vocabulary."""

    def __init__(self, option: str) -> None:
        pass

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Both entry points."""
        if workload.dialect not in NAMES:
            return {}
        name, stop = NAMES[workload.dialect]
        tokens = Tokens(workload.dialect, stop)
        kind = ParserManager.get_parser(
            tool_parser_name=name,
            reasoning_parser_name=None,
            enable_auto_tools=True,
            model_name="model",
            is_harmony=False,
        )
        request: Any = ChatCompletionRequest(
            model="model",
            messages=[{"role": "user", "content": "Use the tools to answer."}],
            stream=True,
            tools=workload.tools,
            tool_choice="auto",
        )

        def new() -> Any:
            return kind(tokens, request.tools, chat_template_kwargs={}, model_config=None)

        request = new().adjust_request(request=request)
        deltas = workload.deltas
        ids = [tokens.encode(delta) for delta in deltas]
        all_ids = [i for several in ids for i in several]
        last = len(deltas) - 1

        def stream() -> object:
            parser, gathered = new(), Gathered()
            for at, delta in enumerate(deltas):
                message = parser.parse_delta(
                    delta, ids[at], request, prompt_token_ids=[], finished=at == last
                )
                for call in (message and message.tool_calls) or ():
                    gathered.add(call.index, call.function.name, call.function.arguments)
            return gathered.calls()

        def oneshot() -> object:
            calls = new().parse(
                workload.text, request, enable_auto_tools=True, model_output_token_ids=all_ids
            )[2]
            return [(call.name, call.arguments) for call in calls or ()]

        return {"stream": stream, "oneshot": oneshot}
