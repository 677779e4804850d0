"""environment: Jinja2 set up as chat templates expect it.

Promises: what transformers 5.24.0 gives a chat template (``_compile_jinja_template`` in its
``utils/chat_template_utils.py``): an immutable sandbox; ``trim_blocks`` and ``lstrip_blocks``; ``break`` and
``continue``; a ``generation`` block, which writes its body; ``tojson`` that keeps key order and characters
beyond ASCII, escapes nothing for HTML and takes ``ensure_ascii``, ``indent``, ``separators`` and
``sort_keys``; ``raise_exception`` and ``strftime_now``; ``dict`` and ``namespace`` without a way to Python's
internals. What differs: the clock stands still, so that two renders never differ by their time, and
``settings`` may allow more.

Does not: bound time or memory (``worker``), or read files: a template cannot include another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.utils
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from .settings import NOW, PLAIN, Settings


class Raised(jinja2.TemplateError):
    """A template called ``raise_exception``."""


class Generation(jinja2.ext.Extension):
    """The block ``generation``, which marks what the model itself wrote and writes its body."""

    tags = {"generation"}  # noqa: RUF012  # Jinja2 declares it so

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # What is set inside is not seen outside, as in transformers, where the body is a call block's.
        return jinja2.nodes.Scope(body).set_lineno(line)


class Dict:
    """What ``dict`` is in a template: it makes dicts, and is not the type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        """As ``dict.fromkeys``."""
        return dict.fromkeys(*args)


class Namespace(jinja2.utils.Namespace):
    """What ``namespace`` is in a template: attributes that may be set, and never begin with an underscore."""

    # Positional, as Jinja2's own, so that an attribute may be called self.
    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        attributes = dict(*rest, **kwargs)
        for name in attributes:
            _check_name(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(
            f"a namespace cannot hold {name!r}: it begins with an underscore"
        )


def raise_exception(message: object) -> NoReturn:
    """End the render with the template's own message."""
    # As text at once: a value that cannot be written must fail here, where it is the template's fault.
    raise Raised(str(message))


def strftime_now(form: str) -> str:
    """The fixed time in the form that the template asks for.

    >>> strftime_now("%d %b %Y")
    '15 Jan 2025'
    """
    return NOW.strftime(form)


def tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON for a prompt.

    >>> tojson({"b": "<é>", "a": [1, None]})
    '{"b": "<é>", "a": [1, null]}'
    """
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def environment(settings: Settings = PLAIN) -> SandboxedEnvironment:
    """An environment to compile chat templates in."""
    kind = SandboxedEnvironment if settings.mutable else ImmutableSandboxedEnvironment
    made = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    made.filters["tojson"] = tojson
    if settings.decoding:
        made.filters.update({"from_json": json.loads, "fromjson": json.loads})
    made.globals.update(_globals())
    return made


def _globals() -> Mapping[str, Any]:
    return {
        "raise_exception": raise_exception,
        "strftime_now": strftime_now,
        "dict": Dict(),
        "namespace": Namespace,
    }
