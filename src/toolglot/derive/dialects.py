"""dialects: from a layout to the dialects that may read it, each as the data of a dialect file.

Promises: candidates only, the most specific first; whether one reads the template's turns is for ``verify``.
Every marker is a literal of the layout. White space at a marker's edges is layout and left out of it.

Does not: know any family.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from ..dialect import Dialect
from ..errors import DialectError
from .cuts import UNIT, stop_of
from .layout import ID, INDEX, KEY, NAME, Layout, Pairs
from .spelling import json_body, pair_bodies, text_bodies

Data = dict[str, Any]
SLUG: Final = "derived"
LONGEST_MARKER: Final = 120
"""Literals of more characters are text that a template adds, and no marker."""


class Around:
    """The markers around calls, once a body has taken its own literals.

    ``section`` around all calls, ``call`` around each, ``several`` behind more than one; without the blanks
    at their edges.
    """

    def __init__(self, section: tuple[str, str], call: tuple[str, str], several: str = "") -> None:
        self.section = (section[0].strip(), section[1].strip())
        self.call = (call[0].strip(), call[1].strip())
        self.several = several.strip()


def candidates(layout: Layout, stops: tuple[str, ...]) -> Iterator[Dialect]:
    """Dialects that may read what ``layout`` writes; ``stops``: end-of-turn markers."""
    seen: list[Data] = []
    for data in _candidates(layout, stops):
        data = {"slug": SLUG, **data}
        if data in seen:
            continue
        seen.append(data)
        try:
            yield Dialect.from_dict(json.loads(json.dumps(data)), "derived dialect")
        except DialectError:
            continue


def _candidates(layout: Layout, stops: tuple[str, ...]) -> Iterator[Data]:
    yield from _streams(layout)
    if isinstance(layout.arguments, Pairs):
        found = tuple(pair_bodies(layout, layout.arguments))
    else:
        found = (*json_body(layout), *text_bodies(layout))
    for body, section, call in found:
        if any(slot in text for slot in (NAME, ID, INDEX, KEY) for text in (*section, *call)):
            continue
        around = Around(section, call, "" if layout.section_close else layout.several_close)
        prefill = layout.separator.strip()
        if prefill and layout.header.endswith(prefill) and not around.section[0] and not around.call[0]:
            envelope: Data = {"open": [prefill], "prefill": prefill, "gap": "none", "stops": list(stops)}
            yield {"envelope": envelope, "body": [{**body, "after": "blank"}]}
            yield {"envelope": {**envelope, "lines": [prefill]}, "body": [body]}
        if max(map(len, (*around.section, *around.call))) > LONGEST_MARKER:
            continue
        for envelope, marked in _envelopes(around, stops):
            for drift in _unmarked(envelope, body):
                whole = {**body, **marked}
                yield {"envelope": envelope, "body": [whole], **drift}
            if layout.closes == "each":
                opener = {"shape": "opener", "place": "text", "gate": "open"}
                yield {"envelope": envelope, "body": [{**body, **marked}], "unmarked": [opener]}


_HEADER: Final = re.compile(r"(?P<start><[^<>]+>)(?P<role>\w+)$")
_RECIPIENT: Final = re.compile(r"\s\S+$")


def _streams(layout: Layout) -> Iterator[Data]:
    """Streams of messages: where the role's header, and a message's end before it, stand between calls."""
    header = _HEADER.search(layout.header)
    before, _, behind = layout.head.partition(NAME)
    body = UNIT.match(behind)
    if header is None or not before or body is None or not layout.separator.endswith(header[0]):
        return
    end = layout.separator[: -len(header[0])].strip()
    last = stop_of(layout)
    inner = replace(layout, head=behind[body.end() :], section_open="", section_close="")
    found = pair_bodies(inner, inner.arguments) if isinstance(inner.arguments, Pairs) else text_bodies(inner)
    for data, _section, call in found:
        around = Around(("", ""), call)
        marked: Data = {"open": [around.call[0]], "close": [around.call[1]]} if all(around.call) else {}
        envelope: Data = {
            "kind": "messages",
            "open": [header["start"]],
            "close": [end, last],
            "start": [header["start"]],
            "role": header["role"],
            "recipient": before,
            "recipients": _recipients(layout, before, body[0]),
            "body": body[0],
            "end": [end, last],
            "stops": [end, last],
        }
        yield {"envelope": envelope, "body": [{**data, **marked}]}


def _recipients(layout: Layout, recipient: str, body: str) -> Data:
    """Who content is addressed to."""
    name = layout.answer[0].removeprefix(recipient).removesuffix(body)
    return {name: "content"} if name and layout.answer[0] == recipient + name + body else {}


def variants(layout: Layout) -> Iterator[Layout]:
    """The layout, and others that write the same: where the turn's end begins a unit later."""
    yield layout
    recipient = _RECIPIENT.search(layout.header)
    if recipient and layout.separator.endswith(recipient[0]):
        moved = recipient[0]
        yield replace(
            layout,
            header=layout.header.removesuffix(moved),
            head=moved + layout.head,
            separator=layout.separator.removesuffix(moved),
            answer=(moved + layout.answer[0], layout.answer[1]),
        )
    unit = UNIT.match(layout.end)
    if unit and unit[0] != layout.end.strip():
        yield replace(
            layout,
            end=layout.end[unit.end() :],
            section_close=layout.section_close + unit[0],
            several_close=layout.several_close + unit[0],
            answer=(layout.answer[0], layout.answer[1] + unit[0]),
        )


