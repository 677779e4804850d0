"""Write the tables in the docs that are made from data: ``python docs/generate.py [--check]``.

With ``--check`` nothing is written, and the exit code is 1 if a table is not what the data says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import toolglot

DOCS = Path(__file__).parent


def dialects() -> str:
    """The bundled dialects as a Markdown table."""
    rows = ["| dialect | body | also known as | models |", "|---|---|---|---|"]
    for slug in toolglot.BUNDLED:
        dialect = toolglot.resolve(slug)
        codecs = dict.fromkeys(body.codec for body in dialect.bodies)
        cells = (_code([slug]), _code(codecs), _code(dialect.aliases), _code(dialect.models))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


TABLES = {"dialects.md": {"dialects": dialects}}


def generated(page: str, text: str) -> str:
    """``text`` with each of its tables made anew."""
    for name, make in TABLES[page].items():
        begin, end = f"<!-- begin: {name} -->\n", f"\n<!-- end: {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}{make()}{end}{rest.split(end)[1]}"
    return text


def main(arguments: list[str]) -> int:
    """Write the tables, or with ``--check`` only compare them."""
    stale = []
    for page in TABLES:
        path = DOCS / page
        text = path.read_text(encoding="utf-8")
        fresh = generated(page, text)
        if fresh != text:
            stale.append(page)
            if "--check" not in arguments:
                path.write_text(fresh, encoding="utf-8")
    for page in stale:
        sys.stderr.write(f"docs/{page}: {'stale' if '--check' in arguments else 'written'}\n")
    return 1 if stale and "--check" in arguments else 0


def _code(words: object) -> str:
    cells = [f"`{word}`" for word in words] if isinstance(words, (list, tuple, dict)) else []
    return ", ".join(cells).replace("|", "\\|") or "-"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
