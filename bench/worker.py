"""Measures one entry (a peer, toolglot, or the floors) on request: ``python -m bench.worker ENTRY``.

Requests come as lines of JSON on the standard input, answers go as lines of JSON to the standard output. Each
entry runs in an environment of its own, since the peers' dependencies contradict each other; the driver
asks the workers in turn, one at a time.

Times are of the process's own CPU: on a quiet machine the same as on a clock, on a shared one less disturbed.
"""

from __future__ import annotations

import gc
import importlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from .workloads import Call, workloads

SAMPLE_S = 0.02
"""How long a sample lasts at least: short work is repeated."""


class TooLong(BaseException):
    """One run took longer than allowed. No ``Exception``: a peer may catch those, and go on."""


def _alarm(*_: object) -> None:
    raise TooLong


def once(work: Callable[[], object], limit: float) -> tuple[float, object]:
    """Seconds of one run, and what it gave. Raises ``TooLong``."""
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, limit, 1.0)
    try:
        start = time.process_time()
        result = work()
        return time.process_time() - start, result
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def sample(work: Callable[[], object], guess: float) -> float:
    """Seconds of one run, the mean of as many as fill a sample."""
    times = max(1, min(2000, int(SAMPLE_S / max(guess, 1e-7))))
    gc.collect()
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def right(got: object, expected: list[Call]) -> bool:
    """Whether a parser's calls are the text's."""
    if not isinstance(got, list):
        return False
    try:
        read = [(name, json.loads(a) if isinstance(a, str) else a) for name, a in got]
    except (ValueError, TypeError):
        return False
    return read == [(name, arguments) for name, arguments in expected]


class Worker:
    """One entry, with the work of the texts that it was asked for."""

    def __init__(self, entry: str) -> None:
        self.floors = entry == "floors"
        name, _, option = entry.partition("-")
        module = importlib.import_module(f"bench.{name}" if self.floors else f"bench.peers.{name}")
        self.version = "" if self.floors else module.version()
        self._make = module.floors if self.floors else module.Peer(option).works
        self._texts = {w.id: w for w in workloads()}
        self._works: dict[str, dict[str, Callable[[], object]]] = {}
        self._guess: dict[tuple[str, str], float] = {}

    def measure(self, text: str, mode: str, limit: float) -> dict[str, Any]:
        """One sample of one cell: seconds and whether the calls were right, or why there is none."""
        workload = self._texts[text]
        if text not in self._works:
            self._works[text] = self._make(workload) or {}
        work = self._works[text].get(mode)
        if work is None:
            return {"none": "no such entry point"}
        key, answer = (text, mode), {}
        if key not in self._guess:
            seconds, got = once(work, limit)
            self._guess[key] = seconds
            if mode in ("stream", "oneshot"):
                answer["right"] = right(got, workload.calls)
            if seconds > 1:
                return {"seconds": seconds, **answer}
        # The first run is the slowest by far where much is loaded in it, and would make samples too short.
        self._guess[key] = seconds = sample(work, self._guess[key])
        return {"seconds": seconds, **answer}


def main() -> None:
    """Answer requests until the input ends."""
    # What a peer prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    logging.disable(logging.CRITICAL)
    try:
        worker = Worker(sys.argv[1])
    except Exception as fault:
        print(json.dumps({"fault": f"{type(fault).__name__}: {fault}"[:300]}), file=answers, flush=True)
        return
    versions = {"version": worker.version, "python": sys.version.split()[0]}
    print(json.dumps(versions), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = worker.measure(request["text"], request["mode"], request["limit"])
        except TooLong:
            answer = {"none": f"more than {request['limit']:.0f} s"}
        except Exception as fault:
            answer = {"none": f"raised {type(fault).__name__}: {fault}"[:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
