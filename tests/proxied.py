"""The cases of the founding contract that need the wire or the residue watcher; fields as in its SEEDS.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import toolglot
from tests.delivery import random_pieces
from tests.upstream import accumulate, chunk, request, sse, streamed
from toolglot.residue import Residue
from toolglot.wire import Exchange, Settings


def check_residue(case: dict[str, Any], dialect: Any) -> str | None:
    """The first thing that is wrong with a residue case, or None."""
    asked = case["residue"]
    if case.get("spec"):
        dialect = toolglot.Dialect.from_dict(case["spec"])
    texts = [(m, before + m + after) for m in asked.get("each", ()) for before, after in _AROUND]
    if "text" in asked:
        texts.append((asked["hit"], asked["text"]))
    for hit, text in texts:
        splits = [[text], list(text), *(random_pieces(text, seed) for seed in range(5))]
        for pieces in [*splits, *filter(None, [asked.get("chunks")])]:
            watcher = Residue(dialect)
            for piece in pieces:
                watcher.feed(piece)
            watcher.close()
            if watcher.hit != hit:
                return f"{pieces}: hit {watcher.hit!r}, expected {hit!r}"
    return None


_AROUND = (("", ""), ("word ", " word"), ("a<b\n", "x"), ("日本 ", "\n"))


def check_wire(case: dict[str, Any], dialect: str) -> str | None:
    """The first thing that is wrong with a wire case, or None."""
    asked = case["wire"]
    want = {k.removeprefix("expected_"): v for k, v in asked.items() if k.startswith("expected_")}
    words = want.pop("defects", None)
    # In these cases null says that the tools are unknown, so that envelopes are read.
    settings = Settings(dialect=dialect, tools_absent="read")
    for got, report in _got(case, asked, settings):
        for key, value in want.items():
            if got.get(key) != value:
                return f"{key} {got.get(key)!r}, expected {value!r}"
        missing = {word.replace(" ", "_") for word in words or ()} - set(report.defects)
        if missing:
            return f"no defect {sorted(missing)}"
    return None


def _got(case: dict[str, Any], asked: dict[str, Any], settings: Settings) -> Iterator[Any]:
    native = asked.get("upstream_calls") or []
    calls = [_call(call) for call in native]
    fields = {"tools": case["tools"], "stream": asked["stream"]}
    if not asked["stream"]:
        exchange = Exchange(request(**fields), settings)
        message = {"role": "assistant", "content": case["raw"], **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": asked["finish_reason"]}
        made = exchange.whole({"id": "c", "created": 1, "model": "m", "choices": [choice]})["choices"][0]
        found = made["message"].get("tool_calls") or []
        yield (
            {
                "finish_reason": made["finish_reason"],
                "content": made["message"]["content"],
                "indices": list(range(len(found))),
            },
            exchange.report,
        )
        return
    for pieces in ([case["raw"]], list(case["raw"])):
        exchange = Exchange(request(**fields), settings)
        chunks = [chunk({"tool_calls": [c]}) for c in calls] + [chunk({"content": p}) for p in pieces if p]
        if asked["finish_reason"] != "ABSENT":
            chunks.append(chunk({}, asked["finish_reason"]))
        after = asked.get("after_finish") or []
        chunks += [_AFTER[kind] for kind in after]
        found_frames = streamed([sse(*chunks, done=False)], exchange)
        answer = accumulate(found_frames)
        yield (
            {
                "finish_reason": answer.reason,
                "content": answer.content,
                "indices": list(range(len(answer.calls))),
                "after_finish": _kinds_after(found_frames),
            },
            exchange.report,
        )


_AFTER = {
    "content": chunk({"content": "stray"}),
    "finish": chunk({}, "stop"),
    "usage": {**chunk(), "choices": [], "usage": {"total_tokens": 3}},
}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"index": call["index"], "id": call["id"], "type": "function", "function": function}


def _kinds_after(found: list[Any]) -> list[str]:
    ends = [i for i, f in enumerate(found) if isinstance(f, dict) and _reason(f) is not None]
    rest = [f for f in found[ends[0] + 1 :] if isinstance(f, dict)] if ends else []
    return ["usage" if f.get("usage") else json.dumps(f) for f in rest]


def _reason(found: dict[str, Any]) -> Any:
    return next((c["finish_reason"] for c in found["choices"] if c["finish_reason"]), None)
