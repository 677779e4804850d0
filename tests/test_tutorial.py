"""docs/adding-a-dialect.md, followed to the letter: files are saved, commands run, and outputs compared."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.casefile import not_applicable, read
from tests.places import ROOT, SRC

PAGE = (ROOT / "docs" / "adding-a-dialect.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> Iterator[tuple[str, str, str]]:
    """Each fenced block: the paragraph before it, its language and its text."""
    for match in BLOCK.finditer(PAGE):
        before = PAGE[: match.start()].rstrip().rsplit("\n\n", 1)[-1]
        yield " ".join(before.split()), match.group(1), match.group(2)


class Reader:
    """Somebody who does what the page says, in a folder and with a copy of the library of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = folder / "src"
        shutil.copytree(SRC, self.library / "toolglot", ignore=shutil.ignore_patterns("__pycache__"))
        self.names: dict[str, object] = {}
        self.done: list[str] = []

    def follow(self, before: str, language: str, text: str) -> None:
        """Do what one block asks for."""
        dialect = self.folder / "kestrel.toml"
        if language == "console":
            self.done.append("ran")
            self.run(text)
        elif language == "pycon":
            self.done.append("typed")
            self.type(text)
        elif "Append this to `kestrel.toml`" in before:
            self.done.append("appended")
            dialect.write_text(dialect.read_text(encoding="utf-8") + "\n" + text, encoding="utf-8")
            shutil.copy(dialect, self.library / "toolglot" / "dialects")
        elif "Change the envelope in `kestrel.toml`" in before:
            self.done.append("changed")
            old = dialect.read_text(encoding="utf-8")
            start, end = old.index("[envelope]"), old.index("[[body]]")
            dialect.write_text(f"{old[:start]}{text}\n{old[end:]}", encoding="utf-8")
        else:
            self.done.append("saved")
            (name,) = re.findall(r"(?:as|In) `([^`]+)`", before)
            file = self.folder / Path(name).name
            file.write_text(text, encoding="utf-8")

    def run(self, text: str) -> None:
        """Run the command of a block and compare what it prints."""
        command, output = text.split("\n", 1)
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "toolglot"
        terminal = {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
        environment = {**os.environ, **terminal, "PYTHONPATH": str(self.library)}
        done = subprocess.run(
            [sys.executable, "-m", "toolglot", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.stdout, done.stderr, done.returncode) == (output, "", 0), command

    def type(self, text: str) -> None:
        """Run a Python session, with the names of those before."""
        example = doctest.DocTestParser().get_doctest(text, self.names, "tutorial", None, 0)
        runner = doctest.DocTestRunner()
        runner.run(example, clear_globs=False)
        self.names = example.globs
        assert runner.failures == 0


def test_a_newcomer_follows_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path)
    for block in blocks():
        reader.follow(*block)
    assert reader.done == [
        *("saved", "ran", "saved", "ran", "typed", "typed", "typed", "saved", "changed", "ran"),
        *("appended", "ran", "saved"),
    ]
    (case,) = read(tmp_path / "kestrel.txt")
    assert case.calls == [("find_train", {"from": "Oslo", "to": "Bergen", "seats": 2})]
    assert not_applicable(tmp_path / "kestrel.txt") == {"ids": "the format writes no ids"}
