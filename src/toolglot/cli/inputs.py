"""inputs: what every command needs: its parser, files and JSON read, and errors of one line.

Promises: what cannot be read is an ``InputError`` that names the file and the place.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import toolglot


class InputError(Exception):
    """An input that cannot be used: exit code 1."""


class UsageError(Exception):
    """A command line that cannot be used: exit code 2."""


class Parser(argparse.ArgumentParser):
    """One whose errors are raised, and told in one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


Command = Callable[..., Parser]
"""Makes the parser of a command: its name, what runs it, a sentence of help, and parents of its options."""


def positive(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, not {value!r}")
    return int(value)


def dialect(name: str) -> toolglot.Dialect | str:
    return toolglot.Dialect.from_toml(read(name), name) if name.endswith(".toml") else name


def read(path: str) -> str:
    name = "standard input" if path == "-" else path
    try:
        if path == "-":
            raw = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                raw = file.read()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 at byte {error.start}") from None


def from_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deep") from None


def read_tools(path: str) -> Any:
    tools = from_json(read(path), path)
    if not isinstance(tools, (list, dict)):
        raise InputError(f"{path}: expected a list of tools or an object of schemas by name")
    return tools


def read_records(path: str, field: str) -> Iterator[tuple[dict[str, Any], str]]:
    for number, line in enumerate(read(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{'standard input' if path == '-' else path}:{number}"
        record = from_json(line, where)
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected an object")
        if not isinstance(record.get(field), str):
            raise InputError(f"{where}: no text in field {field!r}")
        yield record, record[field]


def print_json(value: dict[str, Any], indent: int | None = None) -> None:
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(value, ensure_ascii=ascii_only, indent=indent))


def colour(choice: str) -> bool:
    if choice == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


def width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
