"""The wire: what a client gets of an upstream's answer, streamed and whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.upstream import (
    BEEP,
    HEAD,
    accumulate,
    answer_to,
    body,
    chunk,
    cuts,
    frames,
    request,
    says,
    sse,
    streamed,
    whole_answer,
)
from toolglot import UnknownDialectError, WireError
from toolglot.wire import Exchange, Settings, error_status
from toolglot.wire.nesting import Nesting

HERMES = Settings(dialect="hermes")
CALL = '<tool_call>{"name": "beep", "arguments": {"n": 1}}</tool_call>'
CUT = '<tool_call>{"name": "beep", "arguments": {"path": "/tmp/a'


def native(index: Any = ..., id: Any = ..., name: Any = ..., arguments: Any = ..., **extra: Any) -> Any:
    """One entry of ``tool_calls``; what is not given is not there."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not ...}
    entry = {"index": index, "id": id, "function": function or ..., **extra}
    return {k: v for k, v in entry.items() if v is not ...}


def run(*chunks: Any, settings: Settings = HERMES, **fields: Any) -> list[Any]:
    return streamed([sse(*chunks)], Exchange(request(**fields), settings))


def entries(found: list[Any]) -> list[Any]:
    """Every entry of ``tool_calls``, in order."""
    chunks = [f for f in found if isinstance(f, dict) and "error" not in f]
    return [e for f in chunks for c in f["choices"] for e in c["delta"].get("tool_calls", ())]


# -- the canonical stream --------------------------------------------------------------------------


def test_a_call_is_written_canonically() -> None:
    found = streamed([says("Hi. ", CALL)], Exchange(request(), HERMES))
    call_id = entries(found)[0]["id"]
    assert [f if isinstance(f, str) else f["choices"][0] for f in found] == [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        {"index": 0, "delta": {"content": "Hi."}, "finish_reason": None},
        {
            "index": 0,
            "delta": {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": call_id,
                        "type": "function",
                        "function": {"name": "beep", "arguments": ""},
                    }
                ]
            },
            "finish_reason": None,
        },
        {
            "index": 0,
            "delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"n": 1}'}}]},
            "finish_reason": None,
        },
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
        "[DONE]",
    ]
    assert {k: v for k, v in found[0].items() if k != "choices"} == HEAD


