"""Write the parts of the docs that are made from data: ``python docs/generate.py [--check]``.

With ``--check`` nothing is written, and the exit code is 1 if a part is not what the data says.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import toolglot
from toolglot import cli
from toolglot import dialect as forms
from toolglot.explain import explain
from toolglot.registry import dialect_text

DOCS = Path(__file__).parent
# The tables of evidence are made by the measurements of the tests.
sys.path.insert(0, str(DOCS.parent))
from tests import autoparser, bfcl, confusion, grid, holding, negatives, probe, responses  # noqa: E402


def dialects() -> str:
    """The bundled dialects as a table."""
    rows = ["| dialect | what it is | body | also known as | models |", "|---|---|---|---|---|"]
    for slug in toolglot.BUNDLED:
        found = toolglot.resolve(slug)
        assert isinstance(found, forms.Dialect)
        codecs = dict.fromkeys(body.codec for body in found.bodies)
        title = found.title.replace("<", "&lt;").replace("|", "\\|")
        cells = (_code([slug]), title, _code(codecs), _code(found.aliases), _code(found.models))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def auto_order() -> str:
    """The order in which ``auto`` prefers claims at the same place."""
    return ", ".join(f"`{slug}`" for slug in toolglot.DEFAULT_AUTO_ORDER)


def example() -> str:
    """A bundled file as it is."""
    return f"```toml\n{dialect_text('qwen3_coder').strip()}\n```"


def keys() -> str:
    """Each table of a dialect file: what its class says, and its keys."""
    tables = (
        ("[envelope]", forms.Envelope),
        ("[[body]]", forms.Body),
        ("[[unmarked]]", forms.Unmarked),
        ("[reasoning]", forms.Think),
        ("[ids]", forms.Ids),
        ("[render]", forms.Layout),
        ("[[example]]", forms.Example),
    )
    return "\n\n".join(_table(heading, kind) for heading, kind in tables)


def explained() -> str:
    """What ``explain`` shows of a bundled output."""
    path = "examples/outputs/broken.txt"
    text = (DOCS.parent / path).read_text(encoding="utf-8")
    parser = toolglot.Parser("hermes")
    events = [*parser.feed(text), *parser.close()]
    shown = explain(text, events, dialect=parser.dialect)
    return f"```text\n$ toolglot explain {path} --dialect hermes\n{shown}```"


def derived() -> str:
    """What ``toolglot derive --explain`` shows of a bundled template."""
    path = "examples/templates/short.jinja"
    out = io.StringIO()
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "110"
    try:
        with contextlib.redirect_stdout(out):
            cli.main(["derive", str(DOCS.parent / path), "--explain"])
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return f"```text\n$ toolglot derive {path} --explain\n{out.getvalue()}```"


def differing() -> str:
    """The samples in which ``auto`` with tools gives something else."""
    rows = ["| dialect | read as | sample |", "|---|---|---|"]
    for pair in confusion.pairs():
        if pair.tools and not pair.same:
            name = re.sub(r":\d+ ", ": ", pair.sample.id)
            rows.append(f"| `{pair.sample.dialect}` | `{pair.chosen}` | {name} |")
    return "\n".join(rows)


def corpus() -> str:
    """How many texts without a call there are, by topic."""
    count = Counter(text.file.stem for text in negatives.negatives())
    rows = ["| topic | texts |", "|---|--:|", *(f"| {topic} | {n} |" for topic, n in count.items())]
    return "\n".join([*rows, f"| all | {sum(count.values())} |"])


def exceptions() -> str:
    """The messages of BFCL that a format cannot carry."""
    rows = ["| dialects | what they cannot carry |", "|---|---|"]
    rows += [f"| {_code(reason['dialects'])} | {reason['because']} |" for reason in bfcl.reasons()]
    return "\n".join(rows)


def held() -> str:
    """What each dialect holds of a long string, and why where that is much."""
    rows = ["| dialect | held | reason |", "|---|--:|---|"]
    for slug, most, why in holding.rows():
        shown = most if most is not None and not why else "all"
        rows.append(f"| `{slug}` | {shown} | {why} |")
    return "\n".join(rows)


PARTS = {
    "dialects.md": {"dialects": dialects, "auto": auto_order, "example": example, "keys": keys},
    "cli.md": {"explain": explained},
    "derivation.md": {
        "explain": derived,
        "version": autoparser.version,
        "method": autoparser.method,
        "counts": autoparser.counts,
        "llamacpp": autoparser.table,
    },
    "behaviours.md": {"numbered": grid.numbered, "grid": grid.table, "reasons": grid.reasons},
    "proxy.md": {"before": probe.before, "after": probe.after},
    "response-templates.md": {"exports": responses.exports, "unlike": responses.unlike},
    "evidence.md": {
        "confusion": confusion.matrix,
        "differing": differing,
        "negatives": corpus,
        "bfcl": exceptions,
        "holding": held,
    },
}


def generated(page: str, text: str) -> str:
    """``text`` with each of its generated parts made anew."""
    for name, make in PARTS[page].items():
        begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}{make()}\n{end}{rest.split(end)[1]}"
    return text


def main(arguments: list[str]) -> int:
    """Write the parts, or with ``--check`` only compare them."""
    check = "--check" in arguments
    stale = False
    for page in PARTS:
        path = DOCS / page
        text = path.read_text(encoding="utf-8")
        fresh = generated(page, text)
        if fresh != text:
            stale = True
            sys.stderr.write(f"docs/{page}: {'stale, run make docs' if check else 'written'}\n")
            if not check:
                path.write_text(fresh, encoding="utf-8")
    return 1 if stale and check else 0


def _table(heading: str, kind: type[Any]) -> str:
    about = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
    known = [f"`{item.name}`{_default(item.default)}" for item in fields(kind)]
    return f"### `{heading}`\n\n{about}\n\nKeys: {', '.join(known)}."


def _default(value: object) -> str:
    if value is MISSING:
        return " (needed)"
    if isinstance(value, tuple):
        return f" ({', '.join(f'`{item}`' for item in value)})" if value else ""
    return f" (`{value}`)" if value else ""


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words).replace("|", "\\|") or "-"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
