"""The lists of what is not passing yet (``known_failures.toml``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.places import TESTS
from toolglot._toml import loads


def load_toml(path: Path) -> dict[str, Any]:
    return loads(path.read_text(encoding="utf-8"))


def known_failures(*keys: str) -> dict[str, str]:
    """One list: id → reason; empty where the file has none."""
    table: Any = load_toml(TESTS / "known_failures.toml")
    for key in keys:
        table = table.get(key, {})
    return dict(table)