def test_a_whole_answer() -> None:
    choice = whole_answer(body("Hi." + CALL), HERMES)
    call_id = choice["message"]["tool_calls"][0]["id"]
    function = {"name": "beep", "arguments": '{"n": 1}'}
    assert choice == {
        "index": 0,
        "message": {
            "role": "assistant",
            "content": "Hi.",
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        "finish_reason": "tool_calls",
    }


def test_a_key_that_the_model_repeated() -> None:
    """A stream has sent the first value already; both mean the last one."""
    text = CALL.replace('{"n": 1}', '{"n": 1, "n": 2}')
    [call] = whole_answer(body(text), HERMES)["message"]["tool_calls"]
    assert call["function"]["arguments"] == '{"n": 2}'
    assert answer_to(says(text), HERMES).called == [("beep", '{"n": 1, "n": 2}')]


def test_prose_goes_out_with_the_delta_that_brought_it() -> None:
    stream = Exchange(request(), HERMES).stream()
    assert frames(stream.feed(sse(chunk({"content": "Hello"}), done=False)))[-1] == chunk(
        {"content": "Hello"}
    )
    assert stream.feed(sse(chunk({"content": "<tool"}), done=False)) == b""
    assert stream.held == 5
    assert frames(stream.feed(sse(chunk({"content": "box>"}), done=False))) == [
        chunk({"content": "<toolbox>"})
    ]
    assert stream.held == 0


def test_the_last_brace_waits_until_the_call_is_one() -> None:
    """Some clients run a call as soon as its arguments are whole JSON."""
    stream = Exchange(request(), HERMES).stream()
    found = frames(stream.feed(sse(chunk({"content": CALL.removesuffix("}</tool_call>")}), done=False)))
    assert entries(found)[-1]["function"]["arguments"] == '{"n": 1'
    found = frames(stream.feed(sse(chunk({"content": "}</tool_call>"}), done=False)))
    assert entries(found) == [{"index": 0, "function": {"arguments": "}"}}]


def test_two_calls_count_from_zero_and_content_keeps_its_place() -> None:
    answer = answer_to(says("One ", CALL, " two ", CALL, "."), HERMES)
    assert answer.content == "One  two ."
    assert answer.called == [("beep", '{"n": 1}')] * 2
    assert answer.calls[0]["id"] != answer.calls[1]["id"]


@pytest.mark.parametrize("place", range(1, 40, 3))
def test_any_cut_of_the_bytes(place: int) -> None:
    data = says("Größe 東京 👩‍🚀 ", CALL)
    at = data.index("Größe".encode()) + place
    found = streamed(cuts(data, at), Exchange(request(), HERMES))
    assert accumulate(found).content == "Größe 東京 👩‍🚀"


# -- finish reasons --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "upstream", "want"),
    [
        (CALL, "stop", "tool_calls"),
        (CALL, None, "tool_calls"),
        (CALL, "eos", "tool_calls"),
        (CALL, "length", "length"),
        (CALL, "content_filter", "content_filter"),
        (CALL, "abort", "abort"),
        ("Hi", "stop", "stop"),
        ("Hi", "tool_calls", "stop"),
        ("Hi", None, "stop"),
        ("Hi", "length", "length"),
        (CUT, "stop", "length"),
        (CALL + CUT, "stop", "length"),
        # Only a name was read: no client saw a call.
        ('<tool_call>{"name": "beep"', "stop", "stop"),
        # The call broke, and the answer went on.
        ('<tool_call>{"name": "beep", "arguments": {"a": 1, bad}}</tool_call>' + CALL, "stop", "tool_calls"),
        ('<tool_call>{"name": "beep", "arguments": {"a": 1, bad}}</tool_call>', "stop", "length"),
    ],
)
def test_finish_reason(text: str, upstream: str | None, want: str) -> None:
    assert answer_to(says(text, reason=upstream), HERMES).reason == want
    assert whole_answer(body(text, upstream), HERMES)["finish_reason"] == want


@pytest.mark.parametrize(("forced", "want"), [("tool_calls", "tool_calls"), ("stop", "stop")])
def test_a_forced_function_finishes_as_configured(forced: Any, want: str) -> None:
    settings = Settings(dialect="hermes", forced_finish=forced)
    choice = {"type": "function", "function": {"name": "beep"}}
    assert answer_to(says(CALL), settings, tool_choice=choice).reason == want
    assert answer_to(says(CALL), settings, tool_choice="required").reason == "tool_calls"


def test_nothing_of_a_choice_after_its_finish() -> None:
    usage = {**chunk(), "choices": [], "usage": {"total_tokens": 3}}
    found = run(chunk({"content": "a"}, "stop"), chunk({"content": "b"}), chunk({}, "stop"), usage)
    assert accumulate(found).content == "a"
    assert found[-2]["usage"] == {"total_tokens": 3}


# -- what the request allows -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields", [{"tools": []}, {"tools": ...}, {"tools": None}, {"tool_choice": "none"}], ids=str
)
def test_no_calls_where_none_are_allowed(fields: dict[str, Any]) -> None:
    answer = answer_to(says(CALL), HERMES, **fields)
    assert (answer.content, answer.calls, answer.reason) == (CALL, [], "stop")


def test_without_tools_calls_are_read_on_request() -> None:
    settings = Settings(dialect="hermes", tools_absent="read")
    assert answer_to(says(CALL), settings, tools=...).called == [("beep", '{"n": 1}')]


def test_one_call_where_one_is_allowed() -> None:
    exchange = Exchange(request(parallel_tool_calls=False), HERMES)
    other = CALL.replace("1", "2")
    answer = accumulate(streamed([says(CALL, other)], exchange))
    assert answer.called == [("beep", '{"n": 1}')]
    report = exchange.report
    assert [(d.name, d.arguments) for d in report.dropped] == [("beep", '{"n": 2}')]
    assert (report.dropped_calls, answer.reason) == (1, "tool_calls")


