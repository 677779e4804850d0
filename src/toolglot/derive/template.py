"""template: one chat template, asked for the text of conversations.

Promises: every render has the special tokens, a fixed clock and the settings that the template's text asks
for. A render that gives no text raises ``TemplateFault``, which the next input shape may mend; one that went
beyond a limit of time or memory raises ``Refused``, since more of them would only cost the same again.

Does not: render. That is the renderer's: a ``Worker`` for what is not trusted, a ``Sandbox`` in this process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Protocol

from ..errors import DerivationError
from .derived import Refused
from .outcome import Failure, Outcome, Reason, Rendered, Variables
from .settings import Settings, settings_for

SPECIAL: Final = {f"{word}_token": f"<{word}-token>" for word in ("bos", "eos", "unk", "pad")}
"""What stands for the tokenizer's special tokens where the caller does not say."""
_LIMITS: Final = (Reason.TIMEOUT, Reason.MEMORY, Reason.OUTPUT, Reason.CRASHED)


class Renderer(Protocol):
    """What can render: ``Worker`` and ``Sandbox``."""

    def variables(self, template: str, settings: Settings = ...) -> Variables | Failure:
        """The variables that a template reads, or why it is none."""
        ...

    def render(self, template: str, variables: Mapping[str, Any], settings: Settings = ...) -> Outcome:
        """The text of a template, or why there is none."""
        ...


class TemplateFault(DerivationError):
    """A template gave no text for one input; ``failure`` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Template:
    """A template's text with what renders it and the tokenizer's special tokens."""

    def __init__(
        self, text: str, renderer: Renderer, special_tokens: Mapping[str, str] | None = None
    ) -> None:
        self.text = text
        self.special = {**SPECIAL, **(special_tokens or {})}
        self._renderer = renderer
        self._settings = settings_for(text)
        self._kept: dict[str, Outcome] = {}

    def check(self) -> None:
        """Raise ``Refused`` where the text is no template."""
        outcome = self._renderer.variables(self.text, self._settings)
        if isinstance(outcome, Failure):
            raise Refused("syntax" if outcome.reason is Reason.SYNTAX else "timeout", str(outcome))

    def render(self, messages: list[dict[str, Any]], *, prompt: bool = False, **variables: Any) -> str:
        """The text of a conversation; ``prompt``: whether the start of the next answer is added.

        Raises ``TemplateFault``, and ``Refused`` where a limit was reached or the text is no template.
        """
        context = {**self.special, "documents": None, **variables}
        context.update(messages=messages, add_generation_prompt=prompt)
        # Probes ask for the same text again and again, and a render never changes.
        key = json.dumps(context)
        outcome = self._kept.get(key)
        if outcome is None:
            outcome = self._kept[key] = self._renderer.render(self.text, context, self._settings)
        if isinstance(outcome, Rendered):
            return outcome.text
        if outcome.reason in _LIMITS:
            raise Refused("timeout", str(outcome))
        if outcome.reason is Reason.SYNTAX:
            raise Refused("syntax", str(outcome))
        raise TemplateFault(outcome)
