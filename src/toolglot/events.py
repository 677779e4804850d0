"""Events: what a parser reports, as values that nobody changes.

Promises: every event carries ``span = (start, end)``, in characters of the input in the order it was
fed; ``Text``, ``Reasoning``, ``CallStart``, ``Arguments``, ``CallEnd`` and ``Markup`` tile the input,
each character once; ``Defect`` and ``Relabel`` annotate and never count. Imports nothing of
toolglot but ``native``.

Does not: freeze its classes. One event is made for nearly every delta, and a frozen dataclass costs
three times a plain slotted class to make.
"""

from __future__ import annotations

from enum import Enum

from ._typing import TYPE_CHECKING, Any, Literal
from .native import mypyc_attr

if TYPE_CHECKING:
    from typing import ClassVar

Span = tuple[int, int]


class DefectKind(Enum):
    """What can be wrong with a model's output; the value is the word users see."""

    UNKNOWN_TOOL = "unknown_tool"
    MALFORMED_CALL = "malformed_call"
    UNCLOSED_CALL = "unclosed_call"
    MISSING_OPEN = "missing_open"
    MISSING_CLOSE = "missing_close"
    ARGUMENTS_NOT_AN_OBJECT = "arguments_not_an_object"
    POSITIONAL_ARGUMENT = "positional_argument"
    DUPLICATE_ARGUMENT = "duplicate_argument"
    WRONG_TYPE = "wrong_type"
    REPAIRED = "repaired"
    REJECTED = "rejected"
    LONE_REASONING_OPEN = "lone_reasoning_open"
    LONE_REASONING_CLOSE = "lone_reasoning_close"
    LIMIT = "limit"


@mypyc_attr(acyclic=True)
class _Value:
    """Equality and repr by fields, for the classes below."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def _state(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self._fields)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._state() == other._state()

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        # What copies and pickles a plain class does not know where a compiled one keeps its fields.
        return type(self), self._state()

    def __repr__(self) -> str:
        body = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({body})"


@mypyc_attr(acyclic=True, free_list_len=1)
class Text(_Value):
    """Content: a piece of the answer that a person sees."""

    __slots__ = ("text", "span")
    _fields = ("text", "span")

    def __init__(self, text: str, span: Span) -> None:
        self.text = text
        self.span = span


@mypyc_attr(acyclic=True, free_list_len=1)
class Reasoning(_Value):
    """A piece of the model's thinking, without its tags."""

    __slots__ = ("text", "span")
    _fields = ("text", "span")

    def __init__(self, text: str, span: Span) -> None:
        self.text = text
        self.span = span


class CallStart(_Value):
    """A call whose name is final. A ``CallEnd`` or a ``Defect`` with its index always follows."""

    __slots__ = ("index", "id", "name", "span")
    _fields = ("index", "id", "name", "span")

    def __init__(self, index: int, id: str, name: str, span: Span) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.span = span


@mypyc_attr(acyclic=True, free_list_len=1)
class Arguments(_Value):
    """A piece of a call's arguments: joined, they are always a prefix of valid JSON."""

    __slots__ = ("index", "text", "span")
    _fields = ("index", "text", "span")

    def __init__(self, index: int, text: str, span: Span) -> None:
        self.index = index
        self.text = text
        self.span = span


class CallEnd(_Value):
    """A finished call and its decoded arguments.

    ``arguments_json`` is None when the joined ``Arguments`` text is already the canonical one; it
    holds the text with each key once (last value, first position) where the model repeated a key.
    """

    __slots__ = ("index", "arguments", "span", "arguments_json")
    _fields = ("index", "arguments", "span", "arguments_json")

    def __init__(
        self, index: int, arguments: dict[str, Any], span: Span, arguments_json: str | None = None
    ) -> None:
        self.index = index
        self.arguments = arguments
        self.span = span
        self.arguments_json = arguments_json


class Markup(_Value):
    """Characters that belong to the format: markers, layout, noise that was rejected."""

    __slots__ = ("span",)
    _fields = ("span",)

    def __init__(self, span: Span) -> None:
        self.span = span


class Defect(_Value):
    """Something amiss in the output: its kind, the raw text it is about, and what was done."""

    __slots__ = ("kind", "raw", "detail", "span", "index")
    _fields = ("kind", "raw", "detail", "span", "index")

    def __init__(self, kind: DefectKind, raw: str, detail: str, span: Span, index: int | None = None) -> None:
        self.kind = kind
        self.raw = raw
        self.detail = detail
        self.span = span
        self.index = index


class Relabel(_Value):
    """The text that went out for ``span`` was reasoning; no ``Text`` event straddles its bounds."""

    __slots__ = ("to", "span")
    _fields = ("to", "span")

    def __init__(self, span: Span, to: Literal["reasoning"] = "reasoning") -> None:
        self.to = to
        self.span = span

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        return Relabel, (self.span, self.to)


Event = Text | Reasoning | CallStart | Arguments | CallEnd | Markup | Defect | Relabel