def test_the_schema_types_the_values() -> None:
    parameters = {"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    values = "".join(f"<parameter={name}>\n4\n</parameter>\n" for name in "ns")
    text = f"<tool_call>\n<function=f>\n{values}</function>\n</tool_call>"
    answer = answer_to(says(text), Settings(dialect="qwen3_coder"), tools=tools)
    assert json.loads(answer.called[0][1]) == {"n": 4, "s": "4"}


def test_legacy_functions() -> None:
    fields: dict[str, Any] = {"tools": ..., "functions": [{"name": "beep", "parameters": {}}]}
    found = streamed([says(CALL, CALL)], Exchange(request(**fields), HERMES))
    deltas = [f["choices"][0] for f in found[:-1]]
    calls = [d["delta"]["function_call"] for d in deltas if "function_call" in d["delta"]]
    assert calls[0] == {"name": "beep", "arguments": ""}
    assert "".join(call["arguments"] for call in calls) == '{"n": 1}'
    assert all(set(call) == {"arguments"} for call in calls[1:])
    assert deltas[-1]["finish_reason"] == "function_call"
    choice = whole_answer(body(CALL), HERMES, **fields)
    assert choice["message"]["function_call"] == {"name": "beep", "arguments": '{"n": 1}'}
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "function_call")


# -- the upstream's own calls ----------------------------------------------------------------------

TWO = [("a", "f", '{"x": 1}'), ("b", "g", "{}")]


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param(
            [native(0, "a", "f", ""), native(0, arguments='{"x": 1}'), native(1, "b", "g", "{}")],
            id="canonical",
        ),
        pytest.param(
            [native(0, "a", "f", '{"x"'), native(0, "a", "f", ": 1}"), native(1, "b", "g", "{}")],
            id="repeated id, name",
        ),
        pytest.param([native(1, "a", "f", '{"x": 1}'), native(4, "b", "g", "{}")], id="gap"),
        pytest.param([native(..., "a", "f", '{"x": 1}'), native(..., "b", "g", "{}")], id="no index"),
        pytest.param(
            [native(..., "a", "f", '{"x"'), native(arguments=": 1}"), native(..., "b", "g", "{}")],
            id="no index, then no id",
        ),
        pytest.param([native(0, "a", "f", '{"x": 1}'), native(0, "b", "g", "{}")], id="both index 0"),
        pytest.param(
            [
                native(0, "a", "f", None),
                native(0, None, None, '{"x": 1}', type=None),
                native(1, "b", "g", "{}"),
            ],
            id="nulls",
        ),
        pytest.param(
            [native(0, "a", "f", ""), native(0, "", "", '{"x": 1}'), native(1, "b", "g", "{}")],
            id="empty strings",
        ),
        pytest.param([native(0, "a", "f", {"x": 1}), native(1, "b", "g", {})], id="objects"),
        pytest.param(
            [
                native(0, "a", arguments='{"x"'),
                native(0, name="f", arguments=": 1}"),
                native(1, "b", "g", "{}"),
            ],
            id="late name",
        ),
        pytest.param([native(0, "a", "f", '{"x": 1}'), native(1, "b", "g", "")], id="no arguments"),
        pytest.param(
            [
                native(0, "a", "f", ""),
                native(1, "b", "g", ""),
                native(0, arguments='{"x": 1}'),
                native(1, arguments="{}"),
            ],
            id="interleaved",
        ),
    ],
)
def test_native_calls_are_mended(deltas: list[Any]) -> None:
    exchange = Exchange(request(), HERMES)
    data = sse(*(chunk({"tool_calls": [d]}) for d in deltas), chunk({}, "tool_calls"))
    answer = accumulate(streamed([data], exchange))
    got = [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in answer.calls]
    assert got == [(i, n, json.loads(a)) for i, n, a in TWO]
    assert (answer.reason, exchange.report.calls_native) == ("tool_calls", 2)


