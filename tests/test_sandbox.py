"""Templates rendered as transformers renders them, in this process."""

from __future__ import annotations

import random
from typing import Any

import pytest

from toolglot.derive import sandbox as module
from toolglot.derive.outcome import Failure, Reason, Rendered, Variables
from toolglot.derive.sandbox import Sandbox
from toolglot.derive.settings import PLAIN, Settings, settings_for

VALUES: dict[str, Any] = {
    "value": {"b": "<é'&\">", "a": [1, True, None, 1.5]},
    "messages": [{"role": "user", "content": "Hi"}],
}


def text(template: str, settings: Settings = PLAIN, **variables: Any) -> str:
    outcome = Sandbox().render(template, {**VALUES, **variables}, settings)
    assert isinstance(outcome, Rendered), outcome
    return outcome.text


def failure(template: str, settings: Settings = PLAIN, **variables: Any) -> Failure:
    outcome = Sandbox().render(template, {**VALUES, **variables}, settings)
    assert isinstance(outcome, Failure), outcome
    return outcome


# ``test_sandbox_transformers`` holds these against the package itself.
WRITTEN = [
        ("{{ value | tojson }}", '{"b": "<é\'&\\">", "a": [1, true, null, 1.5]}'),
        ("{{ 'é' | tojson(ensure_ascii=true) }}", '"\\u00e9"'),
        ("{{ {'b': 1, 'a': 2} | tojson(indent=2) }}", '{\n  "b": 1,\n  "a": 2\n}'),
        ("{{ {'b': 1, 'a': 2} | tojson(indent=4) }}", '{\n    "b": 1,\n    "a": 2\n}'),
        ("{{ {'b': 1, 'a': [2, 3]} | tojson(separators=(',', ':')) }}", '{"b":1,"a":[2,3]}'),
        ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}", '{"a": 2, "b": 1}'),
        ("{{ value.b }}", "<é'&\">"),
        ("{{ value.a }} {{ 1.0 }} {{ none }} {{ true }}", "[1, True, None, 1.5] 1.0 None True"),
        ("{{ value.a | string }} {{ missing }}|", "[1, True, None, 1.5] |"),
        # trim_blocks and lstrip_blocks
        ("a\n  {% if true %}\n  b\n  {% endif %}\nc\n", "a\n  b\nc"),
        ("a\n  {%+ if true %}b{% endif %}\n", "a\n  b"),
        ("a {#- no -#} b\r\nc", "ab\nc"),
        # loopcontrols
        ("{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% if i == 3 %}{% break %}"
         "{% endif %}{% endfor %}", "023"),
        # the generation tag
        ("x{% generation %}y{{ value.a[0] }}{% endgeneration %}z", "xy1z"),
        ("  {% generation %}\ny\n  {% endgeneration %}\nz", "y\nz"),
        ("{% set a = 1 %}{% generation %}{% set a = 2 %}{{ a }}{% endgeneration %}{{ a }}", "21"),
        ("{% for m in messages %}{% generation %}{{ m.content }}{{ loop.index }}{% endgeneration %}"
         "{% endfor %}",
         "Hi1"),
        # globals
        ("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}", "2025-01-15 12:00:00"),
        ("{{ dict(a=1, b=2) }} {{ dict.fromkeys(['a'], 0) }}", "{'a': 1, 'b': 2} {'a': 0}"),
        ("{% set n = namespace(a=1, self=2) %}{% for i in [3] %}{% set n.a = n.a + i %}{% endfor %}{{ n.a }}"
         "{{ n.self }}", "42"),
        ("{% set n = namespace({'a': 1}, b=2) %}{{ n.a }}{{ n.b }}{{ n.c }}", "12"),
        ("{{ range(3) | list }}{{ cycler('a', 'b').next() }}{% set j = joiner('-') %}{{ j() }}x{{ j() }}",
         "[0, 1, 2]ax-"),
        # methods of strings and dicts that templates call
        ("{{ 'a,b'.split(',') }}{{ ' a '.strip() }}{{ value.items() | list | length }}{{ 'abc'[1:] }}",
         "['a', 'b']a2bc"),
        ("{{ '%s=%s' | format('a', 1) }}{{ 'a{}'.format(2) }}", "a=1a2"),
]  # fmt: skip


