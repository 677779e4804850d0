"""How a codec gives up: control flow between a body codec and its envelope, never seen by a caller.

Promises: only ``envelope`` and ``messages`` catch these. Each says where the text stopped being what
the codec reads; what becomes of it is the envelope's decision.
"""

from __future__ import annotations

from .events import DefectKind


class BodyFault(Exception):
    """Base of the three ways in which a body does not end well; ``kind`` is the defect that it makes."""

    def __init__(self, detail: str, kind: DefectKind = DefectKind.MALFORMED_CALL) -> None:
        super().__init__(detail)
        self.detail = detail
        self.kind = kind


class Malformed(BodyFault):
    """The text at the cursor is not what the syntax allows."""


class Cut(BodyFault):
    """The text ended before the body did."""


class OverLimit(BodyFault):
    """A limit of the caller was passed."""
