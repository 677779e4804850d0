"""What the docs say is what the code does: their examples run, and their tables are made from data."""

from __future__ import annotations

import doctest
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.places import ROOT
from toolglot import DefectKind
from toolglot.explain import MARKS

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
TUTORIAL = ROOT / "docs" / "adding-a-dialect.md"
"""Its examples need the files that it has its reader save: ``test_tutorial`` follows it."""
IDS = [str(page.relative_to(ROOT)) for page in PAGES]


def load(path: str) -> ModuleType:
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").removesuffix(".py"), ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [page for page in PAGES if page != TUTORIAL])
def test_examples(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_between_pages(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_readme_has_examples() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n>>> ") > 10


def test_generated_parts_are_current() -> None:
    generate = load("docs/generate.py")
    # The evidence takes a minute to measure: `make docs-check` compares it.
    for page in set(generate.PARTS) - {"evidence.md"}:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert generate.generated(page, text) == text, f"docs/{page} is stale: run make docs"


def test_generate_replaces_only_what_is_between_the_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = load("docs/generate.py")
    monkeypatch.setattr(generate, "PARTS", {"p.md": {"x": lambda: "new", "y": lambda: "other"}})
    text = "a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb\n<!-- begin: y -->\n<!-- end: y -->"
    assert generate.generated("p.md", text) == (
        "a\n<!-- begin: x -->\nnew\n<!-- end: x -->\nb\n<!-- begin: y -->\nother\n<!-- end: y -->"
    )


def test_generate_check_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generate = load("docs/generate.py")
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    monkeypatch.setattr(generate, "PARTS", {"p.md": {"x": lambda: "new"}})
    page = tmp_path / "p.md"
    page.write_text("<!-- begin: x -->\nold\n<!-- end: x -->\n", encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/p.md: stale, run make docs\n"
    assert "old" in page.read_text(encoding="utf-8")
    assert generate.main([]) == 0
    assert page.read_text(encoding="utf-8") == "<!-- begin: x -->\nnew\n<!-- end: x -->\n"
    assert generate.main(["--check"]) == 0


def test_every_kind_of_defect_has_a_section() -> None:
    sections = re.findall(
        r"^## (\w+)$", (ROOT / "docs" / "defects.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sections == [kind.value for kind in DefectKind]


def test_every_mark_is_told() -> None:
    told = re.findall(r"^\| `(.)` \|", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert told == [*MARKS.values(), "!"]
