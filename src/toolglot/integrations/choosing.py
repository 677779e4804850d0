"""Choosing: in which dialect a model's answers are read, where no server can be asked for its template.

Promises: what the caller says for a model's id goes first, the longest pattern before others; then the
dialect of the settings; where that is ``auto``, the patterns of the bundled dialects; else ``auto`` reads the
text. Does not look at answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from ..auto import AUTO, resolve
from ..parser import Named
from ..registry import dialect_for_model
from ..wire import Settings

Dialects = Mapping[str, Named]
"""Patterns of model ids, as in a shell, and what a matching model writes."""


def checked(dialects: Dialects | None) -> dict[str, Named]:
    """``dialects``, once it is sure that each can be read. Raises as ``Settings`` does."""
    for dialect in (dialects or {}).values():
        resolve(dialect)
    return dict(dialects or {})


def settings_for(model: object, settings: Settings, dialects: Dialects) -> Settings:
    """The settings for one request's model."""
    name = model if isinstance(model, str) else ""
    lowered = name.lower()
    fitting = [pattern for pattern in dialects if fnmatchcase(lowered, pattern.lower())]
    if fitting:
        return replace(settings, dialect=dialects[max(fitting, key=len)])
    if settings.dialect != AUTO:
        return settings
    known = dialect_for_model(name)
    return replace(settings, dialect=known[0]) if known else settings
