"""Where things lie: the repository, and the shared folder that a checkout may have beside it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
SRC = ROOT / "src" / "toolglot"

NO_SHARED = "no shared folder: neither TOOLGLOT_SHARED nor ../shared beside the repository is one"


def shared_folder() -> Path | None:
    """The folder with the field cases and the judge, or None where there is none."""
    named = os.environ.get("TOOLGLOT_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    return folder if (folder / "cases" / "field.jsonl").is_file() else None
