"""toolglot; the option is ``whole`` (arguments with the finished call) or ``auto`` (dialect unnamed)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import Any

import toolglot
from toolglot import Arguments, CallStart
from toolglot import parser as machine

from ..workloads import Workload


def version() -> str:
    """The release, and whether it is the compiled one."""
    compiled = not (machine.__file__ or "").endswith(".py")
    return metadata.version("toolglot") + (" compiled" if compiled else "")


class Peer:
    """toolglot in one of its modes."""

    def __init__(self, option: str) -> None:
        self.auto = option == "auto"
        self.arguments: Any = "whole" if option == "whole" else "stream"

    def works(self, workload: Workload) -> dict[str, Callable[[], object]]:
        """Both entry points for every format, and ``feed``: deltas alone, with no reader of events."""
        deltas, text, tools = workload.deltas, workload.text, workload.tools
        dialect = "auto" if self.auto else workload.dialect
        mode = self.arguments

        def stream() -> object:
            parser = toolglot.Parser(dialect, tools=tools, arguments=mode)
            calls: dict[int, tuple[str, list[str]]] = {}
            feed = parser.feed
            for delta in deltas:
                for event in feed(delta):
                    if isinstance(event, Arguments):
                        calls[event.index][1].append(event.text)
                    elif isinstance(event, CallStart):
                        calls[event.index] = (event.name, [])
            for event in parser.close():
                if isinstance(event, Arguments):
                    calls[event.index][1].append(event.text)
                elif isinstance(event, CallStart):
                    calls[event.index] = (event.name, [])
            return [(name, "".join(pieces)) for _, (name, pieces) in sorted(calls.items())]

        def feed_only() -> object:
            parser = toolglot.Parser(dialect, tools=tools, arguments=mode)
            feed = parser.feed
            for delta in deltas:
                feed(delta)
            return parser.close()

        def oneshot() -> object:
            message = toolglot.parse(text, dialect, tools=tools, arguments=mode)
            return [(call.name, call.arguments) for call in message.tool_calls]

        return {"stream": stream, "feed": feed_only, "oneshot": oneshot}
