"""Samples of a run: medians, ratios within the rounds, growth.

Promises: a figure is the median over the rounds; a ratio is the median of the ratios within the rounds, so
that what slowed one round slows both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import linear_regression, median
from typing import Any

from .workloads import Workload

Cell = tuple[str, str, str]


class Samples:
    """The samples by entry, text and mode."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.seconds: dict[Cell, dict[int, float]] = {}
        self.wrong: set[Cell] = set()
        self.none: dict[Cell, dict[str, Any]] = {}
        for row in rows:
            cell = (row["entry"], row["text"], row["mode"])
            if "seconds" in row:
                self.seconds.setdefault(cell, {})[row["round"]] = row["seconds"]
            else:
                self.none[cell] = row
            if row.get("right") is False:
                self.wrong.add(cell)
        self.entries = list(dict.fromkeys(entry for entry, _, _ in self.seconds if entry != "floors"))
        self.entries.sort(key=lambda entry: not entry.startswith("toolglot"))

    def median(self, cell: Cell) -> float | None:
        """Seconds of a cell."""
        found = self.seconds.get(cell)
        return median(found.values()) if found else None

    def ratio(self, cell: Cell, base: Cell) -> float | None:
        """How many times ``base`` the cell takes, round by round where both were measured."""
        mine, other = self.seconds.get(cell, {}), self.seconds.get(base, {})
        common = mine.keys() & other.keys()
        return median(mine[n] / other[n] for n in common) if common else None


def shown(value: float | None) -> str:
    """A figure with three digits that count."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def growth(samples: Samples, entry: str, kind: str, mode: str, texts: list[Workload]) -> float | None:
    """The slope of log time over log characters, over the sizes that were measured."""
    points = [
        (math.log(len(w.text)), math.log(seconds))
        for w in texts
        if w.kind == kind and (seconds := samples.median((entry, w.id, mode)))
    ]
    return linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else None
