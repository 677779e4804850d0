"""Schema: view of the request's tools, and the only place where argument text gets a type.

Promises: a parameter declared as a string and nothing else keeps its text; of another type the text is
read as JSON, then as a Python literal, and stays text where it is neither; in a union a string is what is
left. The JSON that comes out is strict, with numbers as they were spelled. No text and no schema makes it
raise or hang: cycles, dead references and unknown type names leave a parameter undeclared.

Does not: validate (ranges, patterns, members of an enum, what is inside arrays and objects), fill in
defaults, or follow references out of the tool's own schema. Only the caller's faults in the list of tools
raise, and all of them in ``read_tools``.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ._typing import TYPE_CHECKING, Any
from .errors import ToolsError
from .late import late
from .literals import json_string, python_to_json, strict_json
from .record import dataclass
from .schemawalk import ANY, TEXT, Schema, Walk, named_types

if TYPE_CHECKING:
    from typing import Final


class Typed:
    """An argument's value as JSON text; ``ok`` is False where it is not of the declared type."""

    __slots__ = ("json", "ok")

    def __init__(self, json: str, ok: bool) -> None:
        self.json = json
        self.ok = ok

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Typed) and (self.json, self.ok) == (other.json, other.ok)

    def __hash__(self) -> int:
        return hash((self.json, self.ok))

    def __repr__(self) -> str:
        return f"Typed({self.json!r}, {self.ok!r})"


_DIGITS = 64
_INTEGER = late(r"-?[0-9]+")
_PADDED = late(r"(?P<sign>-?)0+(?P<digits>[0-9]+)")
_INTEGRAL_FLOAT = late(r"-?[0-9]+\.0+")
_KINDS = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}


@dataclass(frozen=True)
class Param:
    """One parameter's declared types.

    ``types`` holds JSON Schema's names (``number`` always with ``integer``), and ``any`` too where nothing
    is declared. ``texts``: the strings that an enum lists beside members of other types. ``is_string``:
    declared a string and nothing else, so its text may go out as it comes; ``digits``: digits are a number.
    """

    types: frozenset[str]
    texts: frozenset[str] = frozenset()
    is_string: bool = False
    digits: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_string", self.types == TEXT)
        integer = "integer" in self.types and "string" not in self.types
        object.__setattr__(self, "digits", integer or "any" in self.types)

    def typed(self, text: str) -> Typed:
        """The value that ``text`` stands for; never raises."""
        if self.is_string:
            return Typed(json_string(text), True)
        if self.digits and len(text) < _DIGITS and text.isdecimal() and text.isascii():
            # An integer as JSON writes it, which is what most values are that are no text.
            if text[0] != "0" or text == "0":
                return Typed(text, True)
        value = strict_json(text)
        if "any" in self.types:
            return Typed(json_string(text) if value is None else value, True)
        if "string" in self.types:
            if value is not None and text not in self.texts and self._fits_beside_string(value):
                return Typed(value, True)
            return Typed(json_string(text), True)
        if value is not None and self._fits(value):
            return Typed(value, True)
        literal = python_to_json(text)
        if literal is not None and self._fits(literal):
            return Typed(literal, True)
        if value is None:
            value = literal
        return Typed(json_string(text) if value is None else value, False)

    def padded(self, text: str) -> str | None:
        """The declared integer for which digits with leading zeros stand; None where they may be text."""
        match = _PADDED.fullmatch(text)
        if match is None or "integer" not in self.types or "string" in self.types:
            return None
        return match["sign"] + match["digits"]

    def _fits(self, value: str) -> bool:
        kind = _kind(value)
        return kind in self.types or (
            kind == "number" and "integer" in self.types and _INTEGRAL_FLOAT.fullmatch(value) is not None
        )

    def _fits_beside_string(self, value: str) -> bool:
        # Beside a string an integer has to be spelled as one: `1.0` is as likely a version.
        kind = _kind(value)
        return kind != "string" and kind in self.types


def _kind(value: str) -> str:
    kind = _KINDS.get(value[0])
    if kind is None:
        return "integer" if _INTEGER.fullmatch(value) else "number"
    return kind


STRING = Param(TEXT)
"""A parameter that is a string, whatever its text."""

UNDECLARED = Param(ANY)
"""A parameter without a schema: JSON if the text parses, else the text."""


def stated(name: str) -> Param:
    """The parameter whose type the text itself names, such as ``integer`` or ``array[string]``."""
    types = named_types(name.partition("[")[0])
    return UNDECLARED if not types or "any" in types else Param(types)


def _declared(root: Schema, schema: object) -> Param:
    types = Walk(root).types(schema)
    if not types or "any" in types:
        return UNDECLARED
    return Param(types, Walk(root).texts(schema) if types > TEXT else frozenset())


class Place:
    """What may stand at one place inside nested arguments; ``schema`` is None where nothing is declared."""

    __slots__ = ("_children", "_properties", "_root", "_schema", "param")

    def __init__(self, root: Schema, schema: object) -> None:
        self._root = root
        self._schema = schema
        self._properties: dict[str | None, object] | None = None
        self._children: dict[str | None, Place] = {}
        self.param = _declared(root, schema)

    def child(self, name: str) -> Place:
        """The place of an object's member."""
        if self._properties is None:
            self._properties = Walk(self._root).properties(self._schema)
        key = name if name in self._properties else None
        if key not in self._children:
            self._children[key] = Place(self._root, self._properties.get(key))
        return self._children[key]

    def item(self) -> Place:
        """The place of a list's element."""
        return Place(self._root, Walk(self._root).items(self._schema))


