"""results: how a template writes what a tool gave back, behind the turn with the call.

Promises: the texts around a sentinel result in an actual render. Does not: tell how several are grouped.
"""

from __future__ import annotations

from .cuts import prefix
from .layout import ID, NAME
from .probe import IDS, NAMES, ONE, RESULT, USER, Prober
from .template import TemplateFault


def around_result(prober: Prober) -> tuple[str, str] | None:
    """What stands before and behind one result, with slots for name and id; None where none is shown."""
    message = prober.message(ONE)
    call = message["tool_calls"][0]
    result = {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": RESULT}
    try:
        alone = prober.render([USER, message])
        text = prober.render([USER, message, result])
    except TemplateFault:
        return None
    before, found, behind = text.partition(RESULT)
    if not found:
        return None
    start = len(alone) if before.startswith(alone) else len(prefix(alone, before))
    opener = before[max(start, 0) :].replace(NAMES[0], NAME).replace(IDS[0], ID)
    return opener, behind
