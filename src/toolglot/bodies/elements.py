"""elements: parameters that need no care, and what may stand around them.

Promises: a parameter that is there as a whole, its value on lines of its own and without anything that begins
a marker, is taken in one step, as ``rawvalue`` would have read it. One that is no string sends nothing before
its close, so nothing happens while it comes.

Does not: read any other parameter (``tagged``).
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..calls import Call, Reading
from ..dialect import Body, Tag
from ..jsontext import json_escape
from ..late import Once
from ..literals import json_string
from ..parts import Beginning
from ..runs import ESCAPED_MOST, HELD_MOST
from ..scanner import NONE, Match, Pattern
from ..schema import Tool
from ..stops import one_of, plain_element, value_end_begun
from .rawvalue import Frame, wrong_type
from .tags import Tagged, tag_at

if TYPE_CHECKING:
    from typing import Final


def tags_of(body: Body) -> tuple[Tag, Tag]:
    """The tags of the name and of a parameter."""
    assert body.name is not None
    assert body.param is not None
    return body.name, body.param


def _simple(body: Body) -> bool:
    """Whether the text of a tag is its name, and of a value just that."""
    own = tags_of(body)[1]
    care = body.gaps or body.quote or own.key or own.escapes == "text" or body.nulls == "always"
    return body.trim == "newline" and not care


class Shape:
    """What a body with tags looks like in its envelope.

    ``tag`` and ``own``: the tags of the name and of a parameter. ``follow``: what may stand behind the name,
    of which ``objects`` are arguments as an object; ``behind``: what may stand behind arguments.
    ``element``: a parameter where nothing in it needs care; ``ends`` finds where that may end.
    """

    __slots__ = ("behind", "element", "ends", "firsts", "follow", "objects", "own", "tag", "_body", "_framed")

    def __init__(self, body: Body, closers: tuple[str, ...], openers: tuple[str, ...], lenient: bool) -> None:
        self.tag, self.own = tag, own = tags_of(body)
        self.objects = (*body.whole[:1], *(("{",) if lenient or body.inside == "json" else ()))
        self.follow = (own.open, tag.end, *self.objects, *(closers if lenient else ()))
        # An outer close or the next call ends one whose own end is missing. The next call behind the name is
        # no proof that one without arguments was meant.
        outer = (*closers, tag.open, *openers) if lenient else ()
        self.behind = (own.open, tag.end, *outer)
        ends = (own.end, own.open, tag.end, *closers)
        self.firsts = firsts = "".join(sorted({marker[0] for marker in ends}))
        self.ends = one_of(firsts)
        self.element: Pattern | None = None
        if _simple(body):
            self.element = plain_element(own.open, own.close, own.end, tag.end, firsts)
        self._body = body
        self._framed: tuple[Tool | None, Frame] | None = None

    def frame(self, tool: Tool | None) -> Frame:
        """The markers around a value of a call of ``tool``."""
        framed = self._framed
        if framed is None or framed[0] is not tool:
            framed = self._framed = tool, _frame_of(self._body, tool)
        return framed[1]


shape_of: Final = Once(Shape)


def take_plain(reading: Reading, call: Call, match: Match, lead: str) -> bool:
    """Take a parameter that is there as a whole, up to what follows; False where limits or tokens count.

    ``lead``: JSON in front of its key.
    """
    source, value, limits = reading.source, match[2], reading.limits
    if (
        source.flags
        or len(value) * ESCAPED_MOST + HELD_MOST > call.room
        or min(limits.header, limits.blanks) < HELD_MOST
    ):
        return False
    base, name = source.base, match[1]
    param = reading.param(call.tool, name)
    start = base + match.start(2)
    reading.channel.settle(start)
    source.pos = match.end(2) + 1
    key = lead + json_string(name) + ": "
    if param.is_string:
        call.take(f'{key}"{json_escape(value)}"', 0)
    else:
        typed = param.typed(value)
        call.take(key + typed.json, 0)
        if not typed.ok:
            wrong_type(reading, call, start)
    source.pos = match.end()
    return True


def _sibling(reading: Reading, call: Call, at: int) -> int:
    """Whether the tag whose name begins at local index ``at`` is a parameter of the tool."""
    found = tag_at(reading.source, at, tags_of(reading.body)[1], reading.limits.header)
    if not isinstance(found, Tagged):
        return found
    tool = call.tool
    return 1 if tool is None or tool.open or tool.declares(found.name) else NONE


def _frame(body: Body, tool: Tool | None) -> Frame:
    tag, own = tags_of(body)
    over = None
    if not body.gaps:
        strings = frozenset() if tool is None else tool.strings
        plain = _simple(body) and strings is not None
        over = value_end_begun(own.end, own.open, own.close, bool(own.key), tag.end, plain)
        if plain and strings:
            over = Beginning(over.pattern, strings, len(own.close))
    return Frame((own.end,), (own.open,), _sibling, (tag.end,), (tag.open,), over=over)


_frame_of: Final = Once(_frame)
