"""Residue: markup of calls that stands in the text which a client sees. The alarm when a model drifts.

Promises: any split of the text gives the same hits; the first in the text is kept, with the text around
it. Memory is bounded and work is linear. Inline code and fences are no markup, as nowhere in toolglot. The
markers come from the dialects' data: those of the dialect that is read, and of all bundled ones those that
no prose has.

Does not change text, nor look into reasoning, where drafts of calls are usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from .auto import resolve
from .dialect import Body, Dialect, Tag
from .markers import Markers
from .parser import Named
from .registry import BUNDLED, load_file
from .scanner import Source

_BEFORE: Final = 48
_AFTER: Final = 80
_SHORTEST: Final = 4
_FENCE: Final = 3
_CACHE_MOST: Final = 64
_BRACKETS: Final = {"json_array": "[", "json_object": "{"}


class Residue:
    """Watches one text. ``dialect`` is the one that it was read with, in any form that a parser takes.

    ``hit``: the first marker in the text, or None. ``hits``: how many there were. ``evidence``: the
    first one with the text around it, up to 48 characters before it and 80 after.

    >>> watcher = Residue("none")
    >>> for delta in ["Sure: <tool", '_call>{"name": "ping"}']:
    ...     watcher.feed(delta)
    >>> watcher.close()
    >>> watcher.hit, watcher.hits
    ('<tool_call>', 1)
    """

    __slots__ = (
        "_evidence",
        "_fence",
        "_markers",
        "_pending",
        "_pending_hits",
        "_room",
        "_source",
        "_ticks",
        "hit",
        "hits",
    )

    def __init__(self, dialect: Named = "auto") -> None:
        self.hit: str | None = None
        self.hits = 0
        self._markers = markers_for(dialect)
        self._source = Source()
        self._fence = ""
        self._ticks = 0
        # A hit inside of inline code that may turn out to be none.
        self._pending: tuple[str, str] | None = None
        self._pending_hits = 0
        self._evidence: list[str] = []
        self._room = 0

    @property
    def evidence(self) -> str:
        """The first hit and the text around it; empty where there is none."""
        return "".join(self._evidence) if self.hit is not None else ""

    def feed(self, text: str) -> None:
        """Watch the next piece of text."""
        if text:
            if self._room:
                self._evidence.append(text[: self._room])
                self._room -= len(self._evidence[-1])
            self._source.feed(text)
            self._scan()

    def close(self) -> None:
        """The text has ended: inline code that is still open was none."""
        self._source.eof = True
        self._scan()
        self._settle()

    def _scan(self) -> None:
        source = self._source
        while True:
            at = source.find(self._markers, source.pos)
            if at < 0:
                source.pos = len(source.text)
                return
            if source.hit is None:
                source.pos = at
                return
            self._meet(source.hit, at)
            source.pos = at + len(source.hit)

    def _meet(self, hit: str, at: int) -> None:
        if hit == "\n":
            self._settle()
        elif hit[0] in "`~" and not hit.strip(hit[0]):
            self._meet_run(hit, at)
        elif not self._fence:
            self._count(hit, at)

    def _meet_run(self, run: str, at: int) -> None:
        source = self._source
        if self._fence:
            if run.startswith(self._fence) and source.fence_line(at, at + len(run)):
                self._fence = ""
        elif not self._ticks and len(run) >= _FENCE and source.fence_line(at):
            self._fence = run
        elif run[0] == "`":
            if not self._ticks:
                self._ticks = len(run)
            elif self._ticks == len(run):
                self._ticks = 0
                self._drop()

    def _count(self, marker: str, at: int) -> None:
        text = self._source.text
        if self.hit is None and self._pending is None:
            end = at + len(marker)
            around = text[max(at - _BEFORE, 0) : end + _AFTER]
            self._evidence = [around]
            self._room = _AFTER - (len(text[: end + _AFTER]) - end)
            if self._ticks:
                self._pending = (marker, around)
            else:
                self.hit = marker
        if self._ticks:
            self._pending_hits += 1
        else:
            self.hits += 1

    def _settle(self) -> None:
        """Inline code does not go on here: what was met in it counts."""
        self._ticks = 0
        if self._pending is not None:
            self.hit = self._pending[0]
            self._pending = None
        self.hits += self._pending_hits
        self._pending_hits = 0

    def _drop(self) -> None:
        if self._pending is not None:
            self._pending = None
            self._evidence = []
            self._room = 0
        self._pending_hits = 0


# -- markers ---------------------------------------------------------------------------------------


def markers_for(dialect: Named) -> Markers:
    """What is watched for where ``dialect`` is read."""
    resolved = resolve(dialect)
    return _compiled(resolved if isinstance(resolved, Dialect) else None)


_made: dict[int, tuple[Dialect | None, Markers]] = {}


def _compiled(dialect: Dialect | None) -> Markers:
    found = _made.get(id(dialect))
    if found is None:
        own = () if dialect is None else _own(dialect)
        # The dialect is held with its markers, so that its id is not used again.
        found = (dialect, Markers((*known_markers(), *own), code=True, lines=True))
        while len(_made) >= _CACHE_MOST:
            _made.pop(next(iter(_made)), None)
        _made[id(dialect)] = found
    return found[1]


@lru_cache(maxsize=1)
def known_markers() -> tuple[str, ...]:
    """Of all bundled dialects the markers of calls that are nothing else: sorted."""
    found = {m for slug in BUNDLED for m in _call_markers(load_file(slug)) if _unmistakable(m)}
    return tuple(sorted(found))


def _own(dialect: Dialect) -> Iterator[str]:
    """The markers of a dialect that is known to be read: less has to tell them from prose."""
    words = dialect.envelope.lines
    for marker in (*dialect.markers(), *_call_markers(dialect)):
        first = marker[:1]
        if len(marker) >= _SHORTEST and not (first.isalnum() or first.isspace() or first in "`~"):
            if marker not in words:
                yield marker


def _call_markers(dialect: Dialect) -> Iterator[str]:
    envelope = dialect.envelope
    for marker in envelope.open:
        if marker[:1].isalpha():
            # A word opens a call only with the bracket that its body begins with.
            yield from (marker + _BRACKETS[b.codec] for b in dialect.bodies if b.codec in _BRACKETS)
        else:
            yield marker
    yield from envelope.close
    for body in dialect.bodies:
        yield from _body_markers(body)


def _body_markers(body: Body) -> Iterator[str]:
    for tag in (body.name, body.param):
        if tag is not None:
            yield from (_opening(tag), tag.end)
    for markers in (body.open, body.close, body.prefixes, body.id_mark, body.key_open, body.key_close):
        yield from markers
    yield from (*body.value_open, *body.value_close)


def _opening(tag: Tag) -> str:
    return f'{tag.open} {tag.key}="' if tag.key else tag.open


def _unmistakable(marker: str) -> bool:
    """Whether a marker is written on purpose only: a bracket, and a sign or capitals that prose has not."""
    if len(marker) < _SHORTEST or "`" in marker:
        return False
    if marker[0] not in "<[]":
        return marker[-1] in "[{" and marker[:-1].isalpha()
    inner = marker.strip("<>[]/")
    signs = any(not (character.isalnum() or character.isspace()) for character in inner)
    return signs or (inner.isalpha() and inner.isupper())
