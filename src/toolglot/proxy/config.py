"""The proxy's settings: from the command line, else from a TOML file, else the defaults here.

Promises: everything is checked before the proxy starts; a ``ConfigError`` names the key and what was
expected. Times are seconds, sizes are bytes. Holds no key of an upstream: those pass through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .._toml import TOMLDecodeError, loads
from ..auto import Auto, Resolved, resolve
from ..dialect import Dialect
from ..errors import ConfigError, ToolglotError, WireError
from ..wire import Settings
from .kinds import KINDS, MIB

_WORDS = {
    "server": KINDS,
    "log_level": ("debug", "info", "warning", "error"),
}
_ABOVE_ZERO = (
    "connect_timeout",
    "read_timeout",
    "keep_alive",
    "max_request",
    "max_response",
    "capture_limit",
)


@dataclass(frozen=True)
class ModelRule:
    """How models of this id or pattern (``*`` and ``?``) are read; ``dialect`` is a name or a TOML path."""

    pattern: str
    dialect: str
    prompt_tail: str = ""


@dataclass(frozen=True)
class Config:
    """All settings of one proxy.

    ``given`` are the rules of the command line, ``models`` those of the file. ``raw``: llama-server's own
    parser is never run. ``keep_alive``: after so long without a word, a comment is sent. ``grace``: how
    long running streams may take to finish when the proxy stops. ``capture_all``: also exchanges
    without a defect. ``evidence``: whether ``/status`` shows the text around residue.
    """

    upstream: str
    host: str = "127.0.0.1"
    port: int = 8100
    server: str = "auto"
    raw: bool = False
    given: tuple[ModelRule, ...] = ()
    models: tuple[ModelRule, ...] = ()
    on_defect: str = "repair"
    reasoning_field: str = "reasoning_content"
    forced_finish: str = "tool_calls"
    on_cut: str = "poison"
    tools_absent: str = "text"
    connect_timeout: float = 10.0
    read_timeout: float = 900.0
    keep_alive: float = 15.0
    grace: float = 300.0
    max_request: int = 64 * MIB
    max_response: int = 256 * MIB
    capture: str = ""
    capture_all: bool = False
    capture_limit: int = 256 * MIB
    evidence: bool = True
    log_level: str = "info"
    otel: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.upstream)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"upstream is a URL such as http://127.0.0.1:8080, not {self.upstream!r}")
        if parts.username is not None or parts.query or parts.fragment:
            raise ConfigError("upstream has no user, query or fragment: a key comes from the client")
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise ConfigError(f"{name} is one of {', '.join(words)}, not {getattr(self, name)!r}")
        for name in _ABOVE_ZERO:
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is above 0, not {getattr(self, name)!r}")
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"port is a number from 0 to 65535, not {self.port}")
        if self.raw and self.server not in ("auto", "llama-server"):
            raise ConfigError(f"raw is for llama-server only, and server is {self.server!r}")
        self.wire()
        for rule in (*self.given, *self.models):
            load_dialect(rule.dialect)

    def wire(self) -> Settings:
        """The settings of an exchange, but for its dialect. Raises ``ConfigError``."""
        names = ("on_defect", "reasoning_field", "forced_finish", "on_cut", "tools_absent")
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        try:
            return Settings(**values)
        except WireError as error:
            raise ConfigError(str(error)) from error


def load_dialect(name: str) -> Resolved:
    """The dialect of this name, or of this TOML file. Raises ``ConfigError``."""
    try:
        if not name.endswith(".toml"):
            return resolve(name)
        return Dialect.from_toml(Path(name).read_text(encoding="utf-8"), name)
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror or error}") from error
    except (ToolglotError, UnicodeDecodeError) as error:
        raise ConfigError(f"dialect {name}: {error}") from error


def slug_of(dialect: Resolved) -> str:
    """What a resolved dialect is called in logs and on the status page."""
    return dialect.slug if isinstance(dialect, (Dialect, Auto)) else "custom"


def read_config(path: str | None, given: Mapping[str, Any]) -> Config:
    """The file's settings, overruled by those ``given``. Raises ``ConfigError``."""
    values = {} if path is None else _from_file(Path(path))
    values.update(given)
    if not values.get("upstream"):
        raise ConfigError('no upstream: give --upstream URL, or upstream = "URL" in the configuration file')
    return Config(**values)


def _from_file(path: Path) -> dict[str, Any]:
    try:
        data = loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    types = {f.name: f.type for f in fields(Config) if f.name != "given"}
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key not in types:
            raise ConfigError(f"{path}: unknown key {key!r}; expected one of {', '.join(sorted(types))}")
        values[key] = _rules(path, value) if key == "models" else _typed(path, key, value, str(types[key]))
    return values


def _typed(path: Path, key: str, value: Any, kind: str) -> Any:
    allowed: Any = {"str": (str,), "bool": (bool,), "int": (int,), "float": (int, float)}[kind]
    if not isinstance(value, allowed) or (isinstance(value, bool) and kind != "bool"):
        raise ConfigError(f"{path}: {key} is {kind}, not {value!r}")
    return value


def _rules(path: Path, table: Any) -> tuple[ModelRule, ...]:
    expected = 'expected "DIALECT" or { dialect = "DIALECT", prompt_tail = "TEXT" }'
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: models is a table, not {table!r}")
    rules = []
    for pattern, value in table.items():
        entry = {"dialect": value} if isinstance(value, str) else value
        if not isinstance(entry, dict) or not {"dialect"} <= set(entry) <= {"dialect", "prompt_tail"}:
            raise ConfigError(f"{path}: models.{pattern!r}: {expected}")
        if not all(isinstance(item, str) for item in entry.values()):
            raise ConfigError(f"{path}: models.{pattern!r}: {expected}")
        dialect = str(entry["dialect"])
        if dialect.endswith(".toml"):
            # A path in the file is meant from where the file is.
            dialect = str(path.parent / dialect)
        rules.append(ModelRule(pattern, dialect, str(entry.get("prompt_tail", ""))))
    return tuple(rules)
