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

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

from .errors import ToolsError
from .literals import json_string, python_to_json, strict_json

Schema = Mapping[str, Any]


class Typed(NamedTuple):
    """An argument's value as JSON text; ``ok`` is False where it is not of the declared type."""

    json: str
    ok: bool


_NULL = frozenset({"null"})
_BOOLEAN = frozenset({"boolean"})
_INTEGERS = frozenset({"integer"})
_NUMBERS = frozenset({"integer", "number"})
_STRING = frozenset({"string"})
_ARRAY = frozenset({"array"})
_OBJECT = frozenset({"object"})
# "any" tells what is not declared from a union that names all seven.
_UNDECLARED = frozenset({"any"}).union(_NULL, _BOOLEAN, _NUMBERS, _STRING, _ARRAY, _OBJECT)
_INTEGER = re.compile(r"-?[0-9]+")
_INTEGRAL_FLOAT = re.compile(r"-?[0-9]+\.0+")
_KINDS = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter's declared types.

    ``types`` holds JSON Schema's names (``number`` always with ``integer``), and ``any`` too where nothing
    is declared. ``is_string``: declared a string and nothing else, so its text may go out as it comes.
    """

    types: frozenset[str]
    is_string: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_string", self.types == _STRING)

    def typed(self, text: str) -> Typed:
        """The value that ``text`` stands for; never raises."""
        if self.is_string:
            return Typed(json_string(text), True)
        value = strict_json(text)
        if "any" in self.types:
            return Typed(json_string(text) if value is None else value, True)
        if "string" in self.types:
            if value is not None and self._fits_beside_string(value):
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


STRING = Param(_STRING)
"""A parameter that is a string, whatever its text."""

UNDECLARED = Param(_UNDECLARED)
"""A parameter without a schema: JSON if the text parses, else the text."""


def stated(name: str) -> Param:
    """The parameter whose type the text itself names, such as ``integer`` or ``array[string]``."""
    types = _named_types(name.partition("[")[0])
    return UNDECLARED if not types or "any" in types else Param(types)


class Tool:
    """One offered function: its name, the parameters it requires, and its schema as the caller gave it."""

    __slots__ = ("name", "required", "schema", "_properties", "_params")

    def __init__(self, name: str, schema: Schema) -> None:
        walk = _Walk(schema)
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

    def param(self, name: str) -> Param:
        """The parameter of that name; ``UNDECLARED`` where the schema does not speak of it."""
        # Undeclared names share one entry: they are the model's, and would fill the memory.
        key = name if name in self._properties else None
        param = self._params.get(key)
        if param is None:
            types = _Walk(self.schema).types(self._properties.get(key))
            param = UNDECLARED if not types or "any" in types else Param(types)
            self._params[key] = param
        return param


class Tools:
    """The functions a request offers, by name."""

    __slots__ = ("names", "_tools")

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = dict(tools)
        self.names = frozenset(self._tools)

    def __repr__(self) -> str:
        return f"Tools({list(self._tools)!r})"

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None where none was offered."""
        return self._tools.get(name)


_TYPE_NAMES: dict[str, frozenset[str]] = {
    spelling: types
    for types, spellings in (
        (_NULL, "null none nonetype nil"),
        (_BOOLEAN, "boolean bool"),
        (_INTEGERS, "integer int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short bigint"),
        (_NUMBERS, "number num numeric float float32 float64 double decimal real"),
        (_STRING, "string str text varchar char"),
        (_ARRAY, "array arr list tuple set sequence"),
        (_OBJECT, "object obj dict dictionary map mapping struct"),
    )
    for spelling in spellings.split()
}


def _named_types(declared: object) -> frozenset[str]:
    """The types that the value of a ``type`` keyword names."""
    if isinstance(declared, str):
        # `list[str]` and `Dict<string, int>` name their outer type.
        outer = re.split(r"[\[<]", declared, maxsplit=1)[0]
        return _TYPE_NAMES.get(outer.strip().lower(), _UNDECLARED)
    if isinstance(declared, (list, tuple)) and declared:
        return frozenset[str]().union(
            *(_named_types(name) if isinstance(name, str) else _UNDECLARED for name in declared)
        )
    return _UNDECLARED


def _member_types(members: object) -> frozenset[str]:
    """The types of an enum's members."""
    if isinstance(members, (list, tuple)) and members:
        return frozenset[str]().union(*map(_types_of_value, members))
    return _UNDECLARED


def _types_of_value(value: object) -> frozenset[str]:
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return _BOOLEAN
    if isinstance(value, int):
        return _INTEGERS
    if isinstance(value, float):
        return _NUMBERS
    if isinstance(value, str):
        return _STRING
    if isinstance(value, (list, tuple)):
        return _ARRAY
    return _OBJECT if isinstance(value, Mapping) else _UNDECLARED


