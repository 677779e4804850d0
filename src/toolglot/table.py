"""Table: what each marker of one or several dialects can mean, compiled for the machine.

Promises: compiled once for a set of dialects and offered names, and shared. Does not hold any state.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._typing import TYPE_CHECKING
from .bodies import CODEC_NAMES, FIRSTS, head_of
from .dialect import Body, Dialect, Envelope, Unmarked
from .errors import DialectError
from .markers import LONGEST, Markers
from .parts import Beginning
from .record import replace
from .scanner import Pattern
from .stops import heads_begun

if TYPE_CHECKING:
    from typing import Final

_CACHE_MOST: Final = 64


class Kind:
    """What a marker can be: one of these words."""

    OPEN: Final = "open"
    CLOSE: Final = "close"
    UNMARKED: Final = "unmarked"
    THINK_OPEN: Final = "think_open"
    THINK_CLOSE: Final = "think_close"
    STOP: Final = "stop"
    HEADER: Final = "header"
    WRAP_OPEN: Final = "wrap_open"
    WRAP_CLOSE: Final = "wrap_close"
    LEAD: Final = "lead"
    SKIP: Final = "skip"
    END: Final = "end"


_ORDER: Final = (
    *(Kind.HEADER, Kind.OPEN, Kind.UNMARKED, Kind.THINK_OPEN, Kind.THINK_CLOSE),
    *(Kind.CLOSE, Kind.WRAP_OPEN, Kind.WRAP_CLOSE, Kind.LEAD, Kind.SKIP, Kind.STOP, Kind.END),
)


class Meaning:
    """One meaning of a marker, in one dialect."""

    __slots__ = ("body", "dialect", "kind", "unmarked")

    def __init__(
        self, kind: str, dialect: Dialect, unmarked: Unmarked | None = None, body: Body | None = None
    ) -> None:
        self.kind = kind
        self.dialect = dialect
        self.unmarked = unmarked
        self.body = body

    @property
    def opens(self) -> bool:
        """Whether the marker opens a call: an envelope's, or a body's own."""
        return self.kind is Kind.OPEN or (self.unmarked is not None and self.unmarked.shape == "opener")

    @property
    def names(self) -> bool:
        """Whether the marker is made of an offered name, at a word's start."""
        return self.unmarked is not None and self.unmarked.place == "word" and self.unmarked.shape == "name"


class Way:
    """A way to read what follows an opener: a dialect and one of its bodies.

    Of the calls that it reads, ``head`` is how their text begins behind an opener, ``next`` what comes behind
    a call in front of the next one, and ``after`` the same behind the close.
    """

    __slots__ = ("after", "body", "closers", "dialect", "head", "next")

    def __init__(
        self,
        dialect: Dialect,
        body: Body,
        head: Beginning | None = None,
        next: Beginning | None = None,
        after: Beginning | None = None,
    ) -> None:
        self.dialect = dialect
        self.body = body
        self.closers = (*body.close, *dialect.envelope.close)
        self.head = head
        self.next = next
        self.after = after


def way_of(dialect: Dialect, body: Body) -> Way:
    """The way to read ``body`` behind an opener of its dialect's envelope."""
    envelope, head = dialect.envelope, head_of(body)
    if not head or envelope.gap != "blank" or envelope.layout != "blank" or not envelope.open:
        return Way(dialect, body)
    after = heads_begun(envelope.open[:1], head)
    behind = heads_begun((*envelope.close[:1], envelope.open[0]), head) if envelope.close else after
    return Way(dialect, body, heads_begun((), head), behind, after)


