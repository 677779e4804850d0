"""Values: the texts of a value that fits a JSON schema, in the notation of a format.

Promises: types by any name that ``schemawalk`` knows, ``required``, ``enum``, ``const``, lists with
``items``, nested objects, ``additionalProperties``, unions, ``nullable`` and references, recursive ones
too; integers between bounds, and lengths of strings where a format's strings can be counted. What a
schema states beyond that (``pattern``, ``format``) is not held to and noted. An object that declares members
has no others, unless ``additionalProperties`` says so. Work is bounded: what is nested too deep, or
referred to and not there, may be any value.

Does not: know how a call stands around its values (``calls``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from ..schemawalk import ANY, Schema, Walk, named_types
from .bounds import INTEGER, LIMITS, NUMBER, integer, number, repeated
from .form import EMPTY, NEVER, Lit, Members, Node, Ref, Rep, Rules, Token, Word, alt, listed, one_of, seq

UNHELD: Final = frozenset(
    {
        *("pattern", "format", "multipleOf", "uniqueItems", "minProperties", "maxProperties", "not"),
        *("patternProperties", "propertyNames", "prefixItems", "contains", "dependentRequired"),
    }
)
"""Keywords that constrain a value and that no rule is made for."""
LENGTHS: Final = ("minLength", "maxLength")

_REPEAT: Final = "members of any name may repeat: no rule can tell that one was there"
_DEEPEST: Final = 32
# So many schemas of one tool, those behind references each time, are looked at.
_MOST: Final = 4096
# Longer lists than these are not counted.
_COUNTED: Final = 64

_HEX: Final = one_of("0-9a-fA-F")
_PLAIN_ESCAPE: Final = one_of('"\\/bfnrt')
_ESCAPE: Final = seq(Lit("\\"), alt((_PLAIN_ESCAPE, seq(Lit("u"), _HEX, _HEX, _HEX, _HEX))))
_CHAR: Final = one_of('"\\\0-\x1f', negated=True)
STRING: Final = Token(seq(Lit('"'), Rep(alt((_CHAR, _ESCAPE))), Lit('"')))
# One character each: half of a surrogate pair would count as one.
_UNPAIRED: Final = alt((seq(one_of("0-9a-ce-fA-CE-F"), _HEX), seq(one_of("dD"), one_of("0-7"))))
_COUNTED_CHAR: Final = alt(
    (_CHAR, seq(Lit("\\"), alt((_PLAIN_ESCAPE, seq(Lit("u"), _UNPAIRED, _HEX, _HEX)))))
)
_SPACE: Final = Rep(Lit(" "), 0, 1)


@dataclass(frozen=True)
class Notation:
    """How values are spelled: the words, the strings, and what stands around members and elements.

    ``string`` is any string, ``char`` a character of it where it can be counted between double quotes, and
    ``quoted`` the literal of a string; ``key`` is a declared member's name with what
    follows it, ``keys`` that of any name but the ones given.
    """

    null: str
    true: str
    false: str
    string: Node
    quoted: Callable[[str], str]
    key: Callable[[str], Node]
    keys: Callable[[tuple[str, ...]], Node]
    separator: Node
    char: Node | None = None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _json_key(name: str) -> Node:
    return seq(Lit(_quoted(name) + ":"), _SPACE)


def _json_keys(without: tuple[str, ...]) -> Node:
    inside = tuple(_quoted(name)[1:-1] for name in without)
    name: Node = STRING if not without else Token(seq(Lit('"'), Word(_CHAR, inside), Lit('"')))
    return seq(name, Lit(":"), _SPACE)


JSON: Final = Notation(
    *("null", "true", "false"), STRING, _quoted, _json_key, _json_keys, seq(Lit(","), _SPACE), _COUNTED_CHAR
)
PYTHON: Final = replace(JSON, null="None", true="True", false="False")


class Fields(NamedTuple):
    """An object's members: schemas by name, the required ones by index, and the schema of others if any."""

    named: dict[str, Any]
    required: frozenset[int]
    additional: object | None


def joined(
    parts: Sequence[Node], required: frozenset[int], separator: Node, extra: Node | None, some: bool = False
) -> Node:
    """Members in any order, with ``some`` at least one; those that no text fits are left out."""
    extra = None if extra == NEVER else extra
    fitting = [n for n, part in enumerate(parts) if part != NEVER]
    if required - set(fitting):
        return NEVER
    if not fitting:
        if extra is None:
            return NEVER if some else EMPTY
        return listed(extra, separator, int(some))
    needed = frozenset(place for place, n in enumerate(fitting) if n in required)
    return Members(tuple(parts[n] for n in fitting), needed, separator, extra, some)


