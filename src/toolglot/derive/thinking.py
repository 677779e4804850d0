"""thinking: a template's reasoning tags, its toggles, and how the generation prompt ends for each of them.

Promises: tags are those between which a sentinel of reasoning was rendered. Toggles are variables that the
template names and that change the prompt. Does not: guess at tags that no render shows.
"""

from __future__ import annotations

from typing import Any, Final

from ..dialect import Think
from .cuts import UNIT
from .derived import Toggle
from .probe import CONTENT, ONE, THOUGHT, USER, Calls, Prober, common
from .template import TemplateFault

_VALUES: Final[dict[str, tuple[Any, ...]]] = {
    "enable_thinking": (True, False),
    "thinking": (True, False),
    "reasoning_effort": ("low", "medium", "high"),
    "thinking_budget": (0, 512),
    "reasoning": (True, False),
}
"""Variables that are known to switch thinking, and the values tried."""


def prompt_tail(prober: Prober, **variables: Any) -> str:
    """What a generation prompt adds to the conversation; empty where the template adds nothing or raises."""
    try:
        with_prompt = prober.render([USER], prompt=True, **variables)
        without = prober.render([USER], **variables)
    except TemplateFault:
        return ""
    return with_prompt[common(without, with_prompt) :]


def toggles(prober: Prober) -> tuple[Toggle, ...]:
    """The variables that change how the generation prompt ends."""
    default = prompt_tail(prober)
    found: list[Toggle] = []
    for variable, values in _VALUES.items():
        if variable in prober.template.text:
            tails = tuple((value, prompt_tail(prober, **{variable: value})) for value in values)
            if any(tail != default for _, tail in tails):
                found.append(Toggle(variable, tails))
    return tuple(found)


def reasoned(prober: Prober, calls: Calls = ()) -> str:
    """The turn with reasoning, and content where there are no ``calls``; empty where it shows none."""
    try:
        turn = prober.turn(calls, "" if calls else CONTENT, THOUGHT)
    except TemplateFault:
        return ""
    return turn if THOUGHT in turn else ""


def tags(prober: Prober) -> Think | None:
    """The tags around rendered reasoning; None where no render shows any."""
    for turn in (reasoned(prober), reasoned(prober, ONE)):
        before, found, behind = turn.partition(THOUGHT)
        if not found:
            continue
        opener, closer = _last_unit(before), _first_unit(behind)
        if opener and closer and opener != closer:
            line = "newline" if before.endswith("\n") else "none"
            blank = "blank" if behind[behind.find(closer) + len(closer) :][:1].isspace() else "none"
            return Think((opener,), (closer,), trim=line, after=blank)
    return None


def _last_unit(text: str) -> str:
    """The tag that ``text`` ends with, blanks aside; empty where it ends with other text."""
    units = [unit for unit in UNIT.finditer(text.rstrip()) if unit.end() == len(text.rstrip())]
    return units[-1][0] if units and not _is_word(units[-1][0]) else ""


def _first_unit(text: str) -> str:
    unit = UNIT.match(text.lstrip())
    return unit[0] if unit and not _is_word(unit[0]) else ""


def _is_word(text: str) -> bool:
    return text[0].isalnum() or text[0] == "_"


def opened(tail: str, think: Think) -> bool:
    """Whether a prompt's tail leaves reasoning open."""
    start = max((tail.rfind(opener) for opener in think.open), default=-1)
    return start >= 0 and all(closer not in tail[start:] for closer in think.close)


def turn_open(tail: str, think: Think | None) -> str:
    """What of a prompt's tail starts the turn: all in front of the reasoning tag, blanks at the end aside."""
    at = tail.find(think.open[0]) if think else -1
    return (tail[:at] if at >= 0 else tail).strip()