def test_native_calls_in_one_chunk_without_ids() -> None:
    deltas = {"tool_calls": [native(0, name="f", arguments="{}"), native(0, name="f", arguments="{}")]}
    answer = accumulate(run(chunk(deltas), chunk({}, "stop")))
    assert answer.called == [("f", "{}")] * 2


def test_native_and_parsed_calls_never_collide() -> None:
    taken = native(0, "call_0", "f", "{}")
    found = run(
        chunk({"tool_calls": [taken]}),
        chunk({"content": CALL}),
        chunk({"tool_calls": [native(0, "c", "g", "{}")]}),
    )
    answer = accumulate(found)
    assert [name for name, _ in answer.called] == ["f", "beep", "g"]
    assert len({call["id"] for call in answer.calls}) == 3


def test_ids_are_unique_over_the_conversation() -> None:
    history = [
        {"role": "assistant", "tool_calls": [{"id": "functions.beep:0", "function": {"name": "beep"}}]},
        {"role": "tool", "tool_call_id": "functions.beep:0", "content": "ok"},
    ]
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.beep:0<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    )
    answer = answer_to(says(text), Settings(dialect="kimi_k2"), messages=history)
    assert [call["id"] for call in answer.calls] == ["functions.beep:1"]


def test_a_nameless_native_call_is_none_and_is_noted() -> None:
    exchange = Exchange(request(), HERMES)
    data = sse(chunk({"tool_calls": [native(0, "a", arguments="{}")]}), chunk({}, "tool_calls"))
    answer = accumulate(streamed([data], exchange))
    assert (answer.calls, answer.reason) == ([], "stop")
    assert exchange.report.native_repairs == {"no name": 1}


def test_unknown_fields_of_a_native_call_are_kept() -> None:
    entry = native(0, "a", "f", "{}", extra_content={"signature": "x"})
    assert entries(run(chunk({"tool_calls": [entry]})))[0]["extra_content"] == {"signature": "x"}
    message = {"role": "assistant", "content": None, "tool_calls": [entry]}
    made = whole_answer(body(message), HERMES)["message"]["tool_calls"]
    assert made == [
        {
            "id": "a",
            "type": "function",
            "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"signature": "x"},
        }
    ]


def test_custom_tools_pass() -> None:
    first = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    found = entries(run(chunk({"tool_calls": [first]}), chunk({}, "tool_calls")))
    assert found == [
        {"index": 0, "id": "a", "type": "custom", "custom": {"name": "sh", "input": ""}},
        {"index": 0, "custom": {"input": "ls"}},
    ]


# -- calls that were cut ---------------------------------------------------------------------------

BEGINNINGS = [
    "",
    "{",
    '{"pa',
    '{"path": ',
    '{"path": "/tmp/a',
    '{"path": "a\\',
    '{"path": "a\\u00',
    '{"path": "/tmp/a"',
    '{"path": "/tmp/a",',
    '{"n": 12',
    '{"n": tr',
    '{"l": [1, {"x": "y"}',
    '{"l": ["a',
    '{"n": {"m": 1}',
]


@pytest.mark.parametrize("reason", ["length", "stop"])
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_cut_call_is_json_for_nobody(beginning: str, reason: str) -> None:
    start = native(0, "a", "f", "")
    data = sse(
        chunk({"tool_calls": [start]}),
        chunk({"tool_calls": [native(0, arguments=beginning)]}),
        chunk({}, reason),
    )
    answer = answer_to(data, HERMES)
    [(_, arguments)] = answer.called
    if not beginning and reason == "stop":
        assert (arguments, answer.reason) == ("{}", "tool_calls")
        return
    assert answer.reason == "length"
    assert arguments.startswith(beginning)
    for read in READERS:
        assert not isinstance(read(arguments), dict)


