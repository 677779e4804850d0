"""specwrite: a dialect's data written and read again."""

from __future__ import annotations

import pytest

import toolglot
from toolglot.registry import load_file


@pytest.mark.parametrize("slug", toolglot.BUNDLED)
def test_there_and_back(slug: str) -> None:
    dialect = load_file(slug)
    assert toolglot.Dialect.from_dict(dialect.to_dict()) == dialect
    if not any(None in arguments.values() for one in dialect.examples for _, arguments in one.calls):
        assert toolglot.Dialect.from_toml(dialect.to_toml()) == dialect


def test_only_what_is_no_default_is_written() -> None:
    dialect = toolglot.Dialect.from_dict(
        {
            "slug": "own",
            "envelope": {"open": ["<c>"], "close": "</c>"},
            "body": [{"codec": "json_object"}],
            "example": [{"raw": "<c>{}</c>", "calls": [{"name": "f", "arguments": {"a b": [1.5, True]}}]}],
        }
    )
    assert dialect.to_dict() == {
        "slug": "own",
        "envelope": {"open": ["<c>"], "close": ["</c>"]},
        "body": [{"codec": "json_object"}],
        "example": [{"raw": "<c>{}</c>", "calls": [{"name": "f", "arguments": {"a b": [1.5, True]}}]}],
    }
    assert dialect.to_toml() == (
        'slug = "own"\n\n[envelope]\nopen = ["<c>"]\nclose = ["</c>"]\n\n[[body]]\ncodec = "json_object"\n\n'
        '[[example]]\nraw = "<c>{}</c>"\ncalls = [{ "name" = "f", "arguments" = { "a b" = [1.5, true] } }]\n'
    )


def test_toml_has_no_null() -> None:
    dialect = toolglot.Dialect.from_dict(
        {
            "slug": "own",
            "body": [{"codec": "json_object"}],
            "example": [{"raw": "x", "calls": [{"name": "f", "arguments": {"a": None}}]}],
        }
    )
    with pytest.raises(TypeError, match="TOML has no null"):
        dialect.to_toml()


def test_every_character_of_a_marker_survives() -> None:
    marker = 'a"\\\t\n\x7f\u2028é￿'
    dialect = toolglot.Dialect.from_dict(
        {"slug": "own", "envelope": {"open": [marker]}, "body": [{"codec": "json_object"}]}
    )
    assert toolglot.Dialect.from_toml(dialect.to_toml()).envelope.open == (marker,)
