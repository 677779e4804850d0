"""The examples in the docstrings of the library and of the tests' helpers."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import toolglot

# The module runs the command when it is imported.
COMMAND = "toolglot.__main__"
LIBRARY = [m.name for m in pkgutil.walk_packages(toolglot.__path__, "toolglot.") if m.name != COMMAND]
HELPERS = ["tests.casefile", "tests.delivery"]


@pytest.mark.parametrize("name", ["toolglot", *LIBRARY, *HELPERS])
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), raise_on_error=False)
    assert result.failed == 0


def test_there_are_examples() -> None:
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in HELPERS) >= 4
