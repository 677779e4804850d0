"""Auto: which dialect, from the text alone, and what a caller may name as a dialect.

Promises: an automatic dialect is an ordered choice of families in one machine; the first confirmed
opener in the text decides, and order only between claims at the same place. A shape without markers is
taken only for offered tools.

Does not: read text; ``table`` compiles the choice and the machines read with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ._typing import TYPE_CHECKING, Any
from .dialect import Dialect
from .errors import UnknownDialectError
from .late import Once
from .record import dataclass, field
from .registry import AUTO_ORDER, bundled, load_file

if TYPE_CHECKING:
    from typing import Final

    from .message import ToolCall

AUTO: Final = "auto"

DEFAULT_AUTO_ORDER: Final[tuple[str, ...]] = AUTO_ORDER
"""The families that ``auto`` chooses from, the strongest first."""


@dataclass(frozen=True)
class Context:
    """What a custom parser is told: the names of the offered tools, or None where they are unknown."""

    tool_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ParseResult:
    """What a custom parser answers."""

    content: str = ""
    tool_calls: Sequence[ToolCall] = ()
    reasoning: str = ""


Custom = Callable[[str, Context], ParseResult]


@dataclass(frozen=True)
class Auto:
    """An ordered choice of dialects; a custom parser among them sees the whole text at ``close``."""

    families: tuple[Dialect | Custom, ...] = ()
    slug: str = AUTO
    base: Dialect = field(default_factory=lambda: load_file("_auto"))


Resolved = Dialect | Auto | Custom


def _asked(auto: Auto) -> tuple[tuple[Dialect, ...], tuple[Dialect | Custom, ...] | None]:
    """What parsers ask of a choice: its dialects, and its families where one of them is a custom parser."""
    dialects = tuple(family for family in auto.families if isinstance(family, Dialect))
    return (auto.base, *dialects), None if len(dialects) == len(auto.families) else auto.families


_ask: Final = Once(_asked)


def dialects_of(resolved: Dialect | Auto) -> tuple[Dialect, ...]:
    """The dialects among which a machine chooses, the strongest first; of one choice the same tuple."""
    return _ask(resolved)[0] if isinstance(resolved, Auto) else (resolved,)


def custom_of(resolved: Resolved) -> tuple[Dialect | Custom, ...] | None:
    """The families to try in turn on the whole text, where one of them is a custom parser; else None."""
    if isinstance(resolved, Dialect):
        return None
    return _ask(resolved)[1] if isinstance(resolved, Auto) else (resolved,)


def prefix_of(resolved: Resolved) -> str:
    """What ids of ours begin with."""
    if isinstance(resolved, Dialect):
        return resolved.ids.prefix
    return resolved.base.ids.prefix if isinstance(resolved, Auto) else "call_"


def slug_of(resolved: Resolved) -> str:
    """What the dialect is called until one is found."""
    return resolved.slug if isinstance(resolved, (Dialect, Auto)) else "custom"


def create_auto(
    order: Sequence[str] | None = None,
    parsers: Mapping[str, Dialect | Mapping[str, Any] | Custom] | None = None,
) -> Auto:
    """An automatic dialect over ``order`` (default: ``DEFAULT_AUTO_ORDER``), families in ``parsers`` swapped.

    Raises ``UnknownDialectError`` for a name that is neither bundled nor in ``parsers``.
    """
    swapped = dict(parsers or {})
    families: list[Dialect | Custom] = []
    for name in DEFAULT_AUTO_ORDER if order is None else order:
        given = swapped.pop(name, None)
        if given is None:
            families.append(bundled(name))
        elif isinstance(given, Mapping):
            families.append(Dialect.from_dict(given))
        else:
            families.append(given)
    if swapped:
        raise UnknownDialectError(f"{sorted(swapped)[0]!r} is in parsers but not in the order")
    return Auto(tuple(families))


_DEFAULT: list[Auto] = []


def resolve(dialect: str | Dialect | Auto | Mapping[str, Any] | Custom) -> Resolved:
    """What a caller's ``dialect`` means: a name, alias, ``Dialect``, dict, ``auto`` or custom parser.

    Raises ``UnknownDialectError`` for a name that no dialect has, ``DialectError`` for a faulty dict.
    """
    if isinstance(dialect, (Dialect, Auto)):
        return dialect
    if isinstance(dialect, str):
        if dialect != AUTO:
            return bundled(dialect)
        if not _DEFAULT:
            _DEFAULT.append(create_auto())
        return _DEFAULT[0]
    if isinstance(dialect, Mapping):
        return Dialect.from_dict(dialect)
    if callable(dialect):
        return dialect
    raise UnknownDialectError(
        f"a dialect is a name, a Dialect, a dict or a callable, not {type(dialect).__name__}"
    )
