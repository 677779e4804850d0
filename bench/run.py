"""Runs the benchmark: ``python -m bench.run``. Every entry on every text, in rotation, at least five
times.

Promises: one process an entry (a peer needs its own environment), asked in turn, never two at a time; the
order turns from round to round. Each sample is written down at once, so that a run that was cut goes on
where it stopped (``--resume``). A cell whose next size would take longer than ``--limit`` is left out, and
its time estimated from the growth seen so far.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer
from typing import Any

from .report import SAMPLES, write
from .workloads import Workload, quick, workloads

ROOT = Path(__file__).resolve().parent.parent
OWN = ("floors", "toolglot", "toolglot-whole", "toolglot-auto")
PEERS = ("llm_router_utils", "vllm", "agent_tool_parser", "beacon", "renderers", "transformers")
FLOORS = ("call", "search", "find", "loads")
ROUNDS = 5
SLOW_S = 2.0
"""A cell that takes longer than this is measured less often."""
PATIENCE_S = 60.0


class Entry:
    """One worker, and what is known of its cells."""

    def __init__(self, label: str, name: str, python: str) -> None:
        self.label = label
        # What makes this environment import the sources must not do so in the others.
        others = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self.process = subprocess.Popen(
            [python, "-m", "bench.worker", name],
            cwd=ROOT,
            env=None if python == sys.executable else others,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.about = self._answer()
        own = ("stream", "feed", "oneshot") if name.startswith("toolglot") else ("stream", "oneshot")
        self.modes = FLOORS if name == "floors" else own
        self.seen: dict[tuple[str, str], list[tuple[int, float]]] = {}
        self.spent: dict[tuple[str, str], float] = {}
        self.gone: set[tuple[str, str]] = set()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"fault": "the worker ended"}
        return answer

    def ask(self, workload: Workload, mode: str, limit: float) -> dict[str, Any] | None:
        """One sample, or why there is none; None where nothing is left to say."""
        cell = (workload.id, mode)
        if cell in self.gone or self.process.poll() is not None:
            return None
        guess = self._guess(workload, mode)
        if guess > limit:
            self.gone.add(cell)
            return {"none": "too long", "guess": guess}
        if self.spent.get(cell, 0) and guess > SLOW_S and self.spent[cell] + guess > limit:
            self.gone.add(cell)
            return None
        assert self.process.stdin is not None
        request = {"text": workload.id, "mode": mode, "limit": limit * 1.5}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        # A worker that answers to nothing is left out from here on.
        watch = Timer(limit * 1.5 + PATIENCE_S, self.process.kill)
        watch.start()
        answer = self._answer()
        watch.cancel()
        self.learn(workload, mode, answer)
        return answer

    def learn(self, workload: Workload, mode: str, answer: dict[str, Any]) -> None:
        """Take a sample into account, of this run or of the one that is resumed."""
        cell = (workload.id, mode)
        seconds = answer.get("seconds")
        if seconds is None:
            self.gone.add(cell)
            if answer.get("none", "").startswith("more than"):
                self.seen.setdefault((workload.kind, mode), []).append((workload.size, math.inf))
            return
        self.spent[cell] = self.spent.get(cell, 0) + seconds
        sizes = self.seen.setdefault((workload.kind, mode), [])
        if all(size != workload.size for size, _ in sizes):
            sizes.append((workload.size, seconds))

    def _guess(self, workload: Workload, mode: str) -> float:
        sizes = sorted(self.seen.get((workload.kind, mode), []))
        for size, seconds in sizes:
            if size == workload.size:
                return seconds
        if not sizes or not workload.size:
            return 0.0
        size, seconds = sizes[-1]
        growth = 1.0
        if len(sizes) > 1:
            before, less = sizes[-2]
            growth = min(max(math.log(seconds / less) / math.log(size / before), 1.0), 2.1)
        return float(seconds * (workload.size / size) ** growth)

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def rounds(
    entries: list[Entry], texts: list[Workload], args: argparse.Namespace, done: list[dict[str, Any]]
) -> None:
    """All samples that are not done yet."""
    by_id = {w.id: w for w in texts}
    labels = {e.label: e for e in entries}
    have = set()
    for row in done:
        if row["entry"] in labels and row["text"] in by_id:
            have.add((row["round"], row["entry"], row["text"], row["mode"]))
            labels[row["entry"]].learn(by_id[row["text"]], row["mode"], row)
    with SAMPLES.open("a") as out:
        for number in range(args.rounds):
            for at, workload in enumerate(texts):
                turn = (number + at) % len(entries)
                for entry in entries[turn:] + entries[:turn]:
                    for mode in entry.modes:
                        key = {"round": number, "entry": entry.label, "text": workload.id, "mode": mode}
                        if tuple(key.values()) in have:
                            continue
                        answer = entry.ask(workload, mode, args.limit)
                        if answer is not None:
                            out.write(json.dumps({**key, **answer}) + "\n")
                out.flush()
            print(
                f"round {number + 1} of {args.rounds}: {time.perf_counter() - args.began:.0f} s", flush=True
            )


def entries_of(args: argparse.Namespace) -> list[tuple[str, str, str]]:
    """Label, worker's name and interpreter of every entry that is there."""
    found = [(name, name, sys.executable) for name in OWN]
    folder = Path(args.peers)
    if args.quick:
        return found
    compiled = folder / "compiled" / "bin" / "python"
    if compiled.exists():
        found += [(f"{name} (compiled)", name, str(compiled)) for name in OWN[1:]]
    for name in PEERS:
        python = folder / name / "bin" / "python"
        if python.exists():
            found.append((name, name, str(python)))
    return found


def main() -> int:
    """The command."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument(
        "--quick", action="store_true", help="toolglot and the floors, two sizes, three rounds"
    )
    asked.add_argument("--rounds", type=int, default=0, help=f"default {ROUNDS}, quick 3")
    asked.add_argument("--limit", type=float, default=10.0, help="seconds that one run may take")
    asked.add_argument("--only", action="append", default=[], help="texts whose name contains this")
    asked.add_argument("--entry", action="append", default=[], help="entries whose name contains this")
    asked.add_argument("--peers", default=str(ROOT / ".peers"), help="folder with one environment a peer")
    asked.add_argument("--resume", action="store_true", help="go on with the samples that are there")
    args = asked.parse_args()
    args.rounds = args.rounds or (3 if args.quick else ROUNDS)
    args.began = time.perf_counter()
    texts = [
        w
        for w in (quick() if args.quick else workloads())
        if not args.only or any(o in w.id for o in args.only)
    ]
    SAMPLES.parent.mkdir(exist_ok=True)
    done = (
        [json.loads(line) for line in SAMPLES.read_text().splitlines()]
        if args.resume and SAMPLES.exists()
        else []
    )
    if not args.resume:
        SAMPLES.write_text("")
    about: dict[str, Any] = {
        "machine": f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
    }
    entries: list[Entry] = []
    for label, name, python in entries_of(args):
        if args.entry and name != "floors" and not any(o in label for o in args.entry):
            continue
        entry = Entry(label, name, python)
        about[label] = entry.about
        if "(compiled)" in label and not entry.about.get("version", "").endswith("compiled"):
            entry.about.setdefault("fault", "the wheel that is installed there is not the compiled one")
        if "fault" in entry.about:
            print(f"{label}: left out, {entry.about['fault']}", file=sys.stderr)
        else:
            entries.append(entry)
    try:
        rounds(entries, texts, args, done)
    finally:
        for entry in entries:
            entry.stop()
    print(write(about))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
