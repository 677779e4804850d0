"""settings: where a template needs more than transformers gives it.

Promises: read from the template's text alone, so that nothing is rendered to find out. Both settings only
allow more: a template that does without them renders the same with them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

NOW: Final = datetime(2025, 1, 15, 12, 0, 0, tzinfo=timezone.utc)
"""What a template's clock says."""
_CHANGES: Final = re.compile(r"\.append\(")
_DECODES: Final = re.compile(r"\bfrom_?json\b")


@dataclass(frozen=True)
class Settings:
    """Where the environment is more than transformers' own, which some templates of third parties need.

    ``mutable``: lists and dicts may be changed in place, as llama.cpp's copies of Kimi K2's templates do.
    ``decoding``: there is a filter ``from_json``, also called ``fromjson``, as in OpenVINO Model Server's
    templates.
    """

    mutable: bool = False
    decoding: bool = False


PLAIN: Final = Settings()
"""As transformers has it."""


def settings_for(template: str) -> Settings:
    """What the template's text asks for.

    >>> settings_for("{{ messages }}")
    Settings(mutable=False, decoding=False)
    >>> settings_for("{% set _ = seen.append(call.arguments | from_json) %}")
    Settings(mutable=True, decoding=True)
    """
    return Settings(
        mutable=_CHANGES.search(template) is not None, decoding=_DECODES.search(template) is not None
    )
