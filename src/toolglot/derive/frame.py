"""frame: the layout of a template's turn, induced from renders with sentinels.

Promises: every literal is what stands between slots in an actual render, and holds no sentinel; a layout
explains the renders of none, one, two and three calls, or a ``Refused`` says which it does not.

Does not: judge whether a parser can read such turns (``verify``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..message import Message, ToolCall
from .cuts import Parts, decompose, prefix, suffix
from .derived import Refused
from .layout import ID, NAME, Layout, Pairs, written, written_arguments
from .pairs import fit_object, fit_pairs
from .probe import ASKED, CONTENT, IDS, KEYS, NAMES, ONE, RESULT, THOUGHT, VALUES, Calls, Prober
from .template import TemplateFault

_SENTINELS: Final = (*NAMES, *KEYS, *VALUES, *IDS, ASKED, CONTENT, THOUGHT, RESULT)
TWO: Final = [(NAMES[0], {KEYS[0]: VALUES[0]}), (NAMES[1], {KEYS[0]: VALUES[1]})]
THREE: Final = [*TWO, (NAMES[2], {KEYS[0]: VALUES[2]})]
NONE: Final[Calls] = [(NAMES[0], {})]


def message_of(prober: Prober, calls: Calls, content: str = "") -> Message:
    """The message that a probe stands for, with the ids that the template was given."""
    made = [ToolCall(name, dict(given), prober.id_of(i, name)) for i, (name, given) in enumerate(calls)]
    return Message(content, tool_calls=tuple(made))


def slotted(text: str) -> str:
    """``text`` with slots for names and ids."""
    for name in NAMES:
        text = text.replace(name, NAME)
    for own_id in IDS:
        text = text.replace(own_id, ID)
    return text


def several(prober: Prober, calls: Calls) -> str | None:
    """The turn with ``calls``; None where the template raises or leaves one out."""
    try:
        turn = prober.turn(calls)
    except TemplateFault:
        return None
    shown = all(name in turn and all(v in turn for v in given.values()) for name, given in calls)
    return turn if shown else None


def induce(prober: Prober, *, lead: bool = False) -> Layout:
    """The layout of the template's turns; ``lead`` as for ``decompose``. Raises ``Refused``."""
    one = prober.turn(ONE)
    two = several(prober, TWO)
    header, end, answer = _edges(prober, one)
    bare = Layout(header, end, "", "", "", "", "", answer=answer)
    arguments: str | Pairs | None = fit_object(prober)
    if arguments is None:
        arguments = fit_pairs(prober, header, end, lead=lead)
    layout = _around(replace(bare, arguments=arguments), one, two, lead)
    layout = _single_close(layout, prober, one)
    layout = _empty(layout, prober)
    layout = _content(layout, prober)
    layout = _each_close(layout, prober)
    _explains(layout, prober)
    _no_sentinel(layout)
    return layout


def _edges(prober: Prober, one: str) -> tuple[str, str, tuple[str, str]]:
    """The role's header and the turn's end, which turns with content and with calls share, and the rest."""
    try:
        said = prober.turn([], CONTENT)
    except TemplateFault:
        said = ""
    at = said.find(CONTENT)
    if at < 0:
        return "", "", ("", "")
    before, behind = said[:at], said[at + len(CONTENT) :]
    header = prefix(before, one)
    end = suffix(behind, one)
    return header, end, (before[len(header) :], behind[: len(behind) - len(end)])


def inner(layout: Layout, turn: str) -> str:
    """A turn without its header and end. Raises ``Refused`` where it has others."""
    if not (turn.startswith(layout.header) and turn.endswith(layout.end)):
        raise Refused("not-isolatable", "turns with calls begin or end differently", turn)
    return turn[len(layout.header) : len(turn) - len(layout.end)]


def _spots(layout: Layout, text: str, calls: Calls) -> list[str]:
    """The texts before, between and behind the arguments of ``calls`` in ``text``."""
    found: list[str] = []
    at = 0
    for _, given in calls:
        arguments = written_arguments(layout, given)
        spot = text.find(arguments, at)
        if spot < 0:
            raise Refused(
                "calls-not-composable", "arguments stand differently where there are more calls", text
            )
        found.append(slotted(text[at:spot]))
        at = spot + len(arguments)
    return [*found, slotted(text[at:])]


def _around(layout: Layout, one: str, two: str | None, lead: bool) -> Layout:
    """The literals around calls, from renders of one and of two."""
    if two is None:
        before, behind = _spots(layout, inner(layout, one), ONE)
        return replace(layout, head=before, tail=behind, single=True)
    parts: Parts = decompose(*_spots(layout, inner(layout, two), TWO), lead=lead)
    return replace(
        layout,
        section_open=parts.outer_open,
        head=parts.open,
        separator=parts.separator,
        tail=parts.close,
        section_close=parts.outer_close,
        several_close=parts.outer_close,
        index=parts.first,
    )


def _single_close(layout: Layout, prober: Prober, one: str) -> Layout:
    """With the close behind a single call, where templates write another than behind several."""
    if written(layout, message_of(prober, ONE)) == one:
        return layout
    behind = _spots(layout, inner(layout, one), ONE)[1]
    if not behind.startswith(layout.tail):
        raise Refused("calls-not-composable", "one call ends differently from the last of two", one)
    return replace(layout, section_close=behind[len(layout.tail) :])


def _empty(layout: Layout, prober: Prober) -> Layout:
    """With the text of a call without arguments, where it is no ordinary one."""
    try:
        turn = prober.turn(NONE)
    except TemplateFault:
        return replace(layout, extra={**layout.extra, "empty": "raises"})
    if written(layout, message_of(prober, NONE)) == turn:
        return layout
    text = slotted(inner(layout, turn))
    if not (text.startswith(layout.section_open) and text.endswith(layout.section_close)):
        raise Refused("calls-not-composable", "a call without arguments stands differently", turn)
    text = text[len(layout.section_open) : len(text) - len(layout.section_close)]
    return replace(layout, empty=text)


def _content(layout: Layout, prober: Prober) -> Layout:
    """With what stands around content in front of calls."""
    try:
        turn = prober.turn(ONE, CONTENT)
    except TemplateFault:
        return layout
    if CONTENT not in turn or not turn.startswith(layout.header):
        return layout
    plain = written(replace(layout, section_open="", header=""), message_of(prober, ONE))
    before, behind = turn[len(layout.header) :].split(CONTENT, 1)
    if not behind.endswith(plain):
        return layout
    return replace(layout, content=(before, behind[: len(behind) - len(plain)]))


def _each_close(layout: Layout, prober: Prober) -> Layout:
    """With the section closed behind each call but the first, as templates do that forget it is open."""
    if layout.single or written(layout, message_of(prober, THREE)) == prober.turn(THREE):
        return layout
    return replace(layout, closes="each")


def _explains(layout: Layout, prober: Prober) -> None:
    """Raise where the layout does not write the renders that it was read from."""
    for calls in (ONE, TWO, THREE):
        if layout.single and len(calls) > 1:
            break
        turn = prober.turn(calls)
        text = written(layout, message_of(prober, calls))
        if text != turn:
            raise Refused(
                "calls-not-composable", f"{len(calls)} calls stand differently", f"{turn!r}\n{text!r}"
            )


def _no_sentinel(layout: Layout) -> None:
    literals = (layout.header, layout.end, layout.section_open, layout.section_close, layout.head)
    for text in (*literals, layout.tail, layout.separator, layout.empty or ""):
        found = next((word for word in _SENTINELS if word in text), None)
        if found:
            raise Refused("sentinel-in-literal", f"{found} is no slot", text)
