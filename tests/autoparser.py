"""How llama.cpp reads the same chat templates: by which of its parsers, and whether that reads their calls.

    python -m tests.autoparser [--write] [--probe PROGRAM]

``autoparser.toml`` has llama.cpp's conditions on a template's text, read from its source. They are applied to
the templates of the shared folder; ``--write`` keeps what comes out in the same file, from which the table in
``docs/derivation.md`` is made. ``--probe`` names the program that ``autoparser.cpp`` compiles to, which runs
llama.cpp's own code: it has to agree with the conditions, and its parsers are given the calls that the
template writes. Exit status 1 where something differs from what is kept.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.derivation import GOLDEN as DERIVED
from tests.derivation import corpus
from tests.known import load_toml
from tests.places import NO_SHARED, TESTS, shared_folder

KEPT = TESTS / "autoparser.toml"
_WRITTEN = "# Renewed by python -m tests.autoparser --write"
SECONDS = 900

TOOLS: dict[str, dict[str, Any]] = {
    "get_weather": {"city": {"type": "string"}},
    "find_maps": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "ping": {},
    "set_point": {
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "at": {"type": "object"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "forget": {"what": {"type": ["string", "null"]}, "days": {"type": "integer"}},
    "send_mail": {"to": {"type": "string"}, "body": {"type": "string"}, "code": {"type": "string"}},
}
TURNS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "one": [("get_weather", {"city": "Paris"})],
    "two": [("get_weather", {"city": "Paris"}), ("find_maps", {"query": "old maps", "limit": 3})],
    "empty": [("ping", {})],
    "types": [("set_point", {"count": 7, "ratio": 0.5, "on": True, "at": {"x": 1.5}, "tags": ["a", "b"]})],
    "null": [("forget", {"what": None, "days": 2})],
    "texts": [("send_mail", {"to": 'A "B" <b>c</b>', "body": "line one\nline two", "code": "42"})],
}
"""The calls of one turn each: what a parser made for the template ought to read."""


@dataclass(frozen=True)
class Rule:
    """A condition on a template's text, with what llama.cpp does where it holds."""

    name: str
    at: str
    all: tuple[str, ...]
    any: tuple[str, ...] = ()
    none: tuple[str, ...] = ()

    def holds(self, text: str) -> bool:
        """Whether the text has what is asked for and nothing that is not to be there."""
        some = not self.any or any(part in text for part in self.any)
        return some and all(part in text for part in self.all) and not any(part in text for part in self.none)


def rules(kind: str, kept: Mapping[str, Any]) -> list[Rule]:
    """The rules of one kind, in their order: ``branch``, ``workaround`` or ``patch``."""
    return [
        Rule(one["name"], one["at"], *(tuple(one.get(key, ())) for key in ("all", "any", "none")))
        for one in kept[kind]
    ]


def route(text: str, kept: Mapping[str, Any]) -> str:
    """Which parser a template gets: ``own NAME``, ``auto``, or ``auto + `` the workarounds applied to it."""
    for branch in rules("branch", kept):
        if branch.holds(text):
            return f"own {branch.name}"
    by_hand = [rule.name for rule in rules("workaround", kept) if rule.holds(text)]
    return " ".join(["auto", "+ " + ", ".join(by_hand)]) if by_hand else "auto"


# -- what its own code does ------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """What llama.cpp made of a template: whether by a parser of its own, the markers found, what it read."""

    own: bool
    found: str
    read: str


