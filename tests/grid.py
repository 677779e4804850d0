"""The grid of behaviours: which case shows what of which dialect, from ``behaviours.toml`` and ``cases``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import toolglot
from tests.casefile import not_applicable, read
from tests.known import load_toml
from tests.places import TESTS
from toolglot import Dialect


@dataclass(frozen=True)
class Behaviour:
    """A behaviour that every dialect shows in a case, or cannot have."""

    number: int
    slug: str
    title: str


@cache
def behaviours() -> tuple[Behaviour, ...]:
    """The numbered behaviours."""
    rows = load_toml(TESTS / "behaviours.toml")["behaviour"]
    return tuple(Behaviour(number, row["slug"], row["title"]) for number, row in enumerate(rows, 1))


@cache
def shown() -> dict[tuple[str, str], list[str]]:
    """The ids of the cases that show a behaviour of a dialect."""
    found: dict[tuple[str, str], list[str]] = {}
    for file in sorted((TESTS / "cases").glob("*.txt")):
        for case in read(file):
            if isinstance(case.dialect, str) and case.dialect != "auto":
                dialect = toolglot.resolve(case.dialect)
                assert isinstance(dialect, Dialect)
                for slug in case.shows:
                    found.setdefault((dialect.slug, slug), []).append(case.id)
    return found


@cache
def excused() -> dict[tuple[str, str], str]:
    """Why a dialect cannot show a behaviour."""
    return {
        (file.stem, slug): reason
        for file in sorted((TESTS / "cases").glob("*.txt"))
        for slug, reason in not_applicable(file).items()
    }


def table() -> str:
    """The grid: a row for each dialect, a column for each behaviour, with the number of cases."""
    head = " | ".join(str(behaviour.number) for behaviour in behaviours())
    rows = [f"| dialect | {head} |", "|---" * (len(behaviours()) + 1) + "|"]
    for slug in toolglot.BUNDLED:
        cells = (str(len(shown().get((slug, behaviour.slug), ())) or "n/a") for behaviour in behaviours())
        rows.append(f"| `{slug}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def numbered() -> str:
    """The behaviours as a numbered list."""
    return "\n".join(f"{b.number}. **{b.slug}**: {b.title}." for b in behaviours())


def reasons() -> str:
    """Why a cell of the grid says n/a, by reason."""
    numbers = {behaviour.slug: behaviour.number for behaviour in behaviours()}
    found: dict[tuple[int, str], list[str]] = {}
    for (dialect, slug), reason in excused().items():
        found.setdefault((numbers[slug], reason), []).append(dialect)
    rows = ["| behaviour | dialects | reason |", "|--:|---|---|"]
    for (number, reason), dialects in sorted(found.items()):
        names = ", ".join(f"`{dialect}`" for dialect in dialects)
        rows.append(f"| {number} | {names} | {reason.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)
