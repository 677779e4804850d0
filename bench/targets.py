"""The targets of the work on speed, beside what a run measured.

A ratio to a peer that was left out as too slow uses its estimated time, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from .samples import Samples, growth, shown
from .workloads import Workload

VLLM, SGLANG = "vllm", "llm_router_utils"
JSON_BODIES = ("hermes", "gpt_oss")
TAGGED_BODIES = ("qwen3_coder", "glm45", "gemma4")


class Target(NamedTuple):
    """What is wanted of one entry, and what came of it; met where ``value`` is on the right side."""

    what: str
    value: float | None
    limit: float
    most: bool
    estimated: bool = False

    @property
    def met(self) -> bool | None:
        """None where it was not measured."""
        if self.value is None:
            return None
        return self.value <= self.limit if self.most else self.value >= self.limit


def targets(samples: Samples, texts: list[Workload], entry: str) -> Iterator[Target]:
    """The targets for ``entry``, toolglot or toolglot compiled."""
    compiled = "compiled" in entry
    by_id = {w.id: w for w in texts}
    for kind in ("hermes", "qwen3_coder"):
        ratio = samples.ratio((entry, f"{kind} 64 KB", "feed"), ("floors", f"{kind} 64 KB", "call"))
        yield Target(f"{kind} arguments, × an empty call a delta", ratio, 12 if compiled else 20, True)
    ratio = samples.ratio((entry, "prose 64 KB", "feed"), ("floors", "prose 64 KB", "call"))
    yield Target("prose, × an empty call a delta", ratio, 8 if compiled else 15, True)
    for text, peer, least in (
        ("hermes 64 KB", VLLM, 100),
        ("hermes 64 KB", SGLANG, 100),
        ("qwen3_coder 64 KB", VLLM, 20),
        ("qwen3_coder 64 KB", SGLANG, 40),
        ("20 calls hermes", VLLM, 20),
        ("20 calls hermes", SGLANG, 1),
        ("20 calls qwen3_coder", VLLM, 20),
        ("20 calls qwen3_coder", SGLANG, 1),
    ):
        yield _against(samples, entry, text, peer, least, "stream")
    for kind in dict.fromkeys(w.kind for w in texts if sum(v.kind == w.kind for v in texts) > 1):
        yield Target(f"{kind}: growth, streamed", growth(samples, entry, kind, "stream", texts), 1.05, True)
    for kind in JSON_BODIES:
        cell, base = (entry, f"{kind} 64 KB", "oneshot"), ("floors", f"{kind} 64 KB", "loads")
        limit = 1.5 if compiled else 2
        yield Target(f"{kind} 64 KB one-shot, × json.loads", samples.ratio(cell, base), limit, True)
    for kind in TAGGED_BODIES:
        seconds = samples.median((entry, f"{kind} 64 KB", "oneshot"))
        measured = by_id.get(f"{kind} 64 KB")
        speed = len(measured.text) / seconds / 1e6 if seconds and measured else None
        yield Target(f"{kind} 64 KB one-shot, MB/s", speed, 100, False)
    for peer in (e for e in samples.entries if not e.startswith("toolglot")):
        for mode in ("oneshot", "stream"):
            found = [_against(samples, entry, w.id, peer, 1, mode) for w in texts]
            for one in found:
                if one.met is False:
                    yield one
    auto = entry.replace("toolglot", "toolglot-auto")
    for mode in ("stream", "oneshot"):
        ratios = [r for w in texts if (r := samples.ratio((auto, w.id, mode), (entry, w.id, mode)))]
        yield Target(
            f"auto over the named dialect, {mode}, median", median(ratios) if ratios else None, 2, True
        )
        yield Target(f"auto over the named dialect, {mode}, worst", max(ratios, default=None), 2, True)


def _against(samples: Samples, entry: str, text: str, peer: str, least: float, mode: str) -> Target:
    cell, other = (entry, text, mode), (peer, text, mode)
    ratio = samples.ratio(other, cell)
    guess = samples.none.get(other, {}).get("guess")
    mine = samples.median(cell)
    if ratio is None and guess and mine:
        return Target(f"{text} {mode}, × as fast as {peer}", guess / mine, least, False, True)
    right = ratio if other not in samples.wrong else None
    return Target(f"{text} {mode}, × as fast as {peer}", right, least, False)


def table(samples: Samples, texts: list[Workload], entries: list[str]) -> str:
    """All targets as lines."""
    lines = []
    for entry in entries:
        lines += [f"| {entry} | measured | wanted | |", "|---|---:|---:|---|"]
        for t in targets(samples, texts, entry):
            sign = "≤" if t.most else "≥"
            said = {True: "met", False: "**missed**", None: "not measured"}[t.met]
            about = "about " if t.estimated else ""
            lines.append(f"| {t.what} | {about}{shown(t.value)} | {sign} {t.limit:g} | {said} |")
        lines.append("")
    return "\n".join(lines).strip()