class Table:
    """The markers of ``dialects``, the first of them ranking highest.

    ``outside`` finds what counts in the answer, ``quoted`` the same within inline code, ``inside`` what
    counts in reasoning; ``answers`` are the shapes that can only open an answer, ``answer_firsts`` the
    characters with which they begin, ``firsts`` those with which a marker inside a word may begin.
    ``stream_firsts``: those with which a message's header may, an empty text among them for any. ``lines``:
    markers that count only at the start of a line. ``turn_open``: what starts the model's turn in a prompt,
    and ``turn_kept`` what of it may be the beginning of a marker.
    """

    def __init__(self, dialects: Sequence[Dialect], calls: bool = True) -> None:
        self.dialects = tuple(dialects)
        self.meanings: dict[str, list[Meaning]] = {}
        self._sorts: dict[str, list[tuple[str, list[Meaning]]]] = {}
        # By the ids of an opener's meanings, which are kept with them.
        self.ways: dict[tuple[int, ...], tuple[list[Meaning], list[Way], bool, dict[int, Pattern]]] = {}
        self.answers: list[Meaning] = []
        # What of a body opens where an offered name stands: the texts around the name.
        self._named: list[tuple[str, str, Meaning]] = []
        self.special = frozenset(mark for dialect in dialects for mark in dialect.envelope.special)
        self.lines: set[str] = set()
        self.turn_open = tuple(turn for d in dialects for turn in d.envelope.turn_open)
        self.closes: dict[str, tuple[str, ...]] = {}
        alone = sum(bool(dialect.bodies) for dialect in dialects) <= 1
        for dialect in dialects:
            self._add(dialect, calls, alone)
        # A family's own shape goes before one that is only left where another's markers were stripped.
        self.answers.sort(key=lambda m: m.unmarked is not None and m.unmarked.standing == "repair")
        self.rest = _rest(self.dialects)
        self.streams = tuple(d for d in dialects if d.envelope.kind == "messages")
        roles = tuple(mark + d.envelope.role for d in self.streams for mark in d.envelope.start)
        self.stream_firsts = frozenset(mark[:1] for d in self.streams for mark in _headers(d.envelope))
        begun = (*self.meanings, *roles)
        self.turn_kept = tuple(t for t in self.turn_open if any(m.startswith(t) for m in begun))
        self.separators = tuple(d.envelope.separator for d in dialects if d.envelope.separator)
        self.layout = "blank" if any(d.envelope.layout == "blank" for d in dialects) else "none"
        self.firsts = frozenset(m[0] for m in self.meanings)
        self._compile(frozenset())

    def of(self, names: frozenset[str]) -> Table:
        """The same table where ``names`` are offered; what does not depend on them is shared."""
        if not names:
            return self
        table = Table((), False)
        table.dialects, table.answers, table.rest = self.dialects, self.answers, self.rest
        table.special, table.lines, table.closes = self.special, self.lines, self.closes
        table.turn_open, table.turn_kept = self.turn_open, self.turn_kept
        table.streams, table.stream_firsts = self.streams, self.stream_firsts
        table.separators, table.layout, table.firsts = self.separators, self.layout, self.firsts
        table.meanings = dict(self.meanings)
        ranks = {id(dialect): rank for rank, dialect in enumerate(self.dialects)}
        for before, after, meaning in self._named:
            for name in names:
                marker = before + name + after
                if len(marker) <= LONGEST:
                    if meaning.unmarked is not None and meaning.unmarked.place != "word":
                        table.firsts |= {marker[0]}
                    found = [*table.meanings.get(marker, ()), meaning]
                    table.meanings[marker] = sorted(found, key=lambda m: ranks[id(m.dialect)])
        table._compile(names)
        return table

    def sorts(self, marker: str) -> list[tuple[str, list[Meaning]]]:
        """The meanings of a marker by their kind, in the order in which they are tried."""
        found = self._sorts.get(marker)
        if found is None:
            meanings = self.meanings[marker]
            sorts = [(kind, [m for m in meanings if m.kind is kind]) for kind in _ORDER]
            found = self._sorts[marker] = [sort for sort in sorts if sort[1]]
        return found

    @property
    def by_name(self) -> bool:
        """Whether it matters which names are offered."""
        shapes = (m.unmarked.shape for m in self.answers if m.unmarked)
        return bool(self._named) or "lines" in shapes

    def _compile(self, names: frozenset[str]) -> None:
        bare = {"object": "{", "array": "[{", "list": "[", "lines": "".join(n[0] for n in names)}
        self.answer_firsts = frozenset("".join(bare[m.unmarked.shape] for m in self.answers if m.unmarked))
        then = {m: firsts for m, found in self.meanings.items() if (firsts := _behind(found))}
        self.outside = Markers(self.meanings, code=True, then=then)
        self.quoted = Markers(self.meanings, code=True, lines=True)
        inside = (Kind.OPEN, Kind.UNMARKED, Kind.THINK_OPEN, Kind.THINK_CLOSE, Kind.STOP)
        ends = {end for dialect in self.dialects for end in dialect.reasoning.ends}
        self.inside = Markers(
            m for m, found in self.meanings.items() if m in ends or any(f.kind in inside for f in found)
        )

    def _add(self, dialect: Dialect, calls: bool, alone: bool) -> None:
        envelope, think = dialect.envelope, dialect.reasoning
        self.lines.update(envelope.lines)
        for body in dialect.bodies:
            if body.codec not in CODEC_NAMES:
                names = ", ".join(CODEC_NAMES)
                raise DialectError(f"{dialect.slug}: body.codec: expected one of {names}, got {body.codec!r}")
        if envelope.kind == "messages":
            for marker in (*envelope.start, *filter(None, (envelope.channel,))):
                self._mean(marker, Meaning(Kind.HEADER, dialect))
            return
        if calls:
            for marker in envelope.open:
                self._mean(marker, Meaning(Kind.OPEN, dialect))
            for unmarked in dialect.unmarked:
                self._add_unmarked(dialect, unmarked)
            ends = envelope.close or tuple(body.name.end for body in dialect.bodies if body.name is not None)
            for marker in ends:
                if marker.strip("`"):
                    # A fence that closes no call opens or closes code.
                    self._mean(marker, Meaning(Kind.CLOSE, dialect))
        words = frozenset() if alone else _words(envelope)
        for opener, closer in zip(think.open, think.close, strict=True):
            if opener in words:
                continue
            self._mean(opener, Meaning(Kind.THINK_OPEN, dialect))
            self._mean(closer, Meaning(Kind.THINK_CLOSE, dialect))
            if closer not in self.closes.get(opener, ()):
                self.closes[opener] = (*self.closes.get(opener, ()), closer)
        for kind, markers in (
            (Kind.STOP, envelope.stops),
            (Kind.WRAP_OPEN, envelope.wrap_open),
            (Kind.WRAP_CLOSE, envelope.wrap_close),
            (Kind.LEAD, envelope.lead),
            (Kind.SKIP, envelope.headers),
            (Kind.END, envelope.ends),
        ):
            for marker in (m for m in markers if m not in words):
                self._mean(marker, Meaning(kind, dialect))

    def _mean(self, marker: str, meaning: Meaning) -> None:
        self.meanings.setdefault(marker, []).append(meaning)

    def _add_unmarked(self, dialect: Dialect, unmarked: Unmarked) -> None:
        if unmarked.shape == "opener":
            found = [(marker, body) for body in dialect.bodies for marker in _openers(body)]
            if not found:
                raise DialectError(f"{dialect.slug}: unmarked.shape: no body has an opener of its own")
            for marker, body in found:
                self._mean(marker, Meaning(Kind.UNMARKED, dialect, unmarked, body))
            return
        body = _body_for(dialect, unmarked)
        meaning = Meaning(Kind.UNMARKED, dialect, unmarked, body)
        if unmarked.place == "answer":
            self.answers.append(meaning)
        else:
            before, after = _AROUND[body.codec]
            if body.id_at == "around_name":
                before, after = body.prefixes[0], body.id_mark[0]
            self._named.append((before, body.suffix + after, meaning))


