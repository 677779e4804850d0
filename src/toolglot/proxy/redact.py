"""Redact: a model's text without its secrets, or without anything that it says.

Promises: length, punctuation, blanks and escapes stay, so that the text keeps the places where it went
wrong; names of tools and of their parameters, and the words of the dialects, stay where ``contents`` are
redacted. Whether the result still parses alike is for the caller to check (``case``).

Does not: find every secret: ``secrets`` knows the shapes of common keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from ..auto import Resolved
from ..dialect import Dialect
from ..registry import BUNDLED, bundled

_SECRET = re.compile(
    r"""
    \b(?:sk|pk|rk|hf|gh[pousr]|glpat|xox[abprs])[-_][A-Za-z0-9_-]{12,}   # keys that begin with what they are
    | \bAKIA[0-9A-Z]{16}\b
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}                              # a JSON Web Token
    | (?<=Bearer\ )[\w.~+/-]{8,}=*
    | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)                                    # user and password of a URL
    | (?i:(?<=password)|(?<=secret)|(?<=token)|(?<=api_key)|(?<=apikey)|(?<=api-key))
      ["']?\s*[:=]\s*["']?[^\s"',;}]{6,}
    """,
    re.VERBOSE,
)
_PIECE = r"\\u[0-9A-Fa-f]{4}|\\.|\w+"
_LITERALS = frozenset(("true", "false", "null", "None", "True", "False", "NaN", "Infinity"))
_NO_WORDS = frozenset(("title", "sources", "models", "aliases", "examples"))


def secrets(text: str) -> str:
    """``text`` with what looks like a key masked."""
    return _SECRET.sub(lambda match: _masked(match.group()), text)


def contents(text: str, dialect: Resolved, names: Iterable[str]) -> str:
    """``text`` with every word masked that is no name, no word of a dialect and no literal."""
    markers, words = _vocabulary()
    kept = {*words, *_LITERALS, *(word for name in names for word in re.findall(r"\w+", name))}
    if isinstance(dialect, Dialect):
        markers = (*dialect.markers(), *markers)
        kept.update(word for said in _strings(dialect) for word in re.findall(r"\w+", said))
    pattern = "|".join([*map(re.escape, sorted(set(markers), key=len, reverse=True)), _PIECE])

    def masked(match: re.Match[str]) -> str:
        piece = match.group()
        return piece if piece in kept or not re.match(r"\w", piece) else _masked(piece)

    return re.sub(pattern, masked, text)


def argument_names(value: Any) -> Iterator[str]:
    """The keys of an object, and of all objects in it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from argument_names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from argument_names(inner)


def _masked(text: str) -> str:
    return "".join("1" if char.isdigit() else "x" if char.isalpha() else char for char in text)


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[tuple[str, ...], frozenset[str]]:
    """The markers of all bundled dialects that are more than a word, and the keys around calls."""
    markers: set[str] = set()
    words: set[str] = set()
    for slug in BUNDLED:
        dialect = bundled(slug)
        markers.update(marker for marker in dialect.markers() if len(marker) > 3 and not marker.isalnum())
        for body in dialect.bodies:
            words.update(body.name_keys, body.arguments_keys, body.id_keys, body.wrap_keys, body.list_keys)
    return tuple(markers), frozenset(words)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in _NO_WORDS:
                yield from _strings(getattr(value, field.name))
