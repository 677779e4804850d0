"""The ground-truth calls of the Berkeley Function-Calling Leaderboard, written and read back.

    python -m tests.bfcl [--dialect hermes] [--every N] [--show]

The data are those that the PyPI package ``bfcl-eval`` ships (its functions' schemas and ``possible_answer``);
nothing of it is run. For each question: its functions are the tools, of each parameter the first answer that
is not empty is the value, and of each turn of a conversation all calls are one message. Each message is
written by ``render`` and parsed back with the tools, whole and as token-like deltas. A message that the
dialect cannot carry is an exception, and its reason is a property of the format that ``bfcl.toml`` lists.
Exit status 1 where a message comes back as another, or an exception has no listed reason.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import toolglot
from tests.delivery import markers_of, run, tokens
from tests.known import load_toml
from tests.places import TESTS
from tests.strategies import same_arguments
from toolglot import Message, ToolCall

FILES = (
    *("simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
    *("multi_turn_base", "multi_turn_long_context", "multi_turn_miss_func", "multi_turn_miss_param"),
)
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "PostingAPI": "posting_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
NO_CALLS = {"none"}
NOT_INSTALLED = "bfcl-eval is not installed: pip install --no-deps bfcl-eval"


@dataclass(frozen=True)
class Question:
    """One message of ground truth: its calls, and the tools that were offered."""

    id: str
    tools: dict[str, Any]
    calls: tuple[ToolCall, ...]


def folder() -> Path:
    """Where the package keeps its data; raises ``LookupError`` where it is not installed."""
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(NOT_INSTALLED)
    return Path(spec.submodule_search_locations[0]) / "data"


@cache
def questions() -> tuple[Question, ...]:
    """Every message of the ground truth, once."""
    seen: dict[str, Question] = {}
    for name in FILES:
        for question in _read(name):
            seen.setdefault(repr((question.calls, sorted(question.tools))), question)
    return tuple(seen.values())


def _read(name: str) -> Iterator[Question]:
    asked = _lines(folder() / f"BFCL_v4_{name}.json")
    answers = {
        line["id"]: line["ground_truth"] for line in _lines(folder() / f"possible_answer/BFCL_v4_{name}.json")
    }
    for line in asked:
        if "function" in line:
            tools = {function["name"]: function["parameters"] for function in line["function"]}
            yield Question(line["id"], tools, tuple(_answer(call) for call in answers[line["id"]]))
        else:
            tools = {n: s for involved in line["involved_classes"] for n, s in _class(involved).items()}
            for turn, spelled in enumerate(answers[line["id"]]):
                calls = tuple(_spelled(text, tools) for text in spelled)
                if calls:
                    yield Question(f"{line['id']}/{turn}", tools, calls)


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


@cache
def _class(name: str) -> dict[str, Any]:
    file = folder() / "multi_turn_func_doc" / f"{CLASSES[name]}.json"
    return {function["name"]: function["parameters"] for function in _lines(file)}


def _answer(call: dict[str, Any]) -> ToolCall:
    ((name, parameters),) = call.items()
    return ToolCall(name, _first(parameters))


def _first(parameters: dict[str, Any]) -> dict[str, Any]:
    """Of each parameter the first answer; an empty one says that the parameter may be left out."""
    chosen = {key: [answer for answer in answers if answer != ""] for key, answers in parameters.items()}
    return {key: _plain(answers[0]) for key, answers in chosen.items() if answers}


def _plain(value: Any) -> Any:
    """An answer's value; the members of an object are themselves lists of answers."""
    if isinstance(value, dict):
        return {
            k: _plain(next((x for x in v if x != ""), None)) if isinstance(v, list) else v
            for k, v in value.items()
        }
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _spelled(text: str, tools: dict[str, Any]) -> ToolCall:
    """A call that the data spell in Python; positional arguments take the schema's names in order."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    names = list(tools[call.func.id]["properties"])
    arguments = dict(zip(names, (ast.literal_eval(argument) for argument in call.args), strict=False))
    arguments |= {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    return ToolCall(call.func.id, json.loads(json.dumps(arguments)))


def reasons() -> list[dict[str, Any]]:
    """The properties of formats that make an exception, from ``bfcl.toml``."""
    return list(load_toml(TESTS / "bfcl.toml")["reason"])


def reason_for(slug: str, question: Question, error: str) -> str | None:
    """The listed reason of an exception, or None."""
    for reason in reasons():
        if slug in reason["dialects"] and reason["says"] in error:
            needs = [name for name in CONDITIONS if reason.get(name)]
            if all(CONDITIONS[name](question) for name in needs):
                return str(reason["because"])
    return None


JSON_TYPES = {
    str: ("string", "char", "any"),
    bool: ("boolean", "any"),
    int: ("integer", "long", "float", "number", "double", "any"),
    float: ("float", "number", "double", "any"),
    list: ("array", "tuple", "arraylist", "any"),
    dict: ("dict", "object", "hashmap", "any"),
    type(None): ("null", "any"),
}
"""The words that the data's schemas use, by the type of the value."""


