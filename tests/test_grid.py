"""Every dialect shows every behaviour of the grid in a case, or its case file says why it cannot."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import toolglot
from tests.casefile import CaseFileError, not_applicable, read
from tests.grid import behaviours, excused, shown
from tests.places import NO_SHARED, TESTS, shared_folder

SLUGS = {behaviour.slug for behaviour in behaviours()}


@pytest.mark.parametrize("dialect", toolglot.BUNDLED)
def test_a_dialect_shows_each_behaviour_or_says_why_not(dialect: str) -> None:
    has = {slug for slug in SLUGS if shown().get((dialect, slug))}
    cannot = {slug for slug in SLUGS if (dialect, slug) in excused()}
    assert has | cannot == SLUGS
    assert not has & cannot


def test_only_known_behaviours_are_named() -> None:
    assert {slug for _, slug in shown()} <= SLUGS
    assert {slug for _, slug in excused()} <= SLUGS


def test_a_line_before_the_first_case_must_be_a_reason(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("cases") / "x.txt"
    file.write_text("not applicable ids: the format writes none\n\n=== A\n", encoding="utf-8")
    assert not_applicable(file) == {"ids": "the format writes none"}
    for bad in ("ids: none", "not applicable ids", "not applicable ids: "):
        file.write_text(f"{bad}\n=== A\n", encoding="utf-8")
        with pytest.raises(CaseFileError, match="expected 'not applicable SLUG: REASON'"):
            not_applicable(file)


def test_each_kind_of_field_fault_has_two_inputs_of_our_own() -> None:
    folder = shared_folder()
    if folder is None:
        pytest.skip(NO_SHARED)
    lines = (folder / "cases" / "field.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = {json.loads(line)["kind"] for line in lines}
    own = Counter(case.kind for file in (TESTS / "cases").glob("*.txt") for case in read(file) if case.kind)
    assert len(kinds) == 109
    assert {kind for kind in kinds if own[kind] < 2} == set()
