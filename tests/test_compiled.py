"""Compiled: what mypyc does otherwise than Python, and must not; runs on the pure library too."""

from __future__ import annotations

import copy
import importlib
import os
import pickle

import pytest

import toolglot
from tests.places import ROOT
from toolglot import (
    Arguments,
    CallEnd,
    CallStart,
    Defect,
    DefectKind,
    Event,
    Markup,
    Reasoning,
    Relabel,
    Text,
)
from toolglot._toml import loads

EVENTS: tuple[Event, ...] = (
    Text("a", (0, 1)),
    Reasoning("b", (1, 2)),
    CallStart(0, "call_0", "ping", (2, 3)),
    Arguments(0, "{}", (3, 5)),
    CallEnd(0, {"n": [1, {"m": None}]}, (5, 6), '{"n": [1, {"m": null}]}'),
    Markup((6, 7)),
    Defect(DefectKind.REPAIRED, "x", "y", (7, 8), 0),
    Relabel((0, 1)),
)


def compiled_modules() -> list[str]:
    """The modules that the wheel's settings name, without those that they leave out."""
    settings = loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    found = {path for pattern in hook["include"] for path in ROOT.glob(pattern.lstrip("/"))}
    left_out = {ROOT / name for name in hook["exclude"]}
    assert left_out <= found
    return sorted(".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in found - left_out)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_events_copy_and_pickle(event: Event) -> None:
    for made in (copy.copy(event), copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
        assert made == event
        assert made is not event


def test_a_parser_can_be_subclassed() -> None:
    class Loud(toolglot.Parser):
        def close(self, finish_reason: str | None = None) -> list[Event]:
            return [*super().close(finish_reason), *EVENTS[:1]]

    parser = Loud("hermes")
    assert list(parser.feed("Hi")) == [Text("Hi", (0, 2))]
    assert parser.close() == [EVENTS[0]]
    assert parser.dialect == "hermes"


def test_the_core_is_compiled() -> None:
    """``make test-compiled`` says that it is; elsewhere this asks that the settings name what is there."""
    files = {name: importlib.import_module(name).__file__ or "" for name in compiled_modules()}
    assert {"toolglot.parser", "toolglot.runs", "toolglot.bodies.tagged"} <= files.keys()
    if os.environ.get("TOOLGLOT_COMPILED"):
        assert [name for name, file in files.items() if file.endswith(".py")] == []
