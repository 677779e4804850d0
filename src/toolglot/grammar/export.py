"""Export: from a dialect, the tools and the tool choice to an engine's grammar.

Promises: the grammar accepts the calls that ``render`` writes for these tools, in the dialect's own layout
(inside JSON and Python arguments the blank behind a comma or colon may be left out), with up to
``lower.ANY_ORDER`` arguments of an object in any order. What it accepts beyond free text, the parser
reads back without a defect. What it does not hold to is said in ``notes``.

Does not: constrain reasoning or content. The grammar of a required call begins where the answer does:
engines apply it after the reasoning. Nor does it know a tokenizer: which markers are special tokens to it
the caller says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..auto import resolve
from ..dialect import Dialect
from ..errors import DialectError, ToolsError
from ..parser import Named
from ..schema import Tool, Tools, read_tools
from .answer import Answer, answer
from .form import Rules
from .gbnf import write_gbnf
from .lark import write_lark
from .lower import ANY_ORDER, in_any_order
from .tags import write_tags

Format = Literal["lark", "gbnf", "structural-tag"]


@dataclass(frozen=True)
class Grammar:
    """A grammar for one engine.

    ``text`` is the grammar, ``format`` its language. ``lazy``: whether the engine has to apply it only
    from the first of ``triggers`` on, which is then part of the text that has to match; with ``at_start`` a
    trigger counts only at the start of the answer. ``notes``: what the grammar does not hold to, and why.
    """

    text: str
    format: Format
    triggers: tuple[str, ...] = ()
    lazy: bool = False
    at_start: bool = False
    notes: tuple[str, ...] = ()


def grammar(
    dialect: Named,
    tools: object,
    *,
    choice: str | Mapping[str, object] = "auto",
    parallel: bool = True,
    format: Format = "lark",
    special: Sequence[str] = (),
) -> Grammar:
    """The grammar of an answer with calls of ``tools`` in ``dialect``.

    ``choice`` is ``auto`` (free text or calls), ``required`` (calls), the name of an offered tool, or what
    OpenAI and Anthropic write for either; a tool that has the name of a choice needs the longer form.
    ``parallel``: whether there may be several calls. ``special``: the markers that llguidance's tokenizer has
    as special tokens, which text never matches; the other engines match them by their spelling.

    Raises ``DialectError`` where the dialect has no calls, ``ToolsError`` where no tool is offered, the one
    chosen is not, or the format can write a call of none, ``ValueError`` for a ``special`` that has no name.

    >>> made = grammar("hermes", {"ping": {"properties": {}}}, choice="required", parallel=False)
    >>> print(made.text, end="")
    start: "<tool_call>\\n{\\"name\\": \\"ping\\", \\"arguments\\": {}}\\n</tool_call>"
    """
    resolved = resolve(dialect)
    if not isinstance(resolved, Dialect):
        raise DialectError("only a dialect has a grammar: name the one that the model writes, not a choice")
    offered = _offered(tools)
    free, chosen = _choice(choice, offered)
    made = answer(resolved, chosen, parallel)
    lazy = free and format == "gbnf"
    text = _written(made, free, format, special)
    at_start = made.at_start and free
    if at_start and format == "structural-tag":
        made.notes.add("a tag's trigger counts anywhere, the format's calls only where the answer begins")
    return Grammar(text, format, made.triggers if free else (), lazy, at_start, _notes(made))


def _written(made: Answer, free: bool, format: Format, special: Sequence[str]) -> str:
    if format == "gbnf":
        return write_gbnf(made.triggered if free else made.calls, made.rules)
    if format == "lark":
        return write_lark(made, free, special)
    if format == "structural-tag":
        return write_tags(made, free)
    raise ValueError(f"unknown format {format!r}: use lark, gbnf or structural-tag")


def _offered(tools: object) -> Tools:
    offered = read_tools(tools)
    if offered is None or not offered.names:
        raise ToolsError(
            "a grammar needs the tools that are offered: a list, or a mapping from name to schema"
        )
    return offered


def _choice(choice: str | Mapping[str, object], offered: Tools) -> tuple[bool, list[Tool]]:
    """Whether the model may choose free text, and the tools that it may call."""
    kind, name = _read_choice(choice)
    if kind in {"auto", "required"}:
        return kind == "auto", list(offered)
    tool = offered.get(name)
    if tool is None:
        raise ToolsError(f"the tool choice {name!r} is neither auto, required, nor a tool that is offered")
    return False, [tool]


def _read_choice(choice: str | Mapping[str, object]) -> tuple[str, str]:
    """The kind of a choice (``auto``, ``required`` or ``named``) and its tool's name."""
    if isinstance(choice, str):
        kind = {"any": "required"}.get(choice, choice)
        return (kind, "") if kind in {"auto", "required"} else ("named", choice)
    stated = choice.get("type")
    if stated in {"auto", "any", "required"}:
        return ("auto" if stated == "auto" else "required"), ""
    inner = choice.get("function", choice)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        raise ToolsError(f"the tool choice {choice!r:.80} names no tool")
    return "named", name


def _notes(made: Answer) -> tuple[str, ...]:
    """What the grammar does not hold to."""
    notes = set(made.notes)
    if _fixed_order(made.rules):
        notes.add(f"objects with more than {ANY_ORDER} members have them in the schema's order")
    return tuple(sorted(notes))


def _fixed_order(rules: Rules) -> bool:
    return any(not in_any_order(members) for members in rules.members())