@pytest.mark.parametrize(("template", "expected"), WRITTEN)
def test_what_transformers_renders(template: str, expected: str) -> None:
    assert text(template) == expected


@pytest.mark.parametrize(
    ("template", "reason", "message", "line", "variable"),
    [
        ("\n\n{{ raise_exception('roles must alternate') }}", Reason.RAISED, "roles must alternate", 3, ""),
        ("{{ raise_exception({'a': 1}) }}", Reason.RAISED, "{'a': 1}", 1, ""),
        ("{{ raise_exception(none) }}{# #}", Reason.RAISED, "None", 1, ""),
        ("{{ missing.field }}", Reason.UNDEFINED, "'missing' is undefined", 1, "missing"),
        ("{{ missing + 1 }}", Reason.UNDEFINED, "'missing' is undefined", 1, "missing"),
        ("a\n{% for f in functions %}{% endfor %}{{ functions[0] }}", Reason.UNDEFINED,
         "'functions' is undefined", 2, "functions"),
        ("{{ value.c.d }}", Reason.UNDEFINED, "'dict object' has no attribute 'c'", 1, ""),
        ("{{ helper(1) }}", Reason.UNDEFINED, "'helper' is undefined", 1, "helper"),
        ("a\n{% if %}", Reason.SYNTAX, "Expected an expression, got 'end of statement block'", 2, ""),
        ("{% macro a() %}\n", Reason.SYNTAX,
         "Unexpected end of template. Jinja was looking for the following tags: 'endmacro'. The innermost "
         "block that needs to be closed is 'macro'.", 1, ""),
        ("\n{{ value | no_such }}", Reason.SYNTAX, "No filter named 'no_such'.", 2, ""),
        ("{{ value is no_such }}", Reason.SYNTAX, "No test named 'no_such'.", 1, ""),
        ("{{ value | from_json }}", Reason.SYNTAX, "No filter named 'from_json'.", 1, ""),
        ("{{ [].append(1) }}", Reason.FORBIDDEN,
         "access to attribute 'append' of 'list' object is unsafe.", 1, ""),
        ("{{ 1 / 0 }}", Reason.ERROR, "ZeroDivisionError: division by zero", 1, ""),
        ("{{ 'a' + 1 }}", Reason.ERROR, 'TypeError: can only concatenate str (not "int") to str', 1, ""),
        ("{{ missing | tojson }}", Reason.ERROR,
         "TypeError: Object of type Undefined is not JSON serializable", 1, ""),
        ("{% include 'x' %}", Reason.ERROR, "TypeError: no loader for this environment specified", 1, ""),
        ("{% macro f(n) %}{{ f(n) }}{% endmacro %}\n{{ f(1) }}", Reason.ERROR,
         "RecursionError: maximum recursion depth exceeded", 1, ""),
    ],
)  # fmt: skip
def test_why_there_is_no_text(template: str, reason: Reason, message: str, line: int, variable: str) -> None:
    found = failure(template)
    # Python says more of a recursion in some versions than in others.
    assert (found.reason, found.message[: len(message)], found.line) == (reason, message, line)
    assert found.variable == variable
    assert reason is Reason.ERROR or found.message == message


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ value.__init__.__globals__ }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__['sys'] }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ raise_exception.__globals__.json }}",
    "{{ strftime_now.__globals__['__builtins__'] }}",
    "{{ dict.__class__.__init__.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ (value | attr('__class__')).__mro__ }}",
    "{{ ('' | attr('__class__')).mro() }}",
    "{{ [''] | map(attribute='__class__') | first | attr('mro') | list }}",
    "{{ ''.format.__self__.__class__.__mro__ }}",
    "{{ '{0.__class__.__mro__}'.format(1)[99999].a.b }}",
    "{{ ('{0.__class__.__mro__}' | format).x.y.z }}",
    "{{ ''['__class__']['__mro__'] }}",
    "{% set n = namespace(__class__=1) %}",
    "{% set n = namespace() %}{% set n.__class__ = 1 %}",
    "{% set n = namespace({'__a': 1}) %}",
    "{% for k in messages %}{{ loop.__class__.__init__.__globals__ }}{% endfor %}",
    "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "{{ messages.__class__.append(messages, 1) }}",
    "{{ messages.pop() }}",
    "{{ value.clear() }}",
    "{{ value.update({'a': 1}) }}",
    "{% import 'os' as os %}",
    "{% extends '/etc/passwd' %}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_no_way_out(template: str) -> None:
    found = failure(template)
    assert found.reason in {Reason.FORBIDDEN, Reason.UNDEFINED, Reason.ERROR, Reason.SYNTAX}
    if found.reason is Reason.ERROR:
        assert "no loader" in found.message or "Undefined" in found.message or "not iterable" in found.message


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        # An attribute that must not be seen is no attribute.
        ("{{ ''.__class__ }}{{ value['__class__'] }}{{ value | attr('__class__') }}", ""),
        ("{{ '{0.__class__}'.format(1) }}", ""),
        ("{{ [1] | map(attribute='__class__') | list }}", "[Undefined]"),
    ],
)
def test_what_is_not_seen(template: str, expected: str) -> None:
    assert text(template) == expected


