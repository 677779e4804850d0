"""Whether time grows with the length: ``python -m bench.growth``. Every bundled dialect that can write calls.

One call with one long string, written by ``render`` and streamed in deltas of four characters; for each
dialect the slope of log time over log length, from 1 to 256 KB. 1 is linear.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from statistics import linear_regression, median

import toolglot
from toolglot import BUNDLED, RenderError, ToolCall, render

from .workloads import DELTA, KB, SIZES, TOOLS, source

ROUNDS = 3


def written(dialect: str, size: int) -> str | None:
    """A call with a string of ``size`` KB, or None where the dialect has no such call."""
    call = ToolCall("write_file", {"path": "a.py", "content": source(size * KB)})
    try:
        return render([call], dialect)
    except RenderError:
        return None


def seconds(dialect: str, text: str) -> float:
    """Seconds of one stream."""
    deltas = [text[i : i + DELTA] for i in range(0, len(text), DELTA)]
    start = time.process_time()
    parser = toolglot.Parser(dialect, tools=TOOLS)
    for delta in deltas:
        parser.feed(delta)
    parser.close()
    return time.process_time() - start


def main() -> int:
    """The command."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    asked.add_argument("dialects", nargs="*", default=[*BUNDLED])
    args = asked.parse_args()
    slopes: dict[str, float] = {}
    for dialect in args.dialects:
        texts = [text for size in SIZES if (text := written(dialect, size)) is not None]
        if len(texts) < len(SIZES):
            sys.stderr.write(f"{dialect}: cannot write such a call\n")
            continue
        seconds(dialect, texts[0])
        times = [[seconds(dialect, text) for text in texts] for _ in range(args.rounds)]
        medians = [median(one) for one in zip(*times, strict=True)]
        points = [(math.log(len(t)), math.log(s)) for t, s in zip(texts, medians, strict=True)]
        slopes[dialect] = linear_regression(*zip(*points, strict=True)).slope
        last = medians[-1] * 1e6 / (len(texts[-1]) / DELTA)
        print(f"{dialect:24} growth {slopes[dialect]:5.2f}   {last:6.2f} µs a delta at 256 KB", flush=True)
    worst = max(slopes, key=lambda name: slopes[name])
    print(f"\nhighest: {worst} {slopes[worst]:.2f}, of {len(slopes)} dialects")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