# What stands around an offered name where it opens a body without an envelope.
_AROUND: Final = {
    "pythonic": ("[", "("),
    "bare_call": ("", "("),
    "braces": ("", "{"),
    "name_then_json": ("", "{"),
}

_SHAPES: Final = {
    "object": ("json_object",),
    "array": ("json_array", "json_keyed"),
    "list": ("pythonic",),
    "name": ("bare_call", "braces", "name_then_json"),
    "lines": ("keyed_lines",),
}


def _rest(dialects: Sequence[Dialect]) -> Dialect:
    """A dialect without calls, with the stop tokens of all ``dialects``: what stays once one is found."""
    special = dict.fromkeys(
        m for d in dialects for m in d.envelope.stops if m in d.envelope.special or m[0] in "<["
    )
    return Dialect("rest", envelope=Envelope(kind="none", stops=tuple(special)))


def _headers(envelope: Envelope) -> tuple[str, ...]:
    """What the headers of a stream of messages begin with; an empty text where that may be any word."""
    channel = (envelope.channel,) if envelope.channel else ()
    return (envelope.recipient + envelope.call_prefix, *envelope.start, *channel)


def _words(envelope: Envelope) -> frozenset[str]:
    """Markers that are plain words: markup only where it is known that this dialect is spoken."""
    wraps = (*envelope.wrap_open, *envelope.wrap_close)
    return frozenset((*envelope.lines, *(m for m in wraps if not m.startswith(envelope.special))))


