"""Report: what an exchange was, for metrics, status pages and captures.

Promises: filled while the answer comes and complete once it has ended; every text in it is bounded.
Holds no key, and of the model's text only the evidence that is named here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

EVIDENCE: Final = 400
"""Characters that one piece of evidence may have."""
PIECES: Final = 32
"""Pieces of evidence of one kind that a report may hold."""


@dataclass
class ResidueHit:
    """Markup that a client could see: the marker, where it stood, and the text around it."""

    marker: str
    choice: int
    evidence: str


@dataclass
class DroppedCall:
    """A call that the request did not allow for: its name and the beginning of its arguments."""

    choice: int
    name: str
    arguments: str


@dataclass
class Report:
    """One exchange.

    ``model``: as the answer names it, else the request. ``dialect``: the one that was read,
    ``chosen_by`` what told ``auto``. ``offered``: whether tools were offered. ``calls_parsed`` and
    ``calls_native``: finished calls by origin; ``calls_cut``: calls that had begun and did not finish.
    ``defects``: how many of each kind; ``repairs``: those that mended a call; ``native_repairs``: what
    was mended in the upstream's own calls. ``residue``: markup that clients saw. ``dropped``: calls left
    out because the request allowed one only. ``malformed_frames``: events of the stream that were no
    JSON. ``relabelled``: characters that had gone out as content and were reasoning. ``finish_reasons``:
    by choice. ``failed``: the error event that ended a stream, else empty. ``held``: the most
    characters that were held at once. ``ended``: whether the answer is complete.
    """

    model: str = ""
    dialect: str = ""
    chosen_by: str = ""
    streamed: bool = False
    offered: bool = False
    calls_parsed: int = 0
    calls_native: int = 0
    calls_cut: int = 0
    defects: Counter[str] = field(default_factory=Counter)
    defect_evidence: list[tuple[str, str]] = field(default_factory=list)
    native_repairs: Counter[str] = field(default_factory=Counter)
    residue: list[ResidueHit] = field(default_factory=list)
    dropped: list[DroppedCall] = field(default_factory=list)
    dropped_calls: int = 0
    malformed_frames: int = 0
    relabelled: int = 0
    finish_reasons: dict[int, str] = field(default_factory=dict)
    failed: str = ""
    held: int = 0
    ended: bool = False

    @property
    def repairs(self) -> int:
        """How often something was mended that would else have been no call."""
        mended = ("repaired", "missing_open", "missing_close")
        return sum(self.defects[kind] for kind in mended) + sum(self.native_repairs.values())
