"""Spec: a dialect's data, read from a mapping and checked key by key.

Promises: an error names where the data came from, the key, and what was expected; a key that nobody
knows is an error. Does not read files (``registry``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ._typing import TYPE_CHECKING, Any, TypeVar, cast
from .dialect import Body, Dialect, Envelope, Example, Ids, Layout, Tag, Think, Unmarked
from .errors import DialectError
from .markers import LONGEST
from .record import MISSING, defaults, replace

if TYPE_CHECKING:
    from typing import Final

_T = TypeVar("_T")


class Table:
    """A mapping being read: each key once, with errors that say where."""

    def __init__(self, data: dict[str, Any], origin: str, path: str) -> None:
        self.data = data
        self.origin = origin
        self.path = path

    def fail(self, key: str, expected: str, got: object) -> DialectError:
        where = f"{self.path}.{key}" if self.path else key
        return DialectError(f"{self.origin}: {where}: expected {expected}, got {got!r}")

    def take(self, key: str, default: Any, read: Callable[[Table, str, Any], _T]) -> _T:
        """Read a key once, with the reader for its kind."""
        return read(self, key, self.data.pop(key)) if key in self.data else cast(_T, default)

    def table(self, key: str) -> Table:
        value = self.data.pop(key, {})
        if not isinstance(value, Mapping):
            raise self.fail(key, "a table", value)
        return Table(dict(value), self.origin, f"{self.path}.{key}" if self.path else key)

    def tables(self, key: str) -> list[Table]:
        value = self.data.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise self.fail(key, "a list of tables", value)
        path = f"{self.path}.{key}" if self.path else key
        return [Table(dict(item), self.origin, f"{path}[{i}]") for i, item in enumerate(value)]

    def done(self) -> None:
        if self.data:
            key = sorted(self.data)[0]
            where = f"{self.path}.{key}" if self.path else key
            raise DialectError(f"{self.origin}: {where}: unknown key")


def read_string(table: Table, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise table.fail(key, "a string", value)
    return value


def read_strings(table: Table, key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise table.fail(key, "a list of strings", value)
    return tuple(value)


def _markers(table: Table, key: str, value: Any) -> tuple[str, ...]:
    found = read_strings(table, key, value)
    if any(not marker.strip() for marker in found):
        raise table.fail(key, "markers that are not empty", value)
    if any(len(marker) > LONGEST for marker in found):
        raise table.fail(key, f"markers of at most {LONGEST} characters", value)
    return found


def _pairs(table: Table, key: str, value: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(value, Mapping):
        value = [list(item) for item in value.items()]
    if not isinstance(value, list) or not all(
        isinstance(item, (list, tuple))
        and len(item) == 2
        and all(isinstance(part, str) and part for part in item)
        for item in value
    ):
        raise table.fail(key, "a list of pairs of strings", value)
    return tuple((item[0], item[1]) for item in value)


def _choice(*words: str) -> Callable[[Table, str, Any], str]:
    def read(table: Table, key: str, value: Any) -> str:
        if value not in words:
            raise table.fail(key, "one of " + ", ".join(words), value)
        return str(value)

    return read


def _tag(table: Table, key: str, value: Any) -> Tag | None:
    if not isinstance(value, Mapping):
        raise table.fail(key, "a table with open, close and end", value)
    inner = Table(dict(value), table.origin, f"{table.path}.{key}")
    for part in ("open", "close", "end"):
        if not inner.data.get(part):
            raise inner.fail(part, "a marker that is not empty", inner.data.get(part))
    parts = [inner.take(part, "", read_string) for part in ("open", "close", "end")]
    words = {
        "key": inner.take("key", "", read_string),
        "counter": inner.take("counter", "", read_string),
        "types": inner.take("types", "", read_string),
        "stated": inner.take("stated", "name", _choice("name", "boolean")),
        "escapes": inner.take("escapes", "none", _choice("none", "xml", "text")),
        "empty": inner.take("empty", "malformed", _choice("malformed", "closed")),
        "others": inner.take("others", "any", _choice("any", "none")),
    }
    inner.done()
    return Tag(*parts, **words)


_READERS: Final[dict[str, Callable[[Table, str, Any], Any]]] = {
    "kind": _choice("delimited", "messages", "none"),
    "gap": _choice("blank", "none", "text"),
    "trim": _choice("newline", "blank", "none"),
    "after": _choice("blank", "none"),
    "call_inside": _choice("draft", "execute", "ends", "until_close"),
    "id_at": _choice("", "after_arguments", "before_name", "around_name"),
    "empty": _choice("malformed", "object"),
    "names": _choice("plain", "doubled"),
    "runs": _choice("each", "one"),
    "shape": _choice("object", "array", "list", "opener", "name", "lines"),
    "place": _choice("answer", "line", "word", "text"),
    "gate": _choice("offered", "open"),
    "standing": _choice("canonical", "repair"),
    "inside": _choice("tags", "json"),
    "words": _choice("loose", "text"),
    "rank": _choice("first", "last"),
    "zeros": _choice("text", "integer"),
    "when": _choice("always", "alone"),
    "wrap_trim": _choice("newline", "none"),
    "calls": _choice("each", "together"),
    "untyped": _choice("json", "text"),
    "value_end": _choice("needed", "optional"),
    "nulls": _choice("schema", "always"),
    **dict.fromkeys(
        (
            *("open", "close", "start", "end", "call_end", "stops", "special", "turn_open", "headers"),
            *("lead", "wrap_open", "wrap_close", "key_open", "key_close", "value_open", "value_close"),
            *("type_open", "type_close", "lines", "ends", "endings", "whole", "quote"),
        ),
        _markers,
    ),
    **dict.fromkeys(("channels", "recipients", "delims", "loose_delims"), _pairs),
}


def _read(table: Table, kind: type[_T]) -> _T:
    """Fill a dataclass from a table: the reader of a field follows from its name, else from its default."""
    values: dict[str, Any] = {}
    for name, default in defaults(kind).items():
        if name not in table.data:
            if default is MISSING:
                raise table.fail(name, "a value", None)
            continue
        plain = read_strings if isinstance(default, tuple) else read_string
        values[name] = table.take(name, None, _READERS.get(name, plain))
    table.done()
    return kind(**values)


# The fields without which a codec cannot read; the others have a default that works.
_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "tagged": ("name", "param"),
    "braces": ("delims", "key_marks"),
    "kv_pairs": ("key_open", "key_close", "value_open", "value_close"),
}


def _body(table: Table) -> Body:
    if "codec" not in table.data:
        raise table.fail("codec", "the name of a body codec", None)
    name = table.take("name", None, _tag)
    param = table.take("param", None, _tag)
    body = replace(_read(table, Body), name=name, param=param)
    for field in (*_NEEDED.get(body.codec, ()), "name_keys", "arguments_keys"):
        if not getattr(body, field):
            raise table.fail(field, f"a value, which the codec {body.codec!r} needs", getattr(body, field))
    return body


def _example(table: Table) -> Example:
    calls: list[tuple[str, dict[str, Any]]] = []
    for call in table.tables("calls"):
        arguments = call.data.pop("arguments", {})
        if not isinstance(arguments, Mapping):
            raise call.fail("arguments", "a table", arguments)
        calls.append((read_string(call, "name", call.data.pop("name", None)), dict(arguments)))
        call.done()
    text = _read(table, Example)
    return replace(text, calls=tuple(calls))


def read_dialect(data: Mapping[str, Any], origin: str) -> Dialect:
    """The dialect that a mapping describes, in the own form or in gglib's. Raises ``DialectError``."""
    if not isinstance(data, Mapping):
        raise DialectError(f"{origin}: expected a table, got {type(data).__name__}")
    if "tool_open" in data or "tool_close" in data:
        from .gglib import read_spec

        return read_spec(data, origin)
    return _dialect(Table(dict(data), origin, ""))


