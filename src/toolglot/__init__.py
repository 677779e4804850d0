"""toolglot reads the tool calls that language models write as plain text, whole or streamed.

``parse`` reads a whole output, ``Parser`` one that is still coming, ``render`` writes calls back.
"""

from .assembler import assemble
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
from .message import Message, Segment, ToolCall
from .parser import Parser, parse
from .registry import BUNDLED, dialect_for_model
from .render import render

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