def _envelopes(around: Around, stops: tuple[str, ...]) -> Iterator[tuple[Data, Data]]:
    """Envelopes, and the markers around each call that go into the body."""
    (first, last), (opener, closer) = around.section, around.call
    last = last or around.several
    for blanks in ("blank", "none"):
        common: Data = {"layout": blanks, "stops": list(stops)}
        if not first and last:
            common["stops"] = [*stops, last, last + "".join(stops)]
        if first and opener:
            inside: Data = {"open": [opener], **({"close": [closer]} if closer else {})}
            yield {**common, "open": [first], **_closing(last, stops)}, inside
            yield (
                {
                    **common,
                    "open": [opener],
                    **_closing(closer, stops),
                    "wrap_open": [first],
                    **({"wrap_close": [last]} if last else {}),
                },
                {},
            )
        elif opener:
            yield {**common, "open": [opener], **_closing(closer, stops)}, {}
            if closer and last:
                yield {**common, "open": [opener], "close": [closer + last]}, {}
        elif first:
            yield {**common, "open": [first], **_closing(last, stops)}, {}
            yield {**common, "lead": [first]}, {}
        else:
            yield common, {}


def _closing(marker: str, stops: tuple[str, ...]) -> Data:
    """The close of an envelope, where it has one besides the turn's end."""
    for stop in stops:
        marker = marker.removesuffix(stop.strip()).strip()
    return {"close": [marker]} if marker else {}


_SHAPES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "json_object": (("object", "answer"),),
    "json_array": (("array", "answer"),),
    "json_keyed": (("array", "answer"),),
    "pythonic": (("list", "answer"), ("list", "text")),
    "bare_call": (("name", "word"),),
    "tagged": (("opener", "line"), ("opener", "text")),
    "braces": (("opener", "text"), ("name", "word")),
    "name_then_json": (("opener", "text"), ("name", "word")),
}


def _unmarked(envelope: Data, body: Data) -> Iterator[Data]:
    """How calls stand without an envelope, where there is none."""
    if envelope.get("open"):
        yield {}
        return
    for shape, place in _SHAPES.get(body["codec"], ()):
        for gate in ("open", "offered"):
            yield {"unmarked": [{"shape": shape, "place": place, "gate": gate}]}