def _strict(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def _closing(text: str) -> Any:
    """Closes what is open, and cuts back to the last place where that is JSON; a wrong bracket is an end."""
    stack, inside, escaped = [], False, False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "{[":
            stack.append("}" if character == "{" else "]")
        elif character in "}]" and (not stack or stack.pop() != character):
            return None
    closed = "".join(reversed(stack))
    whole = text + '"' * inside
    return next((v for i in range(len(whole), 0, -1) if (v := _strict(whole[:i] + closed)) is not None), None)


def _ending(text: str) -> Any:
    """Tries a few endings, as clients do that only expect the end to be missing."""
    return next(
        (v for end in ("", '"}', "}", '"]}', "]}", "null}") if (v := _strict(text + end)) is not None), None
    )


READERS = [_strict, _closing, _ending]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_known_partial_readers_refuse_a_cut_call(beginning: str) -> None:
    langchain = pytest.importorskip("langchain_core.utils.json", reason="needs the clients extra")
    pydantic = pytest.importorskip("pydantic_core", reason="needs the clients extra")
    nesting = Nesting()
    for character in beginning:
        nesting.feed(character)
    text = beginning + nesting.poison()
    assert langchain.parse_partial_json(text) is None
    with pytest.raises(ValueError, match=r"at line 1 column"):
        pydantic.from_json(text, allow_partial=True)


def test_a_cut_call_may_be_left() -> None:
    answer = answer_to(says(CUT, reason="length"), Settings(dialect="hermes", on_cut="leave"))
    assert answer.called == [("beep", '{"path": "/tmp/a')]
    assert answer.reason == "length"


def test_strict_shows_nothing_of_a_cut_call() -> None:
    answer = answer_to(says(CUT, reason="length"), Settings(dialect="hermes", on_defect="strict"))
    assert (answer.calls, answer.reason) == ([], "length")


def test_a_whole_answer_has_the_same_cut_call() -> None:
    settings, data = HERMES, says(CUT, reason="length")
    made = whole_answer(body(CUT, "length"), settings)["message"]
    assert made["content"] is None
    assert [c["function"] for c in made["tool_calls"]] == [
        c["function"] for c in answer_to(data, settings).calls
    ]


# -- reasoning -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("reasoning_content", ["reasoning_content"]),
        ("reasoning", ["reasoning"]),
        ("both", ["reasoning_content", "reasoning"]),
    ],
)
def test_reasoning_is_written_as_configured(spelling: str, field: Any, names: list[str]) -> None:
    settings = Settings(dialect="hermes", reasoning_field=field)
    found = run(chunk({spelling: "Hm."}), chunk({"content": "Yes."}, "stop"), settings=settings)
    assert found[1]["choices"][0]["delta"] == dict.fromkeys(names, "Hm.")
    message = {"role": "assistant", "content": "Yes.", spelling: "Hm."}
    made = whole_answer(body(message), settings)["message"]
    assert made == {"role": "assistant", "content": "Yes.", **dict.fromkeys(names, "Hm.")}


def test_reasoning_in_the_text() -> None:
    answer = answer_to(says("<think>Hm.", "</think>Yes.", CALL), HERMES)
    assert (answer.reasoning, answer.content, len(answer.calls)) == ("Hm.", "Yes.", 1)


def test_text_that_was_reasoning_is_in_its_place_in_a_whole_answer() -> None:
    exchange = Exchange(request(stream=False), HERMES)
    made = exchange.whole(body("Hm.</think>Yes."))["choices"][0]["message"]
    assert (made["reasoning_content"], made["content"]) == ("Hm.", "Yes.")
    assert exchange.report.relabelled == 3
    assert answer_to(says("Hm.</think>Yes."), HERMES).content == "Hm.Yes."


# -- what is passed on -----------------------------------------------------------------------------


