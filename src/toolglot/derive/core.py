"""core: a template's text to a ``Derived``: probe, induce, propose, verify, or refuse with a reason.

Promises: a dialect is given only where every check passed; everything else is a refusal with its code and the
smallest counter-example. Never raises for what a template does.

Does not: read files or bound time (``sandbox``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from ..dialect import Dialect
from ..errors import DialectError
from .cuts import stop_of
from .derived import Derived, Refusal, Refused
from .dialects import candidates, variants
from .evidence import gathered
from .frame import induce
from .layout import Layout, Pairs
from .lint import ambiguous, malformed
from .probe import Prober, find_shape
from .results import around_result
from .template import Renderer, Template, TemplateFault
from .thinking import prompt_tail, toggles
from .values import TYPES
from .verify import Failure, Turn, negative, reads, rounds, streams, unreadable
from .whole import complete


def induced(text: str, renderer: Renderer, special_tokens: Mapping[str, str] | None = None) -> Derived:
    """What can be known of a chat template's tool calls from its text alone, by its renders."""
    try:
        template = Template(text, renderer, special_tokens)
        template.check()
        prober = Prober(template)
        if "tool_calls" not in text:
            raise Refused("no-tool-calls-in-template", "the template never reads tool_calls")
        find_shape(prober)
        derived = _verified(prober, induce(prober))
        if derived.dialect is None:
            other = _verified(prober, induce(prober, lead=True))
            derived = other if other.dialect is not None else derived
    except TemplateFault as fault:
        return _refused(Refused(f"raises:{fault}", str(fault.failure)))
    except Refused as refusal:
        return _refused(refusal)
    return derived


def _refused(refusal: Refused) -> Derived:
    return Derived(None, None, "refused", (Refusal(refusal.code, refusal.detail, refusal.example),))


def _verified(prober: Prober, layout: Layout) -> Derived:
    """Choose a dialect for a layout and complete it. Raises ``Refused`` where the layout is malformed."""
    fault = malformed(layout)
    if fault is not None:
        raise fault
    unwritten = (
        frozenset(set(TYPES) - set(layout.arguments.forms))
        if isinstance(layout.arguments, Pairs)
        else frozenset()
    )
    turns, failure = rounds(prober, layout, unwritten)
    if failure is not None:
        return _refused(_round_trip(failure))
    chosen = _choose(prober, layout, turns, unwritten)
    evidence = gathered(prober, layout)
    shape = tuple(asdict(prober.shape).items())
    if chosen.dialect is None:
        refusal = ambiguous(layout) or _unread(chosen.failure)
        reasons = (Refusal(refusal.code, refusal.detail, refusal.example),)
        return Derived(None, layout, "refused", reasons, evidence, shape=shape)
    whole = complete(prober, chosen.layout, chosen.dialect, chosen.turns)
    failure = None if whole.builtin else streams(whole.dialect, chosen.turns)
    if failure is not None:
        return _refused(_round_trip(failure))
    without = chosen.without
    if without and whole.builtin:
        without &= unwritten | unreadable(whole.dialect, prober, chosen.layout)
    partial = [f"type:{kind}" for kind in sorted(without)] + list(whole.partial)
    if layout.single:
        partial.insert(0, "single_call_only")
    return Derived(
        whole.dialect,
        chosen.layout,
        "builtin" if whole.builtin else "verified",
        (),
        evidence,
        toggles(prober),
        prompt_tail(prober),
        tuple(partial),
        shape,
        around_result(prober),
        whole.builtin,
        whole.checks,
    )


def _unread(failure: Failure | None) -> Refused:
    return _round_trip(failure) if failure else Refused("ambiguous-body", "no body syntax fits")


def _round_trip(failure: Failure) -> Refused:
    example = f"given {failure.given}\nwritten {failure.text!r}\nread {failure.got}"
    return Refused(f"round-trip:{failure.check}", "a turn does not come back as it was given", example)


class _Chosen(NamedTuple):
    """A dialect with the layout, the types and the turns with which it was verified, or why there is none."""

    dialect: Dialect | None
    layout: Layout
    turns: list[Turn]
    without: frozenset[str] = frozenset()
    failure: Failure | None = None


def _choose(prober: Prober, layout: Layout, turns: list[Turn], unwritten: frozenset[str]) -> _Chosen:
    """The first candidate that reads every turn, or every turn without the types that it cannot read."""
    best: Failure | None = None
    hopes: list[tuple[Layout, Dialect]] = []
    for variant in variants(layout):
        shown = turns if variant is layout else rounds(prober, variant, unwritten)[0]
        for dialect in candidates(variant, _stops(variant)):
            failure = _fails(dialect, prober, variant, shown)
            if failure is None:
                return _Chosen(dialect, variant, shown, unwritten)
            if best is None or len(failure.text) > len(best.text):
                best = failure
                hopes.insert(0, (variant, dialect))
    for variant, dialect in hopes[:_HOPES]:
        without = unwritten | unreadable(dialect, prober, variant)
        if without and "string" not in without:
            shown = rounds(prober, variant, without)[0]
            if _fails(dialect, prober, variant, shown) is None:
                return _Chosen(dialect, variant, shown, without)
    return _Chosen(None, layout, turns, failure=best)


def _fails(dialect: Dialect, prober: Prober, layout: Layout, turns: list[Turn]) -> Failure | None:
    """What the dialect does not read; a dialect that does not hold together reads nothing."""
    try:
        some = turns[:_STREAMED]
        return reads(dialect, turns) or negative(dialect, prober, layout) or streams(dialect, some)
    except DialectError as error:
        return Failure("V2", "", "", str(error))


_STREAMED: Final = 20
"""Turns that a candidate has to read in pieces; what is given at the end has read all of them."""
_HOPES: Final = 3
"""How many of the candidates that came furthest are tried without the types that they cannot read."""


def _stops(layout: Layout) -> tuple[str, ...]:
    stop = stop_of(layout)
    return (stop,) if stop else ()


def summary(derived: Derived) -> dict[str, Any]:
    """A derivation in a few plain values, to be kept and compared."""
    return {
        "confidence": derived.confidence,
        "refusals": [reason.code for reason in derived.refusals],
        "body": [body.codec for body in derived.dialect.bodies] if derived.dialect else [],
        "shape": dict(derived.shape),
        "partial": list(derived.partial),
    }
