"""evidence: each probe's render with what was read from it, for a person to follow.

Promises: the texts are the template's own. Does not: take part in any decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from . import thinking
from .derived import Evidence
from .frame import NONE, THREE, TWO
from .layout import ID, INDEX, KEY, NAME, Layout, Pairs
from .probe import CONTENT, ONE, Calls, Prober
from .template import TemplateFault

_WORDS: Final = {NAME: "{name}", ID: "{id}", INDEX: "{index}", KEY: "{key}"}


def gathered(prober: Prober, layout: Layout) -> tuple[Evidence, ...]:
    """The probes behind a layout, in the order in which they were looked at."""
    return tuple(_gather(prober, layout))


def _gather(prober: Prober, layout: Layout) -> Iterator[Evidence]:
    around = f"turn {layout.header!r} … {layout.end!r}"
    yield Evidence("content", _turn(prober, [], CONTENT), around)
    yield Evidence("one call", _turn(prober, ONE), f"call {_told(layout.head)} … {_told(layout.tail)}")
    section = f"section {_told(layout.section_open)} … {_told(layout.section_close)}"
    single = "one call only" if layout.single else f"{section}, between calls {_told(layout.separator)}"
    yield Evidence("two calls", _turn(prober, TWO), single)
    if not layout.single:
        yield Evidence("three calls", _turn(prober, THREE), f"closed behind {layout.closes}")
    empty = "as any other" if layout.empty is None else _told(layout.empty)
    yield Evidence("no arguments", _turn(prober, NONE), empty)
    if isinstance(layout.arguments, Pairs):
        for kind, form in layout.arguments.forms.items():
            yield Evidence(kind, "", f"{_told(form.open)} {form.codec} {_told(form.close)}")
    else:
        yield Evidence("arguments", "", layout.arguments)
    kept = "dropped" if layout.content is None else " … ".join(map(_told, layout.content))
    yield Evidence("content and a call", _turn(prober, ONE, CONTENT), f"content {kept}")
    yield Evidence("reasoning", thinking.reasoned(prober), "")
    yield Evidence("generation prompt", thinking.prompt_tail(prober), "")


def _turn(prober: Prober, calls: Calls, content: str = "") -> str:
    try:
        return prober.turn(calls, content)
    except TemplateFault as fault:
        return f"raises: {fault}"


def _told(text: str) -> str:
    for slot, word in _WORDS.items():
        text = text.replace(slot, word)
    return repr(text)
