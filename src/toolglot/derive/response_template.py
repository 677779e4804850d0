"""response_template: transformers' response templates, read as dialects and written from them.

A response template (transformers 5.13 and later) travels in a checkpoint's ``tokenizer_config.json`` and says
how the model's text becomes a message; ``response_schema`` is its older form. Both are data, and so is a
dialect: what both can say is carried over, and what one of them has no words for raises
``ResponseTemplateError``, which names it.

Promises: no regular expression of a template is ever run; they are read, and a pattern that is not made of
literals, white space and one name is refused. A dialect that comes out is checked as one from a file is.

Does not: import transformers, or read a checkpoint's files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialect import Dialect
from .response_schema import read_schema
from .template_export import export, losses
from .template_import import read_template

__all__ = ["from_config", "from_response_template", "from_response_schema", "to_response_template", "losses"]


def from_config(config: Mapping[str, Any], slug: str = "response_template") -> Dialect | None:
    """The dialect that a tokenizer's configuration carries, or None where it carries none.

    ``config`` is a checkpoint's ``tokenizer_config.json``. A ``response_template`` goes before a
    ``response_schema``. Raises ``ResponseTemplateError``.

    >>> from_config({"chat_template": "{{ messages }}"}) is None
    True
    """
    if config.get("response_template") is not None:
        return from_response_template(config["response_template"], slug)
    if config.get("response_schema") is not None:
        return from_response_schema(config["response_schema"], slug)
    return None


def from_response_template(template: Mapping[str, Any], slug: str = "response_template") -> Dialect:
    """The dialect that a response template (version 1) describes, by the name ``slug``.

    Raises ``ResponseTemplateError`` where a field is no part of a message, where a marker is not literal, or
    where no codec reads its calls.
    """
    return read_template(template, slug)


def from_response_schema(schema: Mapping[str, Any], slug: str = "response_schema") -> Dialect:
    """The dialect that a ``response_schema``, the older form, describes, by the name ``slug``.

    Raises ``ResponseTemplateError`` where it cannot be told from the literal texts in its patterns.
    """
    return read_schema(schema, slug)


def to_response_template(
    dialect: Dialect, *, reasoning: str = "reasoning_content", join: bool = True
) -> dict[str, Any]:
    """The response template (version 1) with which transformers reads the dialect.

    Only the first body is carried, and no repair: ``losses`` lists what is left out. Arguments that the
    format writes as raw text stay text in transformers unless it is given the request's ``tools``.

    ``reasoning`` is the field's name. With ``join`` all pieces of content count, and of reasoning; without it
    only the last. vLLM 0.33 takes no template but one with ``thinking`` and without ``join``. Raises
    ``ResponseTemplateError`` where the dialect's calls cannot be said in that format.
    """
    return export(dialect, reasoning, join)
