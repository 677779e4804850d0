"""Markers compiled into one search, text gathered piece by piece, bookmarks: what a scanner is made of.

Promises: one search finds the first of any number of literal markers, or the beginning of one at the
end of the text. Gathering costs what the characters cost, however short the pieces are.

Does not: hold text; ``scanner`` does, and all searching goes through it. Its searches are counted here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from ._typing import TYPE_CHECKING
from .counts import examined, open_counts
from .errors import DialectError

if TYPE_CHECKING:
    from typing import Final

LONGEST: Final = 128
"""Characters that a marker may have: its search is nested as deep as it is long."""
_MANY: Final = 32
_SHORT: Final = 3
_CHUNK: Final = 512
# Of pieces gathered: how many wait, and how long they are when they are joined for good.
_SMALL_MOST: Final = 64
_JOINED: Final = 2048
_RUN_MOST: Final = 32
# Where nothing was found in so many characters of a longer text, those that are rare elsewhere are looked for
# first, which is many times faster, in so many at least; behind one that is no hit, in fewer. Where there are
# more of these than one in so many characters, and some, that is given up.
_NEAR: Final = 512
# The same for many markers, of which each character costs more.
_NEAR_MANY: Final = 320
_LONG: Final = 1024
_NARROW: Final = 64
_SPARSE: Final = 256
_MISSES: Final = 8
_RARE_MOST: Final = 16
# What prose and code have now and then, and what they are full of.
_SELDOM: Final = ":;/(){}[]_-"
_COMMON: Final = 3
_RUNS: Final = "`~"


_NO_THEN: Final[Mapping[str, str]] = {}
_NO_PIECES: Final[list[str]] = []
_NO_STARTS: Final[list[int]] = []


class Rope:
    """Text gathered piece by piece; short pieces are joined so that each costs what its characters cost."""

    __slots__ = ("_small", "_big", "_starts", "length")

    def __init__(self) -> None:
        self._small: list[str] = []
        # Made with the first long piece: most texts have none, and a parser has several of them.
        self._big: list[str] = _NO_PIECES
        self._starts: list[int] = _NO_STARTS
        self.length = 0

    def append(self, piece: str) -> None:
        """Add ``piece`` at the end."""
        length = len(piece)
        self.length += length
        if length >= _CHUNK:
            # Kept as it is: others may hold the same text.
            self._gather(length)
            self._add(piece, self.length - length)
            return
        small = self._small
        small.append(piece)
        if len(small) >= _SMALL_MOST:
            # A short text costs fifty bytes beside its characters.
            joined = "".join(small)
            if len(joined) < _JOINED:
                self._small = [joined]
            else:
                self._gather()

    def _gather(self, behind: int = 0) -> None:
        """Join the short pieces, which end ``behind`` characters before the end."""
        if self._small:
            piece = "".join(self._small)
            self._add(piece, self.length - behind - len(piece))
            self._small.clear()

    def _add(self, piece: str, start: int) -> None:
        if not self._big:
            self._big, self._starts = [], []
        self._big.append(piece)
        self._starts.append(start)

    def text(self) -> str:
        """All of it."""
        if not self._big:
            return "".join(self._small)
        self._gather()
        if len(self._big) > 1:
            # From here on the whole is kept, and not its pieces beside it.
            self._big = ["".join(self._big)]
            self._starts = [0]
        return self._big[0]

    def slice(self, start: int, end: int) -> str:
        """Characters ``start`` to ``end``, copying only the pieces concerned."""
        self._gather()
        if start >= end:
            return ""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, end - 1)
        offset = self._starts[first]
        return "".join(self._big[first:last])[start - offset : end - offset]


class Bookmark:
    """A place in the text: its offset, what stands in front of it, and which tokens are special."""

    __slots__ = ("at", "context", "flags")

    def __init__(self, at: int, context: str, flags: tuple[tuple[int, int, bool], ...]) -> None:
        self.at = at
        self.context = context
        self.flags = flags


class Markers:
    """A set of literal markers, compiled once into a search that also sees a marker's beginning at the end.

    ``code`` adds runs of backticks and of tildes, ``lines`` newlines, as further hits. ``firsts``: the
    characters with which a hit may begin. ``then``: characters, one of which stands right behind a marker
    wherever it counts; where none does, a long text may be passed as if it held none.
    """

    __slots__ = (
        *(
            "firsts",
            "literals",
            "_begun",
            "_extra",
            "_far",
            "_final",
            "_longer",
            "_near",
            "_open",
            "_settled",
        ),
        *("_rare", "_reach", "_then", "_trie", "_wholes"),
    )

    def __init__(
        self,
        literals: Iterable[str],
        *,
        code: bool = False,
        lines: bool = False,
        then: Mapping[str, str] = _NO_THEN,
    ) -> None:
        self.literals = frozenset(literals)
        if any(len(literal) > LONGEST for literal in self.literals):
            raise DialectError(f"a marker has at most {LONGEST} characters")
        # A longer run is several: what is held of it must end somewhere.
        self._extra = [f"{mark}{mark}{{0,{_RUN_MOST - 1}}}" for mark in _RUNS] if code else []
        if lines:
            self._extra.append(r"\n")
        # Of many markers only the beginnings are searched for, and what stands there is looked at then: to
        # compile all of them into one search takes tens of milliseconds.
        long = [m for m in self.literals if len(m) > _SHORT] if len(self.literals) > _MANY else []
        self._begun = frozenset(m[:_SHORT] for m in long)
        self._wholes: dict[tuple[str, bool], re.Pattern[str]] = {}
        self._trie = _trie((self.literals - frozenset(long)) | self._begun if long else self.literals)
        self.firsts = "".join(sorted({*self._trie, *(_RUNS if code else ""), *("\n" if lines else "")}))
        # Compiled when first asked for: it may never be.
        self._open: re.Pattern[str] | None = None
        self._final: re.Pattern[str] | None = None
        # A newline that is a hit of its own, and begins no marker.
        self._settled = "\n" if lines and "\n" not in self._trie else ""
        self._longer = _longer(self.literals)
        self._then = then
        self._rare: tuple[tuple[str, int], ...] | None = None
        self._reach = max([_RUN_MOST, *map(len, self.literals)])
        self._near = _NEAR_MANY if self._begun else _NEAR
        self._far = 2 * _LONG + self._reach

    def search(self, text: str, start: int, final: bool) -> re.Match[str] | None:
        """The first hit at or after ``start``; ``final`` means that no more text can come."""
        if len(text) - start > self._far:
            near = start + self._near
            match = self._hit(text, start, near, final)
            if match is not None and match.end() < near:
                return match
            start = self._nearest(text, near if match is None else match.start(), final)
        pattern = self._final if final else self._open
        if pattern is None or self._begun or open_counts:
            return self._hit(text, start, len(text), final)
        return pattern.search(text, start)

    def _hit(self, text: str, start: int, end: int, final: bool) -> re.Match[str] | None:
        """As ``search``, in ``text[:end]``."""
        pattern = self._final if final else self._open
        if pattern is None:
            pattern = self._compile(final)
        while True:
            match = pattern.search(text, start, end)
            if open_counts:
                examined((end if match is None else match.end()) - start)
            if match is None or not self._begun or match.group()[:_SHORT] not in self._begun:
                return match
            found = self._whole(match.group()[:_SHORT], final).match(text, match.start())
            if found is not None:
                return found
            start = match.start() + 1

    def _nearest(self, text: str, start: int, final: bool) -> int:
        """A place at or after ``start`` in front of which no hit begins, by the characters that are rare.

        What is looked at grows with what was passed: it stays in proportion, wherever the characters stand.
        """
        if self._rare is None:
            self._rare = self._gathered()
        begin, last = start, len(text) - self._reach
        width, misses = _LONG, 0
        while self._rare and start < last and misses <= _MISSES + (start - begin) // _SPARSE:
            end = nearest = min(start + width, last)
            behind = -1
            for rare, ahead in self._rare:
                to = nearest + ahead + len(rare) - 1
                at = text.find(rare, start, to)
                if open_counts:
                    examined((to if at < 0 else at + 1) - start)
                if at >= 0:
                    nearest, behind = max(at - ahead, start), at
            if behind < 0:
                start, width = end, 2 * width
                continue
            match = self._hit(text, nearest, behind + self._reach, final)
            if match is not None and match.start() <= behind:
                return match.start()
            start, misses = behind + 1, misses + 1
            # About as far as the next one is.
            width = _NARROW + (start - begin) // misses
        return start

    def _gathered(self) -> tuple[tuple[str, int], ...]:
        """Characters one of which stands in each hit but one at the end of the text, at most so far behind.

        A hit without a rare one, in it or behind it, is looked for whole. Empty where there are too many.
        """
        rare: dict[str, int] = {}
        for hit in sorted([*self.literals, *(run[0] for run in self._extra)], key=len):
            best = min([c for c in hit if c in rare] or hit, key=_commonness)
            if _commonness(best) == _COMMON:
                for after in self._then.get(hit, ""):
                    rare[after] = max(rare.get(after, 0), len(hit))
                if hit not in self._then:
                    rare[hit] = 0
            else:
                rare[best] = max(rare.get(best, 0), hit.index(best))
        return tuple(rare.items()) if len(rare) <= _RARE_MOST else ()

    def beginning(self) -> re.Pattern[str]:
        """What finds any hit while more text may come, and where there are many markers what may be none.

        Each way begins with a character that is spelled, by which the engine skips what begins none.
        """
        return self._compile(final=False) if self._open is None else self._open

    def begins(self, character: str) -> bool:
        """Whether a marker may begin with ``character``, which is none itself."""
        return character in self._trie and character not in self.literals

    def _compile(self, final: bool) -> re.Pattern[str]:
        pattern = self._final if final else self._open
        if pattern is None:
            pattern = self._pattern(self._trie, final)
            if final:
                self._final = pattern
            else:
                self._open = pattern
        return pattern

    def _whole(self, begun: str, final: bool) -> re.Pattern[str]:
        """The search for the markers that ``begun`` may be the beginning of, at the place where it stands."""
        pattern = self._wholes.get((begun, final))
        if pattern is None:
            near = (m for m in self.literals if m.startswith(begun) or begun.startswith(m))
            pattern = self._wholes[begun, final] = self._pattern(_trie(near), final)
        return pattern

    def _pattern(self, trie: _Trie, final: bool) -> re.Pattern[str]:
        return re.compile("|".join([*_alternatives(trie, not final), *self._extra]) or r"(?!)")

    def partial(self, match: re.Match[str], length: int, final: bool) -> bool:
        """Whether a hit is only the beginning of what may still be a (longer) marker."""
        if final or match.end() < length:
            return False
        found = match.group()
        if found[0] in _RUNS and found not in self.literals:
            return len(found) < _RUN_MOST
        return found != self._settled and (found not in self.literals or found in self._longer)


def _commonness(character: str) -> int:
    """How common a character is in prose and code, from 0 for one that is rare in both to ``_COMMON``."""
    if character in _SELDOM:
        return 1
    if character.isascii() and (character.isalnum() or character in " \t\r\n.,'\""):
        return 2 if character.isupper() else _COMMON
    return 0


@lru_cache(maxsize=1024)
def marks(literals: tuple[str, ...], *, code: bool = False) -> Markers:
    """The markers of ``literals``, compiled once."""
    return Markers(literals, code=code)


_Trie = dict[str, "object"]


def _trie(literals: Iterable[str]) -> _Trie:
    root: _Trie = {}
    for literal in literals:
        node = root
        for character in literal:
            child = node.setdefault(character, {})
            assert isinstance(child, dict)
            node = child
        node[""] = True
    return root


def _longer(literals: frozenset[str]) -> frozenset[str]:
    """Those of ``literals`` that others begin with."""
    ordered = sorted(literals)
    return frozenset(m for m, after in pairwise(ordered) if after.startswith(m))


def _alternatives(node: _Trie, open_end: bool) -> list[str]:
    return [
        re.escape(c) + _pattern(child, open_end)
        for c, child in sorted(node.items())
        if isinstance(child, dict)
    ]


def _pattern(node: _Trie, open_end: bool) -> str:
    options = _alternatives(node, open_end)
    if not options:
        return ""
    if open_end:
        options.append(r"\Z")
    if "" in node:
        options.append("")
    return options[0] if len(options) == 1 else "(?:" + "|".join(options) + ")"
