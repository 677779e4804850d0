"""The corpus of templates, in part: one of each body syntax; ``make derive`` has them all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.derivation import GOLDEN, corpus, fault, line_of, outcome
from tests.known import load_toml
from tests.places import NO_SHARED, shared_folder
from toolglot.derive import Worker

FOLDER = shared_folder()
KEPT = load_toml(GOLDEN)
SOME = (
    *("NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja", "Kimi-K2-Instruct.jinja", "GLM-4.6.jinja"),
    *("Apertus-8B-Instruct.jinja", "trl-gemma4.jinja", "muse-glimmer.jinja", "vllm-toolace.jinja"),
)

pytestmark = pytest.mark.skipif(FOLDER is None, reason=NO_SHARED)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


@pytest.mark.parametrize("name", SOME)
def test_template(name: str, worker: Worker) -> None:
    assert FOLDER is not None
    found = outcome(FOLDER / "templates" / name, worker)
    assert found.wrong == ""
    assert line_of(found) == KEPT["summaries"][name]


def test_every_template_is_kept() -> None:
    assert FOLDER is not None
    assert list(KEPT["summaries"]) == sorted(corpus(FOLDER))


def test_a_wrong_dialect_is_seen(worker: Worker) -> None:
    """The check on texts that derivation never saw can fail."""
    assert FOLDER is not None
    path = FOLDER / "templates" / SOME[0]
    other = outcome(FOLDER / "templates" / SOME[2], worker).derived
    assert fault(path.read_text(encoding="utf-8"), other, worker).startswith("render: ")
