"""Logs: one JSON object a line, on standard error.

Promises: a line has ``time`` (UTC), ``level``, ``event`` and the event's own fields. No line holds a header,
a key, a prompt or an answer.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime, timezone
from typing import Any

LOGGER = logging.getLogger("toolglot.proxy")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; the event's fields are those given to ``log``."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's line."""
        time = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": time, "level": record.levelname.lower(), "event": record.getMessage()}
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write one event."""
    LOGGER.log(level, event, extra={"fields": fields})


def start_logging(level: str) -> None:
    """Send the proxy's events, and aiohttp's own errors, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("toolglot.proxy", "aiohttp.server"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name == "toolglot.proxy" else logging.ERROR)
