"""Derive: a dialect from a model's own chat template. Needs the extra ``derive``, which is Jinja2.

``derive(source)`` gives a ``Derived``: a dialect that was verified in both directions, or the reason why
there is none.

Promises: a template is untrusted code and is only rendered in a sandbox, in a process of its own with
limits on time and memory. Importing this package imports no Jinja2.

Does not: fetch anything from a network, or derive anything unless it is asked to.
"""

from .core import summary
from .derived import Derived, Evidence, Refusal, Toggle
from .outcome import Failure, Outcome, Reason, Rendered, Variables
from .response_template import (
    from_config,
    from_response_schema,
    from_response_template,
    losses,
    to_response_template,
)
from .settings import Settings, settings_for
from .sources import TemplateSource, for_tools, from_path, from_props, read_templates
from .trust import Cache, derive
from .worker import Worker

__all__ = [
    "derive",
    "summary",
    "Derived",
    "Evidence",
    "Refusal",
    "Toggle",
    "Cache",
    "read_templates",
    "from_path",
    "from_props",
    "for_tools",
    "TemplateSource",
    "from_config",
    "from_response_template",
    "from_response_schema",
    "to_response_template",
    "losses",
    "Worker",
    "Settings",
    "settings_for",
    "Outcome",
    "Rendered",
    "Failure",
    "Reason",
    "Variables",
]
