"""The chat templates of the shared folder: what is derived from each, and whether it holds on other texts.

    python -m tests.derivation [NAME ...] [--write] [--show]

Each template that renders calls is derived, and what was accepted is tried again on conversations with tools,
keys and values that derivation never saw: the template's own turn must be what ``Derived.render`` writes, and
read back whole and one character at a time. A template that fails there is counted as wrong. Refusals are
compared with ``derivation.toml``, which also keeps a summary of each template; ``--write`` renews those. Each
accepted dialect's grammar is asked, too, for calls of those tools and for one of another name (V6). Exit
status 1 where one is wrong, a refusal has another code, or a summary has changed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import toolglot
from tests.grammars import accepts, compiled
from tests.known import load_toml
from tests.places import NO_SHARED, TESTS, shared_folder
from toolglot.derive import Derived, Worker, summary
from toolglot.derive.core import induced
from toolglot.derive.rounds import BACKSLASH
from toolglot.derive.template import Template, TemplateFault
from toolglot.derive.values import kind_of
from toolglot.grammar import grammar

GOLDEN = TESTS / "derivation.toml"
ROUNDS = 24
JUDGED = 3
TOOLS = {
    "get_weather": ("city", "days", "metric", "detail"),
    "search_flights": ("origin", "max_price", "direct", "stops"),
    "send_mail": ("to", "subject", "body", "attachments"),
}
VALUES: tuple[Any, ...] = (
    *(
        "Rome",
        "two words",
        "a, b",
        "see <b>this</b>",
        "line one\nline two",
        "naïve 日本",
        '"quoted"',
        "42",
        "C:\\dir",
    ),
    *(0, 7, -3, 10**12, 0.5, -12.25, True, False, None),
    *({"lat": 41.9, "tags": ["x", None]}, {}, ["a", "b"], [], [{"n": 1}, False]),
)


@dataclass(frozen=True)
class Outcome:
    """What became of one template. ``wrong``: the first text on which an accepted dialect fails.

    ``grammar``: what its grammar judges otherwise than it should.
    """

    name: str
    derived: Derived
    seconds: float
    wrong: str = ""
    grammar: str = ""


def corpus(folder: Path) -> dict[str, bool]:
    """The templates of the shared folder, and whether each is known to render calls."""
    lines = (folder / "templates" / "INDEX.tsv").read_text(encoding="utf-8").splitlines()
    column = lines[0].split("\t").index("prototype_derivation")
    rows = [line.split("\t") for line in lines[1:]]
    return {row[0]: not row[column].startswith("refused") for row in rows}


def conversation(draw: random.Random, derived: Derived) -> list[toolglot.ToolCall]:
    """Calls of other tools than the probes', without what the derivation says it does not cover."""
    most = 1 if "single_call_only" in derived.partial else 3
    out = {part.removeprefix("type:") for part in derived.partial if part.startswith("type:")}
    calls = []
    names = draw.sample(sorted(TOOLS), draw.randint(1, most))
    for number, name in enumerate(names):
        keys = draw.sample(TOOLS[name], draw.randint(1, len(TOOLS[name])))
        given = {key: _covered(draw.choice(VALUES), out) for key in keys}
        own_id = f"callid{number:03}"
        if dict(derived.shape)["ids"] == "counted":
            own_id = f"functions.{name}:{number}"
        calls.append(toolglot.ToolCall(name, given, own_id))
    return calls


def _covered(value: Any, out: set[str]) -> Any:
    if kind_of(value) in out or (BACKSLASH in out and isinstance(value, str) and "\\" in value):
        return "Rome"
    if isinstance(value, dict):
        return {key: _covered(item, out) for key, item in value.items()}
    return [_covered(item, out) for item in value] if isinstance(value, list) else value


