"""Texts without a call yield none, under any dialect, and come back as they were."""

from __future__ import annotations

import os

import pytest

import toolglot
from tests.delivery import markers_of, tokens
from tests.negatives import Negative, fault, negatives

QUICK = os.environ.get("HYPOTHESIS_PROFILE") == "quick"
TEXTS = list(negatives())
texts = pytest.mark.parametrize("negative", [pytest.param(text, id=text.id) for text in TEXTS])


def test_the_corpus_is_large_and_has_no_text_twice() -> None:
    assert len(TEXTS) >= 400
    assert len({text.raw for text in TEXTS}) == len(TEXTS)


@texts
@pytest.mark.parametrize("tools", [True, False], ids=["tools", "no tools"])
def test_auto(negative: Negative, tools: bool) -> None:
    text = negative.raw
    for deltas in (None, list(text), tokens(text, markers_of("auto"))):
        assert fault(text, "auto", tools=tools, deltas=deltas) is None


@pytest.mark.skipif(QUICK, reason="the profile quick asks auto alone: all dialects are asked on one Python")
@texts
def test_every_dialect(negative: Negative) -> None:
    """With tools under each dialect; without, and one character a delta, under a part of them in turn."""
    text, turn = negative.raw, TEXTS.index(negative)
    for number, slug in enumerate(slug for slug in toolglot.BUNDLED if slug not in negative.uses):
        assert fault(text, slug, tools=True) is None
        if (number + turn) % 3 == 0:
            assert fault(text, slug, tools=False) is None
        if (number + turn) % 30 == 0:
            assert fault(text, slug, tools=True, deltas=list(text)) is None
