"""Types of argument text, and the forms in which a request offers its tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.errors import ToolglotError, ToolsError
from toolglot.schema import UNDECLARED, Param, Tool, Typed, read_tools


def tool(schema: dict[str, Any]) -> Tool:
    tools = read_tools({"t": schema})
    assert tools is not None
    found = tools.get("t")
    assert found is not None
    return found


def param(schema: object, **rest: object) -> Param:
    return tool({"type": "object", "properties": {"p": schema}, **rest}).param("p")


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
NULL = {"type": "null"}
ARRAY = {"type": "array"}
OBJECT = {"type": "object"}


@pytest.mark.parametrize("text", ["007", "3", "true", " x ", "", "null", '"q"', '{"a": 1}', "a\n\\b", "NaN"])
def test_a_declared_string_stays_as_it_is(text: str) -> None:
    declared = param(STRING)
    assert declared.is_string
    assert declared.typed(text) == Typed(json.dumps(text), True)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (INTEGER, "3", "3"),
        (INTEGER, "\n  21 ", "21"),
        (INTEGER, "-7", "-7"),
        (INTEGER, "5.0", "5.0"),
        (INTEGER, "+5", "5"),
        (INTEGER, "1_000", "1000"),
        (INTEGER, "9" * 6000, "9" * 6000),
        (NUMBER, "3", "3"),
        (NUMBER, "1.50", "1.50"),
        (NUMBER, "1e400", "1e400"),
        (NUMBER, ".5", "0.5"),
        (BOOLEAN, "true", "true"),
        (BOOLEAN, "False", "false"),
        (NULL, "None", "null"),
        (ARRAY, "[1, 2.0]", "[1, 2.0]"),
        (ARRAY, "(1, 'a')", '[1, "a"]'),
        (OBJECT, '{"a":  1, "a": 2}', '{"a":  1, "a": 2}'),
        (OBJECT, "{'a': True}", '{"a": true}'),
        ({"anyOf": [INTEGER, NULL]}, "null", "null"),
        ({"oneOf": [INTEGER, ARRAY]}, "12", "12"),
        ({"type": ["object", "null"]}, "{'a': None}", '{"a": null}'),
    ],
)
def test_other_types_are_read(schema: object, text: str, expected: str) -> None:
    declared = param(schema)
    assert not declared.is_string
    assert declared.typed(text) == Typed(expected, True)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (INTEGER, "five", '"five"'),
        (INTEGER, "", '""'),
        (INTEGER, " five ", '" five "'),
        (INTEGER, "007", '"007"'),
        (INTEGER, "5.5", "5.5"),
        (INTEGER, "1e3", "1e3"),
        (INTEGER, "true", "true"),
        (INTEGER, "True", "true"),
        (INTEGER, '"5"', '"5"'),
        (INTEGER, "'5'", '"5"'),
        (NUMBER, "NaN", '"NaN"'),
        (NUMBER, "Infinity", '"Infinity"'),
        (NUMBER, "null", "null"),
        (BOOLEAN, "1", "1"),
        (BOOLEAN, "yes", '"yes"'),
        (ARRAY, "{}", "{}"),
        (ARRAY, "a, b", '"a, b"'),
        (OBJECT, "[1]", "[1]"),
        (OBJECT, '{"a": 1', '"{\\"a\\": 1"'),
        (OBJECT, "{'a': nan}", "\"{'a': nan}\""),
        (ARRAY, "[" * 129 + "]" * 129, '"' + "[" * 129 + "]" * 129 + '"'),
    ],
)
def test_a_value_of_another_type_is_kept_and_told(schema: object, text: str, expected: str) -> None:
    assert param(schema).typed(text) == Typed(expected, False)


@pytest.mark.parametrize(
    ("types", "text", "expected"),
    [
        (["string", "null"], "4", '"4"'),
        (["string", "null"], "null", "null"),
        (["null", "string"], "None", '"None"'),
        (["string", "null"], "", '""'),
        (["string", "integer"], "4", "4"),
        (["string", "integer"], "007", '"007"'),
        (["string", "integer"], "1.0", '"1.0"'),
        (["string", "integer"], "+4", '"+4"'),
        (["string", "integer"], '"4"', '"\\"4\\""'),
        (["string", "integer"], " x ", '" x "'),
        (["string", "number"], "1.0", "1.0"),
        (["string", "boolean"], "true", "true"),
        (["string", "boolean"], "True", '"True"'),
        (["string", "boolean"], "null", '"null"'),
        (["string", "array"], '["a"]', '["a"]'),
        (["string", "array"], "['a']", "\"['a']\""),
        (["string", "object"], "[1]", '"[1]"'),
        (["string", "object"], '{"a": 1}', '{"a": 1}'),
    ],
)
@pytest.mark.parametrize("form", ["type", "anyOf", "oneOf"])
def test_in_a_union_string_is_what_is_left(types: list[str], text: str, expected: str, form: str) -> None:
    declared = param({form: types if form == "type" else [{"type": name} for name in types]})
    assert not declared.is_string
    assert declared.typed(text) == Typed(expected, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", "4"),
        (" 4\n", "4"),
        ("0.50", "0.50"),
        ("true", "true"),
        ('"4"', '"4"'),
        ('[1, "two", null]', '[1, "two", null]'),
        ("007", '"007"'),
        ("NaN", '"NaN"'),
        ("True", '"True"'),
        ("{'a': 1}", "\"{'a': 1}\""),
        ("plain words ", '"plain words "'),
        ("", '""'),
        ("\ud800", '"\ufffd"'),
        ('"\\ud800"', '"\\ufffd"'),
    ],
)
def test_undeclared_is_json_if_it_parses(text: str, expected: str) -> None:
    assert UNDECLARED.typed(text) == Typed(expected, True)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        False,
        None,
        [],
        "string",
        {"description": "x"},
        {"type": "any"},
        {"type": "Any"},
        {"type": []},
        {"type": "whatever"},
        {"type": 5},
        {"type": ["string", "any"]},
        {"type": [{}]},
        {"anyOf": [STRING, {}]},
        {"$ref": "#/$defs/None"},
        {"$ref": "other.json#/x"},
        {"$ref": "#anchor"},
        {"$ref": 5},
        {"enum": []},
        {"anyOf": []},
        {"allOf": []},
        {"enum": "abc"},
        {"nullable": True},
        {"allOf": [STRING, INTEGER]},
        {"$ref": "#/properties/p/type/0"},
        {"$ref": "#/required/99999999999999999999"},
        {"const": {1, 2}},
    ],
    ids=str,
)
def test_undeclared(schema: object) -> None:
    assert param(schema, required=["p"]) is UNDECLARED
    assert not UNDECLARED.is_string


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"enum": ["a", "7"]}, {"string"}),
        ({"enum": [1, 2]}, {"integer"}),
        ({"enum": [1, 2.5]}, {"integer", "number"}),
        ({"enum": ["auto", None, True]}, {"string", "null", "boolean"}),
        ({"enum": [[], {}]}, {"array", "object"}),
        ({"const": "x"}, {"string"}),
        ({"const": None}, {"null"}),
        ({"type": "string", "enum": [1, 2]}, {"string"}),
        ({"type": ["string", "null"], "enum": ["a"]}, {"string"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"type": "string", "nullable": False}, {"string"}),
        ({"type": ["string"]}, {"string"}),
        ({"anyOf": [STRING, {"enum": ["a"]}]}, {"string"}),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"object"}),
        ({"allOf": [{"description": "x"}, STRING]}, {"string"}),
        ({"allOf": [NUMBER, INTEGER]}, {"integer"}),
        ({"allOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]}, {"null"}),
        ({"allOf": [{"$ref": "#/$defs/Color"}], "nullable": True}, {"string", "null"}),
        ({"$ref": "#/$defs/Color"}, {"string"}),
        ({"$ref": "#/definitions/a~1b~0c%20d"}, {"array"}),
        ({"$ref": "#/definitions/list/anyOf/1"}, {"boolean"}),
        ({"$ref": "#"}, {"object"}),
        ({"$ref": "#/$defs/Chain"}, {"string"}),
        ({"$ref": "#/nowhere", "type": "string"}, {"string"}),
        ({"$ref": "#/properties/other"}, {"integer"}),
    ],
    ids=lambda value: repr(sorted(value)) if isinstance(value, (set, frozenset)) else repr(value),
)
def test_composed_schemas(schema: object, types: set[str]) -> None:
    declared = tool(
        {
            "type": "object",
            "properties": {"p": schema, "other": INTEGER},
            "$defs": {"Color": {"enum": ["red"]}, "Chain": {"$ref": "#/$defs/Color"}},
            "definitions": {"a/b~c d": ARRAY, "list": {"anyOf": [NULL, BOOLEAN]}},
        }
    ).param("p")
    assert declared.types == types
    assert declared.is_string == (types == {"string"})


@pytest.mark.parametrize(
    ("names", "types"),
    [
        (["str", "String", "TEXT", "varchar"], {"string"}),
        (["int", "Integer", "int64", "int32", "long"], {"integer"}),
        (["float", "NUMBER", "double", "decimal"], {"integer", "number"}),
        (["bool", "Boolean"], {"boolean"}),
        (["dict", "OBJECT", "Dict[str, int]", "map"], {"object"}),
        (["list", "arr", "List[str]", "tuple", "array<string>"], {"array"}),
        (["none", "NoneType"], {"null"}),
    ],
)
def test_names_of_types(names: list[str], types: set[str]) -> None:
    for name in names:
        assert param({"type": name}).types == types, name


@pytest.mark.parametrize(
    ("members", "text", "expected"),
    [
        ([1, 2, "3"], "3", '"3"'),
        ([1, 2, "3"], "2", "2"),
        ([1, 2, "3"], "4", "4"),
        ([3, "3"], "3", "3"),
        (["null", "a", None], "null", "null"),
        (["true", "a", 1], "true", '"true"'),
        (["3", 10**5000], "3", '"3"'),
    ],
)
def test_an_enum_of_several_types(members: list[object], text: str, expected: str) -> None:
    """A text that is one of its strings is that string, but where it spells another member."""
    for schema in ({"enum": members}, {"allOf": [{"enum": members}]}):
        assert param(schema).typed(text) == Typed(expected, True)


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        (INTEGER, "007", "7"),
        (INTEGER, "-00", "-0"),
        (NUMBER, "012", "12"),
        (INTEGER, "7", None),
        (INTEGER, "0x7", None),
        (STRING, "007", None),
        ({}, "007", None),
    ],
)
def test_an_integer_with_leading_zeros(schema: object, text: str, expected: str | None) -> None:
    assert param(schema).padded(text) == expected


def test_references_may_run_in_circles() -> None:
    defs: dict[str, Any] = {
        "self": {"$ref": "#/$defs/self"},
        "a": {"$ref": "#/$defs/b"},
        "b": {"$ref": "#/$defs/a"},
        "text": {"anyOf": [STRING, {"$ref": "#/$defs/text"}]},
        "all": {"allOf": [{"$ref": "#/$defs/all"}, ARRAY]},
        "tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}},
    }
    defs.update({f"n{i}": {"anyOf": [{"$ref": f"#/$defs/n{i + 1}"}] * 3} for i in range(60)})
    names = {name: {"$ref": f"#/$defs/{name}"} for name in defs}
    found = tool({"properties": names, "$defs": defs})
    assert found.param("self") is UNDECLARED
    assert found.param("a") is UNDECLARED
    assert found.param("text").types == {"string"}
    assert found.param("all").types == {"array"}
    assert found.param("tree").types == {"object"}
    assert found.param("n0") is UNDECLARED


def test_a_schema_nested_without_end() -> None:
    endless: dict[str, Any] = {}
    endless["allOf"] = [endless, endless]
    assert param(endless) is UNDECLARED
    assert tool(endless).param("p") is UNDECLARED


def test_properties_through_composition() -> None:
    found = tool(
        {
            "$ref": "#/$defs/Args",
            "required": ["own", 5],
            "properties": {"own": STRING, "both": {"type": ["string", "null"]}},
            "allOf": [{"properties": {"both": STRING, "more": INTEGER}, "required": ["more"]}],
            "anyOf": [
                {"properties": {"either": STRING}},
                {"properties": {"either": INTEGER, "one": BOOLEAN}},
            ],
            "$defs": {"Args": {"properties": {"base": ARRAY}, "required": ["base"]}},
        }
    )
    assert found.required == {"own", "more", "base"}
    assert found.param("own").types == {"string"}
    assert found.param("both").types == {"string"}
    assert found.param("more").types == {"integer"}
    assert found.param("base").types == {"array"}
    assert found.param("either").types == {"string", "integer"}
    assert found.param("one").types == {"boolean"}
    assert found.param("none") is UNDECLARED


@pytest.mark.parametrize("additional", [None, True, False, {}])
def test_names_that_are_not_declared(additional: object) -> None:
    found = tool({"properties": {"p": STRING}, "additionalProperties": additional})
    assert found.param("q") is UNDECLARED


def test_additional_properties_type_the_other_names() -> None:
    found = tool({"properties": {"p": INTEGER}, "additionalProperties": STRING})
    assert found.param("p").types == {"integer"}
    assert found.param("q").is_string
    assert found.param("q") is found.param("r")


FUNCTION = {
    "name": "f",
    "parameters": {"type": "object", "properties": {"p": STRING}, "required": ["p"]},
}


@pytest.mark.parametrize(
    "tools",
    [
        [{"type": "function", "function": FUNCTION}],
        [{"type": "function", **FUNCTION, "strict": True}],
        [FUNCTION],
        [{"function": FUNCTION}],
        ({"type": None, **FUNCTION},),
        [{"name": "f", "input_schema": FUNCTION["parameters"]}],
        [{"type": "custom", "name": "f", "input_schema": FUNCTION["parameters"]}],
        [{"name": "f", "inputSchema": FUNCTION["parameters"]}],
        {"f": FUNCTION["parameters"]},
        {"f": FUNCTION},
        [{"type": "web_search"}, {"type": "custom", "custom": {"name": "g"}}, FUNCTION],
        [{"name": "f"}, FUNCTION],
    ],
    ids=range(12),
)
def test_forms_of_tools(tools: object) -> None:
    read = read_tools(tools)
    assert read is not None
    assert read.names == {"f"}
    found = read.get("f")
    assert found is not None
    assert found.name == "f"
    assert found.required == {"p"}
    assert found.param("p").is_string
    assert found.schema == FUNCTION["parameters"]
    assert read.get("g") is None
    assert read_tools(read) is read


@pytest.mark.parametrize(
    "entry", [{"name": "f"}, {"name": "f", "parameters": None}, {"name": "f", "parameters": {}}]
)
def test_a_tool_without_parameters(entry: dict[str, Any]) -> None:
    read = read_tools([entry])
    assert read is not None
    found = read.get("f")
    assert found is not None
    assert found.required == frozenset()
    assert found.param("p") is UNDECLARED


def test_reprs_name_the_tools() -> None:
    read = read_tools([{"name": "f"}, {"name": "g"}])
    assert read is not None
    assert repr(read) == "Tools(['f', 'g'])"
    assert repr(read.get("f")) == "Tool('f')"


def test_unknown_and_none_offered_differ() -> None:
    assert read_tools(None) is None
    offers: tuple[object, ...] = ([], (), {}, [{"type": "web_search"}])
    for nothing in offers:
        read = read_tools(nothing)
        assert read is not None
        assert read.names == frozenset()


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ("f", "tools: expected a list, a mapping from name to schema, or None, got str"),
        (5, "tools: expected a list, a mapping from name to schema, or None, got int"),
        (["f"], "tools[0]: expected a mapping, got str"),
        ([FUNCTION, None], "tools[1]: expected a mapping, got NoneType"),
        ([{"type": "function"}], "tools[0]: its name has to be a string that is not empty, got None"),
        ([{}], "tools[0]: its name has to be a string that is not empty, got None"),
        ([{"name": ""}], "tools[0]: its name has to be a string that is not empty, got ''"),
        ([{"function": "f"}], "tools[0]['function']: expected a mapping, got str"),
        ([{"name": "f", "parameters": "{}"}], "tools[0] (f): expected a JSON schema as a mapping, got str"),
        ([{"name": "f", "parameters": []}], "tools[0] (f): expected a JSON schema as a mapping, got list"),
        ([{"name": "f", "parameters": {"properties": []}}],
         "tools[0] (f): 'properties' has to be a mapping, got list"),
        ({"f": None}, "tools['f']: expected a JSON schema as a mapping, got NoneType"),
        ({"type": "function"}, "tools['type']: expected a JSON schema as a mapping, got str"),
        ({1: {}}, "a key of tools has to be a string that is not empty, got 1"),
    ],
)  # fmt: skip
def test_the_callers_faults(tools: object, message: str) -> None:
    with pytest.raises(ToolsError) as caught:
        read_tools(tools)
    assert str(caught.value) == message
    assert isinstance(caught.value, ToolglotError)
    assert isinstance(caught.value, ValueError)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SCHEMAS: list[object] = [{}, STRING, INTEGER, NUMBER, BOOLEAN, NULL, ARRAY, OBJECT]
SCHEMAS += [{"anyOf": [left, right]} for left in SCHEMAS for right in SCHEMAS]


@given(json_values, st.booleans())
def test_undeclared_json_keeps_its_value(value: Any, ascii_only: bool) -> None:
    result = UNDECLARED.typed(json.dumps(value, ensure_ascii=ascii_only))
    assert result.ok
    assert json.loads(result.json) == value


@given(
    st.text(alphabet=st.characters())
    | st.text(alphabet="'\"\\[]{}(),:.0123456789eE+-_truefalsnNoneT \n\ud800"),
    st.sampled_from(SCHEMAS),
)
def test_any_text_gives_strict_json(text: str, schema: object) -> None:
    declared = param(schema)
    result = declared.typed(text)
    result.json.encode()

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    value = json.loads(result.json, parse_constant=refuse)
    if declared.is_string and not any("\ud800" <= char <= "\udfff" for char in text):
        assert value == text


schemas: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        [
            {},
            None,
            True,
            5,
            "x",
            [],
            STRING,
            INTEGER,
            {"type": [None]},
            {"$ref": "#"},
            {"$ref": "#/properties/p"},
            {"$ref": "#/allOf/0"},
        ]
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "any", None, 5, ["null", "int"], {}]),
            "enum": st.lists(st.none() | st.integers() | st.text()) | st.just(5),
            "$ref": st.sampled_from(["#", "#/properties/p", "#/anyOf/0", "#/anyOf/x", "#/~", "", "x", "#/%"]),
            "nullable": st.booleans(),
            "required": st.just(["p"]) | inner,
            "properties": st.dictionaries(st.sampled_from(["p", "q"]), inner),
            "additionalProperties": inner,
            "allOf": st.lists(inner, max_size=3) | inner,
            "anyOf": st.lists(inner, max_size=3) | inner,
        },
    ),
    max_leaves=12,
)


@given(schemas, st.sampled_from(["4", "x", "null", ""]))
def test_no_schema_makes_it_raise(schema: Any, text: str) -> None:
    found = tool({"properties": {"p": schema}, "allOf": [schema], "anyOf": [schema, schema]})
    assert found.required <= {"p"}
    for name in ("p", "q", "r"):
        json.loads(found.param(name).typed(text).json)


def test_a_list_of_tools_is_read_once() -> None:
    """By what it says and not by which list it is, and a list that the caller changed is another one."""
    tools = [{"name": "f", "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}}}]
    first = read_tools(tools)
    assert read_tools(tools) is first
    tools[0]["name"] = "g"
    second = read_tools(tools)
    assert second is not None
    assert second.names == {"g"}


def test_a_list_of_tools_that_holds_itself() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"left": schema, "right": schema}
    found = read_tools([{"name": "f", "input_schema": schema}])
    assert found is not None
    assert found.names == {"f"}
