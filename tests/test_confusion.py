"""The automatic choice gives what the named dialect gives."""

from __future__ import annotations

from tests.confusion import pairs, share


def test_auto_agrees_with_the_named_dialect() -> None:
    same, count = share(tools=True)
    assert same >= 0.98 * count
    # Shapes without a marker are taken only for offered tools, so that without tools fewer can be the same.
    same, count = share(tools=False)
    assert same >= 0.9 * count


def test_every_dialect_is_in_the_matrix() -> None:
    assert len({pair.sample.dialect for pair in pairs()}) >= 73
