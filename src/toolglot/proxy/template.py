"""Template: the dialect of the chat template that an upstream offers, through ``toolglot.derive``.

Promises: a template is only looked at where the extra ``derive`` is installed, and in a thread: no
request waits for it. What cannot be derived is a reason to read, never an error.

Does not: decide (``choice``), or ask the upstream (``upstream``). Nor use what the template says of the
prompt's end: a server that splits reasoning off has consumed it, and its content does not begin in thinking.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..dialect import Dialect
from ..errors import ToolglotError


class Offered(NamedTuple):
    """What a template gave: a dialect, or None and the reason why there is none."""

    dialect: Dialect | None
    reason: str


def of_props(props: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    """Template and special tokens out of llama-server's ``/props``; None where there is no template."""
    text = props.get("chat_template_tool_use") or props.get("chat_template")
    if not isinstance(text, str) or not text:
        return None
    tokens = {name: props[name] for name in ("bos_token", "eos_token") if isinstance(props.get(name), str)}
    return text, tokens


def of_show(shown: Mapping[str, Any]) -> tuple[str, dict[str, str]] | None:
    """The Jinja template out of Ollama's ``/api/show``; None where the model has only a Go template."""
    info = shown.get("model_info")
    text = info.get("tokenizer.chat_template") if isinstance(info, dict) else None
    return (text, {}) if isinstance(text, str) and text else None


def derive(text: str, special_tokens: Mapping[str, str]) -> Offered:
    """The dialect of a chat template. Slow: call it in a thread."""
    try:
        entry = getattr(importlib.import_module("toolglot.derive"), "derive", None)
    except ImportError:
        entry = None
    if entry is None:
        return Offered(None, "reading the upstream's template needs the extra derive")
    try:
        derived = entry(text, special_tokens=dict(special_tokens))
    except ImportError as error:
        return Offered(None, f"reading the upstream's template needs the extra derive: {error}")
    except ToolglotError as error:
        return Offered(None, f"the upstream's template gives no dialect: {error}")
    if derived.dialect is None:
        refusals = "; ".join(refusal.code for refusal in derived.refusals)
        return Offered(None, f"the upstream's template gives no dialect: {refusals or 'no reason given'}")
    return Offered(derived.dialect, f"the upstream's template says so ({derived.confidence})")
