"""Capture: exchanges as JSON lines, to be run again or made into test cases.

Promises: a line holds the request, what the settings were, the upstream's bytes in the pieces they came
in, and what the client got. No header is written, so no key. Files are readable by their owner only,
and a folder is bounded: past ``limit`` bytes the oldest files go.

Does not: run an exchange again (``replay``).
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..auto import Resolved, resolve
from ..dialect import Dialect
from ..errors import CaptureError, ToolglotError, UnknownDialectError
from ..registry import BUNDLED, bundled
from ..wire import Settings
from .record import Record

VERSION = 1
FILES = 8
"""A folder's bytes are spread over so many files, of which the oldest is deleted."""

_SETTINGS = (
    "on_defect",
    "reasoning_field",
    "upstream_reasoning_field",
    "forced_finish",
    "on_cut",
    "tools_absent",
    "keep_special",
)


@dataclass
class Tape:
    """The bytes of one exchange while it runs, up to ``limit`` of them."""

    limit: int
    received: list[bytes] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    size: int = 0

    def take(self, received: bytes, sent: bytes) -> None:
        """The upstream's next bytes, and what the client got for them."""
        self.size += len(received) + len(sent)
        if self.size <= self.limit:
            self.received.append(received)
            self.sent.append(sent)

    @property
    def whole(self) -> bool:
        """Whether all of it was kept."""
        return self.size <= self.limit


@dataclass(frozen=True)
class Exchanged:
    """One captured exchange, read back."""

    where: str
    model: str
    settings: Settings
    request: dict[str, Any]
    streamed: bool
    received: tuple[bytes, ...]
    sent: bytes
    error: str | None = None


class Capture:
    """Writes exchanges into a folder. ``everything``: also those without a defect or residue."""

    def __init__(self, folder: Path, everything: bool, limit: int) -> None:
        self._folder = folder
        self._everything = everything
        self._limit = limit
        self._file: Path | None = None
        self._made = 0
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def wants(self, record: Record) -> bool:
        """Whether this exchange is to be kept."""
        report = record.report
        odd = report.defects or report.residue or report.native_repairs or report.calls_cut or report.failed
        return self._everything or bool(odd) or record.outcome == "upstream_broke"

    def write(self, line: str) -> None:
        """Append a line. Blocks: call it in a thread. Raises ``OSError``."""
        with self._lock:
            self._append(line.encode("utf-8", "replace") + b"\n")

    def _append(self, data: bytes) -> None:
        if self._file is None or self._size(self._file) + len(data) > self._limit // FILES:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            self._made += 1
            self._file = self._folder / f"toolglot-{stamp}-{os.getpid()}-{self._made:04}.jsonl"
            self._tidy(len(data))
        handle = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)

    def _tidy(self, coming: int) -> None:
        files = sorted(self._folder.glob("toolglot-*.jsonl"))
        left = sum(self._size(file) for file in files)
        for file in files:
            if left + coming <= self._limit:
                return
            left -= self._size(file)
            file.unlink(missing_ok=True)

    @staticmethod
    def _size(file: Path) -> int:
        return file.stat().st_size if file.exists() else 0


def line_of(record: Record, request: dict[str, Any], settings: Settings, tape: Tape) -> str:
    """One exchange as a line of JSON."""
    report = record.report
    return json.dumps(
        {
            "version": VERSION,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "model": record.model,
            "dialect": record.choice.slug,
            "dialect_spec": _spec(settings),
            "chosen_because": record.choice.reason,
            "prompt_tail": settings.prompt_tail or "",
            "settings": {name: getattr(settings, name) for name in _SETTINGS},
            "request": request,
            "streamed": record.streamed,
            "received": [_written(piece) for piece in tape.received],
            "sent": _written(b"".join(tape.sent)),
            "whole": tape.whole,
            "outcome": record.outcome,
            "error": record.error or None,
            "report": {
                "dialect": report.dialect,
                "calls": {
                    "parsed": report.calls_parsed,
                    "native": report.calls_native,
                    "cut": report.calls_cut,
                },
                "defects": dict(report.defects),
                "residue": [hit.marker for hit in report.residue],
            },
        },
        ensure_ascii=False,
    )


def _spec(settings: Settings) -> dict[str, Any] | None:
    """The dialect's own data where its name alone would not give it back, as of a template's."""
    dialect = resolve(settings.dialect)
    if not isinstance(dialect, Dialect) or (dialect.slug in BUNDLED and bundled(dialect.slug) == dialect):
        return None
    return dialect.to_dict()


def _dialect(data: dict[str, Any]) -> Resolved:
    spec = data.get("dialect_spec")
    return resolve(str(data["dialect"])) if spec is None else Dialect.from_dict(spec)


def read_capture(path: str, dialect: Resolved | None = None) -> Iterator[Exchanged]:
    """The exchanges of a file, read in ``dialect`` where that is given. Raises ``CaptureError``."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise CaptureError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CaptureError(f"{path}: not UTF-8 at byte {error.start}") from error
    for number, text in enumerate(lines, 1):
        if text.strip():
            yield _exchanged(f"{path}:{number}", text, dialect)


def _exchanged(where: str, text: str, dialect: Resolved | None) -> Exchanged:
    try:
        data = json.loads(text)
        if data["version"] != VERSION:
            raise CaptureError(f"{where}: version {data['version']!r} is not {VERSION}: record it anew")
        if not data["whole"]:
            raise CaptureError(f"{where}: the exchange was too large to be captured whole")
        settings = Settings(
            dialect=_dialect(data) if dialect is None else dialect,
            prompt_tail=data["prompt_tail"] or None,
            **data["settings"],
        )
        return Exchanged(
            where=where,
            model=str(data["model"]),
            settings=settings,
            request=dict(data["request"]),
            streamed=bool(data["streamed"]),
            received=tuple(_read(piece) for piece in _list(data["received"])),
            sent=_read(data["sent"]),
            error=data["error"],
        )
    except CaptureError:
        raise
    except UnknownDialectError as error:
        raise CaptureError(f"{where}: {error}; name one with --dialect") from error
    except (KeyError, TypeError, ValueError, ToolglotError) as error:
        raise CaptureError(f"{where}: not a captured exchange: {type(error).__name__}: {error}") from error


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise CaptureError("received is a list")
    return value


def _written(data: bytes) -> str | dict[str, str]:
    """Bytes as text, where they are UTF-8; a piece may end inside a character."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _read(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"], validate=True)
    raise CaptureError("a piece is a text, or an object with base64")