def _behind(meanings: list[Meaning]) -> str:
    """The characters one of which must stand right behind a marker of these ``meanings``; empty for any."""
    firsts = ""
    for meaning in meanings:
        if meaning.kind is not Kind.OPEN or meaning.dialect.envelope.gap != "none":
            return ""
        for body in meaning.dialect.bodies:
            if body.open or body.codec not in FIRSTS:
                return ""
            firsts += FIRSTS[body.codec]
    return firsts


def _openers(body: Body) -> tuple[str, ...]:
    """The markers with which a body itself begins."""
    if body.open or body.name is None:
        return body.open or body.prefixes
    return (body.name.open, *(prefix + body.name.open for prefix in body.prefixes))


def _body_for(dialect: Dialect, unmarked: Unmarked) -> Body:
    codecs = _SHAPES[unmarked.shape]
    for body in dialect.bodies:
        if body.codec in codecs:
            return replace(body, open=(), close=()) if body.open else body
    if unmarked.shape in ("object", "array"):
        return Body(codecs[0])
    raise DialectError(
        f"{dialect.slug}: unmarked.shape: {unmarked.shape!r} needs a body of codec {' or '.join(codecs)}"
    )


_Key = tuple[int | tuple[int, ...], frozenset[str], bool]
# More dialects than these are those of an automatic choice, which keeps them in one tuple.
_FEW: Final = 8
_tables: dict[_Key, Table] = {}


def table_of(dialects: tuple[Dialect, ...], names: frozenset[str], *, calls: bool = True) -> Table:
    """The table of ``dialects`` for the offered ``names``, compiled once; without calls if none is wanted."""
    ids = id(dialects) if len(dialects) > _FEW else tuple([id(dialect) for dialect in dialects])
    found = _tables.get((ids, names, calls))
    if found is None:
        plain = _tables.get((ids, frozenset(), calls)) or _keep(
            (ids, frozenset(), calls), Table(dialects, calls)
        )
        found = _keep((ids, names, calls), plain.of(names) if plain.by_name else plain)
    return found


def _keep(key: _Key, table: Table) -> Table:
    # A table holds its dialects, and their tuple, so their ids are not used again while it is cached.
    while len(_tables) >= _CACHE_MOST:
        _tables.pop(next(iter(_tables)), None)
    _tables[key] = table
    return table
