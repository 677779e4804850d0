"""Checks that both forms give the same events, then measures them.

python bench/spike/run.py             pure Python
python bench/spike/run.py --compile   the same, then compiled by mypyc in a temporary folder
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MODULES = ["base", "floors", "json_state", "json_gen", "tagged_state", "tagged_gen"]
PATH = "a.py"
Key = tuple[Any, ...]


def content(size: int) -> str:
    line = 'def f(x):\n    return "a\\tb" + x  # <p> </para \u00e9\n</p>\n'
    return (line * (size // len(line) + 1))[:size]


def json_body(text: str) -> str:
    arguments = json.dumps({"path": PATH, "content": text})
    return f'\n{{"name": "write_file", "arguments": {arguments}}}\n</tool_call>'


def tagged_body(text: str) -> str:
    return (
        f"\n<function=write_file>\n<parameter=path>\n{PATH}\n</parameter>\n"
        f"<parameter=content>\n{text}\n</parameter>\n</function>\n</tool_call>"
    )


def split(text: str, step: int) -> list[str]:
    return [text[i : i + step] for i in range(0, len(text), step)]


def plain(event: Any) -> Key:
    names = ("index", "id", "name", "text", "arguments")
    return (type(event).__name__, event.span, *(getattr(event, n) for n in names if hasattr(event, n)))


def merged(events: list[Any]) -> list[Key]:
    out: list[Key] = []
    for event in map(plain, events):
        if out and event[0] == out[-1][0] == "Arguments" and out[-1][1][1] == event[1][0]:
            last = out.pop()
            event = ("Arguments", (last[1][0], event[1][1]), event[2], last[3] + event[3])
        elif out and event[0] == out[-1][0] == "Markup" and out[-1][1][1] == event[1][0]:
            event = ("Markup", (out.pop()[1][0], event[1][1]))
        out.append(event)
    return out


def check(kind: str) -> None:
    state, gen = (importlib.import_module(f"{kind}_{form}").Parser for form in ("state", "gen"))
    for text in ("", "x", "\n", "\n</p", "</p", content(300)):
        body = json_body(text) if kind == "json" else tagged_body(text)
        seen = []
        for step in (1, 2, 3, 4, 7, len(body)):
            runs = []
            for make, levels in ((state, 0), (state, 3), (gen, 0), (gen, 3)):
                parser = make(levels)
                runs.append([event for delta in split(body, step) for event in parser.feed(delta)])
            keys = [list(map(plain, events)) for events in runs]
            assert all(one == keys[0] for one in keys), (kind, text, step)
            events = runs[0]
            spans = [event.span for event in events]
            assert (spans[0][0], spans[-1][1]) == (0, len(body))
            assert all(a[1] == b[0] for a, b in pairwise(spans)), "the events tile the text"
            assert events[-1].arguments == {"path": PATH, "content": text}
            seen.append(merged(events))
            joined = ""
            for event in events:
                if type(event).__name__ == "Arguments":
                    joined += event.text
                    if '"content": "' in joined:
                        assert text.startswith(json.loads(completed(joined))["content"]), (
                            "a prefix of valid JSON"
                        )
        assert all(one == seen[0] for one in seen), "any split, the same events"


def completed(joined: str) -> str:
    """The shortest JSON text that begins with these arguments."""
    in_string = joined.replace("\\\\", "").replace('\\"', "").count('"') % 2
    return joined + ('"}' if in_string else "" if joined.endswith("}") else "}")


def cases() -> list[tuple[str, Callable[[], Any], list[str]]]:
    floors = importlib.import_module("floors")
    out: list[tuple[str, Callable[[], Any], list[str]]] = []
    deltas = {
        kind: split(make(content(65536)), 4) for kind, make in (("json", json_body), ("tagged", tagged_body))
    }
    for label, make in (
        ("empty call", floors.Empty),
        ("one str.find", floors.Find),
        ("one regex search", floors.Search),
        ("one event, span and list", floors.OneEvent),
        ("window, event, no search", floors.WindowOnly),
        ("the same, inlined", floors.WindowInlined),
    ):
        out.append((label, make, deltas["json"]))
    for kind in ("json", "tagged"):
        for form in ("state", "gen"):
            parser = importlib.import_module(f"{kind}_{form}").Parser
            for levels in (0, 3):
                label = f"{kind} {'state object' if form == 'state' else 'generator'}, {levels} levels above"
                out.append((label, partial(parser, levels), deltas[kind]))
    for kind, make in (("json", json_body), ("tagged", tagged_body)):
        for form in ("state", "gen"):
            parser = partial(importlib.import_module(f"{kind}_{form}").Parser, 3)
            out.append(
                (f"short {kind} call in one piece, {form}", partial(Whole, parser), [make("x" * 40)] * 2000)
            )
    return out


def once(make: Callable[[], Any], deltas: list[str]) -> float:
    feed = make().feed
    start = time.perf_counter()
    for delta in deltas:
        feed(delta)
    return (time.perf_counter() - start) / len(deltas) * 1e6


class Whole:
    """A new parser for each text: what a short call costs when it comes in one piece."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def feed(self, text: str) -> None:
        self.make().feed(text)


def measure(rounds: int) -> list[tuple[str, float, float]]:
    todo = cases()
    times: list[list[float]] = [[] for _ in todo]
    for _ in range(rounds):
        for slot, (_, make, deltas) in zip(times, todo, strict=True):
            gc.collect()
            slot.append(once(make, deltas))
    return [
        (label, statistics.median(slot), min(slot)) for (label, _, _), slot in zip(todo, times, strict=True)
    ]


def report(rounds: int) -> None:
    for kind in ("json", "tagged"):
        check(kind)
    compiled = not str(importlib.import_module("base").__file__).endswith(".py")
    print(f"\nCPython {platform.python_version()}, {'compiled by mypyc' if compiled else 'pure'};", end=" ")
    print("both forms give the same events")
    print(f"{'cost of one feed':40} {'median us':>10} {'empty calls':>12} {'least us':>9}", flush=True)
    rows = measure(rounds)
    empty = rows[0][1]
    for label, median, least in rows:
        print(f"{label:40} {median:10.3f} {median / empty:12.1f} {least:9.3f}")


def compile_and_report(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{name}.py" for name in MODULES]
        for name in files:
            shutil.copy(HERE / name, folder)
        subprocess.run(
            [sys.executable, "-m", "mypyc", *files], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        for name in files:
            os.remove(Path(folder, name))
        shutil.copy(HERE / "run.py", folder)
        subprocess.run([sys.executable, "run.py", "--rounds", str(rounds)], cwd=folder, check=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--compile", action="store_true")
    chosen = options.parse_args()
    report(chosen.rounds)
    if chosen.compile:
        compile_and_report(chosen.rounds)
