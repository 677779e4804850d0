"""writing: the commands that write what a model would: render, and grammar, which makes it write so."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

import toolglot

from .deriving import derived_from
from .inputs import Command, InputError, UsageError, dialect, from_json, print_json, read, read_tools

# As ``toolglot.grammar`` has them, which no other command needs.
FORMATS: Final = ("lark", "gbnf", "structural-tag")


def _grammar(options: argparse.Namespace) -> int:
    from ..grammar import grammar

    if options.tools is None:
        raise UsageError("a grammar needs --tools FILE (see toolglot grammar --help)")
    made = grammar(
        dialect(options.dialect),
        read_tools(options.tools),
        choice=options.choice,
        parallel=not options.one_call,
        format=options.format,
    )
    if options.json:
        from dataclasses import asdict

        print_json(asdict(made), indent=2)
        return 0
    sys.stdout.write(made.text)
    if made.lazy:
        where = "at the start of the answer" if made.at_start else "anywhere"
        print(f"toolglot: lazy, from one of these on, {where}: {list(made.triggers)}", file=sys.stderr)
    for note in made.notes:
        print(f"toolglot: {note}", file=sys.stderr)
    return 0


def _render(options: argparse.Namespace) -> int:
    where = "standard input" if options.file == "-" else options.file
    message = _message(from_json(read(options.file), where), where)
    tools = None if options.tools is None else read_tools(options.tools)
    if options.template is not None:
        sys.stdout.write(derived_from(options.template, None).render(message))
    elif options.dialect is not None:
        sys.stdout.write(toolglot.render(message, dialect(options.dialect), tools=tools))
    else:
        raise UsageError("render needs --dialect NAME or --template PATH (see toolglot render --help)")
    return 0


def _message(data: Any, where: str) -> toolglot.Message:
    """The message in a file: an assistant message, or only its calls."""
    if isinstance(data, list):
        data = {"tool_calls": data}
    if not isinstance(data, dict):
        raise InputError(f"{where}: expected an assistant message, or a list of calls")
    if "role" not in data and "tool_calls" not in data and isinstance(data.get("name"), str):
        data = {"tool_calls": [data]}
    return toolglot.Message.from_openai(data)


def add_commands(command: Command) -> None:
    """Add the commands of this module."""
    renders = command("render", _render, "write a message as a model of the dialect would")
    renders.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="JSON: an assistant message, a list of calls, or one call; - is standard input",
    )
    renders.add_argument("--dialect", metavar="NAME", help="slug, alias, or a .toml file")
    renders.add_argument(
        "--template", metavar="PATH", help="write the turn of this chat template instead (see derive)"
    )
    renders.add_argument(
        "--tools", metavar="FILE", help="the offered tools as JSON: a list, or {name: schema}"
    )

    grammars = command("grammar", _grammar, "print a grammar that constrains the calls of some tools")
    grammars.add_argument("--dialect", required=True, metavar="NAME", help="slug, alias, or a .toml file")
    grammars.add_argument(
        "--tools", metavar="FILE", help="the offered tools as JSON: a list, or {name: schema}"
    )
    grammars.add_argument("--format", choices=FORMATS, default="lark", help="the engine's (lark)")
    grammars.add_argument(
        "--choice", default="auto", metavar="HOW", help="auto, required, or a tool's name (auto)"
    )
    grammars.add_argument("--one-call", action="store_true", help="at most one call an answer")
    grammars.add_argument(
        "--json", action="store_true", help="print the text, the triggers and the notes as JSON"
    )
