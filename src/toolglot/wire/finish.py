"""Finish reasons: which one a client gets.

Promises: exactly one a choice, by one rule. ``length`` and ``content_filter`` win, and so does a reason
that is not known here; a call that the client saw begin and not finish makes ``length``; calls make
``tool_calls``; else it is ``stop``. Without a call it is never ``tool_calls``.
"""

from __future__ import annotations

from typing import Final

_PLAIN: Final = frozenset({"", "stop", "eos", "eos_token", "tool_calls", "function_call"})


def finish_reason(upstream: str | None, *, calls: int, cut: bool, called: str) -> str:
    """The client's finish reason.

    ``upstream``: what the upstream said, None where it said nothing. ``calls``: finished calls that the
    client has. ``cut``: whether it has one that did not finish. ``called``: what calls are called here.
    """
    if upstream is not None and upstream not in _PLAIN:
        return upstream
    if cut:
        return "length"
    return called if calls else "stop"