def turn_of(template: Template, derived: Derived, calls: Sequence[toolglot.ToolCall]) -> str:
    """The template's own text for ``calls``, behind the user's."""
    shape = dict(derived.shape)
    made = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": call.arguments_json if shape["arguments"] == "string" else call.arguments,
            },
        }
        for call in calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": made}
    if shape["content"] != "empty":
        message["content"] = None
    if shape["content"] == "absent":
        del message["content"]
    offered = [
        {"type": "function", "function": {"name": name, "description": "d", "parameters": _schema(keys)}}
        for name, keys in TOOLS.items()
    ]
    given: dict[str, Any] = {"tools": offered, "functions": json.dumps(offered), "datetime": "2025-01-15"}
    user = {"role": "user", "content": "Please help."}
    with_call = [user, message]
    if shape["after"] == "result":
        with_call.append(
            {"role": "tool", "tool_call_id": calls[0].id, "name": calls[0].name, "content": "done"}
        )
    text = template.render(with_call, **given)
    at = text.rfind("Please help.") + len("Please help.")
    return text[at:]


def _schema(keys: Sequence[str]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"type": "string", "description": "d"} for key in keys}}


def fault(text: str, derived: Derived, worker: Worker) -> str:
    """What an accepted derivation gets wrong on conversations that it never saw; empty where nothing."""
    assert derived.layout is not None
    assert derived.dialect is not None
    template = Template(text, worker)
    draw = random.Random(99)
    for _ in range(ROUNDS):
        calls = conversation(draw, derived)
        try:
            turn = turn_of(template, derived, calls)
        except TemplateFault as raised:
            return f"the template raises: {raised}"
        written = derived.render(toolglot.Message(tool_calls=tuple(calls)))
        if written not in turn:
            return f"render: {written!r} is not in {turn!r}"
        header, end = derived.layout.header, derived.layout.end
        said = written[len(header) : len(written) - len(end)]
        tools = {call.name: _typed(call.arguments) for call in calls}
        for size in (len(said), 1):
            parser = toolglot.Parser(derived.dialect, tools=tools)
            events = [e for i in range(0, len(said), size) for e in parser.feed(said[i : i + size])]
            back = toolglot.assemble([*events, *parser.close("stop")], parser.dialect)
            if [(c.name, repr(c.arguments)) for c in back.tool_calls] != [
                (c.name, repr(_sorted(c.arguments, derived))) for c in calls
            ]:
                return f"parse: {said!r} reads as {[(c.name, c.arguments) for c in back.tool_calls]}"
    return ""


def _sorted(arguments: dict[str, Any], derived: Derived) -> dict[str, Any]:
    """The arguments in the order in which the template writes them."""
    how = derived.layout.arguments if derived.layout else ""
    ordered = how == "json-sorted" if isinstance(how, str) else how.order == "sorted"
    return _deep(arguments) if ordered else arguments


def _deep(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _deep(item) for key, item in sorted(value.items())}
    return [_deep(item) for item in value] if isinstance(value, list) else value


def _typed(arguments: dict[str, Any]) -> dict[str, Any]:
    properties = {key: {"type": kind_of(value)} for key, value in arguments.items()}
    return {"type": "object", "properties": properties}


def outcome(path: Path, worker: Worker) -> Outcome:
    """Derive one template and try what was accepted, with no regard to whether it is known by its hash."""
    text = path.read_bytes().decode("utf-8")
    start = time.perf_counter()
    derived = induced(text, worker)
    seconds = time.perf_counter() - start
    if derived.dialect is None:
        return Outcome(path.name, derived, seconds)
    return Outcome(path.name, derived, seconds, fault(text, derived, worker), misjudged(derived))


