"""derive: from a model's chat template to its dialect.

``derive(text)`` gives a ``Derived``: a dialect that was verified in both directions, or the reason why there
is none. Needs the extra ``derive`` (Jinja2).
"""

from __future__ import annotations

from .core import derive, summary
from .outcome import Derived, Evidence, Reason, Refusal, Toggle

__all__ = ["Derived", "Evidence", "Reason", "Refusal", "Toggle", "derive", "summary"]
