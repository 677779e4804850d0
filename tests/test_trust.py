"""trust: which word is believed, and that one template is derived once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.test_derive import HERMES, TAGGED
from toolglot.derive import (
    Cache,
    Failure,
    Outcome,
    Reason,
    Settings,
    TemplateSource,
    Variables,
    derive,
    known,
)
from toolglot.derive.sandbox import Sandbox


class Counted:
    """A renderer that counts what it is asked."""

    def __init__(self) -> None:
        self.renders = 0
        self._sandbox = Sandbox()

    def variables(self, template: str, settings: Settings = Settings()) -> Variables | Failure:  # noqa: B008
        return self._sandbox.variables(template, settings)

    def render(
        self,
        template: str,
        variables: Mapping[str, Any],
        settings: Settings = Settings(),  # noqa: B008
    ) -> Outcome:
        self.renders += 1
        return self._sandbox.render(template, variables, settings)


class Slow(Counted):
    """A renderer whose templates all take too long."""

    def render(
        self,
        template: str,
        variables: Mapping[str, Any],
        settings: Settings = Settings(),  # noqa: B008
    ) -> Outcome:
        self.renders += 1
        return Failure(Reason.TIMEOUT, "not done after 5 s")


def test_a_known_template_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = TemplateSource("default", TAGGED).sha256
    monkeypatch.setattr(known, "_known", lambda: {sha256[:12]: "gemma4"})
    derived = derive(TAGGED, renderer=Sandbox(), cache=Cache())
    assert (derived.confidence, derived.builtin) == ("exact", "gemma4")
    assert derived.dialect is toolglot.resolve("gemma4")
    assert derived.render(toolglot.Message(tool_calls=(toolglot.ToolCall("f", {}),))).startswith(
        "<|im_start|>"
    )


DECLARED = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<c>",
            "close": "</c>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|im_end|>"},
    },
}


def test_what_the_checkpoint_declares_goes_first() -> None:
    props = {"chat_template": HERMES, "response_template": DECLARED}
    derived = derive(props, renderer=Sandbox(), cache=Cache())
    assert derived.confidence == "declared"
    assert derived.dialect is not None
    assert derived.dialect.envelope.open == ("<c>",)


def test_a_declaration_that_cannot_be_read_is_told() -> None:
    props = {"chat_template": HERMES, "response_template": {"fields": {"score": {"open": "<n>"}}}}
    derived = derive(props, renderer=Sandbox(), cache=Cache())
    assert (derived.confidence, derived.builtin) == ("builtin", "hermes")
    assert [reason.code for reason in derived.refusals] == ["response-template"]


def test_a_template_that_is_known_and_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = TemplateSource("default", "{{ messages }}").sha256
    monkeypatch.setattr(known, "_known", lambda: {sha256[:12]: "lfm2"})
    derived = derive("{{ messages }}", renderer=Sandbox(), cache=Cache())
    assert (derived.confidence, derived.builtin) == ("exact", "lfm2")
    assert [reason.code for reason in derived.refusals] == ["no-tool-calls-in-template"]


def test_markers_in_the_system_s_text_are_a_guess() -> None:
    text = 'Answer <tool_call>{"name": …, "arguments": …}</tool_call>{{ messages[0].content }}'
    derived = derive(text, renderer=Sandbox(), cache=Cache())
    assert (derived.confidence, derived.builtin) == ("guessed", "hermes")
    assert [reason.code for reason in derived.refusals] == ["no-tool-calls-in-template"]


def test_no_word_at_all() -> None:
    derived = derive("{{ messages[0].content }}", renderer=Sandbox(), cache=Cache())
    assert (derived.confidence, derived.dialect, derived.builtin) == ("refused", None, "")


def test_a_template_is_derived_once() -> None:
    cache, renderer = Cache(), Counted()
    first = derive(HERMES, renderer=renderer, cache=cache)
    asked = renderer.renders
    assert derive(TemplateSource("other", HERMES), renderer=renderer, cache=cache) is first
    assert renderer.renders == asked
    derive(HERMES, renderer=renderer, cache=cache, special_tokens={"eos_token": "</s>"})
    assert renderer.renders > asked


def test_the_cache_forgets_what_was_not_used() -> None:
    cache, sources = Cache(2), [TemplateSource("default", str(number)) for number in range(3)]
    derived = derive("{{ messages }}", renderer=Sandbox(), cache=Cache())
    for source in (sources[0], sources[1]):
        cache.put(source, derived)
    assert cache.get(sources[0]) is derived
    cache.put(sources[2], derived)
    assert [cache.get(source) is derived for source in sources] == [True, False, True]


def test_a_template_without_end_is_asked_once() -> None:
    renderer = Slow()
    derived = derive(HERMES, renderer=renderer, cache=Cache())
    assert [reason.code for reason in derived.refusals] == ["timeout"]
    assert renderer.renders == 1


def test_sources_are_read(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": HERMES, "eos_token": "</s>"}), encoding="utf-8"
    )
    assert derive(tmp_path, renderer=Sandbox(), cache=Cache()).builtin == "hermes"
    assert derive({"chat_template": HERMES}, renderer=Sandbox(), cache=Cache()).builtin == "hermes"


@pytest.mark.parametrize("slug", known.slugs())
def test_known_dialects_are_bundled(slug: str) -> None:
    assert slug in toolglot.BUNDLED
