"""outcome: what came of rendering a template: its text, or why there is none.

Promises: plain values, of which each has a form as JSON, so that they can come from another process.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union


class Reason(enum.Enum):
    """Why a template gave no text; the values are the words.

    ``RAISED``: it called ``raise_exception``. ``UNDEFINED``: it needs a variable, or a field of one, that it
    was not given. ``SYNTAX``: it is no template, or uses a filter or a test that there is not. ``FORBIDDEN``:
    the sandbox refused something. ``ERROR``: anything else that its code ran into, such as a wrong type or a
    recursion without end. ``TIMEOUT``, ``MEMORY``, ``OUTPUT``: it went beyond a limit. ``CRASHED``: it ended
    the process that rendered it.
    """

    RAISED = "raised"
    UNDEFINED = "undefined"
    SYNTAX = "syntax"
    FORBIDDEN = "forbidden"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Rendered:
    """The text that a template gave."""

    text: str


@dataclass(frozen=True)
class Failure:
    """A template gave no text.

    ``message``: the template's own, or the engine's. ``line``: of the template, from one, where one is known.
    ``variable``: the variable that it needs, where ``reason`` is ``UNDEFINED`` and it is a variable as such.
    """

    reason: Reason
    message: str
    line: int | None = None
    variable: str = ""

    def __str__(self) -> str:
        """One line for a person.

        >>> str(Failure(Reason.RAISED, "roles must alternate", 3))
        'line 3: raised: roles must alternate'
        """
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.reason.value}: {self.message}"


Outcome = Union[Rendered, Failure]


@dataclass(frozen=True)
class Variables:
    """The names of the variables that a template reads and does not set itself."""

    names: frozenset[str]


def to_json(outcome: Outcome | Variables) -> dict[str, Any]:
    """The outcome as JSON can carry it."""
    if isinstance(outcome, Rendered):
        return {"text": outcome.text}
    if isinstance(outcome, Variables):
        return {"variables": sorted(outcome.names)}
    return {
        "reason": outcome.reason.value,
        "message": outcome.message,
        "line": outcome.line,
        "variable": outcome.variable,
    }


def from_json(data: Mapping[str, Any]) -> Outcome | Variables:
    """The inverse of ``to_json``. Raises ``ValueError`` on anything else: its writer is not trusted."""
    text, names = data.get("text"), data.get("variables")
    if isinstance(text, str):
        return Rendered(text)
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return Variables(frozenset(names))
    reason, message, line, variable = (data.get(key) for key in ("reason", "message", "line", "variable"))
    if (
        not isinstance(message, str)
        or not isinstance(variable, str)
        or not isinstance(line, (int, type(None)))
    ):
        raise ValueError("no outcome")
    return Failure(Reason(reason), message, line, variable)
