"""BFCL's ground truth survives being written and read back, in every dialect: a part of it in turn.

``python -m tests.bfcl`` runs all of it.
"""

from __future__ import annotations

import pytest

import toolglot
from tests.bfcl import NO_CALLS, NOT_INSTALLED, against_schema, folder, questions, reason_for, round_trip

try:
    folder()
except LookupError:
    pytest.skip(NOT_INSTALLED, allow_module_level=True)

SLUGS = [slug for slug in toolglot.BUNDLED if slug not in NO_CALLS]
EVERY = 40


def test_the_data_are_all_there() -> None:
    assert len(questions()) == 3064
    assert sum(len(question.calls) for question in questions()) == 4298
    assert sum(map(against_schema, questions())) == 156


@pytest.mark.parametrize("slug", SLUGS)
def test_round_trip(slug: str) -> None:
    result = round_trip(slug, questions()[SLUGS.index(slug) % EVERY :: EVERY])
    assert result.failures == []
    assert [error for question, error in result.exceptions if reason_for(slug, question, error) is None] == []
    assert result.passed > 0