class Tool:
    """One offered function: its name, the parameters it requires, and its schema as the caller gave it."""

    __slots__ = ("name", "required", "schema", "_properties", "_params")

    def __init__(self, name: str, schema: Schema) -> None:
        walk = Walk(schema)
        self.name = name
        self.schema = schema
        self.required = walk.required(schema)
        self._properties = walk.properties(schema)
        self._params: dict[str | None, Param] = {}

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    @property
    def open(self) -> bool:
        """Whether the schema declares no parameter at all, so that any name may be one."""
        return not self._properties

    def declares(self, name: str) -> bool:
        """Whether the schema has a parameter of that name."""
        return name in self._properties

    @property
    def strings(self) -> frozenset[str] | None:
        """The parameters that are strings and nothing else; None where any name may be one."""
        if self.param("").is_string:
            return None
        return frozenset(n for n in self._properties if n is not None and self.param(n).is_string)

    @property
    def only(self) -> str:
        """The one parameter that the schema declares; empty where there are more or none."""
        names = [name for name in self._properties if name is not None]
        return names[0] if len(names) == 1 else ""

    @property
    def place(self) -> Place:
        """The place that the arguments as a whole take."""
        return Place(self.schema, self.schema)

    def param(self, name: str) -> Param:
        """The parameter of that name; ``UNDECLARED`` where the schema does not speak of it."""
        # Undeclared names share one entry: they are the model's, and would fill the memory.
        key = name if name in self._properties else None
        param = self._params.get(key)
        if param is None:
            param = self._params[key] = _declared(self.schema, self._properties.get(key))
        return param


class Tools:
    """The functions a request offers, by name."""

    __slots__ = ("names", "_tools")

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = dict(tools)
        self.names = frozenset(self._tools)

    def __repr__(self) -> str:
        return f"Tools({list(self._tools)!r})"

    def __iter__(self) -> Iterator[Tool]:
        """The tools in the order of the request."""
        return iter(self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None where none was offered."""
        return self._tools.get(name)


_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
# How many lists of tools are kept read, and how long one may be, in bytes as it is kept.
_LISTS: Final = 32
_LIST_MOST: Final = 1 << 17
# It writes what stands twice only once: schemas may refer to themselves, and a tree of such has no end.
_SHARING: Final = 4


def read_tools(tools: object) -> Tools | None:
    """View of a request's tools; None for None (it is not known what was offered).

    ``tools`` is a list of entries as OpenAI (Chat Completions or Responses), Anthropic or MCP write them, or
    a mapping from name to JSON schema. Entries of other kinds than a function with a schema, such as
    ``{"type": "web_search"}``, are skipped; of two entries with one name the later counts. Raises
    ``ToolsError`` where ``tools`` or an entry is neither, a function has no name, or a schema is no mapping.
    """
    if tools is None or isinstance(tools, Tools):
        return tools
    given: Any = tools
    try:
        written = marshal.dumps(given, _SHARING)
    except ValueError:
        # A mapping or a text of the caller's own class.
        return _read(tools)
    return _read_again(written) if len(written) <= _LIST_MOST else _read(tools)


@lru_cache(maxsize=_LISTS)
def _read_again(written: bytes) -> Tools:
    """The tools of a list as ``marshal`` writes it: shared by the parsers of one list, not by the caller."""
    return _read(marshal.loads(written))


def _read(tools: object) -> Tools:
    found: dict[str, Tool] = {}
    if isinstance(tools, Mapping):
        for name, schema in tools.items():
            if isinstance(schema, Mapping) and "properties" not in schema:
                schema = _written_schema(schema) or schema  # a whole function under its own name
            found[_name(name, "a key of tools")] = _tool(name, schema, f"tools[{name!r}]")
    elif isinstance(tools, (list, tuple)):
        for index, entry in enumerate(tools):
            where = f"tools[{index}]"
            if not isinstance(entry, Mapping):
                raise ToolsError(f"{where}: expected a mapping, got {type(entry).__name__}")
            if _is_function(entry):
                function = entry.get("function", entry)
                if not isinstance(function, Mapping):
                    raise ToolsError(
                        f"{where}['function']: expected a mapping, got {type(function).__name__}"
                    )
                name = _name(function.get("name"), f"{where}: its name")
                schema = _written_schema(function)
                found[name] = _tool(name, {} if schema is None else schema, f"{where} ({name})")
    else:
        raise ToolsError(
            f"tools: expected a list, a mapping from name to schema, or None, got {type(tools).__name__}"
        )
    return Tools(found)


def _is_function(entry: Schema) -> bool:
    return entry.get("type") in (None, "function") or isinstance(_written_schema(entry), Mapping)


def _written_schema(function: Schema) -> object:
    return next((function[key] for key in _SCHEMA_KEYS if function.get(key) is not None), None)


def _name(name: object, what: str) -> str:
    if not isinstance(name, str) or not name:
        raise ToolsError(f"{what} has to be a string that is not empty, got {name!r:.80}")
    return name


def _tool(name: str, schema: object, where: str) -> Tool:
    if not isinstance(schema, Mapping):
        raise ToolsError(f"{where}: expected a JSON schema as a mapping, got {type(schema).__name__}")
    properties = schema.get("properties")
    if properties is not None and not isinstance(properties, Mapping):
        raise ToolsError(f"{where}: 'properties' has to be a mapping, got {type(properties).__name__}")
    return Tool(name, schema)
