"""guess: the bundled dialect whose markers a template mentions.

Promises: named only where every marker of the dialect's canonical call stands in the template's text, at
least one of which says more than punctuation, and no other dialect has more of them. A guess is no proof,
and is said to be none.

Does not: render, or look at what the dialect would read.
"""

from __future__ import annotations

from typing import Final

from ..dialect import Dialect
from ..registry import BUNDLED, load_file

_TELLING: Final = 6
"""Characters that a marker has at least, without which a mention means nothing."""


def guess(text: str) -> str:
    """The dialect's slug; empty where none, or more than one, is mentioned.

    >>> guess('Answer with <tool_call>{"name": …, "arguments": …}</tool_call>')
    'hermes'
    >>> guess("Answer with JSON.")
    ''
    """
    ranked: list[tuple[int, int, str]] = []
    for slug in BUNDLED:
        dialect = load_file(slug)
        marks, keys = _marks(dialect), _keys(dialect)
        if any(len(mark) >= _TELLING for mark in marks) and all(mark in text for mark in marks | keys):
            ranked.append((sum(map(len, marks)), len(dialect.aliases) + len(dialect.models), slug))
    if not ranked:
        return ""
    ranked.sort(reverse=True)
    return "" if len(ranked) > 1 and ranked[0][:2] == ranked[1][:2] else ranked[0][2]


def _marks(dialect: Dialect) -> set[str]:
    """The markers of the canonical call, without blanks at their edges."""
    envelope = dialect.envelope
    found = [*envelope.open[:1], *envelope.close[:1]]
    if envelope.kind == "messages":
        found += [envelope.body, envelope.channel, *envelope.call_end[:1]]
    for body in dialect.bodies[:1]:
        found += [*body.open[:1], *body.close[:1], *body.key_open[:1], *body.value_open[:1]]
        found += [tag.open for tag in (body.name, body.param) if tag is not None]
    return {mark.strip() for mark in found if mark.strip()}


def _keys(dialect: Dialect) -> set[str]:
    """The words that the canonical call has for name and arguments."""
    body = dialect.bodies[0] if dialect.bodies else None
    return (
        {*body.name_keys[:1], *body.arguments_keys[:1]} if body and body.codec.startswith("json") else set()
    )
