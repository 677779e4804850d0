"""The benchmark's texts and sums; nothing is timed."""

from __future__ import annotations

import pytest
from bench.samples import Samples, growth, shown
from bench.targets import Target
from bench.workloads import FORMATS, Workload, split, workloads

import toolglot

TEXTS = [w for w in workloads() if w.size not in (64, 256)]


@pytest.mark.parametrize("workload", TEXTS, ids=lambda w: w.id)
def test_a_text_has_the_calls_that_it_says(workload: Workload) -> None:
    assert "".join(workload.deltas) == workload.text
    message = toolglot.parse(workload.text, workload.dialect, tools=workload.tools)
    assert [(call.name, call.arguments) for call in message.tool_calls] == workload.calls
    assert message.defects == ()


def test_markers_are_one_delta_each() -> None:
    assert split("abcdefg<think>hi</think>", FORMATS["hermes"].marks) == [
        *("abcd", "efg", "<think>", "hi", "</think>"),
    ]


def test_a_ratio_is_taken_within_the_rounds() -> None:
    rows = [
        {"round": n, "entry": entry, "text": "hermes 1 KB", "mode": "stream", "seconds": seconds}
        for entry, times in (("a", [2.0, 40.0, 6.0]), ("b", [1.0, 10.0, 2.0]))
        for n, seconds in enumerate(times)
    ]
    samples = Samples(rows)
    a, b = ("a", "hermes 1 KB", "stream"), ("b", "hermes 1 KB", "stream")
    assert samples.median(a) == 6.0
    assert samples.ratio(a, b) == 3.0
    assert samples.ratio(a, ("c", "hermes 1 KB", "stream")) is None


def test_growth_is_the_slope_over_the_characters() -> None:
    texts = [Workload("k", size, "hermes", "x" * size, []) for size in (10, 100, 1000)]
    rows = [
        {"round": 0, "entry": "a", "text": w.id, "mode": "stream", "seconds": 1e-6 * w.size**2} for w in texts
    ]
    slope = growth(Samples(rows), "a", "k", "stream", texts)
    assert slope is not None
    assert round(slope, 9) == 2.0


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.0, "0"), (0.01234, "0.0123"), (3.14159, "3.14"), (12345.6, "12,346")]
)
def test_figures_have_three_digits_that_count(value: float | None, text: str) -> None:
    assert shown(value) == text


def test_a_target_is_met_on_the_right_side_of_its_limit() -> None:
    assert Target("", 2.0, 2, True).met is True
    assert Target("", 2.1, 2, True).met is False
    assert Target("", 2.1, 2, False).met is True
    assert Target("", None, 2, False).met is None
