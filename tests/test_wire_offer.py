"""Requests: what goes up to the server, and what is refused; errors in OpenAI's shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.upstream import request
from toolglot import WireError
from toolglot.wire import Exchange, Settings, openai_error


def sent(message: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """One message of a history, as it goes up."""
    made = Exchange(request(messages=[message]), Settings(**settings)).request["messages"][0]
    assert isinstance(made, dict)
    return made


def test_a_request_goes_up_as_it_came() -> None:
    asked = request(temperature=0.5, logit_bias={"1": 2}, tool_choice="auto", seed=None)
    assert Exchange(asked).request == asked


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("upstream", ["reasoning", "reasoning_content", "thinking"])
def test_reasoning_goes_up_under_the_upstreams_name(name: str, upstream: str) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, name: "Hm.", "tool_calls": [call]}
    want = {"role": "assistant", "content": None, upstream: "Hm.", "tool_calls": [call]}
    assert sent(message, upstream_reasoning_field=upstream) == want


def test_reasoning_under_both_names_goes_up_once() -> None:
    message = {"role": "assistant", "content": "x", "reasoning": "", "reasoning_content": "Hm."}
    assert sent(message) == {"role": "assistant", "content": "x", "reasoning_content": "Hm."}


def test_other_roles_are_not_touched() -> None:
    message = {"role": "user", "content": "x", "reasoning": "mine", "tool_calls": 4}
    assert sent(message) == message


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ('{"a":  1.50}', '{"a":  1.50}'),
        ({"a": "é"}, '{"a":"é"}'),
        ("", "{}"),
        (None, "{}"),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('{"a": "cut', '{"unreadable_arguments":"{\\"a\\": \\"cut"}'),
        ("[1]", '{"unreadable_arguments":"[1]"}'),
        ('{"a": NaN}', '{"unreadable_arguments":"{\\"a\\": NaN}"}'),
        ([1], '{"unreadable_arguments":[1]}'),
    ],
)
def test_arguments_go_up_as_a_json_object(arguments: Any, want: str) -> None:
    call = {"id": "functions.f:0", "function": {"name": "f", "arguments": arguments}, "index": 0}
    made = sent({"role": "assistant", "tool_calls": [call]})["tool_calls"]
    assert made == [{**call, "type": "function", "function": {"name": "f", "arguments": want}}]
    assert isinstance(json.loads(want), dict)
    legacy = sent({"role": "assistant", "function_call": {"name": "f", "arguments": arguments}})
    assert legacy["function_call"] == {"name": "f", "arguments": want}


def test_the_clients_request_is_not_changed() -> None:
    message = {"role": "assistant", "reasoning": "x", "tool_calls": [{"id": "a", "function": {"name": "f"}}]}
    asked = request(messages=[message])
    before = json.dumps(asked)
    Exchange(asked, Settings(keep_special=True))
    assert json.dumps(asked) == before


def test_special_tokens_are_asked_for() -> None:
    asked = Exchange(request(), Settings(keep_special=True)).request
    assert (asked["skip_special_tokens"], asked["spaces_between_special_tokens"]) == (False, False)
    own = Exchange(request(skip_special_tokens=True), Settings(keep_special=True)).request
    assert own["skip_special_tokens"] is True


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"messages": ...}, "messages", "expected a list of messages, got NoneType"),
        ({"messages": "hi"}, "messages", "expected a list of messages, got str"),
        ({"tools": 4}, "tools", "tools: expected a list"),
        ({"tools": [{"type": "function", "function": {}}]}, "tools", "its name has to be a string"),
        ({"tools": ..., "functions": [{"name": ""}]}, "functions", "its name has to be a string"),
    ],
)
def test_requests_that_cannot_be_read(fields: dict[str, Any], param: str, words: str) -> None:
    with pytest.raises(WireError, match=words) as raised:
        Exchange(request(**fields))
    assert (raised.value.status, raised.value.param) == (400, param)


@pytest.mark.parametrize(
    ("body", "status", "want"),
    [
        ({"error": {"message": "m", "type": "t", "param": "p", "code": "c"}}, 400, ("m", "t", "p", "c")),
        (
            {"error": {"code": 500, "message": "m", "type": "server_error"}},
            500,
            ("m", "server_error", None, 500),
        ),
        (
            {"object": "error", "message": "m", "type": "BadRequest", "code": 400},
            400,
            ("m", "BadRequest", None, 400),
        ),
        ({"error": "m"}, 404, ("m", "not_found_error", None, None)),
        ({"detail": "m"}, 401, ("m", "authentication_error", None, None)),
        ({"detail": [{"loc": 1}]}, 422, ('[{"loc": 1}]', "invalid_request_error", None, None)),
        (b"<html>Bad gateway</html>", 502, ("<html>Bad gateway</html>", "server_error", None, None)),
        (b"", 503, ("the upstream answered with status 503", "server_error", None, None)),
        ({"x": 1}, 500, ('{"x": 1}', "server_error", None, None)),
        (None, 500, ("the upstream answered with status 500", "server_error", None, None)),
        ("\xff", 500, ("\xff", "server_error", None, None)),
    ],
)
def test_errors_take_openais_shape(body: Any, status: int, want: tuple[Any, ...]) -> None:
    error = openai_error(body, status)["error"]
    assert tuple(error[name] for name in ("message", "type", "param", "code")) == want


def test_an_errors_other_fields_are_kept() -> None:
    made = openai_error({"error": {"message": "m", "metadata": {"x": 1}}, "user_id": "u"}, 429)
    assert made["error"]["metadata"] == {"x": 1}
    assert (made["user_id"], made["error"]["type"]) == ("u", "rate_limit_error")
