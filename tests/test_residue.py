"""The drift alarm: markup in the text that clients see."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from tests.delivery import random_pieces
from tests.strategies import FRAGMENTS
from toolglot.residue import Residue, known_markers
from toolglot.scanner import counting


def watch(pieces: list[str], dialect: str = "none") -> Residue:
    watcher = Residue(dialect)
    for piece in pieces:
        watcher.feed(piece)
    watcher.close()
    return watcher


def test_the_known_markers_are_made_from_the_data() -> None:
    known = set(known_markers())
    dialects = [toolglot.resolve(slug) for slug in toolglot.BUNDLED]
    texts = {m for d in dialects if isinstance(d, toolglot.Dialect) for m in d.markers()}
    # A tag with a key and a word with its bracket are longer than their marker.
    assert all(any(m.startswith(text) for text in texts) for m in known)
    assert {
        "<tool_call>",
        "</tool_call>",
        "<function=",
        "[TOOL_CALLS]",
        "functools[",
        '<invoke name="',
    } <= known
    prose = (
        "<tools>",
        "<function>",
        "</function>",
        "<think>",
        "Action:",
        "```json\n",
        "functions.",
        "{",
        "function",
    )
    assert not known.intersection(prose)


@pytest.mark.parametrize("marker", known_markers())
def test_each_marker_alone(marker: str) -> None:
    watcher = watch(list(f"so {marker} it"))
    # One marker may begin another, or hold one: the first in the text counts.
    assert watcher.hit is not None
    assert watcher.hit in marker


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("write `<tool_call>` here", None),
        ("write ``a ` <tool_call>`` here", None),
        ("an odd ` then <tool_call>", "<tool_call>"),
        ("an odd `\nthen <tool_call>", "<tool_call>"),
        ("`a` then <tool_call>", "<tool_call>"),
        ("```xml\n<tool_call>\n```\nthat is all", None),
        ("```xml\n<tool_call>\n```\n</tool_call>", "</tool_call>"),
        ("~~~\n<tool_call>\n```\n<tool_call>\n~~~\n", None),
        ("  - ```\n    <tool_call>", None),
        ("not ```a fence <tool_call>", "<tool_call>"),
        ("````\n```\n<tool_call>\n````\n", None),
        ("a <b> and [list] of {x: 1}", None),
    ],
)
def test_code_is_no_residue(text: str, hit: str | None) -> None:
    for pieces in ([text], list(text)):
        assert watch(pieces).hit == hit


def test_the_dialect_that_is_read_has_more_markers() -> None:
    assert watch(["</think> yes"], "hermes").hit == "</think>"
    assert watch(["</think> yes"], "none").hit is None
    assert watch(["Action: go"], "react").hit is None


def test_evidence_is_bounded() -> None:
    watcher = watch(["x" * 200, "<tool_call>", "y" * 60, "z" * 60, " </tool_call>"])
    assert watcher.evidence == "x" * 48 + "<tool_call>" + "y" * 60 + "z" * 20
    assert (watcher.hit, watcher.hits) == ("<tool_call>", 2)
    assert watch(["nothing"]).evidence == ""


_PIECES = st.lists(
    st.sampled_from([*FRAGMENTS, *known_markers()[::7], "<tool_call>", "`", "```", "\n"]), max_size=12
)


@given(pieces=_PIECES, seed=st.integers(0, 999))
def test_any_split_gives_the_same(pieces: list[str], seed: int) -> None:
    text = "".join(pieces)
    whole = watch([text])
    for split in (list(text), random_pieces(text, seed)):
        other = watch(split)
        assert (other.hit, other.hits, other.evidence) == (whole.hit, whole.hits, whole.evidence)


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_work_is_linear(size: int) -> None:
    rng = random.Random(size)
    text = "".join(rng.choice(["<tool", "_call", "` ", "<", "word ", "\n", "``"]) for _ in range(4000))
    watcher = Residue("hermes")
    with counting() as count:
        for at in range(0, len(text), size):
            watcher.feed(text[at : at + size])
    assert count.characters <= 20 * len(text)
