"""core: a template's text to a ``Derived``: probe, induce, propose, verify, or refuse with a reason.

Promises: a dialect is given only where every check passed; everything else is a refusal with its code and the
smallest counter-example. Never raises for what a template does.

Does not: read files or bound time (``sandbox``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..dialect import Dialect
from ..errors import DialectError
from .dialects import candidates
from .frame import induce
from .layout import Layout
from .outcome import Derived, Evidence, Reason, Refusal
from .probe import ONE, Prober, find_shape
from .sandbox import Template, TemplateFault
from .verify import Failure, Turn, negative, reads, rounds, stop_of


def derive(text: str, *, special_tokens: Mapping[str, str] | None = None) -> Derived:
    """What can be known of a chat template's tool calls from its text alone.

    ``special_tokens``: the tokenizer's, by the names that templates use (``bos_token``, ``eos_token``).
    Raises ``DerivationError`` only where Jinja2 is missing; what is wrong with the template is a refusal.
    """
    try:
        prober = Prober(Template(text, special_tokens))
        if "tool_calls" not in text:
            raise Refusal("no-tool-calls-in-template", "the template never reads tool_calls")
        find_shape(prober)
        layout = induce(prober)
    except TemplateFault as fault:
        return _refused(Refusal("syntax" if fault.kind == "syntax" else f"raises:{fault}", str(fault)))
    except Refusal as refusal:
        return _refused(refusal)
    return _verified(prober, layout)


def _refused(refusal: Refusal) -> Derived:
    return Derived(None, None, "refused", (Reason(refusal.code, refusal.detail, refusal.example),))


def _verified(prober: Prober, layout: Layout) -> Derived:
    turns, failure = rounds(prober, layout)
    if failure is not None:
        return _refused(_round_trip(failure))
    dialect, failure = _choose(prober, layout, turns)
    evidence = (Evidence("one call", prober.turn(ONE), "layout"),)
    if dialect is None:
        refusal = _round_trip(failure) if failure else Refusal("ambiguous-body", "no body syntax fits")
        return Derived(
            None,
            layout,
            "refused",
            (Reason(refusal.code, refusal.detail, refusal.example),),
            evidence,
            shape=tuple(asdict(prober.shape).items()),
        )
    return Derived(dialect, layout, "verified", (), evidence, shape=tuple(asdict(prober.shape).items()))


def _round_trip(failure: Failure) -> Refusal:
    example = f"given {failure.given}\nwritten {failure.text!r}\nread {failure.got}"
    return Refusal(f"round-trip:{failure.check}", "a turn does not come back as it was given", example)


def _choose(prober: Prober, layout: Layout, turns: list[Turn]) -> tuple[Dialect | None, Failure | None]:
    """The first candidate that reads every turn, and the best failure where none does."""
    worst: Failure | None = None
    most = -1
    for dialect in candidates(layout, _stops(layout), {}):
        try:
            failure = reads(dialect, turns) or negative(dialect, prober, layout)
        except DialectError:
            continue
        if failure is None:
            return dialect, None
        if len(failure.text) > most:
            worst, most = failure, len(failure.text)
    return None, worst


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
