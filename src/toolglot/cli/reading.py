"""reading: the commands that read a model's text, parse, events and explain; and dialects, the list."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import toolglot

from ..events import Event
from ..explain import explain
from ..message import Message
from ..registry import dialect_text
from .inputs import (
    Command,
    InputError,
    Parser,
    UsageError,
    colour,
    dialect,
    positive,
    print_json,
    read,
    read_records,
    read_tools,
    width,
)

_PIECES = re.compile(r"</?[^<>\s]+>|\[/?[A-Z_]+\]|\s?[^\W\d_]+|\d{1,3}|\s+|.", re.DOTALL)
_FIELDS = (
    "kind",
    "to",
    "index",
    "id",
    "name",
    "text",
    "arguments",
    "arguments_json",
    "detail",
    "raw",
    "span",
)


def deltas(text: str, split: str) -> Iterator[str]:
    """``text`` in pieces: ``char``, ``token`` or a number of characters.

    Tokens are words, numbers, blanks and whole tags: they only look like a tokenizer's work.
    """
    if split == "token":
        for match in _PIECES.finditer(text):
            yield match.group()
    else:
        size = 1 if split == "char" else int(split)
        for start in range(0, len(text), size):
            yield text[start : start + size]


def event_as_json(event: Event) -> dict[str, Any]:
    """An event as a JSON object: its kind under ``event``, then its own fields."""
    out: dict[str, Any] = {"event": re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()}
    for name in _FIELDS:
        value = getattr(event, name, None)
        if value is not None:
            out[name] = value.value if name == "kind" else value
    return out


def _parse(options: argparse.Namespace) -> int:
    settings = _settings(options)
    if options.field and not options.jsonl:
        raise UsageError("--field needs --jsonl (see toolglot parse --help)")
    defects = 0
    if options.jsonl:
        for record, text in read_records(options.file, options.field or "output"):
            message = toolglot.parse(text, finish_reason=options.finish_reason, **settings)
            defects += len(message.defects)
            print_json({**record, "parsed": _message_as_json(message, options.openai)})
    else:
        message = toolglot.parse(read(options.file), finish_reason=options.finish_reason, **settings)
        defects = len(message.defects)
        print_json(_message_as_json(message, options.openai), indent=2)
    return 1 if options.strict and defects else 0


def _events(options: argparse.Namespace) -> int:
    text = read(options.file)
    parser = toolglot.Parser(**_settings(options))
    defects = 0
    for number, delta in enumerate(deltas(text, options.split)):
        defects += _print_events(parser.feed(delta), number)
    defects += _print_events(parser.close(options.finish_reason), "close")
    return 1 if options.strict and defects else 0


def _explain(options: argparse.Namespace) -> int:
    text = read(options.file)
    parser = toolglot.Parser(**_settings(options))
    events = [*parser.feed(text), *parser.close(options.finish_reason)]
    sys.stdout.write(
        explain(
            text,
            events,
            dialect=parser.dialect + (f", by {parser.chosen_by}" if parser.chosen_by else ""),
            color=colour(options.color),
            width=options.width or width(),
            full=options.full,
        )
    )
    return 1 if options.strict and any(isinstance(event, toolglot.Defect) for event in events) else 0


def _dialects(options: argparse.Namespace) -> int:
    if options.name:
        dialect = toolglot.resolve(options.name)
        if not isinstance(dialect, toolglot.Dialect):
            order = ", ".join(toolglot.DEFAULT_AUTO_ORDER)
            raise InputError(f"{options.name} is a choice among dialects: {order}")
        sys.stdout.write(dialect_text(dialect.slug))
        return 0
    wrap = textwrap.TextWrapper(width(), subsequent_indent=" " * 15, break_on_hyphens=False)
    for slug in toolglot.BUNDLED:
        found = toolglot.resolve(slug)
        if isinstance(found, toolglot.Dialect):
            print(f"{slug:<14} {found.title}")
            codecs = tuple(dict.fromkeys(body.codec for body in found.bodies))
            for label, words in (("codecs", codecs), ("aliases", found.aliases), ("models", found.models)):
                print(wrap.fill(f"    {label:<11}{', '.join(words) or '-'}"))
    return 0


def add_commands(command: Command) -> None:
    """Add the commands of this module."""
    common = Parser(add_help=False)
    common.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="UTF-8 text; - is standard input"
    )
    common.add_argument(
        "--dialect", default="auto", metavar="NAME", help="slug, alias, or a .toml file (auto)"
    )
    common.add_argument(
        "--tools", metavar="FILE", help="the offered tools as JSON: a list, or {name: schema}"
    )
    common.add_argument(
        "--prompt-tail", default="", metavar="TEXT", help="the end of the prompt, as the model saw it"
    )
    common.add_argument("--finish-reason", choices=("stop", "length"), help="why the output ended, if known")
    common.add_argument("--strict", action="store_true", help="repair nothing; exit 1 if there are defects")
    common.add_argument(
        "--arguments",
        choices=("stream", "whole"),
        default="stream",
        help="argument text as it arrives, or at the end",
    )

    parse = command("parse", _parse, "print the parsed message as JSON", common)
    parse.add_argument(
        "--jsonl", action="store_true", help="FILE holds one JSON object a line; add 'parsed' to each"
    )
    parse.add_argument("--field", metavar="NAME", help="with --jsonl: the field that holds the text (output)")
    parse.add_argument(
        "--openai", action="store_true", help="print the assistant message as OpenAI writes it"
    )

    events = command("events", _events, "print the event stream, one JSON object a line", common)
    events.add_argument(
        "--split",
        type=_split,
        default="token",
        metavar="HOW",
        help="deltas: char, token or a number of characters (token)",
    )

    explaining = command("explain", _explain, "show what each character was taken for", common)
    explaining.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="(auto)")
    explaining.add_argument("--width", type=positive, metavar="N", help="columns to wrap at (the terminal's)")
    explaining.add_argument("--full", action="store_true", help="leave no rows out")

    dialects = command("dialects", _dialects, "list the bundled dialects, or print one in full")
    dialects.add_argument("name", nargs="?", metavar="NAME", help="slug or alias")


def _split(value: str) -> str:
    if value not in ("char", "token"):
        positive(value)
    return value


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments that ``parse`` and ``Parser`` share."""
    return {
        "dialect": dialect(options.dialect),
        "tools": None if options.tools is None else read_tools(options.tools),
        "prompt_tail": options.prompt_tail,
        "on_defect": "strict" if options.strict else "repair",
        "arguments": options.arguments,
    }


def _message_as_json(message: Message, openai: bool) -> dict[str, Any]:
    if openai:
        return message.to_openai()
    return {
        "content": message.content,
        "reasoning": message.reasoning,
        "tool_calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments, "span": call.span}
            for call in message.tool_calls
        ],
        "defects": [
            {"kind": d.kind.value, "span": d.span, "detail": d.detail, "raw": d.raw, "index": d.index}
            for d in message.defects
        ],
        "dialect": message.dialect,
    }


def _print_events(events: Iterable[Event], delta: int | str) -> int:
    """Print ``events`` and say how many of them are defects."""
    defects = 0
    for event in events:
        print_json({"delta": delta, **event_as_json(event)})
        defects += isinstance(event, toolglot.Defect)
    return defects
