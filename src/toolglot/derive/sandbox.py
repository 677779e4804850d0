"""sandbox: a template rendered in this process.

Promises: whatever a template's code runs into becomes a ``Failure``; the caller's data are not changed. The
text that comes out is bounded, and so is the cache of compiled templates.

Does not: bound time or memory, which takes a process that can be ended: that is ``worker``'s. So untrusted
templates do not belong here, but there.
"""

from __future__ import annotations

import copy
import random
import re
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

import jinja2
import jinja2.meta
from jinja2.exceptions import SecurityError

from .environment import Raised, environment
from .outcome import Failure, Outcome, Reason, Rendered, Variables
from .settings import PLAIN, Settings

LONGEST_OUTPUT: Final = 1 << 22
"""Characters of one render."""
LONGEST_MESSAGE: Final = 2000
"""Characters of a failure's message, which may be the template's own."""
KEPT: Final = 8
"""Compiled templates."""

# All that Python code raises when its data are wrong. What is not here would be a fault of ours.
_FAULTS: Final = (
    jinja2.TemplateError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
)
_REASONS: Final = (
    (Raised, Reason.RAISED),
    (SecurityError, Reason.FORBIDDEN),
    (jinja2.UndefinedError, Reason.UNDEFINED),
    (jinja2.TemplateSyntaxError, Reason.SYNTAX),
    # Python's own: blocks nested deeper than it compiles.
    (SyntaxError, Reason.SYNTAX),
    (MemoryError, Reason.MEMORY),
)
_FILENAME: Final = "chat template"
"""By which a traceback tells the template's own lines from the engine's."""
_VARIABLE: Final = re.compile(r"'(\w+)' is undefined")


class Sandbox:
    """Renders templates that are trusted, in this process."""

    def __init__(self) -> None:
        self._compiled: OrderedDict[tuple[str, Settings], jinja2.Template] = OrderedDict()

    def render(self, template: str, variables: Mapping[str, Any], settings: Settings = PLAIN) -> Outcome:
        """Render the template's text with variables, which are made of JSON's types.

        >>> Sandbox().render("{{ messages[0].content }}!", {"messages": [{"content": "Hello"}]})
        Rendered(text='Hello!')
        >>> str(Sandbox().render("{{ tools[0] }}", {}))
        "line 1: undefined: 'tools' is undefined"
        """
        # The same draw at each render, and the caller's generator as it was.
        state = random.getstate()
        random.seed(0)
        try:
            given = copy.deepcopy(dict(variables)) if settings.mutable else variables
            return _text(self._compile(template, settings), given)
        except _FAULTS as error:
            return _failure(error)
        finally:
            random.setstate(state)

    def variables(self, template: str, settings: Settings = PLAIN) -> Variables | Failure:
        """The variables that the template reads and does not set.

        >>> sorted(Sandbox().variables("{% set a = b %}{{ a }}{{ raise_exception(c) }}").names)
        ['b', 'c']
        """
        env = environment(settings)
        try:
            found = jinja2.meta.find_undeclared_variables(env.parse(template))
        except _FAULTS as error:
            return _failure(error)
        return Variables(frozenset(found - env.globals.keys()))

    def _compile(self, template: str, settings: Settings) -> jinja2.Template:
        key = (template, settings)
        compiled = self._compiled.get(key)
        if compiled is None:
            env = environment(settings)
            code = env.compile(template, filename=_FILENAME)
            compiled = env.template_class.from_code(env, code, env.make_globals(None))
            self._compiled[key] = compiled
            if len(self._compiled) > KEPT:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(key)
        return compiled


def _text(template: jinja2.Template, variables: Mapping[str, Any]) -> Outcome:
    pieces: list[str] = []
    length = 0
    for piece in template.generate(variables):
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST_OUTPUT:
            return Failure(Reason.OUTPUT, f"more than {LONGEST_OUTPUT} characters")
    return Rendered("".join(pieces))


def _failure(error: BaseException) -> Failure:
    reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), Reason.ERROR)
    if isinstance(error, jinja2.TemplateSyntaxError):
        return Failure(reason, (error.message or "")[:LONGEST_MESSAGE], error.lineno)
    message = str(error)
    named = _VARIABLE.fullmatch(message) if reason is Reason.UNDEFINED else None
    if reason is Reason.ERROR:
        message = f"{type(error).__name__}: {message}"
    message = message or ("out of memory" if reason is Reason.MEMORY else type(error).__name__)
    return Failure(reason, message[:LONGEST_MESSAGE], _line(error), named[1] if named else "")


def _line(error: BaseException) -> int | None:
    """The line of the template at which it went wrong: the innermost one that is its own."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == _FILENAME:
            found = line
    return found
