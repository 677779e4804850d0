"""toolglot reads the tool calls that language models write as plain text, whole or streamed.

``parse`` reads a whole output, ``Parser`` one that is still coming, ``render`` writes calls back.
"""

from ._typing import TYPE_CHECKING, Any
from .auto import DEFAULT_AUTO_ORDER, Auto, Context, ParseResult, create_auto, resolve
from .dialect import Dialect
from .errors import (
    CaptureError,
    ConfigError,
    DefectsError,
    DerivationError,
    DialectError,
    MessageError,
    ParserClosedError,
    RenderError,
    ToolglotError,
    ToolsError,
    UnknownDialectError,
    WireError,
)
from .events import (
    Arguments,
    CallEnd,
    CallStart,
    Defect,
    DefectKind,
    Event,
    Markup,
    Reasoning,
    Relabel,
    Text,
)
from .limits import Limits
from .parser import Parser, parse
from .registry import BUNDLED, dialect_for_model
from .render import render

if TYPE_CHECKING:
    from .assembler import assemble
    from .message import Message, Segment, ToolCall

__version__ = "0.1.0"

__all__ = [
    "BUNDLED",
    "DEFAULT_AUTO_ORDER",
    "Arguments",
    "Auto",
    "CallEnd",
    "CallStart",
    "CaptureError",
    "ConfigError",
    "Context",
    "Defect",
    "DefectKind",
    "DefectsError",
    "DerivationError",
    "Dialect",
    "DialectError",
    "Event",
    "Limits",
    "Markup",
    "Message",
    "MessageError",
    "ParseResult",
    "Parser",
    "ParserClosedError",
    "Reasoning",
    "Relabel",
    "RenderError",
    "Segment",
    "Text",
    "ToolCall",
    "ToolglotError",
    "ToolsError",
    "UnknownDialectError",
    "WireError",
    "__version__",
    "assemble",
    "create_auto",
    "dialect_for_model",
    "parse",
    "render",
    "resolve",
]

# What a stream needs none of, and its module: loaded when it is first asked for.
_LATER = {"assemble": "assembler", "Message": "message", "Segment": "message", "ToolCall": "message"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
