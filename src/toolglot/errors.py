"""Errors: the caller's faults. What a model does wrong is a ``Defect``, never an exception.

::

    ToolglotError
    ├── DialectError(ValueError)         a dialect's data does not hold together
    ├── ToolsError(ValueError)           the request's tools cannot be read
    ├── MessageError(ValueError)         an assistant message cannot be read
    ├── UnknownDialectError(LookupError) no dialect goes by that name
    ├── DerivationError                  a chat template gives no dialect
    ├── ResponseTemplateError(ValueError) a response template and a dialect do not fit each other
    ├── RenderError(ValueError)          the dialect cannot write this message
    ├── WireError(ValueError)            a request that no upstream can answer
    ├── ConfigError(ValueError)          the proxy's settings cannot be used
    ├── CaptureError(ValueError)         a captured exchange cannot be used
    ├── DefectsError                     raised by ``Message.raise_for_defects``
    └── ParserClosedError                ``feed`` or ``close`` after ``close``
"""

from __future__ import annotations


class ToolglotError(Exception):
    """Base of all errors that toolglot raises."""


class DialectError(ToolglotError, ValueError):
    """A dialect's data is wrong; the message names the source, the key and what was expected."""


class ToolsError(ToolglotError, ValueError):
    """The request's tools cannot be read; the message names the entry and what was expected."""


class MessageError(ToolglotError, ValueError):
    """An assistant message cannot be read; the message names the place and what was expected."""


class UnknownDialectError(ToolglotError, LookupError):
    """No bundled dialect has this name or alias."""


class DerivationError(ToolglotError):
    """No dialect could be derived from a chat template."""


class ResponseTemplateError(ToolglotError, ValueError):
    """A response template is none of our dialects, or a dialect cannot be written as one; says which part."""


class RenderError(ToolglotError, ValueError):
    """The dialect has no way to write this message so that it reads back the same."""


class WireError(ToolglotError, ValueError):
    """A client's request or a setting of the wire is wrong; the message says what to mend.

    ``status`` is the HTTP status that answers it, ``param`` the request's field, where one is at fault.
    """

    def __init__(self, message: str, *, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.status = status


class ConfigError(ToolglotError, ValueError):
    """A setting of the proxy is wrong; the message names it and what was expected."""


class CaptureError(ToolglotError, ValueError):
    """A file of captured exchanges cannot be used; the message names the line and why."""


class DefectsError(ToolglotError):
    """A message has defects and its reader asked for an exception."""


class ParserClosedError(ToolglotError):
    """The parser was already closed; make a new one for the next message."""
