"""The independent judge of the shared folder agrees: it drives toolglot through its public surface alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import rules
from tests.field import FILES, lines, why_not
from tests.known import known_failures


def judge(shared: Path, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folder = shared / "judge"
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, str(folder / script), *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("on_defect", ["strict", "repair"])
def test_fixtures(shared: Path, tmp_path: Path, on_defect: str) -> None:
    out = tmp_path / "toolglot.json"
    families = sorted({rule["family"] for rule in rules()})
    asked = [part for family in families for part in ("--family", family)]
    mode = {
        "TOOLGLOT_DIALECT": "named",
        "TOOLGLOT_ON_DEFECT": on_defect,
        "TOOLGLOT_ARGUMENTS": "whole" if on_defect == "strict" else "stream",
    }
    run = judge(shared, "fixtures_run.py", "toolglot", *asked, "--out", str(out), **mode)
    assert run.returncode == 0, run.stderr
    records = json.loads(out.read_text(encoding="utf-8"))["cases"]
    name = "strict" if on_defect == "strict" else "defaults"
    failing = {record["id"] for record in records if "fail" in (record["status"], record["char"])}
    soft = {record["id"] for record in records if "soft_pass" in (record["status"], record["char"])} - failing
    assert failing == set(known_failures("conformance", name))
    assert soft == set(known_failures("conformance", f"{name}_soft"))
    assert {record["family"] for record in records} == set(families)
    assert not [record["id"] for record in records if record["status"] in ("error", "unsupported")]


@pytest.mark.parametrize("file", FILES)
def test_field(shared: Path, file: str) -> None:
    """The judge fails exactly the lines that are not to be run yet or that are listed."""
    run = judge(shared, "field_run.py", str(shared / "cases" / f"{file}.jsonl"))
    assert "passed" in run.stdout, run.stderr
    every = list(lines(shared, file))
    not_yet = {line.id for line in every if why_not(line)}
    not_run = {line.id for line in every if "residue" in line.case or "wire" in line.case}
    failed = set()
    for number, dialect in re.findall(r"^FAIL (\S+) \S+ (\S+) ", run.stdout, re.MULTILINE):
        own = next(line.case["dialect"] for line in every if line.case["id"] == number)
        failed.add(number if dialect == own else f"{number}/{dialect}")
    assert failed == (not_yet | set(known_failures(file))) - not_run, run.stdout
    assert run.returncode == bool(failed)


def test_hold(shared: Path) -> None:
    """Prose is held by at most 32 characters and a string argument by at most 64."""
    run = judge(shared, "hold.py")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("held at most") >= 8, run.stdout
