"""What the samples say: tables, ratios to the floors and to the peers, growth, a plot.

Reads only ``results/samples.jsonl`` and the texts, and writes the rest of ``results``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from . import targets
from .samples import Samples, growth, shown
from .workloads import Workload, workloads

RESULTS = Path(__file__).resolve().parent / "results"
SAMPLES = RESULTS / "samples.jsonl"
OWN = ("toolglot", "toolglot (compiled)")


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def cells(samples: Samples, texts: list[Workload], mode: str, unit: Callable[[Workload], float]) -> str:
    """One line a text, one column an entry; ``unit`` turns seconds into what is shown."""
    rows = []
    for workload in texts:
        row = [workload.id]
        for entry in samples.entries:
            cell = (entry, workload.id, mode)
            seconds = samples.median(cell)
            if seconds is not None:
                few = len(samples.seconds[cell])
                note = " wrong" if cell in samples.wrong else f" (n={few})" if few < 3 else ""
                row.append(shown(seconds * unit(workload)) + note)
            elif "guess" in samples.none.get(cell, {}):
                row.append(f"(about {shown(samples.none[cell]['guess'] * unit(workload))})")
            else:
                row.append("–")
        rows.append(row)
    return _table(["", *samples.entries], rows)


def floor_ratios(samples: Samples, texts: list[Workload]) -> str:
    """toolglot over the floors: calls a delta when streamed, and what one-shot costs beside ``loads``."""
    mine = [entry for entry in samples.entries if entry.startswith("toolglot")]
    rows = []
    for w in texts:
        call = samples.median(("floors", w.id, "call"))
        loads = samples.median(("floors", w.id, "loads"))
        row = [
            w.id,
            shown(call and call * 1e9 / len(w.deltas)),
            shown(loads and loads * 1e3),
            *(shown(samples.ratio((entry, w.id, "feed"), ("floors", w.id, "call"))) for entry in mine),
            *(shown(samples.ratio((entry, w.id, "oneshot"), ("floors", w.id, "loads"))) for entry in mine),
        ]
        rows.append(row)
    head = ["", "empty call, ns", "json.loads, ms"]
    return _table(
        [*head, *(f"{e}: × call" for e in mine), *(f"{e}: × loads" for e in mine)],
        rows,
    )


def growths(samples: Samples, texts: list[Workload]) -> str:
    """Growth exponents of every entry, streamed."""
    kinds = list(dict.fromkeys(w.kind for w in texts if sum(v.kind == w.kind for v in texts) > 1))
    rows = [
        [entry, *(shown(growth(samples, entry, kind, "stream", texts)) for kind in kinds)]
        for entry in samples.entries
    ]
    return _table(["", *kinds], rows)


def plot(samples: Samples, texts: list[Workload], path: Path) -> bool:
    """Time a delta over the length, log-log, one line an entry; whether matplotlib was there to draw it."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("svg")
    from matplotlib import pyplot

    kinds = [
        k
        for k in ("hermes", "qwen3_coder", "glm45", "gpt_oss", "gemma4", "pythonic")
        if any(w.kind == k for w in texts)
    ]
    figure, axes = pyplot.subplots(2, 3, figsize=(15, 9), sharex=True, sharey=True)
    for axis, kind in zip(axes.flat, kinds, strict=False):
        for entry in samples.entries:
            points = [
                (w.size, seconds * 1e6 / len(w.deltas))
                for w in texts
                if w.kind == kind and (seconds := samples.median((entry, w.id, "stream")))
            ]
            if points:
                axis.loglog(*zip(*points, strict=True), marker="o", label=entry)
        floor = [
            (w.size, s * 1e6 / len(w.deltas))
            for w in texts
            if w.kind == kind and (s := samples.median(("floors", w.id, "call")))
        ]
        if floor:
            axis.loglog(*zip(*floor, strict=True), color="grey", linestyle=":", label="empty call")
        axis.set(title=kind, xlabel="arguments, KB", ylabel="µs a delta")
        axis.grid(True, which="both", alpha=0.2)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    return True


def write(about: dict[str, Any] | None = None) -> str:
    """Write ``results.json``, ``results.md`` and ``stream.svg``; what the tables say."""
    samples = Samples(json.loads(line) for line in SAMPLES.read_text().splitlines())
    measured = {text for _, text, _ in samples.seconds}
    texts = [w for w in workloads() if w.id in measured]
    stored = RESULTS / "results.json"
    if about is None:
        about = json.loads(stored.read_text())["about"] if stored.exists() else {}
    parts = [
        ("Streamed: µs a delta", cells(samples, texts, "stream", lambda w: 1e6 / len(w.deltas))),
        ("One-shot: ms", cells(samples, texts, "oneshot", lambda w: 1e3)),
        ("Over the floors", floor_ratios(samples, texts)),
        ("Growth of the streamed time over the length (1 = linear)", growths(samples, texts)),
        ("Targets", targets.table(samples, texts, [e for e in samples.entries if e in OWN])),
        ("What ran", "\n".join(f"- {key}: {value}" for key, value in about.items())),
    ]
    said = "\n\n".join(f"## {title}\n\n{text}" for title, text in parts)
    rows = [
        {
            "entry": e,
            "text": t,
            "mode": m,
            "seconds": median(found.values()),
            "samples": len(found),
            "right": (e, t, m) not in samples.wrong,
        }
        for (e, t, m), found in samples.seconds.items()
    ]
    stored.write_text(json.dumps({"about": about, "cells": rows}, indent=1) + "\n")
    (RESULTS / "results.md").write_text(said + "\n")
    if not plot(samples, texts, RESULTS / "stream.svg"):
        print("no plot: matplotlib is not installed", file=sys.stderr)
    return said


if __name__ == "__main__":
    print(write())
