"""wire: between a Chat Completions client and its upstream, without I/O.

Promises: whatever pieces the upstream's bytes come in, the client gets the same canonical stream: calls
with contiguous indices, one finish reason a choice, nothing lost and nothing invented; fields it does
not know are passed on. A model's faults never raise; only a client's request does (``WireError``).

Does not open connections, choose a dialect for a model, or keep time: proxy and integrations do.
"""

from .errors import error_body, error_status, openai_error
from .exchange import Exchange
from .jsonbody import decode_object, encode_object
from .report import DroppedCall, Report, ResidueHit
from .settings import Settings
from .sse import encode_comment, encode_frame
from .stream import AnswerStream

__all__ = [
    "AnswerStream",
    "DroppedCall",
    "Exchange",
    "Report",
    "ResidueHit",
    "Settings",
    "decode_object",
    "encode_comment",
    "encode_frame",
    "encode_object",
    "error_body",
    "error_status",
    "openai_error",
]