class Values:
    """Makes nodes of the schemas of one tool; what they do not hold to goes into ``notes``."""

    def __init__(self, notation: Notation, rules: Rules, root: Schema, notes: set[str]) -> None:
        self.notation = notation
        self.rules = rules
        self._root = root
        self._notes = notes
        self._referred: dict[str, Ref] = {}
        self._open: set[str] = set()
        self._room = _MOST

    @property
    def walk(self) -> Walk:
        """A walk over the tool's schema, with its own bound."""
        return Walk(self._root)

    def value(self, schema: object, depth: int = 0, kinds: frozenset[str] = ANY) -> Node:
        """Any value of ``schema`` whose type is one of ``kinds``; ``NEVER`` where none is."""
        self._room -= 1
        if isinstance(schema, Mapping) and (depth > _DEEPEST or self._room < 0):
            self._notes.add("a schema nests too deep or is too large: what is beyond may be any value")
            schema = None
        if not isinstance(schema, Mapping):
            return self.any() if kinds == ANY else self._of_types(kinds, kinds, {}, depth)
        self.unheld(schema, UNHELD)
        ref = schema.get("$ref")
        if isinstance(ref, str):
            return self._refer(ref, depth, kinds)
        node = self._plain(schema, depth, kinds)
        nullable = schema.get("nullable") is True and "null" in kinds
        return alt((node, Lit(self.notation.null))) if nullable else node

    def unheld(self, schema: Schema, words: Iterable[str]) -> None:
        """Note that those keywords of ``schema`` are not held to."""
        self._notes.update(f"the keyword {word!r} is not held to" for word in words if word in schema)

    def any(self) -> Node:
        """Any value at all."""
        notation, rules = self.notation, self.rules
        self._notes.add(_REPEAT)
        key = f"any:{notation.null}"
        if key not in self._referred:
            ref = self._referred[key] = rules.reserve()
            rules.define(ref, alt((*self._scalars(), self._list(ref), self._map(ref))))
        return self._referred[key]

    def fields(self, schema: Schema) -> Fields:
        """The members that an object of ``schema`` may have."""
        declared = self.walk.properties(schema)
        named = {name: sub for name, sub in declared.items() if name is not None}
        stated = schema.get("additionalProperties")
        closed = stated is False or (stated is None and (bool(named) or "properties" in schema))
        if not closed:
            self._notes.add(_REPEAT)
        required = self.walk.required(schema)
        needed = frozenset(n for n, name in enumerate(named) if name in required)
        return Fields(named, needed, None if closed else stated if isinstance(stated, Mapping) else {})

    def members(self, schema: Schema, depth: int = 0) -> Node:
        """The members of an object, without what stands around them."""
        notation, fields = self.notation, self.fields(schema)
        extra = None
        if fields.additional is not None:
            extra = seq(notation.keys(tuple(fields.named)), self.value(fields.additional, depth + 1))
        parts = [seq(notation.key(name), self.value(sub, depth + 1)) for name, sub in fields.named.items()]
        return joined(parts, fields.required, notation.separator, extra)

    def _refer(self, ref: str, depth: int, kinds: frozenset[str]) -> Node:
        target = self.walk.resolve(ref)
        if target is None:
            self._notes.add(f"the reference {ref!r} leads nowhere: any value")
            return self.value({}, depth, kinds)
        if ref in self._open:
            # Where nothing was read since, the reference adds nothing to what it leads back to.
            return NEVER
        if kinds == ANY and ref in self._referred:
            return self._referred[ref]
        made = self.rules.reserve()
        if kinds == ANY:
            self._referred[ref] = made
        self._open.add(ref)
        node = self.value(target, depth + 1, kinds)
        self._open.discard(ref)
        self.rules.define(made, self.any() if node == NEVER and kinds == ANY else node)
        return made if kinds == ANY else node

    def _plain(self, schema: Schema, depth: int, kinds: frozenset[str]) -> Node:
        for union in ("anyOf", "oneOf"):
            branches = schema.get(union)
            if isinstance(branches, (list, tuple)) and branches:
                base = {k: v for k, v in schema.items() if k not in {union, "nullable"}}
                return alt(self.value(_both(base, branch), depth + 1, kinds) for branch in branches)
        parts = schema.get("allOf")
        if isinstance(parts, (list, tuple)) and parts:
            return self._all_of(schema, parts, depth, kinds)
        members = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(members, (list, tuple)) and members:
            return alt(self.literal(member) for member in self._fitting(schema, members, kinds))
        types = named_types(schema.get("type"))
        if "any" in types and "properties" in schema:
            types = frozenset({"object"})
        if "any" in types:
            self.unheld(schema, (*LIMITS, *LENGTHS))
            return self.any() if kinds == ANY else self._of_types(kinds, kinds, {}, depth)
        return self._of_types(types, kinds, schema, depth)

    def _of_types(self, types: frozenset[str], kinds: frozenset[str], schema: Schema, depth: int) -> Node:
        wanted = types & kinds - {"any"}
        single = wanted - {"integer"} if "number" in wanted else wanted
        return alt(self._of_type(kind, schema, depth) for kind in sorted(single))

    def _fitting(self, schema: Schema, members: Sequence[Any], kinds: frozenset[str]) -> list[Any]:
        """The members of an enum that are of the declared type, or all where none is."""
        types = named_types(schema.get("type"))
        typed = [(member, Walk({}).types({"const": member})) for member in members]
        fitting = [member for member, own in typed if own & types & kinds]
        return fitting or [member for member, own in typed if own & kinds]

    def _all_of(self, schema: Schema, parts: Sequence[Any], depth: int, kinds: frozenset[str]) -> Node:
        """All parts merged into one schema, through references."""
        merged: object = {k: v for k, v in schema.items() if k not in {"allOf", "nullable"}}
        for part in parts:
            if isinstance(part, Mapping) and isinstance(part.get("$ref"), str):
                part = self.walk.resolve(part["$ref"]) or {}
            merged = _both(merged, part)
        return self.value(merged, depth + 1, kinds)

    def _of_type(self, kind: str, schema: Schema, depth: int) -> Node:
        notation = self.notation
        if kind in {"array", "object"}:
            waiting, self._open = self._open, set()
            node = self._array(schema, depth) if kind == "array" else self._object(schema, depth)
            self._open = waiting
            return node
        if kind == "string":
            return self._string(schema)
        if kind in {"integer", "number"}:
            return self._number(kind, schema)
        return Lit(notation.null) if kind == "null" else alt((Lit(notation.true), Lit(notation.false)))

    def _number(self, kind: str, schema: Schema) -> Node:
        node = integer(schema) if kind == "integer" else number(schema)
        if node is not None:
            return node
        self.unheld(schema, LIMITS)
        return INTEGER if kind == "integer" else NUMBER

    def _string(self, schema: Schema) -> Node:
        notation = self.notation
        if not any(word in schema for word in LENGTHS):
            return notation.string
        inside = None if notation.char is None else repeated(notation.char, schema)
        if inside is None:
            self.unheld(schema, LENGTHS)
            return notation.string
        return NEVER if inside == NEVER else Token(seq(Lit('"'), inside, Lit('"')))

    def _object(self, schema: Schema, depth: int) -> Node:
        return self.rules.add(seq(Lit("{"), self.members(schema, depth), Lit("}")))

    def _array(self, schema: Schema, depth: int) -> Node:
        item = self.rules.add(self.value(schema.get("items"), depth + 1))
        least, most = schema.get("minItems"), schema.get("maxItems")
        low = least if isinstance(least, int) and 0 < least <= _COUNTED else 0
        high = most if isinstance(most, int) and low <= most <= _COUNTED else None
        self.unheld(
            schema,
            [
                word
                for word, held in (("minItems", low), ("maxItems", high))
                if held != schema.get(word, held)
            ],
        )
        return seq(Lit("["), listed(item, self.notation.separator, low, high), Lit("]"))

    def _scalars(self) -> tuple[Node, ...]:
        notation = self.notation
        words = (Lit(notation.true), Lit(notation.false), Lit(notation.null))
        return (notation.string, NUMBER, *words)

    def _list(self, item: Node) -> Node:
        return seq(Lit("["), listed(item, self.notation.separator), Lit("]"))

    def _map(self, item: Node) -> Node:
        member = seq(self.notation.keys(()), item)
        return seq(Lit("{"), listed(member, self.notation.separator), Lit("}"))

    def literal(self, value: Any) -> Node:
        """Exactly this value."""
        notation = self.notation
        if isinstance(value, bool):
            return Lit(notation.true if value else notation.false)
        if value is None:
            return Lit(notation.null)
        if isinstance(value, str):
            return Lit(notation.quoted(value))
        if isinstance(value, Mapping):
            members = [seq(notation.key(str(k)), self.literal(v)) for k, v in value.items()]
            return seq(Lit("{"), _in_turn(members, notation.separator), Lit("}"))
        if isinstance(value, (list, tuple)):
            elements = [self.literal(element) for element in value]
            return seq(Lit("["), _in_turn(elements, notation.separator), Lit("]"))
        return Lit(json.dumps(value))


def _in_turn(nodes: list[Node], separator: Node) -> Node:
    return seq(*(part for n, node in enumerate(nodes) for part in ((separator, node) if n else (node,))))


def _both(one: object, other: object) -> object:
    """Two schemas that both hold, as one: members and required names of both, else the latter's words."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return one if isinstance(one, Mapping) else other
    merged: dict[str, Any] = {**one, **other}
    for keyword in ("properties", "$defs", "definitions"):
        if isinstance(one.get(keyword), Mapping) and isinstance(other.get(keyword), Mapping):
            merged[keyword] = {**one[keyword], **other[keyword]}
    if isinstance(one.get("required"), (list, tuple)) and isinstance(other.get("required"), (list, tuple)):
        merged["required"] = [*one["required"], *other["required"]]
    if "type" in one and "type" in other:
        types = named_types(one["type"]) & named_types(other["type"])
        merged["type"] = sorted(types - {"any"}) if "any" not in types else "any"
    return merged
