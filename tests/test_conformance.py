"""Each public fixture, in every mode; what is not passing yet is listed in ``known_failures.toml``."""

from __future__ import annotations

import pytest
from canitoolcall.fixtures import Fixture, load_fixtures
from canitoolcall.results import Status

from tests.conformance import MODES, Mode, fixtures, judge
from tests.known import known_failures

FIXTURES = fixtures()


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.id)
def test_fixture(fixture: Fixture, mode: Mode) -> None:
    failing = known_failures("conformance", mode.name)
    soft = known_failures("conformance", f"{mode.name}_soft")
    outcome = judge(fixture, mode)
    if fixture.id in failing:
        assert outcome.status not in (Status.PASS, Status.SOFT_PASS), (
            "it passes: take it off known_failures.toml"
        )
        pytest.xfail(failing[fixture.id])
    if fixture.id in soft:
        assert outcome.status is Status.SOFT_PASS, f"listed as a soft pass: {outcome}"
    else:
        assert outcome.status is Status.PASS, outcome.detail


def test_fixture_count() -> None:
    """A change of the pinned fixtures is noticed, and none is left out."""
    assert len(FIXTURES) == 469 == len(load_fixtures())


def test_known_failures_name_fixtures() -> None:
    ids = {f.id for f in FIXTURES}
    for mode in MODES:
        for key in (mode.name, f"{mode.name}_soft"):
            assert set(known_failures("conformance", key)) <= ids


@pytest.mark.parametrize("mode", [m for m in MODES if m.on_defect == "strict"], ids=lambda mode: mode.name)
def test_strict_has_no_failures(mode: Mode) -> None:
    """Strict is the claim that is made in public: no failure may be listed, and few soft passes."""
    assert known_failures("conformance", mode.name) == {}
    assert len(known_failures("conformance", f"{mode.name}_soft")) <= 5
