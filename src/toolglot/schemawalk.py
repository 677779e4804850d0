"""Schema walk: what a JSON schema declares, through references and unions. Types, names and elements only.

Promises: bounded work for any schema; cycles, dead references and unknown type names leave a place
undeclared. Does not: give text a type (``schema``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ._typing import Any

Schema = Mapping[str, Any]

_NULL = frozenset({"null"})
_BOOLEAN = frozenset({"boolean"})
_INTEGERS = frozenset({"integer"})
_NUMBERS = frozenset({"integer", "number"})
TEXT = frozenset({"string"})
_ARRAY = frozenset({"array"})
_OBJECT = frozenset({"object"})
# "any" tells what is not declared from a union that names all seven.
ANY = frozenset({"any"}).union(_NULL, _BOOLEAN, _NUMBERS, TEXT, _ARRAY, _OBJECT)

# CPython refuses to write much longer numbers in decimal.
_SPELLED_BITS = 4096

_TYPE_NAMES: dict[str, frozenset[str]] = {
    spelling: types
    for types, spellings in (
        (_NULL, "null none nonetype nil"),
        (_BOOLEAN, "boolean bool"),
        (_INTEGERS, "integer int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short bigint"),
        (_NUMBERS, "number num numeric float float32 float64 double decimal real"),
        (TEXT, "string str text varchar char"),
        (_ARRAY, "array arr list arraylist tuple set sequence"),
        (_OBJECT, "object obj dict dictionary map hashmap mapping struct"),
    )
    for spelling in spellings.split()
}


def named_types(declared: object) -> frozenset[str]:
    """The types that the value of a ``type`` keyword names."""
    if isinstance(declared, str):
        # `list[str]` and `Dict<string, int>` name their outer type.
        outer = re.split(r"[\[<]", declared, maxsplit=1)[0]
        return _TYPE_NAMES.get(outer.strip().lower(), ANY)
    if isinstance(declared, (list, tuple)) and declared:
        return frozenset[str]().union(
            *(named_types(name) if isinstance(name, str) else ANY for name in declared)
        )
    return ANY


def _member_types(members: object) -> frozenset[str]:
    """The types of an enum's members."""
    if isinstance(members, (list, tuple)) and members:
        return frozenset[str]().union(*map(_types_of_value, members))
    return ANY


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
        return TEXT
    if isinstance(value, (list, tuple)):
        return _ARRAY
    return _OBJECT if isinstance(value, Mapping) else ANY


class Walk:
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
            return ANY
        own = named_types(schema.get("type"))
        members = _types_of_value(schema["const"]) if "const" in schema else _member_types(schema.get("enum"))
        parts = [own & members or own]
        ref = schema.get("$ref")
        if isinstance(ref, str):
            parts.append(
                frozenset() if ref in refs else self.types(self.resolve(ref), refs | {ref}, depth + 1)
            )
        for member in _entries(schema, "allOf"):
            parts.append(self.types(member, refs, depth + 1))
        for union in ("anyOf", "oneOf"):
            branches = [self.types(branch, refs, depth + 1) for branch in _entries(schema, union)]
            if branches:
                parts.append(frozenset[str]().union(*branches))
        stated = [part for part in parts if part and "any" not in part]
        if not stated:
            return ANY if all(parts) else frozenset()
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
            _merge(found, self.properties(self.resolve(ref), refs | {ref}, depth + 1))
        for member in _entries(schema, "allOf"):
            _merge(found, self.properties(member, refs, depth + 1))
        for union in ("anyOf", "oneOf"):
            alternatives: dict[str | None, list[Any]] = {}
            for branch in _entries(schema, union):
                for name, declared in self.properties(branch, refs, depth + 1).items():
                    alternatives.setdefault(name, []).append(declared)
            _merge(found, {name: {"anyOf": schemas} for name, schemas in alternatives.items()})
        return found

    def items(self, schema: Any, refs: frozenset[str] = frozenset(), depth: int = 0) -> Any:
        """The schema of a list's elements, or None."""
        if not self._enters(schema, depth):
            return None
        if isinstance(schema.get("items"), Mapping):
            return schema["items"]
        ref = schema.get("$ref")
        found = None
        if isinstance(ref, str) and ref not in refs:
            found = self.items(self.resolve(ref), refs | {ref}, depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for member in _entries(schema, keyword):
                found = found if found is not None else self.items(member, refs, depth + 1)
        return found

    def required(self, schema: Any, refs: frozenset[str] = frozenset(), depth: int = 0) -> frozenset[str]:
        """The names that every object of this schema has."""
        if not self._enters(schema, depth):
            return frozenset()
        found = frozenset(name for name in _entries(schema, "required") if isinstance(name, str))
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref not in refs:
            found |= self.required(self.resolve(ref), refs | {ref}, depth + 1)
        for member in _entries(schema, "allOf"):
            found |= self.required(member, refs, depth + 1)
        return found

    def texts(self, schema: Any, refs: frozenset[str] = frozenset(), depth: int = 0) -> frozenset[str]:
        """The strings that an enum lists, but for those that are the spelling of another member."""
        if not self._enters(schema, depth):
            return frozenset()
        members = _entries(schema, "enum")
        found = frozenset(m for m in members if isinstance(m, str))
        found -= {json.dumps(m) for m in members if _is_plain(m)}
        ref = schema.get("$ref")
        if isinstance(ref, str) and ref not in refs:
            found |= self.texts(self.resolve(ref), refs | {ref}, depth + 1)
        for member in _entries(schema, "allOf"):
            found |= self.texts(member, refs, depth + 1)
        return found

    def resolve(self, ref: str) -> object:
        """What ``ref`` points to inside the tool's own schema; None where it points elsewhere or nowhere."""
        if ref != "#" and not ref.startswith("#/"):
            return None
        from urllib.parse import unquote

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


def _is_plain(member: object) -> bool:
    """Whether an enum's member is null, a boolean or a number that can be spelled out."""
    if isinstance(member, int):
        return member.bit_length() <= _SPELLED_BITS
    return member is None or isinstance(member, float)


def _entries(schema: Schema, keyword: str) -> list[Any] | tuple[Any, ...]:
    value = schema.get(keyword)
    return value if isinstance(value, (list, tuple)) else ()


def _merge(into: dict[str | None, Any], more: Mapping[str | None, Any]) -> None:
    for name, schema in more.items():
        into[name] = {"allOf": [into[name], schema]} if name in into else schema
