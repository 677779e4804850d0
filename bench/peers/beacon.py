"""llm-beacon's ``parse_tool_calls`` (Rust): whole texts only, calls only, no schemas."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata

import beacon

from ..workloads import Workload


def version() -> str:
    """The package's release."""
    return f"llm-beacon {metadata.version('llm-beacon')}"


class Peer:
    """One function for every format."""

    def __init__(self, option: str) -> None:
        pass

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Whole texts."""

        def oneshot() -> object:
            try:
                found = beacon.parse_tool_calls(workload.text)
            except beacon.NoToolCallFoundError:
                return []
            return [(call["name"], call["arguments"]) for call in found]

        return {"oneshot": oneshot}