def misjudged(derived: Derived) -> str:
    """What the dialect's grammar judges otherwise than it should, of a few calls (V6)."""
    assert derived.dialect is not None
    draw = random.Random(7)
    for _ in range(JUDGED):
        calls = conversation(draw, derived)
        tools = {call.name: _typed(call.arguments) for call in calls}
        made = compiled(grammar(derived.dialect, tools, choice="required").text, "lark")
        try:
            text = toolglot.render(calls, derived.dialect, tools=tools)
        except toolglot.RenderError:
            continue
        if accepts(made, text) >= 0:
            return f"refused: {text!r}"
        other = text.replace(calls[0].name, calls[0].name + "_x")
        if accepts(made, other) < 0:
            return f"accepted: {other!r}"
    return ""


def code_of(derived: Derived) -> str:
    """The refusal's code; for a template that raises without the message, which is Jinja2's."""
    code = derived.refusals[0].code if derived.refusals else ""
    return "raises" if code.startswith("raises") else code


def line_of(found: Outcome) -> str:
    """A template's summary on one line, as ``derivation.toml`` keeps it."""
    told = summary(found.derived)
    words = [found.derived.builtin or told["confidence"], *told["body"], *told["partial"]]
    return code_of(found.derived) if found.derived.refusals else " ".join(words)


def write(found: Sequence[Outcome], refusals: dict[str, str]) -> None:
    """Renew the kept summaries; the expected refusals are written by hand and stay."""
    head = GOLDEN.read_text(encoding="utf-8").partition("[summaries]")[0] if GOLDEN.exists() else ""
    lines = [f"{json.dumps(one.name)} = {json.dumps(line_of(one))}" for one in found]
    GOLDEN.write_text(head + "[summaries]\n" + "\n".join(lines) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the corpus and print what is not as kept, and the counts in the last line."""
    options = argparse.ArgumentParser(prog="python -m tests.derivation")
    options.add_argument("names", nargs="*")
    options.add_argument("--write", action="store_true", help="renew the kept summaries")
    options.add_argument("--show", action="store_true", help="print every summary")
    given = options.parse_args(argv)
    folder = shared_folder()
    if folder is None:
        print(NO_SHARED)
        return 0
    kept = load_toml(GOLDEN) if GOLDEN.exists() else {}
    refusals, summaries = kept.get("refusals", {}), kept.get("summaries", {})
    known = corpus(folder)
    names = given.names or sorted(known)
    with Worker() as worker:
        found = [outcome(folder / "templates" / name, worker) for name in names]
    accepted = [one for one in found if one.derived.dialect is not None]
    refused = [one for one in found if one.derived.dialect is None]
    wrong = [one for one in accepted if one.wrong]
    other = [one for one in refused if refusals.get(one.name) != code_of(one.derived)]
    changed = [one for one in found if summaries.get(one.name) != line_of(one)]
    for one in found if given.show else changed:
        print(f"{one.name}: {line_of(one)}")
    for one in wrong:
        print(f"wrong: {one.name}: {one.wrong}")
    unfit = [one for one in accepted if one.grammar]
    for one in unfit:
        print(f"grammar: {one.name}: {one.grammar}")
    for one in other:
        print(f"refused: {one.name}: {code_of(one.derived)}, not {refusals.get(one.name)}")
    if given.write:
        write(found, refusals)
    rendering = [one for one in found if known[one.name]]
    good = sum(one.derived.dialect is not None and not one.wrong for one in rendering)
    partly = sum(any(p.startswith("type:") for p in one.derived.partial) for one in accepted)
    middle = statistics.median(one.seconds for one in rendering) if rendering else 0.0
    print(f"grammars that judge as they should: {len(accepted) - len(unfit)} of {len(accepted)}")
    print(f"equal to a bundled dialect: {sum(bool(one.derived.builtin) for one in accepted)}; ", end="")
    print(f"without some JSON type: {partly}; median {middle:.2f} s a template")
    print(
        f"derived and verified: {good} of {len(rendering)}; wrong: {len(wrong)}; "
        f"refused: {len(refused) - len(other)} with the right code, {len(other)} with another"
    )
    return int(bool(wrong or other or unfit or (changed and not given.write)))


if __name__ == "__main__":
    sys.exit(main())
