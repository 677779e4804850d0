"""Table: what each marker of one or several dialects can mean, compiled for the machine.

Promises: compiled once for a set of dialects and offered names, and shared. Does not hold any state.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from .bodies import CODECS
from .dialect import Body, Dialect, Unmarked
from .errors import DialectError
from .markers import Markers

_CACHE_MOST: Final = 64


class Kind(Enum):
    """What a marker can be."""

    OPEN = "open"
    CLOSE = "close"
    UNMARKED = "unmarked"
    THINK_OPEN = "think_open"
    THINK_CLOSE = "think_close"
    STOP = "stop"
    HEADER = "header"
    WRAP_OPEN = "wrap_open"
    WRAP_CLOSE = "wrap_close"
    SKIP = "skip"


class Meaning(NamedTuple):
    """One meaning of a marker, in one dialect."""

    kind: Kind
    dialect: Dialect
    unmarked: Unmarked | None = None
    body: Body | None = None

    @property
    def names(self) -> bool:
        """Whether the marker is made of an offered name, at a word's start."""
        return self.unmarked is not None and self.unmarked.place == "word" and self.unmarked.shape == "name"


class Table:
    """The markers of ``dialects``, the first of them ranking highest.

    ``outside`` finds what counts in the answer, ``quoted`` the same within inline code, ``inside`` what
    counts in reasoning; ``answers`` are the shapes that can only open an answer.
    ``firsts``: the characters with which a marker inside a word may begin.
    """

    def __init__(self, dialects: Sequence[Dialect], names: frozenset[str], calls: bool = True) -> None:
        self.dialects = tuple(dialects)
        self.meanings: dict[str, list[Meaning]] = {}
        self.answers: list[Meaning] = []
        self.special: set[str] = set()
        self.turn_open: tuple[str, ...] = ()
        self.closes: dict[str, tuple[str, ...]] = {}
        for dialect in dialects:
            self._add(dialect, names, calls)
        self.streams = tuple(d for d in dialects if d.envelope.kind == "messages")
        self.layout = "blank" if any(d.envelope.layout == "blank" for d in dialects) else "none"
        self.outside = Markers(self.meanings, ticks=True)
        self.quoted = Markers(self.meanings, ticks=True, lines=True)
        inside = (Kind.OPEN, Kind.UNMARKED, Kind.THINK_OPEN, Kind.THINK_CLOSE, Kind.STOP)
        self.inside = Markers(m for m, found in self.meanings.items() if any(f.kind in inside for f in found))
        named = (m for m, found in self.meanings.items() if not all(f.names for f in found))
        self.firsts = frozenset(m[0] for m in named)

    def _add(self, dialect: Dialect, names: frozenset[str], calls: bool) -> None:
        envelope, think = dialect.envelope, dialect.reasoning
        self.special.update(envelope.special)
        self.turn_open += envelope.turn_open
        for body in dialect.bodies:
            if body.codec not in CODECS:
                raise DialectError(
                    f"{dialect.slug}: body.codec: expected one of {', '.join(CODECS)}, got {body.codec!r}"
                )
        if envelope.kind == "messages":
            for marker in (*envelope.start, envelope.channel):
                self._mean(marker, Meaning(Kind.HEADER, dialect))
            return
        if calls:
            for marker in envelope.open:
                self._mean(marker, Meaning(Kind.OPEN, dialect))
            for unmarked in dialect.unmarked:
                self._add_unmarked(dialect, unmarked, names)
            for marker in envelope.close:
                self._mean(marker, Meaning(Kind.CLOSE, dialect))
        for opener, closer in zip(think.open, think.close, strict=True):
            self._mean(opener, Meaning(Kind.THINK_OPEN, dialect))
            self._mean(closer, Meaning(Kind.THINK_CLOSE, dialect))
            if closer not in self.closes.get(opener, ()):
                self.closes[opener] = (*self.closes.get(opener, ()), closer)
        for kind, markers in (
            (Kind.STOP, envelope.stops),
            (Kind.WRAP_OPEN, envelope.wrap_open),
            (Kind.WRAP_CLOSE, envelope.wrap_close),
            (Kind.SKIP, envelope.headers),
        ):
            for marker in markers:
                self._mean(marker, Meaning(kind, dialect))

    def _mean(self, marker: str, meaning: Meaning) -> None:
        self.meanings.setdefault(marker, []).append(meaning)

    def _add_unmarked(self, dialect: Dialect, unmarked: Unmarked, names: frozenset[str]) -> None:
        body = _body_for(dialect, unmarked)
        meaning = Meaning(Kind.UNMARKED, dialect, unmarked, body)
        if unmarked.place == "answer":
            self.answers.append(meaning)
        elif unmarked.shape == "opener":
            openers = body.open or (body.prefixes if body.name is None else (body.name.open,))
            for marker in openers:
                self._mean(marker, meaning)
        else:
            before, after = _AROUND[body.codec]
            for name in names:
                self._mean(before + name + after, meaning)


# What stands around an offered name where it opens a body without an envelope.
_AROUND: Final = {"pythonic": ("[", "("), "bare_call": ("", "("), "braces": ("", "{")}

_SHAPES: Final = {
    "object": ("json_object",),
    "array": ("json_array",),
    "list": ("pythonic",),
    "opener": ("tagged", "braces"),
    "name": ("bare_call", "braces"),
    "lines": ("keyed_lines",),
}


def _body_for(dialect: Dialect, unmarked: Unmarked) -> Body:
    codecs = _SHAPES[unmarked.shape]
    for body in dialect.bodies:
        if body.codec in codecs:
            return body
    if unmarked.shape in ("object", "array"):
        return Body(codecs[0])
    raise DialectError(
        f"{dialect.slug}: unmarked.shape: {unmarked.shape!r} needs a body of codec {' or '.join(codecs)}"
    )


_tables: dict[tuple[tuple[int, ...], frozenset[str], bool], Table] = {}


def table_of(dialects: Sequence[Dialect], names: frozenset[str], *, calls: bool = True) -> Table:
    """The table of ``dialects`` for the offered ``names``, compiled once; without calls if none is wanted."""
    needs = any(u.place != "answer" and u.shape != "opener" for d in dialects for u in d.unmarked)
    key = (tuple(id(d) for d in dialects), names if needs else frozenset(), calls)
    found = _tables.get(key)
    if found is None:
        # A table holds its dialects, so their ids are not used again while it is cached.
        found = Table(dialects, key[1], calls)
        while len(_tables) >= _CACHE_MOST:
            _tables.pop(next(iter(_tables)), None)
        _tables[key] = found
    return found
