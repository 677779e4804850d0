"""outcome: what a derivation gives: a dialect or the reason why there is none, and what it was read from.

Promises: values only. A ``Derived`` has a dialect or at least one refusal, never neither; its evidence says
for each probe what was rendered and what was read from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..dialect import Dialect
from ..errors import DerivationError, RenderError
from ..message import Message
from .layout import Layout, written


class Refused(DerivationError):
    """Why a template gives no dialect.

    ``code``: ``no-tool-calls-in-template``, ``syntax``, ``needs-variable:X``, ``raises:MESSAGE``,
    ``not-isolatable``, ``sentinel-in-literal``, ``codec:TYPE``, ``calls-not-composable``,
    ``ambiguous-body``, ``round-trip:CASE`` or ``timeout``. ``example`` is the smallest counter-example known.
    """

    def __init__(self, code: str, detail: str, example: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail and detail not in code else code)
        self.code = code
        self.detail = detail
        self.example = example


@dataclass(frozen=True)
class Evidence:
    """One probe: what was rendered, and what that showed."""

    probe: str
    text: str
    showed: str


@dataclass(frozen=True)
class Refusal:
    """A refusal as a value: its code, a sentence, and the smallest counter-example, where there is one."""

    code: str
    detail: str
    example: str = ""


@dataclass(frozen=True)
class Toggle:
    """A variable that switches thinking: its name, and the generation prompt's tail for each value tried."""

    variable: str
    tails: tuple[tuple[Any, str], ...]


@dataclass(frozen=True)
class Derived:
    """What a template gives.

    ``confidence``: ``declared`` (by the response template that the checkpoint carries), ``exact`` (the
    template is known, by its hash), ``builtin`` (verified, and the same format as the bundled dialect that
    ``builtin`` names), ``verified``, ``guessed`` (from the markers that it mentions; ``refusals`` says why
    nothing was verified) or ``refused``. ``layout`` writes the template's own turn; None where there is none.
    ``partial`` lists what the dialect does not cover: ``single_call_only``, ``type:NAME``,
    ``content_dropped``, ``delimiter_collision``. ``shape`` is how the template wants its input; ``result``
    what it writes around a tool's result.
    """

    dialect: Dialect | None
    layout: Layout | None
    confidence: str
    refusals: tuple[Refusal, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    toggles: tuple[Toggle, ...] = ()
    prompt_tail: str = ""
    partial: tuple[str, ...] = ()
    shape: tuple[tuple[str, str], ...] = ()
    result: tuple[str, str] | None = None
    builtin: str = ""
    checks: dict[str, str] = field(default_factory=dict)

    def render(self, message: Message) -> str:
        """The template's own turn for ``message``, from the role's header to the end of the turn.

        Raises ``RenderError`` where nothing was derived, or the format does not carry the message.
        """
        if self.layout is None:
            raise RenderError("nothing was derived from this template, so nothing can be written")
        return written(self.layout, message)
