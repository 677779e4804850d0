"""whole: a verified dialect made whole: reasoning, the turn's start, the layout for ``render``, the builtin.

Promises: nothing is added that does not pass its own checks: reasoning and content are read back from the
template's turns, every prompt tail is tried (V7), and a bundled dialect stands in only where its markers are
the same and it reads every turn.

Does not: choose the body (``core``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ..dialect import Body, Dialect
from ..dialect import Layout as Blanks
from ..errors import RenderError
from ..message import ToolCall
from ..parser import parse
from ..registry import load_file
from ..render import render
from . import thinking
from .bundled import bundled, stopped
from .frame import message_of
from .layout import Layout, Pairs, written
from .overlays import overlaid
from .probe import CONTENT, KEYS, NAMES, ONE, THOUGHT, VALUES, Prober
from .reasons import OFFERED, reasons
from .template import TemplateFault
from .verify import Turn, key, model_text, reads, streams

_RENDERED: Final = 10
_TRIED: Final = 8
"""Turns with which an addition is tried, before all of them are read with all additions."""


@dataclass(frozen=True)
class Whole:
    """A dialect with all that was found, what it does not cover, and the bundled one that it equals."""

    dialect: Dialect
    partial: tuple[str, ...]
    builtin: str
    checks: dict[str, str]


def complete(prober: Prober, layout: Layout, dialect: Dialect, turns: list[Turn]) -> Whole:
    """``dialect`` with reasoning, turn start and blanks, as far as each passes its checks."""
    partial: list[str] = []
    plain = dialect
    think = thinking.tags(prober)
    tail = thinking.prompt_tail(prober)
    fuller = _opened(_blanks(dialect, layout), thinking.turn_open(tail, think))
    some = turns[:_TRIED]
    dialect = fuller if reads(fuller, some) is None else dialect
    if think is not None and dialect.envelope.kind == "delimited":
        fuller = replace(dialect, reasoning=think)
        if reads(fuller, some) is None and reasons(prober, fuller, think.open[0]):
            dialect = fuller
        else:
            partial.append("reasoning")
    builtin = bundled(prober, dialect, turns)
    if builtin:
        dialect = stopped(load_file(builtin), dialect)
    elif reads(dialect, turns) is not None or streams(dialect, turns) is not None:
        dialect, partial = plain, [*partial, "reasoning"]
    if not builtin:
        tolerant = overlaid(dialect)
        if tolerant is not dialect and reads(tolerant, turns) is None and streams(tolerant, turns) is None:
            dialect = tolerant
    partial += _content(prober, layout, dialect)
    partial += [f"prompt:{tail!r}" for tail in _tails(prober) if not _goes_on(layout, dialect, prober, tail)]
    if _collides(prober, layout, dialect):
        partial.append("delimiter_collision")
    return Whole(dialect, tuple(partial), builtin, {"render": _rendered(dialect, turns)})


def _opened(dialect: Dialect, start: str) -> Dialect:
    return replace(dialect, envelope=replace(dialect.envelope, turn_open=(start,))) if start else dialect


def _blanks(dialect: Dialect, layout: Layout) -> Dialect:
    """With the white space that the template writes at markers, for ``render``."""
    around = ("", "")
    envelope = dialect.envelope
    body = dialect.bodies[0]
    lines = _lead(layout.head, body, envelope.open), _trail(layout.tail, envelope.close)
    if body.open:
        around = _lead(layout.head, body, body.open), _trail(layout.tail, body.close)
        lines = _after(layout.section_open), _before(layout.section_close)
    together = bool(layout.section_open.strip()) and not body.open
    if together:
        lines = _after(layout.section_open), _before(layout.section_close)
    content = layout.content[1] if layout.content else ""
    made = Blanks(
        after_open=lines[0],
        before_close=lines[1],
        before=content[: len(content) - len(content.lstrip())],
        between=layout.separator if not layout.separator.strip() else "",
        calls="together" if together else "each",
        call_open=around[0],
        call_close=around[1],
    )
    return replace(dialect, render=made)


def _lead(text: str, body: Body, markers: tuple[str, ...]) -> str:
    """The blanks behind the first marker in ``text``."""
    marker = next((marker for marker in markers if text.lstrip().startswith(marker)), "")
    rest = text.lstrip()[len(marker) :] if marker else ""
    return rest[: len(rest) - len(rest.lstrip())]


def _trail(text: str, markers: tuple[str, ...]) -> str:
    """The blanks before the last marker in ``text``."""
    marker = next((marker for marker in markers if text.rstrip().endswith(marker)), "")
    rest = text.rstrip().removesuffix(marker) if marker else ""
    return rest[len(rest.rstrip()) :]


def _after(text: str) -> str:
    return text[len(text.rstrip()) :]


def _before(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


# -- checks ----------------------------------------------------------------------------------------


def _content(prober: Prober, layout: Layout, dialect: Dialect) -> list[str]:
    """What is not covered of content in front of a call."""
    if layout.content is None:
        return ["content_dropped"]
    try:
        text = model_text(layout, prober.turn(ONE, CONTENT))
    except TemplateFault:
        return ["content_dropped"]
    message = parse(text, dialect, tools=OFFERED, finish_reason="stop")
    calls = [(call.name, key(call.arguments)) for call in message.tool_calls]
    fits = calls == [(name, key(given)) for name, given in ONE] and message.content.strip() == CONTENT
    return [] if fits else ["content_with_calls"]


def _tails(prober: Prober) -> list[str]:
    tails = [thinking.prompt_tail(prober)]
    tails += [tail for toggle in thinking.toggles(prober) for _, tail in toggle.tails]
    return list(dict.fromkeys(tails))


def _goes_on(layout: Layout, dialect: Dialect, prober: Prober, tail: str) -> bool:
    """Whether a call behind a prompt that ends with ``tail`` is read (V7)."""
    text = model_text(layout, written(layout, message_of(prober, ONE)))
    text = text.removeprefix(_overlap(tail, text))
    thought = ""
    if dialect.reasoning.open and thinking.opened(tail, dialect.reasoning):
        thought = THOUGHT
        text = f"{THOUGHT}\n{dialect.reasoning.close[0]}\n\n{text}"
    message = parse(text, dialect, tools=OFFERED, finish_reason="stop", prompt_tail=tail)
    return [c.name for c in message.tool_calls] == [ONE[0][0]] and message.reasoning.strip() == thought


def _overlap(tail: str, text: str) -> str:
    """What of ``text`` the prompt has already written: the longest end of ``tail`` that begins it."""
    sizes = range(min(len(tail), len(text)), 0, -1)
    return next((text[:size] for size in sizes if tail.endswith(text[:size]) and text[:size].strip()), "")


def _collides(prober: Prober, layout: Layout, dialect: Dialect) -> bool:
    """Whether a text that holds one of the format's own closing literals is misread (V5)."""
    literals = {layout.tail, layout.section_close, layout.several_close}
    if isinstance(layout.arguments, Pairs):
        literals.add(layout.arguments.forms["string"].close.replace("\ue003", KEYS[0]))
    for literal in sorted(filter(str.strip, literals)):
        calls = [(NAMES[0], {KEYS[0]: f"{VALUES[0]}{literal}{VALUES[1]}"})]
        try:
            text = model_text(layout, prober.turn(calls))
        except TemplateFault:
            continue
        tools = {NAMES[0]: {"type": "object", "properties": {KEYS[0]: {"type": "string"}}}}
        message = parse(text, dialect, tools=tools, finish_reason="stop")
        if [(call.name, call.arguments) for call in message.tool_calls] != calls:
            return True
    return False


def _rendered(dialect: Dialect, turns: list[Turn]) -> str:
    """How many of the first rounds ``toolglot.render`` can write in the dialect, as ``N/M``."""
    done = 0
    for turn in turns[:_RENDERED]:
        try:
            render([ToolCall(name, given) for name, given in turn.calls], dialect, tools=turn.tools)
        except RenderError:
            continue
        done += 1
    return f"{done}/{min(len(turns), _RENDERED)}"
