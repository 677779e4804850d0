"""The ``toolglot`` command: each command is one library call, and this module only reads and prints.

Promises: exit code 0 when the text was read, whatever the model did wrong in it; 1 when an input cannot
be used, or with ``--strict`` when the text has defects; 2 on a usage error. Every failure is one line on
standard error. Does not import what the library keeps to itself.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn, get_args

import toolglot

from .events import Event
from .explain import explain
from .grammar import Format, grammar
from .message import Message
from .registry import dialect_text

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


class _InputError(Exception):
    """An input that cannot be used: exit code 1."""


class _UsageError(Exception):
    """A command line that cannot be used: exit code 2."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message} (see {self.prog} --help)")


def main(argv: list[str] | None = None) -> int:
    """Run the command line ``argv`` (the process's own by default) and return its exit code."""
    _reconfigure()
    try:
        options = _arguments().parse_args(argv)
        code: int = options.run(options)
        sys.stdout.flush()
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    except _UsageError as error:
        return _fail(str(error), 2)
    except (_InputError, toolglot.ToolglotError) as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # Python flushes standard output once more at exit, where the same error could not be caught.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    return code


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
        raise _UsageError("--field needs --jsonl (see toolglot parse --help)")
    defects = 0
    if options.jsonl:
        for record, text in _records(options.file, options.field or "output"):
            message = toolglot.parse(text, finish_reason=options.finish_reason, **settings)
            defects += len(message.defects)
            _print_json({**record, "parsed": _message_as_json(message, options.openai)})
    else:
        message = toolglot.parse(_read(options.file), finish_reason=options.finish_reason, **settings)
        defects = len(message.defects)
        _print_json(_message_as_json(message, options.openai), indent=2)
    return 1 if options.strict and defects else 0


def _events(options: argparse.Namespace) -> int:
    text = _read(options.file)
    parser = toolglot.Parser(**_settings(options))
    defects = 0
    for number, delta in enumerate(deltas(text, options.split)):
        defects += _print_events(parser.feed(delta), number)
    defects += _print_events(parser.close(options.finish_reason), "close")
    return 1 if options.strict and defects else 0


def _explain(options: argparse.Namespace) -> int:
    text = _read(options.file)
    parser = toolglot.Parser(**_settings(options))
    events = [*parser.feed(text), *parser.close(options.finish_reason)]
    sys.stdout.write(
        explain(
            text,
            events,
            dialect=parser.dialect + (f", by {parser.chosen_by}" if parser.chosen_by else ""),
            color=_colour(options.color),
            width=options.width or _width(),
            full=options.full,
        )
    )
    return 1 if options.strict and any(isinstance(event, toolglot.Defect) for event in events) else 0


def _grammar(options: argparse.Namespace) -> int:
    if options.tools is None:
        raise _UsageError("a grammar needs --tools FILE (see toolglot grammar --help)")
    made = grammar(
        _dialect(options.dialect),
        _tools(options.tools),
        choice=options.choice,
        parallel=not options.one_call,
        format=options.format,
    )
    if options.json:
        _print_json(asdict(made), indent=2)
        return 0
    sys.stdout.write(made.text)
    if made.lazy:
        where = "at the start of the answer" if made.at_start else "anywhere"
        print(f"toolglot: lazy, from one of these on, {where}: {list(made.triggers)}", file=sys.stderr)
    for note in made.notes:
        print(f"toolglot: {note}", file=sys.stderr)
    return 0


def _dialects(options: argparse.Namespace) -> int:
    if options.name:
        dialect = toolglot.resolve(options.name)
        if not isinstance(dialect, toolglot.Dialect):
            order = ", ".join(toolglot.DEFAULT_AUTO_ORDER)
            raise _InputError(f"{options.name} is a choice among dialects: {order}")
        sys.stdout.write(dialect_text(dialect.slug))
        return 0
    wrap = textwrap.TextWrapper(_width(), subsequent_indent=" " * 15, break_on_hyphens=False)
    for slug in toolglot.BUNDLED:
        found = toolglot.resolve(slug)
        if isinstance(found, toolglot.Dialect):
            print(f"{slug:<14} {found.title}")
            codecs = tuple(dict.fromkeys(body.codec for body in found.bodies))
            for label, words in (("codecs", codecs), ("aliases", found.aliases), ("models", found.models)):
                print(wrap.fill(f"    {label:<11}{', '.join(words) or '-'}"))
    return 0


