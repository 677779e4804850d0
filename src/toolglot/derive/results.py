"""results: how a template writes what a tool gave back, behind the turn with the call.

Promises: the texts around a sentinel result in an actual render. Does not: tell how several are grouped.
"""

from __future__ import annotations

from .cuts import prefix
from .probe import IDS, NAMES, ONE, RESULT, USER, VALUES, Prober
from .template import TemplateFault


def around_result(prober: Prober) -> tuple[str, str] | None:
    """What stands before and behind one result; None where none is shown.

    ``{name}`` and ``{id}`` stand for the call's own.
    """
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
    # The turn itself may be written otherwise once a result follows, but it ends alike.
    end, shown = alone.rfind(VALUES[0]) + len(VALUES[0]), before.rfind(VALUES[0]) + len(VALUES[0])
    start = shown + len(prefix(alone[end:], before[shown:]))
    opener = before[start:].replace(NAMES[0], "{name}").replace(IDS[0], "{id}")
    return opener, behind
