"""Ways: how what follows an opener may be read, and what stands behind that without a doubt.

Promises: worked out once for a table. A call that is read as a repeat of the one in front of it is one that
the machine would have read in just that way, had it looked at everything that may stand there.

Does not: read anything; ``claims`` does.
"""

from __future__ import annotations

from .bodies import sure_of
from .scanner import BLANKS, Pattern
from .stops import again
from .table import Kind, Meaning, Table, Way, way_of


def ways_of(table: Table, opener: str, found: list[Meaning]) -> tuple[list[Way], bool, dict[int, Pattern]]:
    """The ways to read what follows ``opener``, and whether blanks may stand in front of it.

    Also what finds the next call that is read in one of them, as ``_repeat`` says, by the way's identity.
    """
    known = table.ways.get(key := tuple(map(id, found)))
    if known is None:
        ways = [way_of(m.dialect, body) for m in found for body in m.dialect.bodies]
        ways.sort(key=lambda way: way.body.rank == "last")
        gap = any(m.dialect.envelope.gap != "none" for m in found)
        repeats: dict[int, Pattern] = {}
        for number, way in enumerate(ways):
            repeat = _repeat(table, opener, ways[:number], way)
            if repeat is not None:
                repeats[id(way)] = repeat
        known = table.ways[key] = found, ways, gap, repeats
    return known[1:]


def _repeat(table: Table, opener: str, earlier: list[Way], way: Way) -> Pattern | None:
    """What matches blanks, ``opener``, and what can only be a call's beginning behind it, where all is there.

    Group 1 is the opener. None where what stands there has to be weighed: another marker or another body may
    begin alike, text between calls counts, or something may stand behind a close that belongs to it.
    """
    envelope = way.dialect.envelope
    if not envelope.close or envelope.late_close or envelope.separator or way.next is None:
        return None
    longer = any((m != opener and m.startswith(opener)) or m[0] in BLANKS for m in table.meanings)
    if longer or opener in table.lines or opener == opener[0] * len(opener):
        return None
    start = sure_of(way.body)
    header = any(meaning.kind is Kind.HEADER for meaning in table.meanings[opener])
    # None of the ways that are tried before may fit there.
    alone = all(sure_of(before.body)[:1] not in ("", start[:1]) for before in earlier)
    return again(opener, start) if start and alone and not header else None