def _arguments() -> argparse.ArgumentParser:
    top = _Parser(
        prog="toolglot",
        description="Read tool calls out of what a language model wrote.",
        epilog="Exit code: 0 done; 1 unusable input, or defects under --strict; 2 usage error.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"toolglot {toolglot.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    common = _Parser(add_help=False)
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

    def command(name: str, run: Any, text: str, *parents: _Parser) -> _Parser:
        made = commands.add_parser(
            name, help=text, description=text[0].upper() + text[1:] + ".", parents=parents, allow_abbrev=False
        )
        made.set_defaults(run=run)
        return made

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
    explaining.add_argument(
        "--width", type=_positive, metavar="N", help="columns to wrap at (the terminal's)"
    )
    explaining.add_argument("--full", action="store_true", help="leave no rows out")

    grammars = command("grammar", _grammar, "print a grammar that constrains the calls of some tools")
    grammars.add_argument("--dialect", required=True, metavar="NAME", help="slug, alias, or a .toml file")
    grammars.add_argument(
        "--tools", metavar="FILE", help="the offered tools as JSON: a list, or {name: schema}"
    )
    grammars.add_argument("--format", choices=get_args(Format), default="lark", help="the engine's (lark)")
    grammars.add_argument(
        "--choice", default="auto", metavar="HOW", help="auto, required, or a tool's name (auto)"
    )
    grammars.add_argument("--one-call", action="store_true", help="at most one call an answer")
    grammars.add_argument(
        "--json", action="store_true", help="print the text, the triggers and the notes as JSON"
    )

    dialects = command("dialects", _dialects, "list the bundled dialects, or print one in full")
    dialects.add_argument("name", nargs="?", metavar="NAME", help="slug or alias")
    return top


def _split(value: str) -> str:
    if value not in ("char", "token"):
        _positive(value)
    return value


def _positive(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, not {value!r}")
    return int(value)


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """The keyword arguments that ``parse`` and ``Parser`` share."""
    return {
        "dialect": _dialect(options.dialect),
        "tools": None if options.tools is None else _tools(options.tools),
        "prompt_tail": options.prompt_tail,
        "on_defect": "strict" if options.strict else "repair",
        "arguments": options.arguments,
    }


def _dialect(name: str) -> toolglot.Dialect | str:
    return toolglot.Dialect.from_toml(_read(name), name) if name.endswith(".toml") else name


def _read(path: str) -> str:
    name = "standard input" if path == "-" else path
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise _InputError(f"{name}: {error.strerror or error}") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _InputError(f"{name}: not UTF-8 at byte {error.start}") from None


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _InputError(f"{where}: not JSON: {error}") from None
    except RecursionError:
        raise _InputError(f"{where}: nested too deep") from None


def _tools(path: str) -> Any:
    tools = _json(_read(path), path)
    if not isinstance(tools, (list, dict)):
        raise _InputError(f"{path}: expected a list of tools or an object of schemas by name")
    return tools


def _records(path: str, field: str) -> Iterator[tuple[dict[str, Any], str]]:
    for number, line in enumerate(_read(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{'standard input' if path == '-' else path}:{number}"
        record = _json(line, where)
        if not isinstance(record, dict):
            raise _InputError(f"{where}: expected an object")
        if not isinstance(record.get(field), str):
            raise _InputError(f"{where}: no text in field {field!r}")
        yield record, record[field]


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
        _print_json({"delta": delta, **event_as_json(event)})
        defects += isinstance(event, toolglot.Defect)
    return defects


def _print_json(value: dict[str, Any], indent: int | None = None) -> None:
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(value, ensure_ascii=ascii_only, indent=indent))


def _colour(choice: str) -> bool:
    if choice == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _reconfigure() -> None:
    # A defect's raw text may hold half of a surrogate pair; as \udc80 it is printable, and JSON.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Integers are exact at any size, but Python by default refuses to write long ones.
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)


def _fail(message: str, code: int) -> int:
    print(f"toolglot: {' '.join(message.split())}", file=sys.stderr)
    return code