def test_unknown_fields_are_kept() -> None:
    rich = {**chunk({"content": "Hi", "annotations": [1]}), "system_fingerprint": "fp", "provider": "p"}
    rich["choices"][0]["stop_reason"] = 7
    held = {**chunk({"content": "<tool"}), "progress": 0.5}
    found = run(rich, held, chunk({}, "stop"))
    texts = [f for f in found[:-1] if "provider" in f]
    assert [f["choices"][0]["delta"] for f in texts] == [{"annotations": [1]}]
    assert texts[0]["choices"][0]["stop_reason"] == 7
    assert all(f["system_fingerprint"] == "fp" for f in found[:-1])
    assert [f["choices"][0]["delta"] for f in found[:-1] if "progress" in f] == [{}]
    message = {"role": "assistant", "content": "Hi", "annotations": [1]}
    whole = Exchange(request(), HERMES).whole(body(message, usage={"total_tokens": 2}, provider="p"))
    assert (whole["provider"], whole["usage"]) == ("p", {"total_tokens": 2})
    assert whole["choices"][0]["message"]["annotations"] == [1]


def test_refusal_passes() -> None:
    found = run(chunk({"refusal": "No."}), chunk({}, "stop"))
    assert found[1]["choices"][0]["delta"] == {"refusal": "No."}
    message = {"role": "assistant", "content": None, "refusal": "No."}
    assert whole_answer(body(message), HERMES)["message"] == message


def test_content_in_parts_is_not_touched() -> None:
    parts = [{"type": "text", "text": CALL}]
    assert whole_answer(body({"role": "assistant", "content": parts}), HERMES)["message"]["content"] == parts


def test_logprobs_stay_with_text_that_is_not_changed() -> None:
    one, two = chunk({"content": "Hi"}), chunk({"content": " <tool"})
    for each in (one, two):
        each["choices"][0]["logprobs"] = {"content": [1]}
    found = run(one, two, chunk({"content": "box"}, "stop"))
    assert [f["choices"][0].get("logprobs") for f in found[:-1]] == [None, {"content": [1]}, None, None]
    empty = chunk({"content": ""})
    empty["choices"][0]["logprobs"] = {"content": [2]}
    found = run(one, empty, chunk({}, "stop"))
    assert [f["choices"][0].get("logprobs") for f in found[:-1]] == [
        None,
        {"content": [1]},
        {"content": [2]},
        None,
    ]
    for text, want in (("Hi", {"content": [1]}), (CALL, None)):
        answer = body(text)
        answer["choices"][0]["logprobs"] = {"content": [1]}
        assert whole_answer(answer, HERMES)["logprobs"] == want


USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


@pytest.mark.parametrize("where", ["apart", "with the finish", "with each"])
def test_usage_comes_once_where_it_was_asked_for(where: str) -> None:
    chunks = [
        chunk({"content": "a"}, usage=USAGE if where == "with each" else None),
        chunk({}, "stop", usage=None if where == "apart" else USAGE),
    ]
    if where == "apart":
        chunks.append({**HEAD, "choices": [], "usage": USAGE})
    found = run(*chunks, stream_options={"include_usage": True})
    assert [f["usage"] for f in found[:-1] if f.get("usage")] == [USAGE]
    assert (found[-2]["choices"], found[-2]["usage"]) == ([], USAGE)


def test_continuous_usage_stays_where_it_was_asked_for() -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    last = {**HEAD, "choices": [], "usage": USAGE}
    found = run(chunk({"content": "a"}, usage=USAGE), chunk({}, "stop"), last, stream_options=options)
    assert [bool(f.get("usage")) for f in found[:-1]] == [False, True, False, True]


def test_several_choices() -> None:
    chunks = [chunk({"content": CALL}, index=1), chunk({"content": "Hi"}, index=0)]
    found = run(*chunks, chunk({}, "stop", index=1), chunk({}, "stop", index=0), n=2)
    first, second = accumulate(found, 0), accumulate(found, 1)
    assert (first.content, first.calls, first.reason) == ("Hi", [], "stop")
    assert (second.called, second.reason) == ([("beep", '{"n": 1}')], "tool_calls")


def test_chunks_share_what_the_first_says() -> None:
    odd = {**chunk({"content": "b"}), "id": "other", "model": "x", "created": 5}
    found = run(chunk({"content": "a"}), odd, chunk({}, "stop"))
    assert accumulate(found).content == "ab"
    assert {f["id"] for f in found[:-1]} == {HEAD["id"]}