def against_schema(question: Question) -> bool:
    """Whether a value is not of its parameter's declared type, or where none is, reads as of another."""
    for call in question.calls:
        declared = question.tools[call.name]["properties"]
        for key, value in call.arguments.items():
            kind = declared.get(key, {}).get("type", "any").lower()
            if kind not in JSON_TYPES[type(value)] or (kind == "any" and _reads_as_json(value)):
                return True
    return False


def _reads_as_json(value: Any) -> bool:
    """Whether a string would be read as something else where no type is declared."""
    try:
        return isinstance(value, str) and json.loads(value) is not value
    except ValueError:
        return False


def undeclared(question: Question) -> bool:
    """Whether a parameter has no declared type."""
    return any(
        question.tools[call.name]["properties"].get(key, {}).get("type", "any") == "any"
        for call in question.calls
        for key in call.arguments
    )


def several(question: Question) -> bool:
    """Whether there is more than one call."""
    return len(question.calls) > 1


CONDITIONS = {"against_schema": against_schema, "undeclared": undeclared, "several": several}
"""What a listed reason may ask of a message."""


@dataclass
class Result:
    """What became of the messages in one dialect."""

    slug: str
    passed: int = 0
    exceptions: list[tuple[Question, str]] = field(default_factory=list)
    failures: list[tuple[Question, str]] = field(default_factory=list)


def round_trip(slug: str, asked: Sequence[Question]) -> Result:
    """Write and read back each message."""
    result = Result(slug)
    markers = markers_of(slug)
    for question in asked:
        message = Message(tool_calls=question.calls)
        try:
            text = toolglot.render(message, slug, tools=question.tools)
        except toolglot.RenderError as error:
            result.exceptions.append((question, str(error)))
            continue
        whole = toolglot.parse(text, slug, tools=question.tools, finish_reason="stop")
        events = run(tokens(text, markers), slug, tools=question.tools, finish_reason="stop")
        streamed = toolglot.assemble(events)
        for way, back in (("whole", whole), ("streamed", streamed)):
            if not same_arguments(back.tool_calls, question.calls) or back.content or back.defects:
                result.failures.append(
                    (question, f"{way}: {back.tool_calls} {back.content!r} {back.defects}")
                )
                break
        else:
            result.passed += 1
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per dialect, and each exception's reason."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bfcl", description="BFCL's ground truth, there and back."
    )
    parser.add_argument("--dialect", action="append", help="only this dialect")
    parser.add_argument("--every", type=int, default=1, help="only every N-th message")
    parser.add_argument("--show", action="store_true", help="each exception")
    options = parser.parse_args(arguments)
    asked = questions()[:: options.every]
    print(f"{len(asked)} messages, {sum(len(q.calls) for q in asked)} calls")
    bad = 0
    for slug in options.dialect or [s for s in toolglot.BUNDLED if s not in NO_CALLS]:
        result = round_trip(slug, asked)
        unlisted = [(q, e) for q, e in result.exceptions if reason_for(slug, q, e) is None]
        bad += len(result.failures) + len(unlisted)
        refused = len(result.exceptions)
        counts = f"{result.passed:5} passed  {refused:4} cannot be carried  {len(result.failures)} failed"
        print(f"{slug:20} {counts}")
        why = Counter(reason_for(slug, q, error) or "NOT LISTED" for q, error in result.exceptions)
        for because, count in why.most_common():
            print(f"    {count:4} {because}")
        shown = [*result.failures, *(result.exceptions if options.show else unlisted)]
        for question, error in shown[: 20 if options.show else 3]:
            print(f"    ! {question.id}: {error[:600]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
