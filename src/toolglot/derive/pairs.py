"""pairs: how arguments stand in a turn: as one object in some spelling, or one by one.

Promises: a codec is taken only where it gives every probe of its type exactly; a type that none gives is
left out of the forms. Does not: look at what stands around a call (``frame``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .cuts import decompose
from .derived import Refused
from .layout import KEY, Form, Pairs
from .probe import KEYS, NAMES, ONE, VALUES, Prober
from .template import TemplateFault
from .values import (
    OBJECT_CODECS,
    OTHER_CODECS,
    PROBES,
    SPECIALS,
    TEXT_CODECS,
    TYPES,
    delimited,
    elements,
    quoted,
    value_text,
)

_RICH: Final = {
    KEYS[1]: "q\"q é <&>'\n\\",
    KEYS[0]: {"b": [1, True, None, -0.25], "a": {"x": {}, "y": []}},
    KEYS[2]: "",
}
_PAIR: Final = {KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]}


def fit_object(prober: Prober) -> str | None:
    """The codec that writes all arguments as one object; None where they do not stand as one.

    Raises ``Refused`` where they do, but in no spelling that is known.
    """
    turn = prober.turn(ONE)
    likely = [codec for codec in OBJECT_CODECS if value_text(codec, ONE[0][1]) in turn]
    if not likely:
        return None
    rich = prober.turn([(NAMES[0], _RICH)])
    found = next((codec for codec in likely if value_text(codec, _RICH) in rich), None)
    if found is None:
        raise Refused("codec:object", "the arguments are written in no spelling that is known", rich)
    return found


def fit_pairs(prober: Prober, header: str, end: str, *, lead: bool = False) -> Pairs:
    """How arguments are written one by one. Raises ``Refused`` where texts are written in no known way."""

    def inside(arguments: dict[str, Any]) -> str:
        turn = prober.turn([(NAMES[0], arguments)])
        if not (turn.startswith(header) and turn.endswith(end)):
            raise Refused("not-isolatable", "turns with calls begin or end differently", turn)
        return turn[len(header) : len(turn) - len(end)]

    text = inside(_PAIR)
    first, second = text.find(VALUES[0]), text.find(VALUES[1])
    if not 0 <= first < second:
        raise Refused("calls-not-composable", "two arguments do not stand one behind the other", text)
    before, between, behind = (
        _keyed(text[:first]),
        _keyed(text[first + len(VALUES[0]) : second]),
        _keyed(text[second + len(VALUES[1]) :]),
    )
    parts = decompose(before, between, behind, lead=lead)
    if KEY not in parts.open:
        raise Refused("calls-not-composable", "an argument's key stands before no value", text)
    frame = (parts.outer_open, parts.outer_close)
    forms: dict[str, Form] = {}
    for kind in TYPES:
        form = _fit(kind, [(v, t) for v, t in _shown(inside, kind, frame)], forms)
        if form is not None:
            forms[kind] = form
    if "string" not in forms:
        raise Refused("codec:string", "texts are written in no spelling that is known", text)
    backwards = inside(dict(reversed(_PAIR.items())))
    order = "sorted" if backwards.index(KEYS[0]) < backwards.index(KEYS[1]) else "given"
    return Pairs(forms, parts.separator, order)


def _keyed(text: str) -> str:
    for key in KEYS:
        text = text.replace(key, KEY)
    return text


def _shown(inside: Any, kind: str, frame: tuple[str, str]) -> Iterator[tuple[Any, str | None]]:
    """Each probe of a type with the text of its pair; None where it stands in another frame."""
    for value in PROBES[kind]:
        try:
            text = _keyed(inside({KEYS[0]: value}))
        except TemplateFault:
            yield value, None
            continue
        fits = text.startswith(frame[0]) and text.endswith(frame[1])
        yield value, text[len(frame[0]) : len(text) - len(frame[1])] if fits else None


def _fit(kind: str, shown: list[tuple[Any, str | None]], forms: dict[str, Form]) -> Form | None:
    """The first codec that gives every probe, with what stands around the value."""
    value, text = shown[0]
    if text is None:
        return None
    for codec in _codecs(kind, shown, forms):
        for opener, closer in _splits(text, value_text(codec, value)):
            if KEY in opener and all(t == opener + value_text(codec, v) + closer for v, t in shown):
                return Form(opener, codec, closer)
    return None


def _codecs(kind: str, shown: list[tuple[Any, str | None]], forms: dict[str, Form]) -> Iterator[str]:
    if kind != "string":
        yield from OTHER_CODECS
        if "string" in forms and forms["string"].close:
            yield from delimited(forms["string"].close)
        if "string" in forms and KEY in forms["string"].close:
            yield from _tree(shown, forms["string"])
        return
    yield from TEXT_CODECS
    plain = shown[0][1]
    special = next((t for v, t in shown if v == "p<q & r>s" and t is not None), None)
    if plain is not None and special is not None:
        opener, closer = plain.split(VALUES[0], 1) if VALUES[0] in plain else ("", "")
        left, _, right = special.partition("p<q & r>s")
        if left.startswith(opener) and right.endswith(closer) and SPECIALS:
            yield quoted(left[len(opener) :], right[: len(right) - len(closer)])


def _tree(shown: list[tuple[Any, str | None]], text: Form) -> Iterator[str]:
    """The codec of nested elements, with the name of an item as the first probe of a list shows it."""
    value, written = shown[0]
    before, _, behind = text.open.partition(KEY)
    item = "item"
    if isinstance(value, list) and written is not None:
        item = written.removeprefix(text.open).removeprefix(before).partition(behind)[0]
    yield elements(text.open, text.close, KEY, item)


def _splits(text: str, value: str) -> Iterator[tuple[str, str]]:
    """What stands before and behind ``value`` wherever it stands in ``text``, the last place first."""
    at = text.rfind(value)
    while at >= 0:
        yield text[:at], text[at + len(value) :]
        at = text.rfind(value, 0, at + len(value) - 1) if value else -1
