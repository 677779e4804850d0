"""tags: reading a tag with a name in it, ``<function=NAME>`` or ``<invoke name="NAME" type="…">``.

Promises: a tag is read at a place in the text without moving the cursor, so that it can be looked at
before it is believed. An attribute's value may stand in double, single or no quotes.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final, NamedTuple

from ..calls import Reading
from ..dialect import Tag
from ..faults import Cut, Malformed
from ..scanner import BLANKS, MORE, NONE, Source, attribute_of, one_of, tag_stop

_QUOTES: Final = "\"'"
_ENTITIES: Final = (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


class Tagged(NamedTuple):
    """A tag that was read: its name, the text of its other attributes, and the local index behind it."""

    name: str
    attributes: str
    end: int

    @property
    def empty(self) -> bool:
        """Whether the tag closes itself."""
        return self.attributes.rstrip(BLANKS).endswith("/")

    def attribute(self, name: str) -> str:
        """The value of another attribute; empty where there is none."""
        return attribute_of(self.attributes, name)


def tag_at(source: Source, at: int, tag: Tag, most: int) -> Tagged | int:
    """The tag whose name begins at local index ``at``; ``MORE`` where it is cut, ``NONE`` where none is."""
    name = ""
    start = at
    if tag.style == "attribute":
        at = source.skip(at)
        if at >= len(source.text):
            return NONE if source.eof else MORE
        if source.text[at] in _QUOTES:
            end = source.stop(one_of(source.text[at] + "\n"), at + 1)
            if end < len(source.text) and source.text[end] == "\n":
                return NONE
            name = source.text[at + 1 : end]
            at = end + 1
        else:
            end = source.stop(one_of(BLANKS + tag.close[0]), at)
            name = source.text[at:end]
            at = end
    end = at
    while True:
        end = source.stop(tag_stop(tag.close), end)
        if end >= len(source.text):
            return NONE if source.eof or end - start > most else MORE
        found = source.starts(end, tag.close)
        if found != NONE:
            break
        if tag.close[0] != source.text[end] or tag.style != "attribute":
            return NONE
        end += 1
    if found == MORE:
        return MORE
    inside = source.text[at:end]
    if tag.style != "attribute":
        name, inside = inside.strip(), ""
    elif tag.escapes == "xml":
        for entity, character in _ENTITIES:
            name = name.replace(entity, character)
    return Tagged(name, inside, end + len(tag.close)) if name else NONE


def read_tag(reading: Reading, tag: Tag) -> Generator[None, None, Tagged]:
    """The tag at the cursor, whose opening text is there; the cursor moves past it."""
    source = reading.source
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
        yield
