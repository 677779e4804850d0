"""tags: reading a tag with a name in it, ``<function=NAME>`` or ``<invoke name="NAME" type="…">``.

Promises: a tag is read at a place in the text without moving the cursor, so that it can be looked at
before it is believed. An attribute's value may stand in double, single or no quotes, with blanks around
its ``=``, and attributes in any order.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from .._typing import TYPE_CHECKING
from ..calls import Reading
from ..dialect import Tag
from ..errors import RenderError
from ..faults import Cut, Malformed
from ..pieces import attributes_of
from ..runs import HELD_MOST
from ..scanner import BLANKS, MORE, NONE, Source
from ..stops import one_of, tag_begun, tag_parts, tag_stop, tag_whole
from ..waits import expect, head_waits

if TYPE_CHECKING:
    from typing import Final

_QUOTES: Final = "\"'"
_OPENING: Final = "<"
_NO_ATTRIBUTES: Final[Mapping[str, str]] = {}
# In the order in which they are undone, so that an escaped escape stays one.
_ENTITIES: Final = (("&quot;", '"'), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
ENTITY_MOST: Final = max(len(entity) for entity, _ in _ENTITIES)


class Tagged:
    """A tag that was read: name, attributes, the local index behind it, and whether it closes itself."""

    __slots__ = ("attributes", "empty", "end", "name")

    def __init__(self, name: str, attributes: Mapping[str, str], end: int, empty: bool) -> None:
        self.name = name
        self.attributes = attributes
        self.end = end
        self.empty = empty


def tag_begins(source: Source, at: int, tag: Tag) -> int:
    """1 where ``tag`` opens at local index ``at``, ``MORE`` where it may, else ``NONE``."""
    found = source.starts(at, tag.open)
    if found != 1 or not tag.key:
        return found
    at += len(tag.open)
    if at >= len(source.text):
        return 1 if source.eof else MORE
    # Some decoders lose the blank in front of the attribute.
    return 1 if source.text[at] in BLANKS else source.starts(at, tag.key)


def tag_at(source: Source, at: int, tag: Tag, most: int) -> Tagged | int:
    """The tag whose name begins at local index ``at``; ``MORE`` where it is cut, ``NONE`` where none is."""
    end = _plain_end(source, at, tag, most) if not tag.key else _attributes_end(source, at, tag, most)
    if end < 0:
        return end
    inside = source.text[at:end]
    end += len(tag.close)
    if not tag.key:
        name = inside.strip()
        return Tagged(name, _NO_ATTRIBUTES, end, False) if name else NONE
    bare = inside.rstrip(BLANKS)
    empty = bare.endswith("/")
    attributes = attributes_of(bare[:-1] if empty else bare)
    if tag.escapes != "none":
        attributes = {key: unescape(value) for key, value in attributes.items()}
    name = attributes.get(tag.key, "")
    fits = name and (tag.others == "any" or len(attributes) == 1)
    return Tagged(name, attributes, end, empty) if fits else NONE


def _plain_end(source: Source, at: int, tag: Tag, most: int) -> int:
    """Where the close of a tag stands whose name begins at ``at``."""
    end = source.stop(tag_stop(tag.close), at)
    if end >= len(source.text):
        return NONE if source.eof or end - at > most else MORE
    found = source.starts(end, tag.close) if end - at <= most else NONE
    return end if found == 1 else found


def _attributes_end(source: Source, at: int, tag: Tag, most: int) -> int:
    """Where the close of a tag stands whose attributes begin at ``at``; what is in quotes is passed.

    Outside of quotes another tag's opening ends the search, so that openings in a row cost no more.
    """
    text = source.text
    quote = ""
    end = at
    while True:
        end = source.stop(one_of((quote or _QUOTES + tag.close[0] + _OPENING) + "\n"), end)
        if end >= len(text):
            return NONE if source.eof or end - at > most else MORE
        c = text[end]
        if c == "\n" or end - at > most:
            return NONE
        if quote or c in _QUOTES:
            quote = "" if quote else c
        else:
            found = source.starts(end, tag.close)
            if found != NONE or c == _OPENING:
                return end if found == 1 else found
        end += 1


def tag_head(tag: Tag, then: str) -> tuple[str, ...]:
    """The parts of what begins with ``tag``, and ``then`` behind it, before which nothing happens."""
    return tag_parts(tag.open, tag.close, bool(tag.key), then)


def tag_ahead(reading: Reading, at: int, tag: Tag, then: str = "") -> None:
    """Declare that nothing happens before more stands behind the tag at local index ``at``.

    With ``then``, all of that or something else.
    """
    source, limits = reading.source, reading.limits
    expect(source, limits, tag_begun(tag.open, tag.close, bool(tag.key), then), at - source.pos)


def take_tag(reading: Reading, tag: Tag) -> Tagged | None:
    """The tag at the cursor, which moves past it, where all of it is there and nothing in it needs care."""
    source = reading.source
    if tag.key or source.flags:
        return None
    whole = source.head(tag_whole(tag.open, tag.close), source.pos)
    if whole is None or not whole.end() - source.pos <= HELD_MOST <= reading.limits.header:
        return None
    name = whole[1].strip()
    if not name:
        return None
    source.pos = end = whole.end()
    return Tagged(name, _NO_ATTRIBUTES, end, False)


def read_tag(reading: Reading, tag: Tag, then: str = "") -> Generator[None, None, Tagged]:
    """The tag at the cursor, whose opening text is there; the cursor moves past it.

    ``then``: what stands behind it, before which nothing happens; empty where the next character counts.
    """
    source = reading.source
    while (
        not tag.key
        and reading.limits.header >= HELD_MOST
        and head_waits(source, tag_begun(tag.open, tag.close, False, then))
    ):
        yield
        taken = take_tag(reading, tag)
        if taken is not None:
            return taken
    while True:
        found = tag_at(source, source.pos + len(tag.open), tag, reading.limits.header)
        if isinstance(found, Tagged):
            source.pos = found.end
            return found
        if found == NONE:
            if source.eof and source.stop(tag_stop(tag.close), source.pos + len(tag.open)) >= len(
                source.text
            ):
                raise Cut("the text ends inside a tag")
            raise Malformed(f"{tag.close!r} is missing after {tag.open!r}")
        tag_ahead(reading, source.pos, tag, then)
        yield


def unescape(text: str) -> str:
    """``text`` without its escapes."""
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def escape(text: str, quotes: bool) -> str:
    """``text`` with escapes, quotation marks among them in an attribute's value."""
    for entity, character in reversed(_ENTITIES):
        if quotes or character not in _QUOTES:
            text = text.replace(character, entity)
    return text


def write_tag(tag: Tag, name: str, more: str) -> str:
    """The tag for ``name``, with the text of ``more`` attributes. Raises ``RenderError``."""
    if not tag.key:
        if tag.close in name or "\n" in name:
            raise RenderError(f"the name {name!r} cannot stand in {tag.open!r}")
        return tag.open + name + more + tag.close
    written = name if tag.escapes == "none" else escape(name, quotes=True)
    if "\n" in written or '"' in written:
        raise RenderError(f"the name {name!r} cannot stand in {tag.open!r}")
    return f'{tag.open} {tag.key}="{written}"{more}{tag.close}'
