"""Answer: the calls of a whole answer, with what the dialect writes around and between them.

Promises: the layout that ``render`` writes. What an answer's calls begin with is told apart as triggers: up
to one of them a text is free, from it on the grammar holds.

Does not: choose between free text and calls, which every engine has its own way to do (the writers).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..bodies import codec_of
from ..dialect import Dialect
from ..errors import DialectError, RenderError, ToolsError
from ..message import ToolCall
from ..render import around_call, frame, render, write_calls
from ..schema import Tool
from .calls import all_calls, one_call
from .context import Context, shared
from .form import EMPTY, NEVER, Lit, Node, Rep, Rules, alt, prefixed, seq, starts


@dataclass(frozen=True)
class Region:
    """A trigger and what has to follow it, up to the end of the calls that it stands for."""

    trigger: str
    rest: Node


@dataclass
class Answer:
    """The calls of an answer.

    ``calls`` is all of them where the answer has nothing else, ``triggered`` the same from the first trigger
    on, and ``regions`` are the parts that can follow free text; with ``several`` there may be more than one,
    else one holds all calls. ``at_start``: whether a trigger counts only where the answer begins.
    """

    calls: Node
    triggered: Node
    regions: list[Region]
    several: bool
    at_start: bool
    rules: Rules
    notes: set[str] = field(default_factory=set)

    @property
    def triggers(self) -> tuple[str, ...]:
        """What the regions begin with, each once."""
        return tuple(dict.fromkeys(region.trigger for region in self.regions))


def answer(dialect: Dialect, tools: Sequence[Tool], parallel: bool) -> Answer:
    """The calls that an answer may hold; raises ``DialectError`` or ``ToolsError`` where it can hold none."""
    if dialect.envelope.kind == "none" or not dialect.bodies:
        raise DialectError(f"{dialect.slug}: the dialect has no calls, so there is no grammar of them")
    rules, notes = Rules(), set[str]()
    if parallel and not _carries_several(dialect):
        parallel = False
        notes.add("the format carries one call an answer")
    context = Context(dialect.bodies[0], rules, _markers(dialect), notes)
    written = [(tool, one_call(context, tool)) for tool in tools]
    possible = [(tool, node) for tool, node in written if node != NEVER]
    if not possible:
        raise ToolsError(f"{dialect.slug} can write a call of none of the tools: {'; '.join(sorted(notes))}")
    if dialect.envelope.kind == "messages":
        return _messages(dialect, context, possible, parallel)
    return _delimited(dialect, context, possible, parallel)


def _carries_several(dialect: Dialect) -> bool:
    """Whether two calls that are written come back as two."""
    try:
        render([ToolCall(name, {"key": "text"}) for name in ("one", "other")], dialect)
    except RenderError:
        return False
    return True


def _markers(dialect: Dialect) -> tuple[str, ...]:
    """What a raw value cannot hold, as it may end it, its call or the calls."""
    envelope, body = dialect.envelope, dialect.bodies[0]
    found = [*envelope.close, *body.open, *body.close, *body.key_open, *body.key_close, *body.value_open]
    found += [*body.value_close, *body.whole, *envelope.end, *envelope.call_end]
    for tag in (body.name, body.param):
        found += [] if tag is None else [tag.end, tag.open]
    found += envelope.open
    return tuple(sorted({marker for marker in found if marker}))


def _delimited(
    dialect: Dialect, context: Context, written: Sequence[tuple[Tool, Node]], parallel: bool
) -> Answer:
    around, rules = frame(dialect), context.rules
    call = rules.add(alt(node for _, node in written))
    one = prefixed(around.call_open, all_calls(context, call, parallel), rules)
    one = rules.add(seq(one, Lit(around.call_close)))
    in_one = around.section or codec_of(context.body.codec).several == "all"
    if around.section and parallel:
        one = seq(one, Rep(prefixed(around.between, one, rules)))
    unit = seq(prefixed(around.opener, one, rules), Lit(around.closer))
    several = parallel and not in_one
    # The prompt may hold the beginning of the first opener.
    opener = around.opener.removeprefix(dialect.envelope.prefill)
    first = seq(prefixed(opener, one, rules), Lit(around.closer))
    more = Rep(prefixed(around.between, unit, rules)) if several else EMPTY
    calls = seq(first, more)
    at_start = not around.opener and any(
        u.place in {"answer", "line"} and u.standing == "canonical" for u in dialect.unmarked
    )
    opened = dialect.envelope.open[0] if around.opener else ""
    regions = _regions(unit, rules, opened)
    if dialect.envelope.prefill and around.opener == dialect.envelope.prefill:
        at_start = True
        context.notes.add("calls behind content are free text: only what begins the answer is told apart")
    if at_start:
        regions = _regions(calls, rules, "")
        several = False
    if not opened or at_start:
        heads = [_head(tool.name, dialect) for tool, _ in written]
        regions = [_cut(region, heads) for region in regions]
    return Answer(calls, calls, regions, several, at_start, rules, context.notes)


def _regions(unit: Node, rules: Rules, opener: str) -> list[Region]:
    """Triggers and what follows: the opener, or without one whatever literals a call begins with."""
    found = [Region(text, rest) for text, rest in starts(unit, rules)]
    if opener and all(region.trigger.startswith(opener) for region in found):
        return [Region(opener, alt(seq(Lit(r.trigger.removeprefix(opener)), r.rest) for r in found))]
    return found


def _head(name: str, dialect: Dialect) -> str:
    """What a call of that name begins with, up to the character that ends the name."""
    text, other = (
        write_calls([ToolCall(word, {"key": "text"})], dialect).removeprefix(dialect.envelope.prefill)
        for word in (name, name + "x")
    )
    return text[: len(shared(text, other)) + 1]


def _cut(region: Region, heads: Sequence[str]) -> Region:
    """The region with no more as its trigger than tells which tool is called."""
    head = max((head for head in heads if region.trigger.startswith(head)), key=len, default=region.trigger)
    return Region(head, seq(Lit(region.trigger.removeprefix(head)), region.rest))


def _messages(
    dialect: Dialect, context: Context, written: Sequence[tuple[Tool, Node]], parallel: bool
) -> Answer:
    envelope, layout = dialect.envelope, dialect.render
    around = around_call(context.body, layout)
    lead = ""
    if envelope.channel:
        lead = envelope.channel + next(name for name, kind in envelope.channels if kind == "content")
    constrain = f" {envelope.constrain}{envelope.content_types[0]}" if envelope.channel else ""
    end = (envelope.call_end or envelope.end)[0]
    to = envelope.recipient + envelope.call_prefix
    # A recipient may be no tool: then only the whole header tells.
    short = bool(envelope.call_prefix)
    regions: list[Region] = []
    for tool, node in written:
        head = f"{tool.name}{constrain}{envelope.body}"
        rest = seq(Lit(around[0]), node, Lit(around[1] + end))
        regions.append(Region(to, seq(Lit(head), rest)) if short else Region(to + head, rest))
    if short:
        regions = [Region(to, context.rules.add(alt(region.rest for region in regions)))]
    call = context.rules.add(alt(seq(Lit(lead + region.trigger), region.rest) for region in regions))
    start = envelope.start[0] + envelope.role
    more = Rep(seq(Lit(start), call)) if parallel else EMPTY
    triggered = seq(alt(seq(Lit(region.trigger), region.rest) for region in regions), more)
    return Answer(seq(call, more), triggered, regions, parallel, False, context.rules, context.notes)
