"""Registry: from a name, an alias or a model id to a dialect. The only place that knows which are bundled.

Promises: a dialect is read and checked on first use and shared; an unknown name raises
``UnknownDialectError`` with the nearest names. Read is the compact form that ``bundle`` makes of the
dialect files; a file that is not in it yet is read as it is.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache, lru_cache

from ._typing import TYPE_CHECKING, Any
from .dialect import Dialect
from .errors import UnknownDialectError

if TYPE_CHECKING:
    from typing import Final


def _data(*path: str) -> str:
    """A file of the package, wherever it was imported from."""
    spec = sys.modules[__name__].__spec__
    # The loader of an installed package, and of one in an archive, has ``get_data``.
    loader: Any = spec and spec.loader
    found: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), *path))
    return found.decode("utf-8")


_NAMES: Final = json.loads(_data("names.json"))

BUNDLED: tuple[str, ...] = tuple(_NAMES["slugs"])
"""The slugs of the bundled dialects, in alphabetical order."""

AUTO_ORDER: tuple[str, ...] = tuple(_NAMES["auto"])
_ALIASES: Final[dict[str, str]] = _NAMES["aliases"]
_FILES: Final[dict[str, str]] = {**{slug: slug for slug in BUNDLED}, **_ALIASES}


def dialect_text(slug: str) -> str:
    """The TOML source of a bundled dialect."""
    return _data("dialects", f"{slug}.toml").replace("\r\n", "\n")


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    return {line[2 : line.index('"', 2)]: line for line in _data("bundled.jsonl").splitlines() if line}


@cache
def load_file(stem: str) -> Dialect:
    """The dialect of a bundled file, read once."""
    line = _lines().get(stem)
    if line is None:
        return Dialect.from_toml(dialect_text(stem), f"dialects/{stem}.toml")
    return Dialect.from_dict(json.loads(line)[1], f"dialects/{stem}.toml")


def _unbundled(name: str) -> bool:
    """Whether a dialect file of this name was put there since the compact form was made."""
    folder = os.path.join(os.path.dirname(__file__), "dialects")
    return name.isidentifier() and name[0] != "_" and os.path.exists(os.path.join(folder, f"{name}.toml"))


def bundled(name: str) -> Dialect:
    """The bundled dialect with this slug or alias. Raises ``UnknownDialectError``."""
    slug = _FILES.get(name)
    if slug is None:
        if not _unbundled(name):
            raise UnknownDialectError(f"no dialect is called {name!r}{_hint(name)}")
        slug = name
    return load_file(slug)


def _hint(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*BUNDLED, *_ALIASES], n=3)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def dialect_for_model(model_id: str) -> list[str]:
    """Slugs that a model of this id probably writes, the likeliest first; empty where nothing is known.

    A guess from patterns in the dialect files: the longer the pattern that fits, the better the guess.
    """
    from fnmatch import fnmatchcase

    scores: dict[str, int] = {}
    lowered = model_id.lower()
    for pattern, slug in _NAMES["models"]:
        if fnmatchcase(lowered, pattern):
            scores[slug] = max(scores.get(slug, 0), len(pattern.replace("*", "")))
    return sorted(scores, key=lambda slug: (-scores[slug], slug))
