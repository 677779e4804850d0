"""pattern: reading a regular expression as the texts that it spells.

Promises: a pattern is read and never run, in time bounded by its length and ``MOST``. What comes out is each
way to read it, as pieces: literal text, white space, a group with a name, anything. Runs of anything and
look-aheads are told from text, so that a reader can say what it does not understand.

Does not: decide what a piece means, nor read back-references, conditions or recursion, which it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from ..errors import ResponseTemplateError

MOST: Final = 512
"""Ways to read one pattern."""
WORK: Final = 1 << 21
"""Pieces copied while one pattern is read: its ways share no storage."""
LONGEST: Final = 4096
"""Characters of one pattern."""
DEEPEST: Final = 32
"""Groups inside each other."""

Kind = Literal["text", "blank", "group", "any", "start", "end", "ahead"]
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_CLASSES: Final = "sSwWdD"


class Piece(NamedTuple):
    """One piece of a pattern.

    ``text``: the literal, a group's name, what a look-ahead looks for, or the one blank that may stand there.
    """

    kind: Kind
    text: str = ""


Way = tuple[Piece, ...]
_EMPTY: Final[list[Way]] = [()]


def ways(pattern: object) -> list[Way]:
    """All ways to read a pattern, in the order of its alternatives. Raises ``ResponseTemplateError``.

    >>> ways(r"\\s*<a>(?P<name>\\w+)>|b")[0]
    (Piece(kind='blank', text=''), Piece(kind='text', text='<a>'), Piece(kind='group', text='name'), \
Piece(kind='text', text='>'))
    """
    if not isinstance(pattern, str):
        raise ResponseTemplateError(f"a pattern is a text, not {type(pattern).__name__}")
    if len(pattern) > LONGEST:
        raise ResponseTemplateError(f"a pattern of more than {LONGEST} characters: {pattern[:40]!r}…")
    reader = _Reader(pattern)
    found = reader.alternatives(0)
    if reader.at < len(pattern):
        raise reader.fail("a closing bracket without an opening one")
    return [_merge(way) for way in found]


def literal(text: str) -> Way:
    """A text as the only way to read it."""
    return (Piece("text", text),)


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.copied = 0

    def fail(self, what: str) -> ResponseTemplateError:
        shown = self.pattern if len(self.pattern) <= 200 else f"{self.pattern[:200]}…"
        return ResponseTemplateError(f"the pattern {shown!r} has {what} at {self.at}")

    def peek(self, text: str) -> bool:
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def alternatives(self, depth: int) -> list[Way]:
        if depth > DEEPEST:
            raise self.fail(f"groups more than {DEEPEST} deep")
        found = self.sequence(depth)
        while self.peek("|"):
            found = self.bounded([*found, *self.sequence(depth)])
        return found

    def sequence(self, depth: int) -> list[Way]:
        found = _EMPTY
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts = self.repeated(self.atom(depth))
            found = self.bounded(self.followed(found, parts))
        return found

    def followed(self, found: list[Way], parts: list[Way]) -> list[Way]:
        self.copied += sum(map(len, found)) * len(parts) + sum(map(len, parts)) * len(found)
        if self.copied > WORK:
            raise self.fail(f"more than {MOST} ways to be read")
        return [way + part for way in found for part in parts]

    def bounded(self, found: list[Way]) -> list[Way]:
        found = list(dict.fromkeys(found))
        if len(found) > MOST:
            raise self.fail(f"more than {MOST} ways to be read")
        return found

    def repeated(self, atom: list[Way]) -> list[Way]:
        start = self.at
        if self.at >= len(self.pattern) or self.pattern[self.at] not in "*+?{":
            return atom
        sign = self.pattern[self.at]
        self.at += 1
        if sign == "{":
            end = self.pattern.find("}", self.at)
            counts = self.pattern[self.at : end] if end >= 0 else "x"
            if not counts.replace(",", "").isdigit():
                self.at = start
                raise self.fail("a brace that is neither escaped nor a count")
            self.at = end + 1
            sign = "*" if counts.split(",")[0] in {"", "0"} else "+"
        if self.at < len(self.pattern) and self.pattern[self.at] in "?+":
            self.at += 1
        return _repeat(atom, sign)

    def atom(self, depth: int) -> list[Way]:
        char = self.pattern[self.at]
        self.at += 1
        if char == "(":
            return self.group(depth)
        if char == "[":
            return [(self.char_class(),)]
        if char == "\\":
            return [(self.escape(),)]
        if char in "*+?{":
            raise self.fail("nothing to repeat")
        kind: Kind | None = {".": "any", "^": "start", "$": "end"}.get(char)  # type: ignore[assignment]
        return [(Piece(kind),)] if kind else [literal(char)]

    def escape(self) -> Piece:
        if self.at >= len(self.pattern):
            raise self.fail("a backslash at its end")
        char = self.pattern[self.at]
        self.at += 1
        if char in "AG":
            return Piece("start")
        if char in "zZ":
            return Piece("end")
        if char == "s":
            return Piece("blank")
        if char in "bB":
            return Piece("ahead")
        if char in _CLASSES:
            return Piece("any")
        if char in _ESCAPED:
            return Piece("text", _ESCAPED[char])
        if char.isalnum():
            raise self.fail(f"\\{char}, which is not read")
        return Piece("text", char)

    def char_class(self) -> Piece:
        start = self.at
        self.peek("^")
        self.peek("]")
        while self.at < len(self.pattern) and self.pattern[self.at] != "]":
            self.at += 2 if self.pattern[self.at] == "\\" else 1
        inside = self.pattern[start : self.at]
        if not self.peek("]"):
            raise self.fail("a bracket that is not closed")
        return Piece("blank") if inside and not inside.replace("\\s", "").strip() else Piece("any")

    def group(self, depth: int) -> list[Way]:
        name, look = "1", ""
        if self.peek("?P<"):
            end = self.pattern.find(">", self.at)
            if end < 0:
                raise self.fail("a name that is not closed")
            name, self.at = self.pattern[self.at : end], end + 1
        elif self.peek("?:"):
            name = ""
        elif self.pattern.startswith("?", self.at):
            look = next((sign for sign in ("?=", "?!", "?<=", "?<!") if self.peek(sign)), "")
            if not look:
                raise self.fail("a group of a kind that is not read")
        inside = self.alternatives(depth + 1)
        if not self.peek(")"):
            raise self.fail("a group that is not closed")
        if look:
            return [(Piece("ahead", _spelled(way)),) for way in inside] if look == "?=" else _EMPTY
        return [(Piece("group", name),)] if name else inside


def _repeat(atom: list[Way], sign: str) -> list[Way]:
    if len(atom) == 1 and len(atom[0]) == 1:
        piece = atom[0][0]
        if piece.kind == "blank" or (piece.kind == "text" and piece.text.isspace()):
            return [(Piece("blank", piece.text if sign == "?" else ""),)]
        if piece.kind == "any" or (piece.kind == "text" and sign != "?"):
            return [(Piece("any"),)]
    return atom if sign == "+" else [*atom, ()]


def _spelled(way: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in way if piece.kind == "text")


def _merge(way: Way) -> Way:
    """Neighbouring texts as one, neighbouring blanks and runs as one."""
    out: list[Piece] = []
    for piece in way:
        if out and out[-1].kind == piece.kind and piece.kind in {"text", "blank", "any"}:
            joined = out[-1].text + piece.text if piece.kind == "text" else ""
            out[-1] = Piece(piece.kind, joined)
        else:
            out.append(piece)
    return tuple(out)
