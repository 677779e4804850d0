"""Dialect: one tool-call format, as data.

Promises: frozen values only, no callables and no switches for recovery; what is read from TOML or from
a dict is checked, and an error names the source, the key and what was expected. Two dicts are
understood: toolglot's own form and, as it stands, gglib's ``DialectSpec``.

Does not: read files or know the bundled dialects (``registry``), nor scan text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from .errors import DialectError

_T = TypeVar("_T")


@dataclass(frozen=True)
class Envelope:
    """What stands around calls.

    ``kind`` is ``delimited``, ``messages`` (a stream of messages with headers) or ``none``. The first
    of each list of spellings is the one that ``render`` writes.

    ``open``, ``close``: markers around one body. ``gap``: what may stand between ``open`` and the
    body (``blank`` or ``none``). ``layout``: white space next to markup that belongs to it (``blank``,
    ``none`` or the literal text). ``required_close``: ``close`` may be missing only as a fault
    (``always``), or also where ``open`` was (``pair``). ``stops``: end-of-turn tokens, markup wherever
    they stand. ``special``: markers that are special tokens of the model. ``turn_open``: what starts
    the model's turn in a prompt; ``prompt_tail`` is read only after its last occurrence.

    The rest is for ``messages``: ``start`` opens a header, ``body`` ends it, ``end`` ends a message,
    ``call_end`` a message with a call, ``final_end`` those that also end the turn; ``channel`` and
    ``constrain`` introduce header fields, ``recipient`` the addressee, ``call_prefix`` is what a
    recipient that is a tool begins with, ``content_types`` are words that may be glued to it, and
    ``channels`` maps a channel to what its text is (``reasoning`` or ``content``).
    """

    kind: str = "delimited"
    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    gap: str = "blank"
    layout: str = "none"
    stops: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    turn_open: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    role: str = ""
    body: str = ""
    end: tuple[str, ...] = ()
    call_end: tuple[str, ...] = ()
    channel: str = ""
    constrain: str = ""
    recipient: str = ""
    call_prefix: str = ""
    content_types: tuple[str, ...] = ()
    channels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Tag:
    """A tag with a name in it: ``open`` NAME ``close`` … ``end``."""

    open: str
    close: str
    end: str


@dataclass(frozen=True)
class Body:
    """How the inside of an envelope is read; which fields count depends on ``codec``.

    ``name_keys``, ``arguments_keys``, ``id_keys``: JSON keys, in order of rank. ``id_at``: ``""`` or
    ``after_arguments``, where the format's own id may follow the arguments. ``name``, ``param``: tags
    of ``tagged``. ``trim``: what of a raw value's border blanks is markup (``newline``: one on each
    side where the value began with one; ``blank``; ``none``). ``prefixes``: words before the name.
    ``separators``: what may stand between name and arguments, ``id_mark`` what introduces an id.
    ``delims``: string delimiters as (open, close) pairs; ``loose_delims`` those taken only in repair;
    ``runs``: ``one`` where a run of delimiters counts as one.
    """

    codec: str
    name_keys: tuple[str, ...] = ("name",)
    arguments_keys: tuple[str, ...] = ("arguments", "parameters")
    id_keys: tuple[str, ...] = ()
    id_at: str = ""
    name: Tag | None = None
    param: Tag | None = None
    trim: str = "none"
    prefixes: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    id_mark: str = ""
    delims: tuple[tuple[str, str], ...] = ()
    loose_delims: tuple[tuple[str, str], ...] = ()
    runs: str = "each"
    key_marks: tuple[str, ...] = (":",)


@dataclass(frozen=True)
class Unmarked:
    """A way in which a call stands without its envelope.

    ``shape``: ``object``, ``array`` (bare or fenced JSON), ``list`` (``[f(…)]``), ``opener`` (the
    body's own opener), ``name`` (an offered name and the body's bracket), ``lines``. ``place``:
    ``answer`` (it opens the answer), ``line``, ``word`` (at a word's start), ``text``. ``gate``:
    ``offered`` (only offered tools) or ``open`` (structure decides). ``standing``: ``canonical``, or
    ``repair`` where ``strict`` does not take it. ``boundary``: characters that may stand right before,
    besides blanks and the start. ``when``: ``always``, or ``alone`` where it counts only
    while no call came in a stronger form (the envelope, or an unmarked form listed before it).
    """

    shape: str
    place: str
    gate: str = "offered"
    standing: str = "canonical"
    boundary: str = ""
    when: str = "always"


@dataclass(frozen=True)
class Think:
    """Reasoning tags: ``open[i]`` pairs with ``close[i]``.

    ``trim``: what next to the tags inside is markup (``newline`` or ``none``). ``after``: blanks after
    the close that are markup (``blank`` or ``none``). ``label``: a first line inside that is markup.
    ``call_inside``: ``draft``, ``execute`` or ``until_close``.
    """

    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    trim: str = "newline"
    after: str = "blank"
    label: str = ""
    call_inside: str = "until_close"


@dataclass(frozen=True)
class Ids:
    """Ids for calls whose format has none of its own: ``prefix`` and a counter."""

    prefix: str = "call_"


@dataclass(frozen=True)
class Layout:
    """White space that ``render`` writes: inside the envelope, before the first call, between calls, around a body."""

    after_open: str = ""
    before_close: str = ""
    before: str = ""
    between: str = ""
    think_open: str = ""
    think_close: str = ""


@dataclass(frozen=True)
class Example:
    """A text of the dialect and its parse: ``calls`` as (name, arguments), content and reasoning."""

    raw: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    content: str = ""
    reasoning: str = ""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """One tool-call format. Make one with ``from_dict`` or ``from_toml``, or take a bundled one with ``resolve``."""

    slug: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    envelope: Envelope = field(default_factory=Envelope)
    bodies: tuple[Body, ...] = ()
    unmarked: tuple[Unmarked, ...] = ()
    reasoning: Think = field(default_factory=Think)
    ids: Ids = field(default_factory=Ids)
    render: Layout = field(default_factory=Layout)
    examples: tuple[Example, ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], origin: str = "dialect") -> Dialect:
        """Read toolglot's own form, or a gglib ``DialectSpec`` (told by its ``tool_open``).

        Raises ``DialectError`` naming ``origin``, the key and what was expected. An unknown key is an
        error in the own form and ignored in gglib's.
        """
        if not isinstance(data, Mapping):
            raise DialectError(f"{origin}: expected a table, got {type(data).__name__}")
        if "tool_open" in data or "tool_close" in data:
            from .gglib import read_spec

            return read_spec(data, origin)
        return _dialect(Table(dict(data), origin, ""))

    @classmethod
    def from_toml(cls, text: str, origin: str = "dialect") -> Dialect:
        """Read a dialect file's text. Raises ``DialectError`` as ``from_dict``, also for bad TOML."""
        from ._toml import TOMLDecodeError, loads

        try:
            data = loads(text)
        except TOMLDecodeError as error:
            raise DialectError(f"{origin}: not TOML: {error}") from error
        return cls.from_dict(data, origin)

    def markers(self) -> tuple[str, ...]:
        """All literal markers of the dialect, the longest first."""
        found = set(self.envelope.open + self.envelope.close + self.envelope.stops)
        found |= set(self.envelope.start + self.envelope.end + self.envelope.call_end)
        found |= {self.envelope.body, self.envelope.channel, self.envelope.constrain}
        found |= set(self.reasoning.open + self.reasoning.close)
        for body in self.bodies:
            for tag in (body.name, body.param):
                if tag is not None:
                    found |= {tag.open, tag.end}
            found |= {*body.prefixes, *body.separators, body.id_mark}
        return tuple(sorted(found - {""}, key=lambda marker: (-len(marker), marker)))


# -- reading -----------------------------------------------------------------------------------------


class Table:
    """A mapping being read: each key once, with errors that say where."""

    def __init__(self, data: dict[str, Any], origin: str, path: str) -> None:
        self.data = data
        self.origin = origin
        self.path = path

    def fail(self, key: str, expected: str, got: object) -> DialectError:
        where = f"{self.path}.{key}" if self.path else key
        return DialectError(f"{self.origin}: {where}: expected {expected}, got {got!r}")

    def take(self, key: str, default: _T, read: Callable[[Table, str, Any], _T]) -> _T:
        return read(self, key, self.data.pop(key)) if key in self.data else default

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
    return found


def _pairs(table: Table, key: str, value: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(value, Mapping):
        value = [list(item) for item in value.items()]
    if not isinstance(value, list) or not all(
        isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(part, str) and part for part in item)
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
    parts = {part: inner.take(part, "", read_string) for part in ("open", "close", "end")}
    inner.done()
    for part, text in parts.items():
        if not text:
            raise inner.fail(part, "a marker that is not empty", text)
    return Tag(**parts)


_READERS: Final[dict[str, Callable[[Table, str, Any], Any]]] = {
    "kind": _choice("delimited", "messages", "none"),
    "gap": _choice("blank", "none"),
    "trim": _choice("newline", "blank", "none"),
    "after": _choice("blank", "none"),
    "call_inside": _choice("draft", "execute", "until_close"),
    "id_at": _choice("", "after_arguments"),
    "runs": _choice("each", "one"),
    "shape": _choice("object", "array", "list", "opener", "name", "lines"),
    "place": _choice("answer", "line", "word", "text"),
    "gate": _choice("offered", "open"),
    "standing": _choice("canonical", "repair"),
    "when": _choice("always", "alone"),
    **dict.fromkeys(("open", "close", "start", "end", "call_end", "stops", "special", "turn_open"), _markers),
    **dict.fromkeys(("channels", "delims", "loose_delims"), _pairs),
}


def _read(table: Table, kind: type[_T]) -> _T:
    """Fill a dataclass from a table: the reader of a field follows from its name, else from its default."""
    values: dict[str, Any] = {}
    for item in fields(kind):  # type: ignore[arg-type]  # a dataclass type, which TypeVar cannot say
        if item.name not in table.data:
            continue
        plain = read_strings if isinstance(item.default, tuple) else read_string
        values[item.name] = table.take(item.name, None, _READERS.get(item.name, plain))
    table.done()
    return kind(**values)


def _body(table: Table) -> Body:
    if "codec" not in table.data:
        raise table.fail("codec", "the name of a body codec", None)
    tags = {key: table.take(key, None, _tag) for key in ("name", "param") if key in table.data}
    body = _read(table, Body)
    return Body(**{**{f.name: getattr(body, f.name) for f in fields(Body)}, **tags})


def _example(table: Table) -> Example:
    calls: list[tuple[str, dict[str, Any]]] = []
    for call in table.tables("calls"):
        arguments = call.data.get("arguments", {})
        if not isinstance(arguments, Mapping):
            raise call.fail("arguments", "a table", arguments)
        calls.append((read_string(call, "name", call.data.get("name")), dict(arguments)))
    text = _read(table, Example)
    return Example(text.raw, tuple(calls), text.content, text.reasoning, text.tools)


def _dialect(table: Table) -> Dialect:
    if not table.data.get("slug"):
        raise table.fail("slug", "a name", table.data.get("slug"))
    slug = table.take("slug", "", read_string)
    title = table.take("title", "", read_string)
    lists = {key: table.take(key, (), read_strings) for key in ("aliases", "models", "sources")}
    envelope = _read(table.table("envelope"), Envelope)
    bodies = tuple(_body(item) for item in table.tables("body"))
    unmarked = tuple(_read(item, Unmarked) for item in table.tables("unmarked"))
    think = table.table("reasoning")
    reasoning = _read(think, Think)
    if len(reasoning.open) != len(reasoning.close):
        raise think.fail("close", f"as many markers as open ({len(reasoning.open)})", list(reasoning.close))
    ids = _read(table.table("ids"), Ids)
    layout = _read(table.table("render"), Layout)
    examples = tuple(_example(item) for item in table.tables("example"))
    if envelope.kind != "none" and not bodies:
        raise table.fail("body", "at least one body", [])
    table.done()
    return Dialect(slug, title, **lists, envelope=envelope, bodies=bodies, unmarked=unmarked, reasoning=reasoning,
                   ids=ids, render=layout, examples=examples)  # fmt: skip
