"""Each field case and each case of the founding contract; ``known_failures.toml`` lists exceptions."""

from __future__ import annotations

import pytest

from tests.field import FILES, Line, check, lines, why_not
from tests.known import known_failures
from tests.places import NO_SHARED, shared_folder

FOLDER = shared_folder()
LINES = [] if FOLDER is None else [line for file in FILES for line in lines(FOLDER, file)]
PARAMS = [pytest.param(line, id=line.id) for line in LINES] or [
    pytest.param(None, id="none", marks=pytest.mark.skip(reason=NO_SHARED))
]


@pytest.mark.parametrize("line", PARAMS)
def test_line(line: Line) -> None:
    reason = why_not(line)
    if reason:
        pytest.skip(reason)
    failing = known_failures(line.file)
    found = check(line)
    if line.id in failing:
        assert found, "it passes: take it off known_failures.toml"
        pytest.xfail(failing[line.id])
    assert found is None, found


@pytest.mark.skipif(FOLDER is None, reason=NO_SHARED)
@pytest.mark.parametrize("file", FILES)
def test_known_failures_name_lines(file: str) -> None:
    assert set(known_failures(file)) <= {line.id for line in LINES if line.file == file}
