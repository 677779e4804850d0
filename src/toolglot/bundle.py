"""Bundle: the dialect files as data that loads at once: ``python -m toolglot.bundle [--check]``.

Promises: ``bundled.jsonl`` holds what each TOML file says, one line a file, and ``names.json`` what must be
known without reading any: slugs, aliases, models, the order of ``auto``. The TOML files are the source;
with ``--check`` nothing is written, and the exit code is 1 if what is there is not what they say.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from ._toml import loads

_FOLDER: Final = Path(__file__).parent


def written() -> dict[Path, str]:
    """The two files and what belongs into them."""
    found: dict[str, dict[str, Any]] = {
        path.stem: loads(path.read_text(encoding="utf-8"))
        for path in sorted((_FOLDER / "dialects").glob("*.toml"))
    }
    lines = "".join(
        json.dumps([stem, data], ensure_ascii=False, separators=(",", ":")) + "\n"
        for stem, data in found.items()
    )
    public = {stem: data for stem, data in found.items() if not stem.startswith("_")}
    aliases: dict[str, str] = {}
    for stem, data in public.items():
        for alias in data.get("aliases", ()):
            aliases.setdefault(alias, stem)
    # Another's contract under its own names, and no family beside the others.
    aliases.update({name: stem for stem, data in found.items() for name in data.get("names", ())})
    models = [[pattern.lower(), stem] for stem, data in public.items() for pattern in data.get("models", ())]
    index = {
        "slugs": list(public),
        "auto": found["_auto"]["aliases"],
        "aliases": aliases,
        "models": models,
    }
    names = json.dumps(index, ensure_ascii=False, indent=0) + "\n"
    return {_FOLDER / "bundled.jsonl": lines, _FOLDER / "names.json": names}


def main() -> int:
    """The command."""
    files = written()
    stale = [p for p, text in files.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.name} is not what the dialect files say: make bundle\n")
        return int(bool(stale))
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
