"""The ``toolglot`` command: each command is one library call, and this package only reads and prints.

Promises: exit code 0 when the text was read, whatever the model did wrong in it; 1 when an input cannot
be used, or with ``--strict`` when the text has defects; 2 on a usage error. Every failure is one line on
standard error. Does not import what the library keeps to itself, nor, before a command runs, what only
that command needs.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import Any

import toolglot

from ..proxy import commands as proxying
from . import deriving, reading, writing
from .inputs import InputError, Parser, UsageError
from .reading import deltas, event_as_json

__all__ = ["main", "deltas", "event_as_json"]


def main(argv: list[str] | None = None) -> int:
    """Run the command line ``argv`` (the process's own by default) and return its exit code."""
    _reconfigure()
    try:
        options = _arguments().parse_args(argv)
        code: int = options.run(options)
        sys.stdout.flush()
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    except UsageError as error:
        return _fail(str(error), 2)
    except (InputError, toolglot.ToolglotError) as error:
        return _fail(str(error), 1)
    except BrokenPipeError:
        # Python flushes standard output once more at exit, where the same error could not be caught.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    return code


def _arguments() -> argparse.ArgumentParser:
    top = Parser(
        prog="toolglot",
        description="Read tool calls out of what a language model wrote.",
        epilog="Exit code: 0 done; 1 unusable input, or defects under --strict; 2 usage error.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"toolglot {toolglot.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, run: Any, text: str, *parents: Parser) -> Parser:
        made = commands.add_parser(
            name, help=text, description=text[0].upper() + text[1:] + ".", parents=parents, allow_abbrev=False
        )
        made.set_defaults(run=run)
        return made

    for module in (reading, writing, deriving, proxying):
        module.add_commands(command)
    return top


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
