"""What starting costs: ``python -m bench.startup``. Each figure from new processes, the median of many.

The import is measured over Python's own start (``python -c pass``, ``-X importtime`` shows its parts), in
turn with it; the first and the later parsers in a process that has done the import.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from statistics import median

RUNS = 15

_INSIDE = """
import json, sys, time
clock = time.process_time
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}}]
out = {}
start = clock()
import toolglot
out["import"] = clock() - start
out["modules"] = len([m for m in sys.modules if m.startswith("toolglot")])
def first(name, dialect, **given):
    start = clock()
    toolglot.Parser(dialect, **given)
    out[name] = clock() - start
def later(name, dialect, **given):
    times = []
    for _ in range(5):
        start = clock()
        for _ in range(500):
            toolglot.Parser(dialect, **given)
        times.append((clock() - start) / 500)
    out[name] = min(times)
which = sys.argv[1]
first("first", which)
first("first with tools", which, tools=tools)
later("later", which)
later("later, same tools list", which, tools=tools)
start = clock()
for n in range(50):
    toolglot.Parser(which, tools=[{"type": "function", "function": {"name": f"tool_{n}", "parameters": {}}}])
out["later, new tool names"] = (clock() - start) / 50
print(json.dumps(out))
"""


def process(*command: str) -> float:
    """CPU seconds of a new interpreter."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, sys.executable, *command], capture_output=True, text=True, check=True
    )
    return float(shown.stdout)


def clocked(*command: str) -> float:
    """Seconds of a new interpreter, on the clock."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    """The command."""
    # An installed package has its byte code beside it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    process("-c", "import toolglot")
    over, walls = [], []
    for _ in range(RUNS):
        over.append(process("-c", "import toolglot") - process("-c", "pass"))
        walls.append(clocked("-c", "import toolglot") - clocked("-c", "pass"))
    figures: dict[str, float] = {
        "import over Python's own start, CPU ms": median(over) * 1e3,
        "the same on the clock, ms": median(walls) * 1e3,
    }
    for dialect in ("hermes", "qwen3_coder", "auto"):
        runs = [
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", _INSIDE, dialect], capture_output=True, text=True, check=True
                ).stdout
            )
            for _ in range(5)
        ]
        for key in runs[0]:
            if key.startswith("first"):
                figures[f"{dialect}: {key} parser, ms"] = median(r[key] for r in runs) * 1e3
            elif key.startswith("later"):
                figures[f"{dialect}: {key}, µs"] = median(r[key] for r in runs) * 1e6
    for name, value in figures.items():
        print(f"{name:55} {value:10.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
