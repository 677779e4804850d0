"""sandbox: one chat template, compiled and rendered in an environment like transformers'.

Promises: an immutable sandbox with blocks trimmed, the filters and globals that checkpoints rely on and a
fixed clock, so that two renders never differ by their date; whatever a template does wrong comes out as
``TemplateFault`` with a kind and a message.

Does not: bound time or memory. That is the worker's, in which untrusted templates run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from ..errors import DerivationError

if TYPE_CHECKING:
    from jinja2 import Environment

NOW: Final = datetime(2025, 1, 15, 12, 0, 0, tzinfo=timezone.utc)
"""The time that every template is told."""

SPECIAL: Final = {f"{word}_token": f"<{word}-token>" for word in ("bos", "eos", "unk", "pad")}
"""What stands for the tokenizer's special tokens where the caller does not say."""

_NEEDS_JINJA: Final = "deriving needs Jinja2: pip install 'toolglot[derive]'"


class TemplateFault(DerivationError):
    """A template did not compile or did not render. ``kind`` is ``syntax``, ``undefined`` or ``raised``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def environment(*, mutable: bool = False) -> Environment:
    """The environment that transformers gives a chat template, and two filters that some copies assume.

    ``mutable``: for templates that call a list's ``append``, which the immutable sandbox refuses.
    Raises ``DerivationError`` where Jinja2 is not installed.
    """
    try:
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
    except ImportError as error:
        raise DerivationError(_NEEDS_JINJA) from error
    from .generation import Generation

    kind = SandboxedEnvironment if mutable else ImmutableSandboxedEnvironment
    made = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    made.filters.update(tojson=_to_json, from_json=json.loads, fromjson=json.loads)
    made.globals.update(raise_exception=_raise, strftime_now=NOW.strftime)
    return made


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise(message: object) -> None:
    from jinja2 import TemplateError

    raise TemplateError(str(message))


class Template:
    """A compiled template. Raises ``TemplateFault`` where the text is none."""

    def __init__(self, text: str, special_tokens: Mapping[str, str] | None = None) -> None:
        from jinja2 import TemplateSyntaxError

        self.text = text
        self.special = {**SPECIAL, **(special_tokens or {})}
        made = environment(mutable=".append(" in text)
        try:
            self._compiled = made.from_string(text)
        except (TemplateSyntaxError, RecursionError) as error:
            raise TemplateFault("syntax", f"the template is no Jinja2: {error}") from error

    def render(self, messages: list[dict[str, Any]], *, prompt: bool = False, **variables: Any) -> str:
        """The text of a conversation; ``prompt``: whether the start of the next answer is added."""
        from jinja2 import TemplateError, UndefinedError

        context = {**self.special, "documents": None, **variables}
        try:
            return self._compiled.render(messages=messages, add_generation_prompt=prompt, **context)
        except UndefinedError as error:
            raise TemplateFault("undefined", str(error)) from error
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
            raise TemplateFault("raised", str(error)) from error
        except (RecursionError, ArithmeticError) as error:
            raise TemplateFault("raised", f"{type(error).__name__}: {error}") from error
