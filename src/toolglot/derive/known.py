"""known: templates whose dialect was settled by hand, by their hash.

Promises: data only (``known.toml``), of templates as their makers or an engine published them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from .._toml import loads


@cache
def _known() -> dict[str, str]:
    data = loads((files("toolglot.derive") / "known.toml").read_text(encoding="utf-8"))
    return {digest: slug for slug, digests in data["templates"].items() for digest in digests}


def known_dialect(sha256: str) -> str:
    """The slug for a template's hash (hexadecimal, at least twelve digits); empty where it is not known."""
    return _known().get(sha256[:12], "")


def slugs() -> list[str]:
    """The dialects of known templates, in alphabetical order."""
    return sorted(set(_known().values()))