def _dialect(table: Table) -> Dialect:
    if not table.data.get("slug"):
        raise table.fail("slug", "a name", table.data.get("slug"))
    slug = table.take("slug", "", read_string)
    title = table.take("title", "", read_string)
    lists = {key: table.take(key, (), read_strings) for key in ("aliases", "models", "sources")}
    envelope = _read(table.table("envelope"), Envelope)
    bodies = tuple(_body(item) for item in table.tables("body"))
    unmarked = tuple(_read(item, Unmarked) for item in table.tables("unmarked"))
    for item in unmarked:
        if (item.shape, item.place) == ("name", "answer"):
            raise table.fail("unmarked.place", "line, word or text for the shape name", item.place)
    think = table.table("reasoning")
    reasoning = _read(think, Think)
    if len(reasoning.open) != len(reasoning.close):
        raise think.fail("close", f"as many markers as open ({len(reasoning.open)})", list(reasoning.close))
    ids = _read(table.table("ids"), Ids)
    layout = _read(table.table("render"), Layout)
    examples = tuple(_example(item) for item in table.tables("example"))
    if envelope.kind != "none" and not bodies:
        raise table.fail("body", "at least one body", [])
    for field in ("start", "body", "end") if envelope.kind == "messages" else ():
        if not getattr(envelope, field):
            raise table.fail(f"envelope.{field}", "a marker, which a stream of messages needs", None)
    table.done()
    return Dialect(
        slug,
        title,
        lists["aliases"],
        lists["models"],
        lists["sources"],
        envelope,
        bodies,
        unmarked,
        reasoning,
        ids,
        layout,
        examples,
    )
