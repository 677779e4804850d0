"""What toolglot makes of real-looking model outputs: whole, then as a stream of deltas.

Run it with ``make demo``, or ``python examples/demo.py`` where toolglot is installed. It checks what it
shows: that the stream, cut into token-like pieces or into single characters, gives what the whole gives.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import toolglot
from toolglot.cli import deltas

HERE = Path(__file__).parent
WIDTH = 104


class Sample(NamedTuple):
    """One bundled output and how to read it."""

    file: str
    title: str
    dialect: str = "auto"
    finish_reason: str = "stop"


SAMPLES = [
    Sample("hermes_thinking", "Hermes JSON, as Qwen3 writes it: thinking, then two parallel calls"),
    Sample("qwen3_coder", "Qwen3-Coder XML: the value holds its own closing tag", "qwen3_coder"),
    Sample("gpt_oss", "gpt-oss Harmony: analysis, a preamble, a call"),
    Sample("mistral", "Mistral name[ARGS], brackets inside a string", "mistral"),
    Sample("gemma4", "Gemma 4: thought channel, nested arguments, quotes that are data"),
    Sample("llama3_json", "Llama 3 bare JSON, two calls", "llama3_json"),
    Sample("pythonic", "Pythonic list, as Llama 4 writes it", "pythonic"),
    Sample(
        "broken", "Broken: a fence, a Python literal and a trailing comma; read, and each repair reported"
    ),
    Sample(
        "cut",
        "Cut by max_tokens: the finished call counts, the unfinished one never does",
        "hermes",
        "length",
    ),
]


def say(label: str, text: str, indent: int = 15) -> None:
    """Print ``text`` behind its label, folded to the width and with its line ends shown."""
    text = text.replace("\n", "↵")
    room = WIDTH - indent
    for start in range(0, max(1, len(text)), room):
        print(f"{'' if start else label:<{indent}}{text[start : start + room]}".rstrip())


def outcome(message: toolglot.Message) -> tuple[Any, ...]:
    """All that a caller sees of a message."""
    calls = [
        (call.id, call.name, call.arguments, call.arguments_json, call.span) for call in message.tool_calls
    ]
    return message.content, message.reasoning, calls, message.defects


def show(message: toolglot.Message) -> None:
    """Print what the whole text was read as."""
    print(f"  read as {message.dialect}")
    if message.reasoning:
        say("    reasoning", message.reasoning)
    say("    content", message.content or "(none)")
    for call in message.tool_calls:
        say("    call", f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}")
    for defect in message.defects:
        say("    defect", f"{defect.kind.value}: {defect.detail}: {defect.raw}")


def told(event: toolglot.Event) -> tuple[str, str] | None:
    """What the stream shows of an event: a label, and the text that came."""
    if isinstance(event, toolglot.Text):
        return "content", event.text
    if isinstance(event, toolglot.Reasoning):
        return "reasoning", event.text
    if isinstance(event, toolglot.CallStart):
        return f"start {event.index}", f"{event.name}  (id {event.id})"
    if isinstance(event, toolglot.Arguments):
        return f"args {event.index}", event.text
    if isinstance(event, toolglot.CallEnd):
        return f"end {event.index}", ""
    if isinstance(event, toolglot.Defect):
        return "defect", event.kind.value
    return None


def show_stream(steps: Iterable[tuple[str, toolglot.Event]]) -> None:
    """Print events in the order they came; neighbours of one kind share a line, with ``·`` between them."""
    shown = [(step, *said) for step, event in steps if (said := told(event))]
    for label, group in groupby(shown, key=itemgetter(1)):
        members = list(group)
        first, last = members[0][0], members[-1][0]
        numbers = first if first == last else f"{first}-{last}"
        say(f"    {numbers:>9}  {label}", "·".join(text for _, _, text in members), 26)


def stream(sample: Sample, text: str, split: str, tools: Any) -> list[tuple[str, toolglot.Event]]:
    """The events of ``text`` in deltas, each with the number of its delta."""
    parser = toolglot.Parser(sample.dialect, tools=tools)
    steps: list[tuple[str, toolglot.Event]] = []
    for number, delta in enumerate(deltas(text, split)):
        steps += [(str(number), event) for event in parser.feed(delta)]
    return steps + [("close", event) for event in parser.close(sample.finish_reason)]


def main() -> int:
    """Show and check every sample; the exit code says whether whole and stream agreed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    tools = json.loads((HERE / "tools.json").read_text(encoding="utf-8"))
    differing = []
    for number, sample in enumerate(SAMPLES, 1):
        text = (HERE / "outputs" / f"{sample.file}.txt").read_text(encoding="utf-8")
        print(f"{number}. {sample.title}  [--dialect {sample.dialect}]")
        for raw in text.split("\n"):
            for start in range(0, max(1, len(raw)), WIDTH):
                print(f"  {':' if start else '|'} {raw[start : start + WIDTH]}".rstrip())
        whole = toolglot.parse(text, sample.dialect, tools=tools, finish_reason=sample.finish_reason)
        show(whole)
        steps = stream(sample, text, "token", tools)
        print(f"  the same in {sum(1 for _ in deltas(text, 'token'))} deltas")
        show_stream(steps)
        for split in ("token", "char"):
            events = [event for _, event in stream(sample, text, split, tools)]
            if outcome(toolglot.assemble(events)) != outcome(whole):
                differing.append(f"{sample.file} ({split})")
        print()
    if differing:
        print(f"DIFFERENT from the whole: {', '.join(differing)}")
        return 1
    print(f"Checked: {len(SAMPLES)} outputs, each the same whole, token by token and character by character.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
