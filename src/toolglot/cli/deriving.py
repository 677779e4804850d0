"""deriving: the command that reads a model's chat template, and says what it read there."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .inputs import Command, InputError, print_json, width

if TYPE_CHECKING:
    from ..derive import Derived

_LONGEST = 600
"""Characters of a probe's text that are shown."""


def _derive(options: argparse.Namespace) -> int:
    derived = derived_from(options.path, options.template)
    if options.json:
        print_json(_as_json(derived), indent=2)
    elif options.toml:
        if derived.dialect is None:
            raise InputError(_why(derived))
        sys.stdout.write(derived.dialect.to_toml())
    else:
        for line in _told(derived, options.explain):
            print(line)
    if derived.dialect is None:
        raise InputError(_why(derived))
    return 0


def derived_from(path: str, name: str | None) -> Derived:
    """What the template at a path gives. Raises ``DerivationError`` and ``InputError``."""
    from ..derive import derive

    try:
        return derive(path, name=name)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _why(derived: Derived) -> str:
    return "no dialect: " + "; ".join(
        reason.code if reason.detail in reason.code else f"{reason.code}: {reason.detail}"
        for reason in derived.refusals
    )


def _told(derived: Derived, explain: bool) -> Iterator[str]:
    if derived.dialect is not None:
        codecs = ", ".join(dict.fromkeys(body.codec for body in derived.dialect.bodies))
        yield f"dialect      {derived.builtin or 'of its own'} ({codecs})"
    yield f"confidence   {derived.confidence}"
    for reason in derived.refusals:
        yield f"refused      {reason.code}"
        if explain and reason.example:
            yield textwrap.indent(reason.example, "             ")
    if derived.partial:
        yield f"not covered  {', '.join(derived.partial)}"
    if derived.prompt_tail:
        yield f"prompt tail  {derived.prompt_tail!r}"
    for toggle in derived.toggles:
        for value, tail in toggle.tails:
            yield f"             {toggle.variable} = {json.dumps(value)}: {tail!r}"
    if derived.result is not None:
        yield f"tool result  {derived.result[0]!r} … {derived.result[1]!r}"
    if derived.shape:
        yield "input        " + ", ".join(f"{name}: {value}" for name, value in derived.shape)
    if explain and derived.evidence:
        yield ""
        yield from _table(derived)


def _table(derived: Derived) -> Iterator[str]:
    """The evidence: each probe with its text, and what that showed."""
    left = max(len(evidence.probe) for evidence in derived.evidence) + 2
    room = max(width() - left, 40)
    wrap = textwrap.TextWrapper(room, break_on_hyphens=False, drop_whitespace=False)
    for evidence in derived.evidence:
        rows = [("", line) for line in wrap.wrap(repr(evidence.text[:_LONGEST]))] if evidence.text else []
        if evidence.showed:
            rows += [("→ " if not i else "  ", line) for i, line in enumerate(wrap.wrap(evidence.showed))]
        for number, (mark, line) in enumerate(rows or [("", "(nothing)")]):
            yield f"{evidence.probe if not number else '':<{left}}{mark}{line}"


def _as_json(derived: Derived) -> dict[str, Any]:
    from dataclasses import asdict

    from ..derive import summary

    return {
        **summary(derived),
        "builtin": derived.builtin,
        "dialect": derived.dialect.to_dict() if derived.dialect else None,
        "refusals": [asdict(reason) for reason in derived.refusals],
        "prompt_tail": derived.prompt_tail,
        "toggles": [asdict(toggle) for toggle in derived.toggles],
        "result": derived.result,
        "evidence": [asdict(evidence) for evidence in derived.evidence],
    }


def add_commands(command: Command) -> None:
    """Add the commands of this module."""
    deriving = command("derive", _derive, "read the dialect off a model's chat template")
    deriving.add_argument(
        "path",
        metavar="PATH",
        help="a .jinja file, a model's folder, a GGUF file, or an answer of /props as JSON",
    )
    deriving.add_argument("--template", metavar="NAME", help="which of several templates (the one for tools)")
    deriving.add_argument("--explain", action="store_true", help="show each probe and what it showed")
    deriving.add_argument("--json", action="store_true", help="print everything as JSON")
    deriving.add_argument("--toml", action="store_true", help="print the dialect alone, as a dialect file")
