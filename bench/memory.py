"""What parsers hold: ``python -m bench.memory``. Bytes that Python allocated, by ``tracemalloc``.

Three questions: what an open parser holds, fresh and in the middle of a call, while many are open, and how
much memory the process then takes; how much is held at most while one long argument streams, over what the
caller itself keeps; what is left once closed.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Iterable, Iterator

import toolglot

from .workloads import DELTA, FORMATS, KB, TOOLS, Call, source

MANY = 10_000
LONG = 16 * KB * KB


def per_parser(dialect: str, text: str, many: int) -> float:
    """Bytes of one of ``many`` parsers that are open at once and have read ``text``, in deltas."""
    toolglot.Parser(dialect, tools=TOOLS).feed(text)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    held = []
    for _ in range(many):
        parser = toolglot.Parser(dialect, tools=TOOLS)
        # Each parser has deltas of its own, as they come.
        for at in range(0, len(text), DELTA):
            parser.feed(text[at : at + DELTA])
        held.append(parser)
    gc.collect()
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return used / len(held)


def resident(dialect: str, state: str, many: int) -> float:
    """Megabytes that this process takes more at most with ``many`` parsers open, each with a text of its own.

    Each text is code in deltas as long as tokens, and each parser stands elsewhere in it: in the arguments of
    a call, or in an answer that is none.
    """
    code = source(KB * 64) + "".join(sys.modules[name].__doc__ or "" for name in sorted(sys.modules))
    held: list[object] = []

    def opened(number: int) -> toolglot.Parser:
        dice = random.Random(number)
        start = dice.randrange(len(code) - 2 * KB)
        text = code[start : start + 2 * KB].replace("`", "'")
        if state == "in arguments":
            call: list[Call] = [("write_file", {"path": "a.py", "content": text})]
            text = FORMATS["hermes" if dialect == "auto" else dialect].write(call)
        parser = toolglot.Parser(dialect, tools=TOOLS)
        for delta in _tokens(text[: dice.randrange(100, 1300)]):
            parser.feed(delta)
        return parser

    for number in range(500):
        opened(-number - 1)
    gc.collect()
    before = _most_resident()
    held += [opened(number) for number in range(many)]
    return (_most_resident() - before) / 1e6


def _tokens(text: str) -> Iterator[str]:
    return (found.group() for found in re.finditer(r" ?\w{1,6}|\s+|[^\w\s]{1,2}", text))


def _most_resident() -> int:
    """Bytes that the process took at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def streamed(dialect: str, size: int, step: int) -> tuple[float, float, float, float]:
    """What is held at most over ``size`` while an argument of that size streams; with its end, when its value
    is made; the same without that value and the text of the last events, which are the caller's; and bytes
    left after ``close``."""
    call: list[Call] = [("write_file", {"path": "a.py", "content": ""})]
    opening, closing = _around(dialect, call)
    # An answer without markers is held until it has ended.
    parser = toolglot.Parser(dialect, tools=TOOLS, limits=toolglot.Limits(held=2 * size + KB))
    _drain(parser.feed(opening))
    piece = source(KB * 64).replace('"', "'").replace("\n", " ")
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for at in range(0, size, step):
        start = at % (len(piece) - step)
        _drain(parser.feed(piece[start : start + step]))
    held = tracemalloc.get_traced_memory()[1] - before
    value = 0
    for event in [*parser.feed(closing), *parser.close()]:
        if isinstance(event, toolglot.CallEnd):
            value += sum(sys.getsizeof(text) for text in event.arguments.values())
        elif isinstance(event, toolglot.Arguments):
            value += sys.getsizeof(event.text)
    del event
    peak = tracemalloc.get_traced_memory()[1] - before
    gc.collect()
    left = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert parser.dialect == dialect
    return held / size, peak / size, (peak - value) / size, left


def _asked(*arguments: str) -> str:
    """What this command prints in a process of its own."""
    command = [sys.executable, "-m", "bench.memory", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _drain(events: Iterable[object]) -> None:
    for _ in events:
        pass


def _around(dialect: str, call: list[Call]) -> tuple[str, str]:
    """What stands before and behind the empty string of a call."""
    mark = "@@"
    name, arguments = call[0]
    text = FORMATS[dialect].write([(name, {**arguments, "content": mark})])
    opening, _, closing = text.partition(mark)
    return opening, closing


def main() -> int:
    """The command."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--many", type=int, default=MANY)
    asked.add_argument("--long", type=int, default=LONG)
    asked.add_argument(
        "--resident", nargs=2, metavar=("DIALECT", "STATE"), help="the megabytes of one state alone"
    )
    args = asked.parse_args()
    if args.resident:
        dialect, state = args.resident
        print(f"{resident(dialect, state, args.many):.1f}")
        return 0
    print(
        f"{'MB of ' + str(args.many) + ', texts of their own':40} {'in an answer':>13} {'in arguments':>13}"
    )
    for dialect in ("hermes", "qwen3_coder", "gpt_oss", "auto"):
        # Each in a process of its own, which counts from what this one took at most: so they come first.
        shown = [
            _asked("--many", str(args.many), "--resident", dialect, s)
            for s in ("in an answer", "in arguments")
        ]
        print(f"{dialect:40} {shown[0]:>13} {shown[1]:>13}")
    call: list[Call] = [("write_file", {"path": "a.py", "content": source(400)})]
    heads = f"{'new':>8} {'in prose':>9} {'later':>9} {'in arguments':>13}"
    print(f"\n{'bytes of each of ' + str(args.many):24} {heads}")
    for dialect in ("hermes", "qwen3_coder", "gpt_oss", "auto"):
        text = FORMATS["hermes" if dialect == "auto" else dialect].write(call)
        prose = "Let me look at that for you. "
        texts = ("", prose, prose * 50, text[:200])
        # A long text takes its time.
        counts = [args.many if len(text) < KB else args.many // 10 for text in texts]
        sizes = [per_parser(dialect, text, many) for text, many in zip(texts, counts, strict=True)]
        print(f"{dialect:24} {sizes[0]:8.0f} {sizes[1]:9.0f} {sizes[2]:9.0f} {sizes[3]:13.0f}")
    heads = f"{'held':>8} {'with its end':>13} {'value apart':>12} {'left, bytes':>12}"
    print(f"\n{'one argument of ' + str(args.long):24} {heads}")
    for dialect in FORMATS:
        # Once before, for what is compiled and kept for all parsers.
        streamed(dialect, KB, 64)
        held, peak, own, left = streamed(dialect, args.long, 64)
        print(f"{dialect:24} {held:7.2f}x {peak:12.2f}x {own:11.2f}x {left:12.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
