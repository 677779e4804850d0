"""Each body syntax by itself: what it reads, what it gives up, what it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import toolglot
from tests.delivery import merge, run
from toolglot import Arguments, Dialect, Message, Parser, RenderError, ToolCall
from toolglot.bodies import CODEC_NAMES, FIRSTS, codec_of
from toolglot.dialect import Body

FUNCTION = {"open": "<f=", "close": ">", "end": "</f>"}
PARAM = {"open": "<p=", "close": ">", "end": "</p>"}

Calls = list[tuple[str, dict[str, Any]]]


def dialect(body: Mapping[str, Any], **more: Any) -> Dialect:
    return Dialect.from_dict(
        {"slug": "one", "envelope": {"open": ["<c>"], "close": ["</c>"]}, "body": [dict(body)], **more}
    )


def read(text: str, body: Mapping[str, Any], tools: object = None, **options: Any) -> Message:
    """What a body in its envelope is, the same in every split in two and one character a delta."""
    spec = dialect(body)
    text = f"<c>{text}</c>."
    whole = run([text], spec, tools=tools, **options)
    for deltas in (list(text), *([text[:at], text[at:]] for at in range(1, len(text)))):
        events = run(deltas, spec, tools=tools, **options)
        assert merge(events) == merge(whole)
        assert toolglot.assemble(events) == toolglot.assemble(whole)
    return toolglot.assemble(whole)


def called(message: Message) -> Calls:
    return [(call.name, call.arguments) for call in message.tool_calls]


def check(text: str, body: Mapping[str, Any], expected: Calls, tools: object = None) -> None:
    """Well-formed text, which both modes read without a defect."""
    for on_defect in ("repair", "strict"):
        message = read(text, body, tools, on_defect=on_defect)
        assert (called(message), message.content, message.defects) == (expected, ".", ())


def check_repair(
    text: str, body: Mapping[str, Any], expected: Calls, *kinds: str, tools: object = None
) -> None:
    """Text that is mended, with a defect, and that strict leaves alone."""
    message = read(text, body, tools)
    assert called(message) == expected
    assert [defect.kind.value for defect in message.defects] == list(kinds)
    message = read(text, body, tools, on_defect="strict")
    assert (called(message), message.content) == ([], f"<c>{text}</c>.")


def check_none(text: str, body: Mapping[str, Any], tools: object = None) -> None:
    """No call, in either mode."""
    for on_defect in ("repair", "strict"):
        assert called(read(text, body, tools, on_defect=on_defect)) == []


def write(name: str, arguments: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    spec = dialect(body).bodies[0]
    return codec_of(spec.codec).write([(name, arguments)], spec)


# -- all -------------------------------------------------------------------------------------------


def test_every_codec_is_used_by_a_bundled_dialect() -> None:
    used: set[str] = set()
    for slug in toolglot.BUNDLED:
        bundled = toolglot.resolve(slug)
        assert isinstance(bundled, Dialect)
        used |= {body.codec for body in bundled.bodies}
    assert set(CODEC_NAMES) <= used


# -- json_object -----------------------------------------------------------------------------------

OBJECT: dict[str, Any] = {"codec": "json_object"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', {"a": 1}),
        ('{"name": "f", "parameters": {"a": 1}}', {"a": 1}),
        ('{"arguments": {"a": 1}, "name": "f"}', {"a": 1}),
        (' \n{ "name" : "f" , "arguments" : { "a" : 1 } } \n', {"a": 1}),
        (
            '{"id": 7, "name": "f", "x": [1, {"name": "g"}], "arguments": {"a": {"name": "h"}}}',
            {"a": {"name": "h"}},
        ),
        ('{"name": "f"}', {}),
        ('{"name": "f", "arguments": null}', {}),
        ('{"name": "f", "arguments": ""}', {}),
        ('{"name": "f", "arguments": "x"}', None),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', {"a": 1}),
        ('{"name": "f", "arguments": " {\\"a\\": [\\"}\\"]} "}', {"a": ["}"]}),
        ('{"name": "f", "arguments": "{\\"a\\": \\"{}\\"}"}', {"a": "{}"}),
        ('{"name": "f", "arguments": null, "parameters": {"a": 2}}', {"a": 2}),
        ('{"name": "f", "parameters": {"a": 2}, "arguments": {"a": 1}}', {"a": 1}),
        ('{"name": "f", "name": "f", "arguments": {}}', {}),
        ('{"n\\u0061me": "\\u0066", "arguments": {"\\u0061": "\\u00e9"}}', {"a": "é"}),
    ],
)
def test_json_object(text: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        check_none(text, OBJECT)
    else:
        check(text, OBJECT, [("f", expected)])


@pytest.mark.parametrize(
    "text",
    [
        '{"arguments": {}}',
        '{"name": null, "arguments": {}}',
        '{"name": "f", "name": "g", "arguments": {}}',
        '{"name": "f", "arguments": [1]}',
        '{"name": "f", "arguments": 3}',
        '{"name": "f", "arguments": "[1]"}',
        '{"name": "f", "arguments": "{\\"a\\""}',
        '{"name": "f", "arguments": {"a": 1 2}}',
        "{}",
        "[]",
        "f",
    ],
)
def test_what_is_no_json_object_of_a_call(text: str) -> None:
    check_none(text, OBJECT)


def test_arguments_come_twice() -> None:
    """The second cannot count: the first has gone out."""
    message = read('{"name": "f", "arguments": {"a": 1}, "arguments": {"a": 2}}', OBJECT)
    assert called(message) in ([], [("f", {"a": 2})])
    assert message.defects


def test_keys_of_ones_own() -> None:
    body = {**OBJECT, "name_keys": ["tool", "name"], "arguments_keys": ["args"]}
    check('{"tool": "f", "args": {"a": 1}, "arguments": {"b": 2}}', body, [("f", {"a": 1})])
    check('{"args": {"a": 1}, "name": "f"}', body, [("f", {"a": 1})])
    assert write("f", {"a": 1}, body) == '{"tool": "f", "args": {"a": 1}}'


def test_the_first_ranked_arguments_stream_and_others_are_held() -> None:
    for key, streams in (("arguments", True), ("parameters", False)):
        parser = toolglot.Parser(dialect(OBJECT))
        events = list(parser.feed(f'<c>{{"name": "f", "{key}": {{"a": "xyz'))
        assert any(isinstance(event, Arguments) for event in events) is streams


def test_a_fence_around_the_object_is_a_repair() -> None:
    for opening in ("```json\n", "```\n", "\n```json\n"):
        check_repair(f'{opening}{{"name": "f"}}\n```\n', OBJECT, [("f", {})], "repaired")


# -- json_array ------------------------------------------------------------------------------------

ARRAY: dict[str, Any] = {"codec": "json_array"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"name": "f", "arguments": {"a": 1}}]', [("f", {"a": 1})]),
        ('[{"name": "f"}, {"name": "g", "arguments": {"b": "]"}}]', [("f", {}), ("g", {"b": "]"})]),
        (' [ {"name": "f"} , {"name": "f"} ] ', [("f", {}), ("f", {})]),
    ],
)
def test_json_array(text: str, expected: Calls) -> None:
    check(text, ARRAY, expected)


@pytest.mark.parametrize(
    "text", ['[{"name": "f"}', "[f]", '{"name": "f"}', '[{"x": 1}]', "[1]", '[{"name": "f"} {"name": "g"}]']
)
def test_what_strict_does_not_take_for_an_array_of_calls(text: str) -> None:
    assert called(read(text, ARRAY, on_defect="strict")) == []


def test_elements_that_are_no_call_are_rejected_and_the_others_stand() -> None:
    message = read('[1, {"name": "f"}, {"x": 1}, {"name": "g"}]', ARRAY)
    assert called(message) == [("f", {}), ("g", {})]
    assert [(d.kind.value, d.raw.strip()) for d in message.defects] == [
        ("rejected", "1"),
        ("rejected", '{"x": 1}'),
    ]


def test_repairs_of_an_array() -> None:
    check_repair('[{"name": "f"},]', ARRAY, [("f", {})], "repaired")
    check_repair('[{"name": "f"}', ARRAY, [("f", {})], "repaired")
    check_repair('[{"name": "f"}}]', ARRAY, [("f", {})], "repaired")
    check_repair('[{"name": "f", "arguments": {"a": 1}]', ARRAY, [("f", {"a": 1})], "repaired")
    check_repair('[{"name": "f", "arguments": {"a": [1}}]', ARRAY, [("f", {"a": [1]})], "repaired")
    for between in ("", " ", ";", "} ,"):
        text = '[{"name": "f"}' + between + '{"name": "g"}]'
        check_repair(text, ARRAY, [("f", {}), ("g", {})], "repaired")


def test_an_array_is_written_with_all_calls() -> None:
    body = Body("json_array")
    assert codec_of("json_array").write([("f", {}), ("g", {"a": "é"})], body) == (
        '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {"a": "é"}}]'
    )


# -- name_then_json --------------------------------------------------------------------------------

NAMED: dict[str, Any] = {"codec": "name_then_json", "separators": ["[A]"], "id_mark": "[I]"}


@pytest.mark.parametrize(
    ("text", "expected", "own_id"),
    [
        ('f[A]{"a": 1}', {"a": 1}, None),
        ('f[I]x9[A]{"a": 1}', {"a": 1}, "x9"),
        ('f{"a": 1}', {"a": 1}, None),
        (' f [A] {"a": 1} ', {"a": 1}, None),
        ("f[A]{}", {}, None),
        ("f[A]null", {}, None),
        ('f[A]"{\\"a\\": 1}"', {"a": 1}, None),
    ],
)
def test_name_then_json(text: str, expected: dict[str, Any], own_id: str | None) -> None:
    check(text, NAMED, [("f", expected)])
    assert read(text, NAMED).tool_calls[0].id == (own_id or "call_0")


@pytest.mark.parametrize("text", ["f[A][1]", 'f[A]"x"', "[A]{}", "f g[A]{}", "f null", "f[A]nul"])
def test_what_is_no_name_with_an_object(text: str) -> None:
    check_none(text, NAMED)


def test_repairs_of_a_name_then_json() -> None:
    check_repair('f[A]```json\n{"a": 1}\n```', NAMED, [("f", {"a": 1})], "repaired")
    check_repair("f[A]", NAMED, [("f", {})], "repaired")
    assert [d.kind.value for d in read("f[A][1]", NAMED).defects] == ["arguments_not_an_object"]


def test_writing_a_name_then_json() -> None:
    assert write("f", {"a": "é"}, NAMED) == 'f[A]{"a": "é"}'
    assert write("f", {}, {"codec": "name_then_json"}) == "f{}"
    for name in ("", "a b", "a{", "a[b"):
        with pytest.raises(RenderError, match="the name"):
            write(name, {}, NAMED)


# -- header_json -----------------------------------------------------------------------------------


def harmony(body: str, **options: Any) -> Message:
    text = f"<|channel|>commentary to=functions.f<|message|>{body}<|call|>"
    whole = run([text], "gpt_oss", **options)
    assert merge(run(text, "gpt_oss", **options)) == merge(whole)
    return toolglot.assemble(whole)


def test_header_json() -> None:
    for body in ('{"a": 1}', ' \n{"a": 1}\n'):
        for on_defect in ("repair", "strict"):
            message = harmony(body, on_defect=on_defect)
            assert (called(message), message.defects) == ([("f", {"a": 1})], ())
    message = harmony("")
    assert (called(message), [d.kind.value for d in message.defects]) == ([("f", {})], ["repaired"])
    for body in ("[1]", "x", '"s"', '{"a": 1 2}'):
        assert called(harmony(body)) == []
    assert write("f", {"a": 1}, {"codec": "header_json"}) == '{"a": 1}'


# -- tagged ----------------------------------------------------------------------------------------


def tagged(trim: str) -> dict[str, Any]:
    return {"codec": "tagged", "name": FUNCTION, "param": PARAM, "trim": trim}


STRING = {"f": {"properties": {"s": {"type": "string"}, "n": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("trim", "raw", "expected"),
    [
        ("newline", "x", "x"),
        ("newline", "\nx\n", "x"),
        ("newline", "\n\nx\n\n", "\nx\n"),
        ("newline", "\n  x  \n", "  x  "),
        ("newline", " x ", " x "),
        ("newline", "\n\n", ""),
        ("newline", "\n", ""),
        ("newline", "", ""),
        ("newline", "\na </p> b\n", "a </p> b"),
        ("newline", "\na</p>b</p>\n", "a</p>b</p>"),
        ("newline", "\n</p> is the end\n", "</p> is the end"),
        ("newline", "\n</f>\nx\n", "</f>\nx"),
        ("newline", "\nsee <p=s>\n", "see <p=s>"),
        ("newline", "\n&lt;\\n\"'\n", "&lt;\\n\"'"),
        ("none", "\nx\n", "\nx\n"),
        ("none", "a </p> b", "a </p> b"),
        ("blank", " \n x y \n ", "x y"),
        ("blank", " \n ", ""),
    ],
)
def test_a_tagged_string(trim: str, raw: str, expected: str) -> None:
    message = read(f"<f=f>\n<p=s>{raw}</p>\n</f>", tagged(trim), STRING)
    assert called(message) == [("f", {"s": expected})]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("1", 1),
        ("\n12\n", 12),
        ("true", True),
        ("null", None),
        ('{"a": [1]}', {"a": [1]}),
        ("x", "x"),
        ("007", "007"),
    ],
)
def test_a_tagged_value_without_a_schema(raw: str, expected: Any) -> None:
    check(f"<f=f><p=v>{raw}</p></f>", tagged("newline"), [("f", {"v": expected})])


def test_tagged_functions() -> None:
    check("<f=f></f>", tagged("newline"), [("f", {})])
    check("\n<f= f >\n<p= s >\nx\n</p>\n</f>\n", tagged("newline"), [("f", {"s": "x"})])
    check("<f=f><p=s>1</p><p=n>2</p></f>", tagged("newline"), [("f", {"s": "1", "n": 2})], STRING)
    message = read("<f=f></f><f=g></f>", tagged("newline"))
    assert called(message) == [("f", {}), ("g", {})]


@pytest.mark.parametrize("text", ["<f=f>", "<f=>\n</f>", "<f=f x</f>", "f", "<p=s>x</p>", "<f=f>\nx\n</f>"])
def test_what_is_no_tagged_function(text: str) -> None:
    assert called(read(text, tagged("newline"), on_defect="strict")) == []


def test_repairs_of_a_tagged_function() -> None:
    # Where a value's missing close is drift that the dialect lists, strict reads it too, and reports it.
    unclosed = "<f=f>\n<p=s>\nx\n<p=n>\n1\n</p>\n</f>"
    optional = {**tagged("newline"), "value_end": "optional"}
    for body, on_defect in ((tagged("newline"), "repair"), (optional, "repair"), (optional, "strict")):
        message = read(unclosed, body, STRING, on_defect=on_defect)
        assert called(message) == [("f", {"s": "x", "n": 1})]
        assert [defect.kind.value for defect in message.defects] == ["missing_close"]
    assert called(read(unclosed, tagged("newline"), STRING, on_defect="strict")) == []
    message = read("<f=f>\n<p=s>\nx\n</p>\n", tagged("newline"), STRING)
    assert called(message) == [("f", {"s": "x"})]
    assert [d.kind.value for d in message.defects] == ["missing_close"]


def test_a_value_of_the_wrong_type_stays_and_is_reported() -> None:
    message = read("<f=f><p=n>many</p></f>", tagged("newline"), STRING)
    assert called(message) == [("f", {"n": "many"})]
    assert [d.kind.value for d in message.defects] == ["wrong_type"]


def test_writing_tagged_functions() -> None:
    body = tagged("newline")
    assert write("f", {}, body) == "<f=f>\n</f>"
    assert write("f", {"s": "x", "n": [1]}, body) == "<f=f>\n<p=s>\nx\n</p>\n<p=n>\n[1]\n</p>\n</f>"
    assert write("f", {"s": "x"}, tagged("none")) == "<f=f>\n<p=s>x</p>\n</f>"
    with pytest.raises(RenderError, match="a>b"):
        write("f", {"a>b": 1}, body)


# -- braces ----------------------------------------------------------------------------------------

BRACES: dict[str, Any] = {"codec": "braces", "prefixes": ["call:"], "delims": [["«", "»"]]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call:f{}", {}),
        ("f{}", {}),
        ("call:f{ }", {}),
        (
            "call:f{a:1,b:-2.5e3,c:true,d:null,e:word,g:two words}",
            {"a": 1, "b": -2500.0, "c": True, "d": None, "e": "word", "g": "two words"},
        ),
        ("call:f{a:«x»}", {"a": "x"}),
        ("call:f{a:«», b : «a, b}»}", {"a": "", "b": "a, b}"}),
        ("call:f{a:{b:[1,«x»,{c:true}],d:{}},e:[]}", {"a": {"b": [1, "x", {"c": True}], "d": {}}, "e": []}),
        ("call:f{«a b»:1}", {"a b": 1}),
        ('call:f{a:«x\n\\n"»}', {"a": 'x\n\\n"'}),
        ("call:f{a:007}", {"a": "007"}),
        ("call:ns.f-x{}", None),
    ],
)
def test_braces(text: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        check(text, BRACES, [("ns.f-x", {})])
    else:
        check(text, BRACES, [("f", expected)])


@pytest.mark.parametrize(
    "text", ["call:f", "call:{}", "{}", "call:f(a)", "call:f{a}", "call:f{:1}", "call:f{a:}", "call:f{a:1"]
)
def test_what_strict_does_not_take_for_braces(text: str) -> None:
    assert called(read(text, BRACES, on_defect="strict")) == []


def test_repairs_of_braces() -> None:
    check_repair("call:f{a:1", BRACES, [("f", {"a": 1})], "repaired")
    loose = {**BRACES, "loose_delims": [['"', '"']]}
    message = read('call:f{a:"x, y"}', loose)
    assert called(message) == [("f", {"a": "x, y"})]
    assert called(read('call:f{a:"x"}', loose, on_defect="strict")) == [("f", {"a": '"x"'})] or called(
        read('call:f{a:"x"}', loose, on_defect="strict")
    ) == [("f", {"a": "x"})]


def test_a_declared_string_in_braces_stays_one() -> None:
    check("call:f{s:7,n:7}", BRACES, [("f", {"s": "7", "n": 7})], STRING)
    message = read("call:f{n:many}", BRACES, STRING)
    assert called(message) == [("f", {"n": "many"})]
    assert [d.kind.value for d in message.defects] == ["wrong_type"]


def test_writing_braces() -> None:
    assert write("f", {}, BRACES) == "call:f{}"
    assert (
        write("f", {"a": "x", "b": [1, {"c": None}], "d": True}, BRACES)
        == "call:f{a:«x»,b:[1,{c:null}],d:true}"
    )
    for name, arguments in (
        ("a b", {}),
        ("", {}),
        ("f", {"a:b": 1}),
        ("f", {" a": 1}),
        ("f", {"": 1}),
        ("f", {"a": "»"}),
    ):
        with pytest.raises(RenderError):
            write(name, arguments, BRACES)


# -- pythonic --------------------------------------------------------------------------------------

PYTHON: dict[str, Any] = {"codec": "pythonic"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[f()]", {}),
        ("[f(a=1)]", {"a": 1}),
        (
            "[f(a=-1.5, b='x', c=\"y\", d=True, e=None, g=false, h=null)]",
            {"a": -1.5, "b": "x", "c": "y", "d": True, "e": None, "g": False, "h": None},
        ),
        ("[f(a=[1, 'x'], b={'c': (1, 2)}, d=())]", {"a": [1, "x"], "b": {"c": [1, 2]}, "d": []}),
        ("[ f ( ) ]", None),
        ("[f( a = 1 , b = 2 )]", {"a": 1, "b": 2}),
        (
            "[f(a='it\\'s', b=\"\\n\\t\\\\\", c='\\x41\\u00e9\\U0001f600')]",
            {"a": "it's", "b": "\n\t\\", "c": "Aé😀"},
        ),
        ("[f(a='''x 'y' z''', b=\"\"\"q\"\"\")]", {"a": "x 'y' z", "b": "q"}),
        ("[f(a=r'\\d')]", {"a": "\\d"}),
        ("[f(a=0x1F, b=1_000, c=.5)]", {"a": 31, "b": 1000, "c": 0.5}),
        ("[f(a=1,)]", {"a": 1}),
        ("[f(a='a]b)c', b='x=1, y=2')]", {"a": "a]b)c", "b": "x=1, y=2"}),
        ("[f(a={1: 'x', 'k': 'y'})]", {"a": {"1": "x", "k": "y"}}),
    ],
)
def test_pythonic(text: str, expected: dict[str, Any] | None) -> None:
    if expected is None:
        check_none(text, PYTHON)
    else:
        check(text, PYTHON, [("f", expected)])


def test_lists_of_calls() -> None:
    check("[f(a=1), ns.g(b='x')]", PYTHON, [("f", {"a": 1}), ("ns.g", {"b": "x"})])
    check("[f(),g(),]", PYTHON, [("f", {}), ("g", {})])


@pytest.mark.parametrize(
    "text",
    ["[]", "[f]", "[f(]", "[f(a=)]", "[f(a=1) g()]", "f()", "[1]", "[f(a=1 b=2)]", "[f(a='x)]", "['f()']"],
)
def test_what_strict_does_not_take_for_a_list_of_calls(text: str) -> None:
    assert called(read(text, PYTHON, on_defect="strict")) == []


def test_positional_arguments_are_dropped_and_reported() -> None:
    message = read("[f(1, 'x', a=2)]", PYTHON)
    assert called(message) == [("f", {"a": 2})]
    assert [d.kind.value for d in message.defects] == ["positional_argument"] * 2
    tools = {"f": {"properties": {"a": {}}, "required": ["a"]}}
    message = read("[f(1), f(a=1)]", PYTHON, tools)
    assert called(message) == [("f", {"a": 1})]
    assert [d.kind.value for d in message.defects] == ["positional_argument", "malformed_call"]


def test_python_writing() -> None:
    body = Body("pythonic")
    assert codec_of("pythonic").write(
        [("f", {"a": "x\n"}), ("g", {"b": [None, True, {"c": 1.5}]})], body
    ) == ('[f(a="x\\n"), g(b=[None, True, {"c": 1.5}])]')
    assert codec_of("bare_call").write([("f", {"a": 1})], Body("bare_call")) == "f(a=1)"
    for name, arguments in (("a b", {}), ("", {}), ("f", {"a b": 1}), ("f", {"": 1})):
        with pytest.raises(RenderError):
            codec_of("bare_call").write([(name, arguments)], Body("bare_call"))


# -- bare_call -------------------------------------------------------------------------------------

SEARCH = {"search": {"properties": {"query": {"type": "string"}, "limit": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("text", "arguments", "content"),
    [
        ("search(query='a', limit=2)", {"query": "a", "limit": 2}, ""),
        ("So: search(query=“a”)", {"query": "a"}, "So: "),
        ("search()", {}, ""),
        ("search(query='a') and more", {"query": "a"}, " and more"),
    ],
)
def test_a_bare_call(text: str, arguments: dict[str, Any], content: str) -> None:
    whole = run([text], "bare_pythonic", tools=SEARCH)
    assert merge(run(text, "bare_pythonic", tools=SEARCH)) == merge(whole)
    message = toolglot.assemble(whole)
    assert called(message) == [("search", arguments)]
    assert message.content.strip() == content.strip()


@pytest.mark.parametrize(
    "text", ["research(query='a')", "search (query='a')", "find(query='a')", "search(query='a'", "search"]
)
def test_what_is_no_bare_call(text: str) -> None:
    whole = run([text], "bare_pythonic", tools=SEARCH)
    assert merge(run(text, "bare_pythonic", tools=SEARCH)) == merge(whole)
    assert called(toolglot.assemble(whole)) == []


# -- keyed_lines -----------------------------------------------------------------------------------


def keyed(text: str, tools: object = SEARCH, **options: Any) -> Message:
    whole = run([text], "loose_keyed", tools=tools, **options)
    for deltas in (list(text), *([text[:at], text[at:]] for at in range(1, len(text)))):
        assert merge(run(deltas, "loose_keyed", tools=tools, **options)) == merge(whole)
    return toolglot.assemble(whole)


@pytest.mark.parametrize(
    ("text", "arguments", "content"),
    [
        ("search\nquery: a b\nlimit: 2", {"query": "a b", "limit": 2}, ""),
        ('search\nquery: "a b",\nlimit: 2,', {"query": "a b", "limit": 2}, ""),
        ("search\n  query : “a”\n", {"query": "a"}, ""),
        ("search\nquery: 7", {"query": "7"}, ""),
        (
            "search\nother: 7\nmore: true\nlast: null\nword: x y",
            {"other": 7, "more": True, "last": None, "word": "x y"},
            "",
        ),
        ("search\nquery:", {"query": ""}, ""),
        ("search\nquery: http://x:1/y", {"query": "http://x:1/y"}, ""),
        ("search\nquery: a\n\nThat is all.", {"query": "a"}, "That is all."),
    ],
)
def test_keyed_lines(text: str, arguments: dict[str, Any], content: str) -> None:
    message = keyed(text)
    assert called(message) == [("search", arguments)]
    assert message.content == content


@pytest.mark.parametrize(
    "text",
    ["search", "search\n", "search\nno key", "search query: a", "find\nquery: a", "x\nsearch\nquery: a"],
)
def test_what_is_no_name_with_keyed_lines(text: str) -> None:
    message = keyed(text)
    assert (called(message), message.content) == ([], text)


def test_keyed_lines_need_the_offered_names() -> None:
    text = "search\nquery: a"
    assert keyed(text, tools=None).content == text
    assert keyed(text, tools=[]).content == text


def test_a_line_that_was_cut_is_no_argument() -> None:
    assert called(keyed("search\nquery: a", finish_reason="length")) == []
    assert called(keyed("search\nquery: a", finish_reason="stop")) == [("search", {"query": "a"})]


def test_writing_keyed_lines() -> None:
    body = Body("keyed_lines")

    def lines(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
        return codec_of("keyed_lines").write(calls, body)

    assert lines([("f", {"a": "x y", "b": 1, "c": True, "d": None, "e": 1.5})]) == (
        'f\na: "x y"\nb: 1\nc: true\nd: null\ne: 1.5'
    )
    unwritable: list[dict[str, Any]] = [{}, {"a": [1]}, {"a": {}}, {"a": "x\ny"}, {"a b": 1}, {"": 1}]
    for arguments in unwritable:
        with pytest.raises(RenderError):
            lines([("f", arguments)])


def test_a_call_is_a_value() -> None:
    assert ToolCall("f", {"a": "é"}).arguments_json == '{"a": "é"}'


@pytest.mark.parametrize("codec", FIRSTS)
def test_a_body_begins_with_no_other_character(codec: str) -> None:
    spec = Dialect.from_dict(
        {"slug": "one", "envelope": {"open": ["<c>"], "gap": "none"}, "body": [{"codec": codec}]}
    )
    waits = [c for c in map(chr, range(0x250)) if Parser(spec).feed(f"<c>{c}") == ()]
    assert "".join(waits) == FIRSTS[codec]