def run(program: Path, template: Path) -> Run:
    """One template, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.json"
        given.write_text(json.dumps(_given()), encoding="utf-8")
        try:
            done = subprocess.run(
                [program, template, given, "debug"], capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Run(False, "", "no parser: it does not end")
    log = done.stderr.decode("utf-8", "replace")
    lines = [
        json.loads(line) for line in done.stdout.decode("utf-8", "replace").splitlines() if line[:1] == "{"
    ]
    own = bool(lines) and "error" not in lines[0] and "using differential autoparser" not in log
    return Run(own, _found(log), what_was_read(lines, done.returncode))


def _given() -> dict[str, Any]:
    tools = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "d",
                "parameters": {
                    "type": "object",
                    "properties": {key: {"description": "d", **schema} for key, schema in keys.items()},
                    "required": list(keys),
                },
            },
        }
        for name, keys in TOOLS.items()
    ]
    turns = [
        [
            {
                "name": name,
                "arguments": arguments,
                "id": f"functions.{name}:{i}" if counted else f"callid{i:03}",
            }
            for i, (name, arguments) in enumerate(calls)
        ]
        for calls in TURNS.values()
        for counted in (False, True)
    ]
    return {"tools": tools, "turns": turns}


def _found(log: str) -> str:
    """The shape of calls that the analysis names, with the markers around one."""
    last: dict[str, str] = {}
    for key, value in re.findall(r"(tool_\w+|per_call_\w+|func_name_\w+): '?(.*?)'?\n", log):
        last[key] = value
    if not last.get("tool_mode"):
        return ""
    marks = [
        last.get(key, "")
        for key in ("tool_section_start", "per_call_start", "func_name_prefix", "per_call_end")
    ]
    return " ".join([last["tool_mode"], *(mark for mark in marks if mark.strip())])


def what_was_read(lines: Sequence[Mapping[str, Any]], status: int) -> str:
    """In a few words, which turns were read back, which not, and which the template did not write."""
    faults = [line["error"] for line in lines if line["stage"] != "turn" and "error" in line]
    turns = [line for line in lines if line["stage"] == "turn"]
    if not turns:
        return "no parser: " + (_short(faults[0]) if faults else f"status {status}")
    words: dict[str, list[str]] = {"read": [], "unread": [], "unwritten": []}
    for number, (name, calls) in enumerate(TURNS.items()):
        mine = [line for line in turns if line["turn"] in (2 * number, 2 * number + 1)]
        written = [line for line in mine if all(call in line.get("written", "") for call, _ in calls)]
        results = [result for line in written for result in line["results"]]
        good = any(_same(result, calls) for result in results)
        words["read" if good else "unread" if written else "unwritten"].append(name)
    return "; ".join(f"{word} {' '.join(names)}" for word, names in words.items() if names)


def _same(result: Mapping[str, Any], calls: Sequence[tuple[str, dict[str, Any]]]) -> bool:
    if "error" in result or result["content"].strip():
        return False
    try:
        back = [(call["name"], json.loads(call["arguments"] or "{}")) for call in result["calls"]]
    except ValueError:
        return False
    return repr(back) == repr(calls) or (back == calls and _kinds(back) == _kinds(calls))


def _kinds(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[list[str]]:
    return [sorted(f"{key} {type(value).__name__}" for key, value in given.items()) for _, given in calls]


def _short(text: str) -> str:
    """The last line of a fault that says something, in one line of plain words."""
    said = [line.strip() for line in text.splitlines() if line.strip(" ^-~.")]
    return re.sub(r"\s+", " ", said[-1] if said else text).replace('"', "'")[:90]


# -- the table ------------------------------------------------------------------------------------


def table() -> str:
    """Each template: what is derived here, how llama.cpp reads it, and what is known of that."""
    kept, derived = load_toml(KEPT), load_toml(DERIVED)["summaries"]
    has_run = bool(kept["read"])
    head = ["template", "here", "llama.cpp", *["its parser reads"] * has_run, "remark"]
    rows = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, told in derived.items():
        read = kept["read"].get(name, "")
        cells = (
            f"`{name.removesuffix('.jinja')}`",
            _here(told),
            _there(kept["routes"][name]),
            *[_counted(read)] * has_run,
            _remark(name, read, kept),
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _here(told: str) -> str:
    first, *rest = told.split()
    partial = [word for word in rest if word.startswith(("type:", "single", "content", "delimiter"))]
    more = f" ({', '.join(partial)})" if partial else ""
    if refused(told):
        return f"refused: {told}"
    return (f"verified, {rest[0]}" if first == "verified" else f"builtin `{first}`") + more


def refused(told: str) -> bool:
    """Whether a summary of ``derivation.toml`` is a refusal's code."""
    return told.split(":")[0] in {"no-tool-calls-in-template", "needs-variable", "raises", "ambiguous-body"}


def _there(route: str) -> str:
    if route.startswith("own "):
        return f"own parser, {route.removeprefix('own ')}"
    by_hand = route.partition(" + ")[2]
    return f"auto-parser and workaround, {by_hand}" if by_hand else "auto-parser"


def _counted(read: str) -> str:
    words = turns_by_word(read)
    written = len(words["read"]) + len(words["unread"])
    if read.startswith("no parser"):
        return "no parser"
    return f"{len(words['read'])} of {written}" if written else "no call is written" if read else "not run"


def turns_by_word(read: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"read": [], "unread": [], "unwritten": []}
    for part in filter(None, read.split("; ")):
        word, *names = part.split()
        if word in found:
            found[word] = names
    return found


def _remark(name: str, read: str, kept: Mapping[str, Any]) -> str:
    parts = []
    unread = turns_by_word(read)["unread"]
    if read.startswith("no parser"):
        parts.append(read.removeprefix("no parser: "))
    if unread:
        parts.append("not " + ", ".join(unread))
    parts += [f"{one['what']} ({one['issue']})" for one in kept.get("report", ()) if name in one["templates"]]
    return "; ".join(parts)


def version() -> str:
    """The version of llama.cpp that the rules and the runs are of."""
    kept = load_toml(KEPT)
    return f"`{kept['commit'][:12]}` ({kept['source']})."