def test_a_first_chunk_without_choices_passes() -> None:
    filtered = {"id": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    found = run(filtered, chunk({"content": "a"}, "stop"))
    assert found[0] == filtered
    assert found[1]["id"] == HEAD["id"]


def test_comments_pass() -> None:
    stream = Exchange(request(), HERMES).stream()
    assert stream.feed(b": ping\n\n") == b": ping\n\n"


# -- faults of an upstream -------------------------------------------------------------------------


def test_a_stream_without_its_end_gets_one() -> None:
    answer = answer_to(says("odd <tool", reason=None, done=False), HERMES)
    assert (answer.content, answer.reason) == ("odd <tool", "stop")


def broken(data: bytes, error: str | None = "connection reset") -> tuple[list[Any], Any]:
    exchange = Exchange(request(), HERMES)
    found = streamed([data], exchange, error)
    assert found[-2]["error"]["message"] == exchange.report.failed
    assert accumulate(found).reason is None
    return found, exchange.report


def test_a_stream_that_broke_off() -> None:
    """What was held goes out, an open call is unusable, and an error ends it."""
    found, _ = broken(says("odd <tool", reason=None, done=False))
    assert accumulate(found).content == "odd <tool"
    assert found[-2]["error"] == {
        "message": "connection reset",
        "type": "upstream_error",
        "param": None,
        "code": None,
    }
    found, report = broken(says(CUT, reason=None, done=False))
    assert _strict(accumulate(found).called[0][1]) is None
    assert report.calls_cut == 1


def test_a_break_after_the_finish_is_none() -> None:
    exchange = Exchange(request(), HERMES)
    found = streamed([says("Hi", done=False)], exchange, "connection reset")
    assert accumulate(found).reason == "stop"
    assert exchange.report.failed == ""


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"error": {"message": "boom", "type": "server_error"}}\n\n',
        b'data: {"object": "error", "error": "boom"}\n\n',
        b'event: error\ndata: {"message": "boom"}\n\n',
        b"event: error\ndata: boom\n\n",
        b'data: {"object": "error", "message": "boom", "code": 400}\n\n',
        b'error: {"code": 500, "message": "boom", "type": "server_error"}\n\n',
    ],
)
def test_an_error_event_ends_the_stream(event: bytes) -> None:
    data = says("Hi", reason=None, done=False) + event + says("never")
    found, report = broken(data, None)
    assert accumulate(found).content == "Hi"
    assert report.failed == "boom"


def test_a_malformed_event_breaks_the_answer() -> None:
    """A part of the answer is lost: what follows must not be joined over the gap."""
    data = says("Hi", reason=None, done=False) + b'data: {"id": "c", "choi\n\n' + says("never")
    found, report = broken(data, None)
    assert found[-2]["error"]["message"] == "the upstream sent an event that is not JSON"
    assert report.malformed_frames == 1


def test_noise_between_events_is_passed_over() -> None:
    data = b"garbage\nid: 4\nretry: 10\ndata: ping\n\n" + says("Hi")
    assert answer_to(data, HERMES).content == "Hi"


def test_half_a_character_at_the_end() -> None:
    data = says("é", reason=None, done=False)
    found, _ = broken(data[: data.index("é".encode()) + 1])
    assert accumulate(found).content == ""


def test_no_answer_at_all() -> None:
    exchange = Exchange(request(), HERMES)
    assert streamed([b""], exchange)[0]["error"]["message"] == "the upstream's stream ended without an answer"


def test_an_event_that_is_too_long() -> None:
    exchange = Exchange(request(), Settings(dialect="hermes", frame=1000))
    data = says("x" * 2000)
    assert streamed(cuts(data, 1500), exchange)[-2]["error"]["message"].endswith("over 1000 characters")


def test_a_big_chunk_and_many_small_ones() -> None:
    big = "y" * (1 << 20)
    assert len(answer_to(says(big), HERMES).content) == 1 << 20
    small = answer_to(says(*(["z"] * 2000)), HERMES)
    assert small.content == "z" * 2000


