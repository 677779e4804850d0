"""The demo runs, checks itself, and shows what it promises."""

from __future__ import annotations

import pytest

from tests.places import ROOT
from tests.test_docs import load


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    demo = load("examples/demo.py")
    assert demo.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "Checked: 9 outputs, each the same whole, token by token and character by character."
    assert len(lines) <= 230
    before, after = (lines.index(f"  {word}: what a client has") for word in ("before", "after"))
    assert any("<tool_call>" in line for line in lines[before:after])
    assert not any("<tool_call>" in line for line in lines[after:])
    assert any(line.startswith("    tool_calls") and "get_weather" in line for line in lines[after:])
    assert max(map(len, lines)) <= 110


def test_demo_tells_a_difference(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    demo = load("examples/demo.py")
    monkeypatch.setattr(demo, "outcome", lambda message: object())
    assert demo.main() == 1
    assert (
        "DIFFERENT from the whole: hermes_thinking (token), hermes_thinking (char)" in capsys.readouterr().out
    )


def test_every_output_is_shown() -> None:
    demo = load("examples/demo.py")
    outputs = {path.stem for path in (ROOT / "examples" / "outputs").glob("*.txt")}
    assert outputs == {sample.file for sample in demo.SAMPLES}
