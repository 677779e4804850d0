"""Fixtures and Hypothesis profiles for the whole suite."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.places import NO_SHARED, shared_folder

# No deadline: a machine that is busy is no fault of the code. The laws' texts are filtered by what a
# dialect can write, which Hypothesis would otherwise call too slow.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("dev", _COMMON, max_examples=100)
settings.register_profile("quick", _COMMON, max_examples=100, derandomize=True, print_blob=True)
settings.register_profile("ci", _COMMON, max_examples=1_000, derandomize=True, print_blob=True)
settings.register_profile("fuzz", _COMMON, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder; a test that needs it is skipped where there is none."""
    folder = shared_folder()
    if folder is None:
        pytest.skip(NO_SHARED)
    return folder


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    """The command lets integers be of any length, in all of its process; tests have Python's own limit."""
    limit = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else None
    yield
    if limit is not None:
        sys.set_int_max_str_digits(limit)