@pytest.mark.parametrize(
    ("said", "code", "status"),
    [
        ({"error": "boom"}, None, 502),
        ({"error": {"message": "boom", "code": 429}}, 429, 429),
        ({"error": {"message": "boom", "code": "overloaded"}}, "overloaded", 502),
        ({"object": "error", "message": "boom", "code": 400}, 400, 400),
        ({"error": {"message": "boom", "code": 200}}, 200, 502),
    ],
)
def test_an_error_body_is_normalised(said: dict[str, Any], code: Any, status: int) -> None:
    made = Exchange(request(), HERMES).whole(said)
    assert made == {"error": {"message": "boom", "type": "server_error", "param": None, "code": code}}
    assert error_status(made) == status


@pytest.mark.parametrize(
    "odd", [{}, {"choices": None}, {"choices": [1, {"message": None}]}, {"object": "list"}]
)
def test_an_odd_body_comes_back_as_it_was(odd: dict[str, Any]) -> None:
    assert Exchange(request(), HERMES).whole(odd) == odd


@pytest.mark.parametrize(
    "odd", [{"choices": [1]}, {"choices": [{"delta": 1, "index": "x"}]}, {"x": 1}, {"choices": 3}]
)
def test_an_odd_chunk_raises_nothing(odd: dict[str, Any]) -> None:
    run(odd, {**chunk({"content": 1, "tool_calls": [1, {"function": 2}], "reasoning": 4})}, chunk({}, "stop"))


def test_calls_in_no_form_of_calls_go_to_no_client() -> None:
    found = run(chunk({"tool_calls": True, "function_call": 3}), chunk({"content": "x"}, "stop"))
    assert [f["choices"][0]["delta"] for f in found[:-1]] == [
        {"role": "assistant", "content": ""},
        {"content": "x"},
        {},
    ]
    one = {"id": "a", "type": "function", "function": {"name": "beep", "arguments": "{}"}}
    assert accumulate(run(chunk({"tool_calls": one}), chunk({}, "stop"))).called == [("beep", "{}")]
    legacy = Exchange(request(tools=..., functions=[]), HERMES)
    message = {"role": "assistant", "content": "x", "function_call": 3}
    assert legacy.whole(body(message))["choices"][0]["message"]["content"] == "x"


# -- the rest --------------------------------------------------------------------------------------


def test_the_report() -> None:
    exchange = Exchange(request(), Settings())
    found = streamed([says(CALL, "\nleft </tool_call>", ' <tool_call>{"name": "x')], exchange)
    report = exchange.report
    assert accumulate(found).called == [("beep", '{"n": 1}')]
    assert (report.model, report.dialect, report.calls_parsed, report.ended) == ("m", "hermes", 1, True)
    assert report.finish_reasons == {0: "tool_calls"}
    assert report.defects["unclosed_call"] == 1


def test_residue_is_noted_and_changes_nothing() -> None:
    exchange = Exchange(request(), Settings(dialect="qwen3_coder"))
    text = 'Well, [TOOL_CALLS]ping{"a": 1}'
    answer = accumulate(streamed([says(text)], exchange))
    assert answer.content == text
    assert [(r.marker, r.choice, r.evidence) for r in exchange.report.residue] == [("[TOOL_CALLS]", 0, text)]


def test_a_server_that_does_not_stream() -> None:
    native_calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    message = {"role": "assistant", "content": "Hi" + CALL, "tool_calls": native_calls}
    answer = accumulate(frames(Exchange(request(), HERMES).whole_as_stream(body(message))))
    assert (answer.content, len(answer.calls), answer.reason) == ("Hi", 2, "tool_calls")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"dialect": "nope"}, UnknownDialectError),
        ({"on_cut": "close"}, WireError),
        ({"reasoning_field": "thinking"}, WireError),
        ({"upstream_reasoning_field": ""}, WireError),
    ],
)
def test_settings_that_cannot_work(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Settings(**given)


def test_names_of_the_offer() -> None:
    assert Exchange(request(), HERMES).report.offered
    assert not Exchange(request(tools=[]), HERMES).report.offered
    assert BEEP["type"] == "function"
