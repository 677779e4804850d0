"""explain: an output shown with what each of its characters was taken for.

Promises: a pure function of the text and its events; every character of the text is shown or counted
in a line that says how many rows were left out; nothing it returns can move a terminal's cursor, since
control, format and unpaired surrogate characters are written out. Does not parse, read or print.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from .events import Arguments, CallEnd, CallStart, Defect, DefectKind, Event, Markup, Reasoning, Relabel, Text

MARKS = {"markup": "m", "content": ".", "reasoning": "r", "name": "n", "arguments": "a", "end": "e"}
MEANINGS = {
    DefectKind.UNKNOWN_TOOL: "the name is none of the offered tools; the call is reported all the same",
    DefectKind.MALFORMED_CALL: "marked as a call, but what is inside is not one in this format; no call",
    DefectKind.UNCLOSED_CALL: "the text ended inside a call; it is in no list of calls",
    DefectKind.MISSING_OPEN: "a call without its opening marker",
    DefectKind.MISSING_CLOSE: "a complete call without its closing marker",
    DefectKind.ARGUMENTS_NOT_AN_OBJECT: "the arguments are no object, so there is no call",
    DefectKind.POSITIONAL_ARGUMENT: "an argument without a name was dropped",
    DefectKind.DUPLICATE_ARGUMENT: "an argument was given twice; the last value counts",
    DefectKind.WRONG_TYPE: "a value is not of the type that the tool's schema declares",
    DefectKind.REPAIRED: "the text was read as if it had been written right",
    DefectKind.REJECTED: "neither call nor content: text that has no place where it stands",
    DefectKind.LONE_REASONING_OPEN: "reasoning was opened and never closed",
    DefectKind.LONE_REASONING_CLOSE: "reasoning was closed and never opened",
    DefectKind.LIMIT: "one of the parser's limits was reached",
}

_LOST = "lost"
_STYLES = {
    "markup": "2",
    "content": "",
    "reasoning": "36",
    "name": "1;32",
    "arguments": "33",
    "end": "35",
    _LOST: "7",
}
_DEFECT_STYLE = "1;31"
_GUTTER = 7
_LONG_RUN = 10  # rows of one kind; beyond it only the first and the last few are shown
_KEPT = 3


class _Cell(NamedTuple):
    shown: str
    width: int
    kind: str


class _Row(NamedTuple):
    line: int | None  # None where a long line goes on
    start: int
    cells: list[_Cell]

    @property
    def end(self) -> int:
        return self.start + len(self.cells)

    def column(self, position: int) -> int:
        """The screen column of a position of the text."""
        return sum(cell.width for cell in self.cells[: position - self.start])


def explain(
    text: str,
    events: Iterable[Event],
    *,
    dialect: str = "",
    color: bool = False,
    width: int = 100,
    full: bool = False,
) -> str:
    """Show ``text`` with what each character was taken for, then the calls and the defects.

    ``events`` are all events of one parse of ``text``. In colour, kinds are colours and defects are
    underlined; without, a row of marks stands under each row of text. Long stretches of one kind are
    cut short unless ``full``.
    """
    events = list(events)
    defects = [event for event in events if isinstance(event, Defect)]
    kinds = _kinds(len(text), events)
    rows = _rows(
        text, kinds, max(20, width - _GUTTER), any(d.span == (len(text), len(text)) for d in defects)
    )
    calls = _calls(events, defects, width)
    ended = sum(isinstance(event, CallEnd) for event in events)
    counts = (_count(len(text), "character"), _count(ended, "call"), _count(len(defects), "defect"))
    head = f"{dialect or 'no dialect'}: {', '.join(counts)}"
    parts = [[head, _legend(color, _LOST in kinds)], _body(rows, defects, color, width, full)]
    if calls:
        parts.append(["calls", *calls])
    parts.append(["defects", *_listed(text, defects, color)] if defects else ["no defects"])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def visible(text: str) -> str:
    """``text`` with everything that could act on a terminal written out: ``↵``, ``␛``, ``<U+200B>``."""
    return "".join(_shown(char) for char in text)


def position(text: str, offset: int) -> str:
    """``offset`` as ``line:column``, both counted from 1."""
    return f"{text.count(chr(10), 0, offset) + 1}:{offset - text.rfind(chr(10), 0, offset)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _kinds(length: int, events: list[Event]) -> list[str]:
    kinds = [_LOST] * length
    names: dict[type, str] = {
        Text: "content",
        Reasoning: "reasoning",
        CallStart: "name",
        Arguments: "arguments",
        CallEnd: "end",
        Markup: "markup",
    }
    for event in events:
        start, end = event.span
        if isinstance(event, Relabel):
            kinds[start:end] = ["reasoning" if kind == "content" else kind for kind in kinds[start:end]]
        elif type(event) in names:
            kinds[start:end] = [names[type(event)]] * (end - start)
    return kinds


def _shown(char: str) -> str:
    if char == "\n":
        return "↵"
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"<U+{code:04X}>"
    return char


def _cell(char: str, kind: str) -> _Cell:
    shown = _shown(char)
    if len(shown) > 1:
        return _Cell(shown, len(shown), kind)
    if unicodedata.category(char) in ("Mn", "Me"):
        return _Cell(shown, 0, kind)
    return _Cell(shown, 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1, kind)


def _rows(text: str, kinds: list[str], room: int, mark_after_the_end: bool) -> list[_Row]:
    rows: list[_Row] = []
    cells: list[_Cell] = []
    line, start, used = 1, 0, 0
    number: int | None = line
    for at, char in enumerate(text):
        cell = _cell(char, kinds[at])
        if cells and used + cell.width > room:
            rows.append(_Row(number, start, cells))
            cells, start, used, number = [], at, 0, None
        cells.append(cell)
        used += cell.width
        if char == "\n":
            rows.append(_Row(number, start, cells))
            line += 1
            cells, start, used, number = [], at + 1, 0, line
    if cells or not rows or (mark_after_the_end and text.endswith("\n")):
        rows.append(_Row(number, start, cells))
    return rows


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style else text


def _legend(color: bool, lost: bool) -> str:
    if color:
        words = [_paint(kind, _STYLES[kind]) for kind in MARKS] + [_paint("defect", "4;" + _DEFECT_STYLE)]
    else:
        words = [f"{mark} {kind}" for kind, mark in MARKS.items()] + ["! defect"]
    if lost:
        words.append(_paint("unaccounted for", _STYLES[_LOST]) if color else "? unaccounted for")
    return "   ".join(words)


def _body(rows: list[_Row], defects: list[Defect], color: bool, width: int, full: bool) -> list[str]:
    touching = _touching(rows, defects)
    lines: list[str] = []
    at = 0
    while at < len(rows):
        sort = None if full else _sort(rows[at], touching[at], defects)
        run = 1
        while sort and at + run < len(rows) and _sort(rows[at + run], touching[at + run], defects) == sort:
            run += 1
        if run > _LONG_RUN:
            shown = [*range(at, at + _KEPT), None, *range(at + run - _KEPT, at + run)]
        else:
            shown = list(range(at, at + run))
        for row in shown:
            if row is None:
                what = sort[0] if sort else ""
                lines.append(f"{'':{_GUTTER}}... {run - 2 * _KEPT} more rows of {what} (--full shows them)")
            else:
                lines.extend(_row(rows[row], touching[row], defects, color, width))
        at += run
    return lines


def _touching(rows: list[_Row], defects: list[Defect]) -> list[list[int]]:
    """For each row, the numbers of the defects that it has a part of."""
    touching: list[list[int]] = [[] for _ in rows]
    starts = [row.start for row in rows]
    for number, defect in enumerate(defects):
        start, end = defect.span
        at = max(0, bisect_right(starts, start) - 1)
        touching[at].append(number)
        while at + 1 < len(rows) and rows[at + 1].start < end:
            at += 1
            touching[at].append(number)
    return touching


def _sort(row: _Row, touching: list[int], defects: list[Defect]) -> tuple[str, tuple[int, ...]] | None:
    """What a whole row is: rows of one sort may be left out. None where it changes within the row."""
    kinds = {cell.kind for cell in row.cells}
    if len(kinds) != 1:
        return None
    for number in touching:
        start, end = defects[number].span
        if start >= row.start or end <= row.end:
            return None
    return kinds.pop(), tuple(touching)


def _row(row: _Row, touching: list[int], defects: list[Defect], color: bool, width: int) -> list[str]:
    gutter = f"{row.line:>4} | " if row.line else f"{'':4} : "
    below = " " * _GUTTER
    if color:
        lines = [gutter + _coloured(row, [defects[number].span for number in touching])]
    else:
        lines = [(gutter + "".join(cell.shown for cell in row.cells)).rstrip()]
        lines.append((below + "".join(MARKS.get(cell.kind, "?") * cell.width for cell in row.cells)).rstrip())
    for marks in _defect_marks(row, touching, defects, width - _GUTTER):
        lines.append(below + (_paint(marks, _DEFECT_STYLE) if color else marks))
    return lines


def _coloured(row: _Row, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    style = ""
    for at, cell in enumerate(row.cells, row.start):
        codes = [_STYLES[cell.kind], "4" if any(start <= at < end for start, end in spans) else ""]
        wanted = ";".join(code for code in codes if code)
        if wanted != style:
            pieces.append(f"\x1b[0;{wanted}m" if wanted else "\x1b[0m")
            style = wanted
        # A blank has no colour of its own, and blanks that became layout are what one looks for here.
        pieces.append("·" if cell.shown == " " and cell.kind == "markup" else cell.shown)
    return "".join(pieces) + ("\x1b[0m" if style else "")


def _defect_marks(row: _Row, touching: list[int], defects: list[Defect], room: int) -> list[str]:
    """Rows of ``!`` under the defects' parts of a row; a defect's number and kind stand where it starts."""
    lines: list[str] = []
    for number in touching:
        start, end = defects[number].span
        first = row.column(max(start, row.start))
        last = max(first + 1, row.column(min(end, row.end)))
        marks = "!" * (last - first)
        label = f"{number + 1} {defects[number].kind.value}" if start >= row.start else ""
        if not label:
            line = " " * first + marks
        elif last + 1 + len(label) <= room:
            line = " " * first + marks + " " + label
        elif len(label) < first:
            line = " " * (first - len(label) - 1) + label + " " + marks
        else:
            lines.append(" " * first + marks)
            line = label
        lines.append(line)
    return lines


def _shorten(text: str, room: int) -> str:
    # No more than the ends are shown, so no more is looked at.
    shown = visible(text if len(text) <= 2 * room else text[:room] + text[-room:])
    if len(shown) <= room:
        return shown
    tail = room // 3
    return f"{shown[: room - tail - 3]}...{shown[-tail:]}"


def _calls(events: list[Event], defects: list[Defect], width: int) -> list[str]:
    ends = {event.index: event for event in events if isinstance(event, CallEnd)}
    pieces: dict[int, list[str]] = {}
    for event in events:
        if isinstance(event, Arguments):
            pieces.setdefault(event.index, []).append(event.text)
    lines: list[str] = []
    for call in events:
        if not isinstance(call, CallStart):
            continue
        head = f"  {call.index}  {visible(call.name)}"
        if call.index in ends:
            arguments = ends[call.index].arguments_json or "".join(pieces.get(call.index, ()))
            lines.append(f"{head}  {_shorten(arguments, max(20, width - len(head) - 2))}")
        else:
            why = [str(number) for number, defect in enumerate(defects, 1) if defect.index == call.index]
            lines.append(f"{head}  no call" + (f", see defect {', '.join(why)}" if why else ""))
    return lines


def _listed(text: str, defects: list[Defect], color: bool) -> list[str]:
    lines: list[str] = []
    for number, defect in enumerate(defects, 1):
        kind = _paint(defect.kind.value, _DEFECT_STYLE) if color else defect.kind.value
        start, end = defect.span
        where = position(text, start)
        if end > start + 1:
            where += f" to {position(text, end - 1)}"
        lines.append(f"  {number}  {kind} at {where}: {visible(defect.detail)}")
        lines.append(f"     {MEANINGS[defect.kind]}")
        if defect.raw:
            size = f"  ({_count(len(defect.raw), 'character')})" if len(visible(defect.raw)) > 60 else ""
            lines.append(f"     raw  {_shorten(defect.raw, 60)}{size}")
    return lines