def test_the_callers_data_stay_as_they_are() -> None:
    messages = [{"content": ["a"]}]
    given = {"messages": messages}
    template = "{% set _ = messages[0].content.append('b') %}{{ messages }}"
    outcome = Sandbox().render(template, given, Settings(mutable=True))
    assert outcome == Rendered("[{'content': ['a', 'b']}]")
    assert messages == [{"content": ["a"]}]


@pytest.mark.parametrize(
    ("template", "settings"),
    [
        ("{{ messages }}", PLAIN),
        ("{% set _ = seen.append(1) %}", Settings(mutable=True)),
        ("{{ a | from_json }}", Settings(decoding=True)),
        ("{{ a|fromjson }}", Settings(decoding=True)),
        ("{{ from_jsonish }}", PLAIN),
    ],
)
def test_settings_for(template: str, settings: Settings) -> None:
    assert settings_for(template) == settings


def test_a_filter_that_decodes() -> None:
    settings = Settings(decoding=True)
    assert text("{{ ('[1, \"a\"]' | from_json)[1] }}{{ ('{\"a\": 2}' | fromjson).a }}", settings) == "a2"
    assert failure("{{ 'no' | from_json }}", settings).reason is Reason.ERROR


def test_two_renders_are_the_same() -> None:
    template = "{{ lipsum() }}{{ range(1000) | random }}{{ strftime_now('%f') }}"
    assert text(template) == text(template)
    random.seed(5)
    expected = random.random()
    random.seed(5)
    text(template)
    assert random.random() == expected


def test_what_is_compiled_is_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    sandbox = Sandbox()
    texts = [f"{{{{ {n} }}}}" for n in range(4)]
    for _ in range(2):
        assert [sandbox.render(t, {}) for t in texts] == [Rendered(str(n)) for n in range(4)]
    assert len(sandbox._compiled) == 2  # pyright: ignore[reportPrivateUsage]


def test_too_much_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_OUTPUT", 10)
    assert text("{{ 'a' * 10 }}") == "a" * 10
    found = failure("{% for _ in range(99) %}a{% endfor %}")
    assert found == Failure(Reason.OUTPUT, "more than 10 characters")


def test_a_message_is_cut() -> None:
    assert len(failure("{{ raise_exception('a' * 5000) }}").message) == 2000


def test_variables() -> None:
    template = (
        "{% set own = 1 %}{% macro m(x) %}{{ x }}{{ tools }}{% endmacro %}{% for a in messages %}{{ a.b }}"
        "{% if enable_thinking is defined and namespace %}{{ own }}{% endif %}{% endfor %}"
        "{{ strftime_now('%Y') }}"
    )
    assert Sandbox().variables(template) == Variables(frozenset({"tools", "messages", "enable_thinking"}))
    found = Sandbox().variables("{% if %}")
    assert isinstance(found, Failure)
    assert found.reason is Reason.SYNTAX
