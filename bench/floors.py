"""What nobody can go below: the least that reading a text can cost, as one more entry of the run.

Each floor is an entry of its own (``call``, ``find``, ``loads`` …), so that it is measured in rotation
with the parsers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from .workloads import Workload


class _Nothing:
    def feed(self, delta: str) -> None:
        pass


def floors(workload: Workload) -> dict[str, Callable[[], object]]:
    """The floors of one text: ``call`` and ``search`` for all its deltas, the rest for the whole text."""
    deltas, text = workload.deltas, workload.text
    arguments = [json.dumps(a, ensure_ascii=False) for _, a in workload.calls]
    nothing = _Nothing()
    search = re.compile(r'["\\<]').search

    def call() -> None:
        for delta in deltas:
            nothing.feed(delta)

    def one_search() -> None:
        for delta in deltas:
            search(delta)

    def loads() -> None:
        for one in arguments:
            json.loads(one)

    found: dict[str, Callable[[], object]] = {
        "call": call,
        "search": one_search,
        "find": lambda: text.find("<|im_end|>"),
    }
    if arguments:
        found["loads"] = loads
    return found
