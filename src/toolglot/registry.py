"""Registry: from a name, an alias or a model id to a dialect. The only place that knows which are bundled.

Promises: a dialect file is read on first use and shared; an unknown name raises
``UnknownDialectError`` with the nearest names.
"""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files

from .dialect import Dialect
from .errors import UnknownDialectError


def _folder() -> list[str]:
    names = (entry.name for entry in (files("toolglot") / "dialects").iterdir())
    return sorted(
        name[: -len(".toml")] for name in names if name.endswith(".toml") and not name.startswith("_")
    )


BUNDLED: tuple[str, ...] = tuple(_folder())
"""The slugs of the bundled dialects, in alphabetical order."""


def dialect_text(slug: str) -> str:
    """The TOML source of a bundled dialect."""
    return (files("toolglot") / "dialects" / f"{slug}.toml").read_text(encoding="utf-8")


@cache
def load_file(stem: str) -> Dialect:
    """The dialect of a bundled file, read once."""
    return Dialect.from_toml(dialect_text(stem), f"dialects/{stem}.toml")


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    found: dict[str, str] = {}
    for slug in BUNDLED:
        for alias in load_file(slug).aliases:
            found.setdefault(alias, slug)
    return found


def bundled(name: str) -> Dialect:
    """The bundled dialect with this slug or alias. Raises ``UnknownDialectError``."""
    if name in BUNDLED:
        return load_file(name)
    slug = _aliases().get(name)
    if slug is None:
        near = get_close_matches(name, [*BUNDLED, *_aliases()], n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UnknownDialectError(f"no dialect is called {name!r}{hint}")
    return load_file(slug)


def dialect_for_model(model_id: str) -> list[str]:
    """Slugs that a model of this id probably writes, the likeliest first; empty where nothing is known.

    A guess from patterns in the dialect files: the longer the pattern that fits, the better the guess.
    """
    scores: dict[str, int] = {}
    lowered = model_id.lower()
    for slug in BUNDLED:
        for pattern in load_file(slug).models:
            if fnmatchcase(lowered, pattern.lower()):
                scores[slug] = max(scores.get(slug, 0), len(pattern.replace("*", "")))
    return sorted(scores, key=lambda slug: (-scores[slug], slug))
