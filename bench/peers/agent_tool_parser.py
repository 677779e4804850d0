"""agent-tool-parser (Rust): whole texts only, calls only, one parser for every format."""

from __future__ import annotations

from collections.abc import Callable

import agent_tool_parser

from ..workloads import Workload


def version() -> str:
    """The package's release, and which of its two engines runs."""
    kind = "Rust" if agent_tool_parser.ACCELERATED else "pure Python"
    return f"agent-tool-parser {agent_tool_parser.__version__} ({kind})"


class Peer:
    """A parser that knows the offered names."""

    def __init__(self, option: str) -> None:
        pass

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Whole texts."""
        names = {tool["function"]["name"] for tool in workload.tools}
        parser, text = agent_tool_parser.ToolParser(allowed_tools=names), workload.text
        return {"oneshot": lambda: [(call.name, call.args) for call in parser.try_parse_all(text)]}