class _Walk:
    """One bounded walk over a tool's schema: ``steps`` and ``_DEPTH`` end what references make endless."""

    _DEPTH = 64

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.steps = 4096

    def _enters(self, schema: object, depth: int) -> bool:
        self.steps -= 1
        return isinstance(schema, Mapping) and depth <= self._DEPTH and self.steps > 0

    def types(self, schema: Any, refs: frozenset[str] = frozenset(), depth: int = 0) -> frozenset[str]:
        """The types ``schema`` admits; empty where it only leads back to ``refs``, open above it."""
        if not self._enters(schema, depth):
            return _UNDECLARED
        own = _named_types(schema.get("type"))
        members = _types_of_value(schema["const"]) if "const" in schema else _member_types(schema.get("enum"))
        parts = [own & members or own]
        ref = schema.get("$ref")
        if isinstance(ref, str):
            parts.append(
                frozenset() if ref in refs else self.types(self._resolve(ref), refs | {ref}, depth + 1)
            )
        for member in _entries(schema, "allOf"):
            parts.append(self.types(member, refs, depth + 1))
        for union in ("anyOf", "oneOf"):
            branches = [self.types(branch, refs, depth + 1) for branch in _entries(schema, union)]
            if branches:
                parts.append(frozenset[str]().union(*branches))
        stated = [part for part in parts if part and "any" not in part]
        if not stated:
            return _UNDECLARED if all(parts) else frozenset()
        agreed = stated[0].intersection(*stated)
        return agreed | _NULL if agreed and schema.get("nullable") is True else agreed

    def properties(
        self, schema: Any, refs: frozenset[str] = frozenset(), depth: int = 0
    ) -> dict[str | None, Any]:
        """Each declared name's schema; under None that of the names which are not declared."""
        if not self._enters(schema, depth):
            return {}
        found: dict[str | None, Any] = {}
        own = schema.get("properties")
        if isinstance(own, Mapping):
            found.update(own)
        if isinstance(schema.get("additionalProperties"), Mapping):
            found[None] = schema["additionalProperties"]
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref not in refs:
            _merge(found, self.properties(self._resolve(ref), refs | {ref}, depth + 1))
        for member in _entries(schema, "allOf"):
            _merge(found, self.properties(member, refs, depth + 1))
        for union in ("anyOf", "oneOf"):
            alternatives: dict[str | None, list[Any]] = {}
            for branch in _entries(schema, union):
                for name, declared in self.properties(branch, refs, depth + 1).items():
                    alternatives.setdefault(name, []).append(declared)
            _merge(found, {name: {"anyOf": schemas} for name, schemas in alternatives.items()})
        return found

    def required(self, schema: Any, refs: frozenset[str] = frozenset(), depth: int = 0) -> frozenset[str]:
        """The names that every object of this schema has."""
        if not self._enters(schema, depth):
            return frozenset()
        found = frozenset(name for name in _entries(schema, "required") if isinstance(name, str))
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref not in refs:
            found |= self.required(self._resolve(ref), refs | {ref}, depth + 1)
        for member in _entries(schema, "allOf"):
            found |= self.required(member, refs, depth + 1)
        return found

    def _resolve(self, ref: str) -> object:
        if ref != "#" and not ref.startswith("#/"):
            return None
        node: Any = self.root
        for part in unquote(ref).split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping):
                node = node.get(key)
            elif isinstance(node, (list, tuple)) and re.fullmatch("[0-9]{1,6}", key) and int(key) < len(node):
                node = node[int(key)]
            else:
                return None
        return node


def _entries(schema: Schema, keyword: str) -> list[Any] | tuple[Any, ...]:
    value = schema.get(keyword)
    return value if isinstance(value, (list, tuple)) else ()


def _merge(into: dict[str | None, Any], more: Mapping[str | None, Any]) -> None:
    for name, schema in more.items():
        into[name] = {"allOf": [into[name], schema]} if name in into else schema


_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")


def read_tools(tools: object) -> Tools | None:
    """View of a request's tools; None for None (it is not known what was offered).

    ``tools`` is a list of entries as OpenAI (Chat Completions or Responses), Anthropic or MCP write them, or
    a mapping from name to JSON schema. Entries of other kinds than a function with a schema, such as
    ``{"type": "web_search"}``, are skipped; of two entries with one name the later counts. Raises
    ``ToolsError`` where ``tools`` or an entry is neither, a function has no name, or a schema is no mapping.
    """
    if tools is None or isinstance(tools, Tools):
        return tools
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
