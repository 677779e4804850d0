"""A long declared string goes out while it is written, in every dialect that marks its calls."""

from __future__ import annotations

import pytest

import toolglot
from tests.holding import MOST, held, why_not


@pytest.mark.parametrize("slug", [slug for slug in toolglot.BUNDLED if slug != "none"])
def test_a_long_string_is_held_briefly_or_there_is_a_reason(slug: str) -> None:
    most = held(slug)
    if why_not(slug):
        assert most is None or most > MOST, f"{slug} streams: its reason can go"
    else:
        assert most is not None
        assert most <= MOST