def counts() -> str:
    """The table in a few lines: how many templates go which way, and how many of their turns are read."""
    kept, derived = load_toml(KEPT), load_toml(DERIVED)["summaries"]
    ways = {"own parser": "own ", "auto-parser and workaround": "auto + ", "auto-parser": "auto"}
    head = [
        "llama.cpp",
        "templates",
        "derived here",
        *["reads all", "reads some", "reads none"] * bool(kept["read"]),
    ]
    rows = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    sums = [0] * (len(head) - 1)
    left = dict(kept["routes"])
    for label, start in ways.items():
        names = [name for name, there in left.items() if there.startswith(start)]
        cells = [len(names), sum(not refused(derived[name]) for name in names), *_success(names, kept)]
        sums = [one + more for one, more in zip(sums, cells, strict=True)]
        rows.append(f"| {label} | {' | '.join(map(str, cells))} |")
        for name in names:
            del left[name]
    return "\n".join([*rows, f"| all | {' | '.join(map(str, sums))} |"])


def _success(names: Sequence[str], kept: Mapping[str, Any]) -> list[int]:
    """Of how many templates all turns were read, some, or none; nothing where nothing has run."""
    if not kept["read"]:
        return []
    words = [turns_by_word(kept["read"].get(name, "")) for name in names]
    return [
        sum(bool(one["read"]) and not one["unread"] for one in words),
        sum(bool(one["read"]) and bool(one["unread"]) for one in words),
        sum(bool(one["unread"]) and not one["read"] for one in words),
    ]


def method() -> str:
    """How llama.cpp's part of the table came about."""
    return _RUN if load_toml(KEPT)["read"] else _READ


_READ = """\
llama.cpp's part is by reading its source, not by running it: the table says which of its parsers a template
gets, not whether that parser reads the template's calls."""
_RUN = """\
Its own code was compiled and run as well (`tests/autoparser.cpp`). It was given six turns, each rendered by
llama.cpp itself and read by the parser that it makes for the template: *one* call, *two* calls, a call with
an *empty* object, one with values of several *types*, one with *null*, and one with *texts* that hold quotes,
tags and line breaks. A turn counts as read if any of several ways to cut it off its prompt, with thinking on
or off, gives the same calls and no leftover content. Turns that the template does not write are not counted.
So this is a test of reading whole, well-formed texts in llama.cpp's favour, and says nothing of what a model
writes."""


def _lines(title: str, found: Mapping[str, str]) -> list[str]:
    pairs = (f"{json.dumps(k)} = {json.dumps(v, ensure_ascii=False)}" for k, v in found.items())
    return [f"[{title}]", *pairs, ""]


def write(kept: Mapping[str, Mapping[str, str]]) -> None:
    """Renew what is kept of the templates; the rules above it are written by hand and stay."""
    head = KEPT.read_text(encoding="utf-8").partition(_WRITTEN)[0]
    body = [line for title, found in kept.items() for line in _lines(title, found)]
    KEPT.write_text("\n".join([head + _WRITTEN, *body]).rstrip() + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Apply the rules to the corpus, run llama.cpp's code where it is given, compare with what is kept."""
    options = argparse.ArgumentParser(prog="python -m tests.autoparser")
    options.add_argument("--write", action="store_true", help="renew what is kept of each template")
    options.add_argument("--probe", type=Path, help="the program that autoparser.cpp compiles to")
    given = options.parse_args(argv)
    folder = shared_folder()
    if folder is None:
        print(NO_SHARED)
        return 0
    kept = load_toml(KEPT)
    paths = {name: folder / "templates" / name for name in sorted(corpus(folder))}
    fresh = {
        "routes": {name: route(path.read_bytes().decode("utf-8"), kept) for name, path in paths.items()},
        "found": dict(kept.get("found", {})),
        "read": dict(kept.get("read", {})),
    }
    if given.probe:
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda path: run(given.probe, path), paths.values())
            runs = dict(zip(paths, found, strict=True))
        fresh["read"] = {name: one.read for name, one in runs.items()}
        fresh["found"] = {name: one.found for name, one in runs.items() if one.found}
        for name, one in runs.items():
            if not one.read.startswith("no parser") and one.own != fresh["routes"][name].startswith("own "):
                print(f"not as by the conditions: {name}: {'own' if one.own else 'auto'}")
    changed = [
        f"{t}: {n}: {v}" for t, f in fresh.items() for n, v in f.items() if kept.get(t, {}).get(n) != v
    ]
    for line in changed:
        print(line)
    if given.write:
        write(fresh)
    print(counts() if given.write or not changed else f"{len(changed)} are not as kept")
    return int(bool(changed) and not given.write)


if __name__ == "__main__":
    sys.exit(main())
