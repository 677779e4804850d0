"""The proxy's commands: ``serve``, ``replay`` and ``case``.

Promises: nothing of the extra ``proxy``, and hardly more of the library, is imported before a command runs,
and a missing extra is one line that says how to install it.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from ..cli.inputs import Command
from ..errors import CaptureError, ConfigError
from .kinds import KINDS, MIB

if TYPE_CHECKING:
    from .config import ModelRule

INSTALL = "pip install 'toolglot[proxy]'"


def add_commands(command: Command) -> None:
    """Add the commands of this module."""
    _add_serve(command)
    replaying = command("replay", _replay, "run captured exchanges again, one JSON object a line")
    replaying.add_argument("file", metavar="FILE", help="JSON lines written by serve --capture")
    replaying.add_argument(
        "--dialect", metavar="NAME", help="slug, alias, or a .toml file (the captured one)"
    )
    replaying.add_argument(
        "--check", action="store_true", help="exit 1 where a client would get something else"
    )

    casing = command("case", _case, "write captured exchanges as test cases")
    casing.add_argument("file", metavar="FILE", help="JSON lines written by serve --capture")
    casing.add_argument("--line", type=int, metavar="N", help="only the exchange of this line")
    casing.add_argument("--dialect", metavar="NAME", help="slug, alias, or a .toml file (the captured one)")
    casing.add_argument(
        "--redact",
        choices=("secrets", "contents"),
        help="secrets: what looks like a key; contents: every word that is no name, key or marker",
    )


def _add_serve(command: Command) -> None:
    serve = command("serve", _serve, "run the proxy")
    add = serve.add_argument
    add("--upstream", metavar="URL", help="the server behind the proxy, such as http://127.0.0.1:8080")
    add("--config", metavar="FILE", help="settings as TOML; options given here go first")
    add("--host", metavar="ADDRESS", help="where to listen (127.0.0.1)")
    add("--port", type=int, metavar="N", help="(8100)")
    add(
        "--dialect",
        action="append",
        default=[],
        metavar="[MODEL=]NAME",
        help="how a model is read: a slug, an alias or a .toml file; MODEL may hold *",
    )
    add("--server", choices=KINDS, help="the kind of the upstream (auto: ask it)")
    add("--raw", action="store_true", default=None, help="llama-server: its own parser never runs")
    add("--strict", action="store_true", help="repair nothing")
    add("--reasoning-field", choices=("reasoning_content", "reasoning", "both"), help="(reasoning_content)")
    add("--forced-finish", choices=("tool_calls", "stop"), help="after a forced function (tool_calls)")
    add("--on-cut", choices=("poison", "leave"), help="a call that max_tokens cut (poison)")
    add("--tools-absent", choices=("text", "read"), help="markup of calls where no tools were sent (text)")
    add("--connect-timeout", type=float, metavar="SECONDS", help="(10)")
    add("--read-timeout", type=float, metavar="SECONDS", help="for a silent upstream (900)")
    add("--keep-alive", type=float, metavar="SECONDS", help="between comments on a silent stream (15)")
    add("--grace", type=float, metavar="SECONDS", help="for running streams when stopped (300)")
    add("--max-request", type=_mib, metavar="MIB", help="(64)")
    add("--max-response", type=_mib, metavar="MIB", help="(256)")
    add("--capture", metavar="DIR", help="keep exchanges with defects or residue as JSON lines")
    add("--capture-all", action="store_true", default=None, help="keep all exchanges")
    add("--capture-limit", type=_mib, metavar="MIB", help="for all files of DIR (256)")
    add("--no-evidence", action="store_true", help="show no text of the model on /status")
    add("--log-level", choices=("debug", "info", "warning", "error"), help="(info)")
    add("--otel", action="store_true", default=None, help="send OpenTelemetry spans (extra otel)")


def _serve(options: argparse.Namespace) -> int:
    from .config import read_config

    own = ("run", "command", "config", "dialect", "strict", "no_evidence")
    given = {k: v for k, v in vars(options).items() if k not in own and v is not None}
    given["given"] = tuple(_rule(text) for text in options.dialect)
    if options.strict:
        given["on_defect"] = "strict"
    if options.no_evidence:
        given["evidence"] = False
    config = read_config(options.config, given)
    try:
        from .logs import start_logging
        from .loop import run
        from .serve import serve
    except ImportError as error:
        raise ConfigError(f"serve needs the extra proxy ({error.name} is missing): {INSTALL}") from error
    start_logging(config.log_level)
    try:
        run(serve(config))
    except ImportError as error:
        raise ConfigError("--otel needs the extra otel: pip install 'toolglot[proxy,otel]'") from error
    return 0


def _replay(options: argparse.Namespace) -> int:
    from .capture import read_capture
    from .config import load_dialect
    from .replay import replay

    dialect = None if options.dialect is None else load_dialect(options.dialect)
    differing = 0
    for exchanged in read_capture(options.file, dialect):
        replayed = replay(exchanged)
        differing += not replayed.same
        print(json.dumps(replayed.as_json(), ensure_ascii=False))
    return 1 if options.check and differing else 0


def _case(options: argparse.Namespace) -> int:
    from .capture import read_capture
    from .case import case
    from .config import load_dialect

    dialect = None if options.dialect is None else load_dialect(options.dialect)
    written = 0
    for exchanged in read_capture(options.file, dialect):
        if options.line is not None and not exchanged.where.endswith(f":{options.line}"):
            continue
        try:
            text = case(exchanged, options.redact)
        except CaptureError as error:
            if options.line is not None:
                raise
            # One that is no case does not take the others with it.
            print(f"left out: {error}", file=sys.stderr)
            continue
        print(text)
        written += 1
    if not written:
        what = "that can be a case" if options.line is None else f"in line {options.line}"
        raise CaptureError(f"{options.file}: no exchange {what}")
    return 0


def _rule(text: str) -> ModelRule:
    from .config import ModelRule

    model, equals, dialect = text.rpartition("=")
    return ModelRule(model, dialect) if equals else ModelRule("*", text)


def _mib(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of MiB above 0, not {value!r}")
    return int(value) * MIB
