"""What the sandbox renders is what transformers renders, by its own function for it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conversations import ANSWER, CALL, RESULT, TOKENS, TOOL, USER
from tests.test_sandbox import ESCAPES, VALUES, WRITTEN
from toolglot.derive.outcome import Failure, Reason, Rendered
from toolglot.derive.sandbox import Sandbox
from toolglot.derive.settings import NOW

peer = pytest.importorskip(
    "transformers.utils.chat_template_utils", reason="transformers is not installed: pip install transformers"
)

# Messages, tools, and whether the prompt for an answer follows.
CONVERSATIONS: dict[str, tuple[list[Any], list[Any] | None, bool]] = {
    "question": ([USER], None, True),
    "answer": ([USER, ANSWER], [TOOL], False),
    "call": ([USER, CALL], [TOOL], False),
    "result": ([USER, CALL, RESULT, ANSWER], [TOOL], True),
}


class Clock(datetime):
    """Stands still."""

    @classmethod
    def now(cls, tz: Any = None) -> Clock:
        return cls.combine(NOW.date(), NOW.time(), tz)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "datetime", Clock)


def theirs(template: str, messages: list[Any], tools: list[Any] | None, **more: Any) -> str:
    """What transformers renders, or the class of what it raises."""
    try:
        rendered, _ = peer.render_jinja_template([messages], tools=tools, chat_template=template, **more)
    except Exception as error:  # noqa: BLE001  # Whatever a template runs into.
        return f"raises {type(error).__name__}"
    return str(rendered[0])


def ours(
    sandbox: Sandbox, template: str, messages: list[Any], tools: list[Any] | None, **more: Any
) -> str | Failure:
    given = {"messages": messages, "tools": tools, "documents": None, **more}
    outcome = sandbox.render(template, given)
    return outcome.text if isinstance(outcome, Rendered) else outcome


@pytest.mark.parametrize(("template", "expected"), WRITTEN)
def test_small_templates(template: str, expected: str) -> None:
    assert theirs(template, VALUES["messages"], None, value=VALUES["value"]) == expected


@pytest.mark.parametrize("template", ESCAPES)
def test_what_is_refused(template: str) -> None:
    assert theirs(template, VALUES["messages"], None, value=VALUES["value"]).startswith("raises ")


def test_the_corpus(shared: Path) -> None:
    sandbox, compared = Sandbox(), 0
    for path in sorted((shared / "templates").glob("*.jinja")):
        template = path.read_text(encoding="utf-8")
        for name, (messages, tools, prompt) in CONVERSATIONS.items():
            more = {"add_generation_prompt": prompt, **TOKENS}
            found = ours(sandbox, template, messages, tools, **more)
            wanted = theirs(template, messages, tools, **more)
            if isinstance(found, Failure):
                assert wanted.startswith("raises "), (path.name, name, found)
                assert found.reason is not Reason.OUTPUT
            else:
                assert found == wanted, (path.name, name)
                compared += 1
    assert compared > 700
