"""The AI SDK under Node.js reads every public fixture and field case: ``make clients-node``.

Prints what it got wrong, and exits with 1 if that is anything. Not part of the suite: it needs Node.js.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.places import TESTS
from tests.scripted import running
from tests.sdks import Got, Tools
from tests.test_proxy_clients import Served, faults, served

OWN = {
    "F039": "JavaScript has no integers beyond 2^53",
    "F060": "a call of a tool that was not offered is invalid to the SDK",
}
"""Field cases that no upstream can get through this client as they are meant, and why."""


def read(base_url: str, asked: list[tuple[str, Tools, bool]]) -> list[Got]:
    """What the SDK has of each answer, whole and streamed in turn."""
    lines = "".join(
        json.dumps({"model": model, "tools": tools}) + "\n" for model, tools, stream in asked if stream
    )
    done = subprocess.run(
        ["node", "read.mjs", base_url],
        cwd=TESTS / "node",
        input=lines,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return [_got(json.loads(line)) for line in done.stdout.splitlines()]


def _got(told: dict[str, Any]) -> Got:
    calls = tuple((name, json.dumps(arguments)) for name, arguments in told["calls"])
    if told.get("error"):
        print(f"{told['model']}: {told['error']}", file=sys.stderr)
    return Got(told["content"], calls, told["reasoning"])


def main() -> int:
    """Run it, and say what is wrong."""
    found: Served = served()
    with running(found.script, dialects=found.rules) as both:
        wrong = faults(lambda asked: read(both.proxy + "/v1", list(asked)), 1)
    own = {name for name in wrong if name.split(" ")[0] in OWN}
    for name in sorted(set(wrong) - own):
        print(f"{name}: {wrong[name]}")
    for name, reason in OWN.items() if own else ():
        print(f"left out: {name}, {reason}")
    failed = len(set(wrong) - own)
    print(f"{len(found.script.answers) - failed - len(own) // 2} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
