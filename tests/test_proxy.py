"""The proxy beside its faults: what it forwards, how it chooses a dialect, what it tells of itself."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import json
import logging
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from multidict import CIMultiDict

import toolglot
from tests import probe
from tests.scripted import DONE, Answer, Script, chunk, sse
from tests.test_proxy_faults import CALL, PING, Both, both, events
from toolglot import ToolglotError
from toolglot.derive import Refusal
from toolglot.proxy import llama, loop, summary, template
from toolglot.proxy.choice import Choices
from toolglot.proxy.config import Config, ModelRule, read_config
from toolglot.proxy.kinds import MIB
from toolglot.proxy.logs import JsonLines
from toolglot.proxy.record import ALARM_EVERY, MOST_MODELS, OTHER, Record, Tallies
from toolglot.proxy.unasked import WholeAsStream
from toolglot.proxy.upstream import Upstream, passed_on
from toolglot.wire import Report, ResidueHit

SAID = {"name": "ping", "arguments": '{"n": 1}'}


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def get(b: Both, path: str) -> Any:
    async with b.session.get(b.url + path) as answer:
        assert answer.status == 200
        return await answer.json()


# -- forwarding --------------------------------------------------------------------------------------


def test_forwarded_as_it_stands() -> None:
    async def work() -> None:
        async with both(Script()) as b:
            packed = gzip.compress(b"packed")
            async with b.session.put(
                b.url + "/echo?a=1&b=%2F", data=b"\x00\xff" * 40_000, headers={"X-Own": "1"}
            ) as answer:
                assert (answer.headers["X-Method"], answer.headers["X-Query"]) == ("PUT", "a=1&b=/")
                assert await answer.read() == b"\x00\xff" * 40_000
            # A body that is packed arrives unpacked, and says so.
            async with b.session.post(
                b.url + "/echo", data=packed, headers={"Content-Encoding": "gzip"}
            ) as answer:
                assert "X-Encoding" not in answer.headers
                assert await answer.read() == b"packed"
            async with b.session.get(b.url + "/missing") as answer:
                assert answer.status == 404
                assert await answer.json() == {"error": {"message": "no such path"}}
            async with b.session.head(b.url + "/echo") as answer:
                assert (answer.status, answer.headers["X-Method"]) == (200, "HEAD")

    run(work())


def test_forwarded_streams_stream() -> None:
    """A piece goes through before the next one exists, in both directions."""

    async def work() -> None:
        async with both(Script()) as b:
            more: asyncio.Queue[bytes | None] = asyncio.Queue()

            async def body() -> Any:
                while (piece := await more.get()) is not None:
                    yield piece

            more.put_nowait(b"one")
            async with b.session.post(b.url + "/echo", data=body()) as answer:
                assert await answer.content.readany() == b"one"
                more.put_nowait(b"two")
                assert await answer.content.readany() == b"two"
                more.put_nowait(None)
                assert await answer.read() == b""

    run(work())


def test_packed_answers_stay_packed() -> None:
    async def packed(request: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(b"hello"), headers={"Content-Encoding": "gzip"})

    async def work() -> None:
        async with both(Script(routes={"/packed": packed})) as b:
            raw = b.session.get(b.url + "/packed", auto_decompress=False)
            async with raw as answer:
                assert answer.headers["Content-Encoding"] == "gzip"
                assert gzip.decompress(await answer.read()) == b"hello"

    run(work())


def test_redirects_and_cookies_are_the_clients() -> None:
    async def elsewhere(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://elsewhere.test/", "Set-Cookie": "a=b"})

    async def work() -> None:
        async with both(Script(routes={"/go": elsewhere})) as b:
            async with b.session.get(b.url + "/go", allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (302, "http://elsewhere.test/")
            assert len(b.proxy.upstream.session.cookie_jar) == 0

    run(work())


def test_no_upgrade() -> None:
    async def work() -> None:
        async with both(Script()) as b:
            headers = {"Connection": "Upgrade", "Upgrade": "websocket"}
            async with b.session.get(b.url + "/v1/realtime", headers=headers) as answer:
                assert answer.status == 501
                assert (await answer.json())["error"]["code"] == "not_supported"

    run(work())


def test_headers_of_a_connection_stay_on_it() -> None:
    headers = CIMultiDict(
        [("Host", "h"), ("Connection", "close, X-Mine"), ("X-Mine", "1"), ("A", "1"), ("A", "2")]
    )
    assert passed_on(headers) == [("A", "1"), ("A", "2")]
    assert passed_on(headers, "a") == []


@pytest.mark.parametrize(
    ("given", "path", "url"),
    [
        ("http://h:1", "/v1/models?a=%2F", "http://h:1/v1/models?a=%2F"),
        ("http://h:1/", "/props", "http://h:1/props"),
        ("http://h:1/v1", "/v1/models", "http://h:1/v1/models"),
        ("http://h:1/v1", "/api/show", "http://h:1/api/show"),
        ("https://h/api/v1/", "/v1/chat/completions", "https://h/api/v1/chat/completions"),
        ("https://h/v1beta/openai", "/v1/models", "https://h/v1beta/openai/models"),
        ("http://h:1", "/v1x", "http://h:1/v1x"),
    ],
)
def test_where_a_path_is(given: str, path: str, url: str) -> None:
    assert str(Upstream(Config(upstream=given)).url(path)) == url


# -- chat --------------------------------------------------------------------------------------------


def test_chat_whole_and_streamed() -> None:
    async def work() -> None:
        async with both(Script(answers={"m": Answer(CALL)})) as b:
            async with b.ask(stream=False) as answer:
                whole = summary.of_whole(await answer.json())
            async with b.ask(stream_options={"include_usage": True}) as answer:
                headers = {
                    name: answer.headers[name]
                    for name in ("Cache-Control", "X-Accel-Buffering", "X-Request-Id")
                }
                assert headers == {
                    "Cache-Control": "no-cache",
                    "X-Accel-Buffering": "no",
                    "X-Request-Id": "r1",
                }
                assert answer.content_type == "text/event-stream"
                data = await answer.read()
            said = {"content": "", "reasoning": "", "tool_calls": [SAID], "finish_reason": "tool_calls"}
            assert (whole, summary.of_stream(data)) == ([said], [said])
            assert events(data)[-2]["usage"]["total_tokens"] == 12

    run(work())


def test_chat_without_v1() -> None:
    async def work() -> None:
        async with both(Script(answers={"m": Answer(CALL)})) as b:
            body = {"model": "m", "messages": [], "tools": [PING]}
            async with b.session.post(b.url + "/chat/completions", json=body) as answer:
                assert summary.of_whole(await answer.json())[0]["tool_calls"] == [SAID]

    run(work())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the request's body is no JSON object: send one"),
        (b"[]", "the request's body is no JSON object: send one"),
        (b"[" * 100_000, "the request's body is no JSON object: send one"),
    ],
)
def test_requests_that_are_none(body: bytes, message: str) -> None:
    async def work() -> None:
        async with both(Script()) as b:
            asked = b.session.post(b.url + "/v1/chat/completions", data=body)
            async with asked as answer:
                assert answer.status == 400
                assert (await answer.json())["error"]["message"] == message

    run(work())


def test_a_request_that_wire_refuses() -> None:
    async def work() -> None:
        async with both(Script()) as b:
            async with b.ask(tools="none") as answer:
                assert answer.status == 400
                assert (await answer.json())["error"]["param"] == "tools"
            assert b.outcomes() == {"refused": 1}

    run(work())


def test_a_whole_answer_to_a_request_for_a_stream() -> None:
    async def whole(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        message = {"role": "assistant", "content": CALL}
        return web.json_response(
            {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        )

    async def work() -> None:
        async with both(Script(faults={"m": whole})) as b:
            data = await b.read()
            assert summary.of_stream(data)[0]["tool_calls"] == [SAID]
            assert data.endswith(DONE)

    run(work())


def test_whole_as_stream() -> None:
    collected = WholeAsStream()
    body = {
        "choices": [
            {"index": 0, "message": {"tool_calls": [{"id": "a"}, {"id": "b"}]}, "finish_reason": "stop"}
        ]
    }
    assert collected.feed(json.dumps(body).encode()) == b""
    assert events(collected.end()) == [body]


@pytest.mark.parametrize(
    "body",
    ["<html>", "[1]", '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}"],
    ids=["html", "list", "deep"],
)
def test_an_answer_that_is_no_json(body: str) -> None:
    async def page(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.Response(text=body, content_type="text/html")

    async def work() -> None:
        async with both(Script(faults={"m": page})) as b, b.ask(stream=False) as answer:
            assert answer.status == 502
            assert (await answer.json())["error"]["code"] == "upstream_not_json"

    run(work())


def test_an_error_with_a_good_status_gets_a_bad_one() -> None:
    async def limited(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({"error": {"message": "slow down", "code": 429}})

    async def work() -> None:
        async with both(Script(faults={"m": limited})) as b:
            async with b.ask(stream=False) as answer:
                assert answer.status == 429
                assert (await answer.json())["error"]["message"] == "slow down"
            assert b.outcomes() == {"upstream_error": 1}

    run(work())


def test_an_upstream_that_leaves_the_connection_open() -> None:
    """The client has its end with the end mark, and may leave then."""

    async def open_ended(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await sse(request)
        await response.write(chunk({"content": "x"}, "stop") + DONE)
        await asyncio.sleep(60)
        return response

    async def work() -> None:
        async with both(Script(faults={"m": open_ended})) as b:
            assert (await asyncio.wait_for(b.read(), 5)).endswith(DONE)
            assert b.script.open == 1
            await b.session.close()
            await b.settled()
            assert b.outcomes() == {"done": 1}

    run(work())


def test_the_upstreams_key_goes_through_and_nowhere_else(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    caplog.set_level(logging.DEBUG)
    script = Script(answers={"m": Answer(CALL)})

    async def work() -> None:
        async with both(script, capture=str(tmp_path), capture_all=True) as b:
            headers = {"Authorization": "Bearer sk-very-secret", "x-api-key": "very-secret"}
            body = {"model": "m", "messages": [], "tools": [PING], "stream": True}
            async with b.session.post(b.url + "/v1/chat/completions", json=body, headers=headers) as answer:
                await answer.read()
            assert script.headers[0]["Authorization"] == "Bearer sk-very-secret"
            assert script.headers[0]["x-api-key"] == "very-secret"
            assert "very-secret" not in json.dumps(await get(b, "/status"))

    run(work())
    told = [JsonLines().format(record) for record in caplog.records]
    assert "very-secret" not in "".join(told)
    assert "very-secret" not in "".join(file.read_text() for file in tmp_path.iterdir())
    chat = next(json.loads(line) for line in told if '"event": "chat"' in line)
    assert (chat["model"], chat["dialect"], chat["outcome"], chat["calls"]["parsed"]) == (
        "m",
        "hermes",
        "done",
        1,
    )


def test_an_upstreams_error_is_logged_without_keys_and_short(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    said = "bad key sk-abcdefghijklmnop: " + "the prompt " * 100

    async def refusing(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await sse(request)
        await response.write(b'data: {"error": ' + json.dumps(said).encode() + b"}\n\n")
        return response

    async def work() -> None:
        async with both(Script(faults={"m": refusing})) as b:
            assert events(await b.read())[-2]["error"]["message"] == said

    run(work())
    (told,) = (json.loads(JsonLines().format(r)) for r in caplog.records if r.getMessage() == "chat")
    assert told["error"].startswith("bad key xx-xxxxxxxxxxxxxxxx: the prompt")
    assert len(told["error"]) == 200


def test_a_models_id_is_kept_short() -> None:
    """It comes from the client, and stands in logs, in metrics and on the status page."""

    async def work() -> None:
        name = "m" * 5_000
        async with both(Script(answers={name: Answer("x")})) as b:
            await b.read(name)
            assert b.script.requests[0]["model"] == name
            assert list((await get(b, "/status"))["models"]) == ["m" * 200]

    run(work())


def test_status_and_metrics() -> None:
    async def work() -> None:
        script = Script(
            answers={"m": Answer(CALL + '\n<tool_call>{"name": "ping", "arguments": {"n": 1,}}</tool_call>')}
        )
        async with both(script) as b:
            await b.read()
            status = await get(b, "/status")
            assert status["upstream"]["kind"] == "other"
            assert status["dialects"] == {
                "m": {"dialect": "hermes", "chosen_because": "the command line says so for m"}
            }
            told = status["models"]["m"]
            assert told["calls"] == {"parsed": 2, "native": 0, "cut": 0}
            assert (told["repairs"], told["defects"]) == (1, {"repaired": 1})
            assert told["still_needed"] == "needed: calls came as text, or had to be mended"
            async with b.session.get(b.url + "/metrics") as answer:
                text = await answer.text()
            for line in (
                'toolglot_requests_total{model="m",outcome="done"} 1.0',
                'toolglot_calls_total{dialect="hermes",origin="parsed"} 2.0',
                'toolglot_defects_total{dialect="hermes",kind="repaired"} 1.0',
                'toolglot_repairs_total{dialect="hermes"} 1.0',
                "toolglot_held_seconds_count 1.0",
                "toolglot_first_token_added_seconds_count 1.0",
                "toolglot_open_streams 0.0",
            ):
                assert line in text.splitlines()

    run(work())


# -- which dialect -----------------------------------------------------------------------------------


def test_order_of_the_choice() -> None:
    given, models = (
        [ModelRule("a*", "hermes"), ModelRule("a", "phi")],
        [ModelRule("*b", "gemma", "<think>\n")],
    )
    choices = Choices(given, models)
    assert (choices.of("a").slug, choices.of("A1").slug) == ("phi", "hermes")
    assert choices.of("b") == (
        toolglot.resolve("gemma"),
        "the configuration file says so for *b",
        "<think>\n",
    )
    assert choices.of("Qwen/Qwen3-Coder-30B-A3B-Instruct").slug == "qwen3_coder"
    assert choices.of("nobody").slug == "auto"
    assert (choices.ruled("ab"), choices.ruled("nobody")) == (True, False)
    mistral = toolglot.resolve("mistral")
    assert isinstance(mistral, toolglot.Dialect)
    choices.offer("", mistral, "derived")
    assert (choices.of("nobody").slug, choices.of("a").slug) == ("mistral", "phi")
    assert choices.of("Qwen/Qwen3-Coder-30B-A3B-Instruct").reason == "derived"


class Derived:
    """What ``toolglot.derive.derive`` gives, as far as it is used here."""

    def __init__(self, slug: str | None) -> None:
        found = None if slug is None else toolglot.resolve(slug)
        self.dialect = found
        self.confidence = "verified"
        self.refusals = () if slug else (Refusal("syntax", "no"), Refusal("timeout", ""))


def test_template_of_llama_server(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def derive(text: str, special_tokens: Any) -> Derived:
        asked.append((text, special_tokens))
        return Derived("qwen3_coder")

    _derive_by(monkeypatch, derive)
    props = {"chat_template": "{{ x }}", "eos_token": "</s>", "default_generation_settings": {}}

    async def work() -> None:
        async with both(Script(routes={"/props": props}), server="auto") as b:
            status = await get(b, "/status")
            assert status["upstream"]["kind"] == "llama-server"
            assert b.proxy.choices.of("any").slug == "qwen3_coder"
            assert b.proxy.choices.of("m").slug == "hermes"

    run(work())
    assert asked == [("{{ x }}", {"eos_token": "</s>"})]


def test_templates_of_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    _derive_by(monkeypatch, lambda text, special_tokens: Derived(text))

    async def show(request: web.Request) -> web.Response:
        model = (await request.json())["model"]
        info = {"one": {"tokenizer.chat_template": "gemma"}, "late": {"tokenizer.chat_template": "phi"}}
        return web.json_response({"template": "{{ .Prompt }}", "model_info": info.get(model, {})})

    routes = {
        "/api/version": {"version": "0.12"},
        "/v1/models": {"data": [{"id": "one"}, {"id": "two"}]},
        "/api/show": show,
    }

    async def work() -> None:
        async with both(Script(routes=routes, answers={"late": Answer("x")}), server="auto") as b:
            choices = b.proxy.choices
            assert [choices.of(model).slug for model in ("one", "two", "late")] == ["gemma", "auto", "auto"]
            await b.read("late")
            for _ in range(200):
                if choices.of("late").slug == "phi":
                    return
                await asyncio.sleep(0.005)
            raise AssertionError(choices.of("late"))

    run(work())


@pytest.mark.parametrize(
    ("routes", "kind"),
    [
        ({"/version": {"version": "0.33"}}, "vllm"),
        ({"/model_info": {"tokenizer_path": "x"}, "/version": {"version": "1"}}, "sglang"),
        ({}, "other"),
    ],
)
def test_kinds_of_servers(routes: dict[str, Any], kind: str) -> None:
    async def work() -> None:
        script = Script(routes=routes, answers={"m": Answer(CALL)})
        async with both(script, server="auto") as b:
            assert (await get(b, "/status"))["upstream"]["kind"] == kind
            await b.read()
            sent = script.requests[0]
            assert sent.get("skip_special_tokens") == (False if kind in ("vllm", "sglang") else None)

    run(work())


def test_what_derive_says(monkeypatch: pytest.MonkeyPatch) -> None:
    _derive_by(monkeypatch, lambda text, special_tokens: Derived(None))
    assert template.derive("x", {}) == (None, "the upstream's template gives no dialect: syntax; timeout")

    def fails(text: str, special_tokens: Any) -> Derived:
        raise toolglot.DerivationError("no")

    _derive_by(monkeypatch, fails)
    assert template.derive("x", {}).reason == "the upstream's template gives no dialect: no"
    _derive_by(monkeypatch, None)
    assert template.derive("x", {}).reason == "reading the upstream's template needs the extra derive"


def _derive_by(monkeypatch: pytest.MonkeyPatch, entry: Any) -> None:
    monkeypatch.setattr(
        importlib,
        "import_module",
        lambda name: type("M", (), {"derive": staticmethod(entry)} if entry else {}),
    )


# -- raw ---------------------------------------------------------------------------------------------


def test_raw() -> None:
    """The server's chat is never asked; the model's own thinking mark is in the prompt."""
    sent: list[dict[str, Any]] = []

    async def completion(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        sent.append(body)
        last = {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 5, "tokens_evaluated": 7}
        if not body.get("stream"):
            return web.json_response({**last, "content": "hm</think>" + CALL})
        response = await sse(request)
        for piece in ("hm</thi", "nk>", CALL):
            await response.write(b"data: " + json.dumps({"content": piece, "stop": False}).encode() + b"\n\n")
        await response.write(b"data: " + json.dumps(last).encode() + b"\n\n")
        return response

    async def rendered(request: web.Request) -> web.Response:
        assert [tool["function"]["name"] for tool in (await request.json())["tools"]] == ["ping"]
        return web.json_response({"prompt": "<|im_start|>assistant\n<think>\n"})

    script = Script(routes={"/apply-template": rendered, "/completion": completion})
    said = {"content": "", "reasoning": "hm", "tool_calls": [SAID], "finish_reason": "tool_calls"}

    async def work() -> None:
        async with both(script, raw=True, server="llama-server") as b:
            data = await b.read(
                max_tokens=9, temperature=0.5, stop="x", stream_options={"include_usage": True}
            )
            assert summary.of_stream(data) == [said]
            assert events(data)[-2]["usage"] == {
                "prompt_tokens": 7,
                "completion_tokens": 5,
                "total_tokens": 12,
            }
            async with b.ask(stream=False) as answer:
                assert summary.of_whole(await answer.json()) == [said]
            for param, value in (("n", 2), ("logprobs", True)):
                bad: dict[str, Any] = {param: value}
                async with b.ask(**bad) as answer:
                    assert (answer.status, (await answer.json())["error"]["param"]) == (400, param)

    run(work())
    assert {k: v for k, v in sent[0].items() if k not in ("preserved_tokens", "stream")} == {
        "prompt": "<|im_start|>assistant\n<think>\n",
        "n_predict": 9,
        "temperature": 0.5,
        "stop": ["x"],
    }
    assert {"<tool_call>", "</tool_call>", "<think>"} <= set(sent[0]["preserved_tokens"])
    assert script.requests == []


def test_raw_refusal_of_the_template() -> None:
    async def refuses(request: web.Request) -> web.Response:
        return web.json_response(
            {"error": {"code": 500, "message": "bad template", "type": "server_error"}}, status=500
        )

    async def work() -> None:
        script = Script(routes={"/apply-template": refuses})
        async with both(script, raw=True, server="llama-server") as b:
            asked = b.ask()
            async with asked as answer:
                assert answer.status == 500
                assert (await answer.json())["error"]["message"] == "bad template"
            assert b.outcomes() == {"upstream_error": 1}

    run(work())


def test_completion_frames_in_any_split() -> None:
    data = b"".join(
        b"data: " + json.dumps(body).encode() + b"\n\n"
        for body in ({"content": "a"}, {"content": "é"}, {"content": "", "stop": True, "stop_type": "limit"})
    )
    data += b': ping\n\ndata: {"error": {"message": "no"}}\n\ndata: nonsense\n\n'

    def told(pieces: list[bytes]) -> bytes:
        translation = llama.CompletionAsChat("m", usage=False)
        translation._head = {}  # pyright: ignore[reportPrivateUsage]
        return b"".join(map(translation.feed, pieces)) + translation.end()

    whole = told([data])
    assert whole.count(b'"finish_reason": "length"') == 1
    assert b'data: {"error": {"message": "no"}}\n\ndata: nonsense\n\n' in whole
    assert told([data[i : i + 1] for i in range(len(data))]) == whole


# -- tallies -----------------------------------------------------------------------------------------


def _record(model: str, **fields: Any) -> Record:
    return Record(model, Choices().of(model), Report(dialect="hermes", **fields), True)


def test_alarm_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    now = 0.0
    tallies = Tallies(lambda: now)
    for seconds in (0.0, 1.0, ALARM_EVERY - 1, ALARM_EVERY):
        now = seconds
        tallies.add(_record("m", residue=[ResidueHit("<tool_call>", 0, "sk-abcdefghijklmnop <tool_call>")]))
    alarms = [record.fields for record in caplog.records if record.getMessage() == "residue"]  # type: ignore[attr-defined]
    assert [alarm["hits"] for alarm in alarms] == [1, 3]
    told = tallies.as_json()["m"]
    assert told["residue"] == {"<tool_call>": 4}
    assert told["residue_evidence"][0] == {
        "marker": "<tool_call>",
        "text": "xx-xxxxxxxxxxxxxxxx <tool_call>",
    }
    assert told["still_needed"].startswith("needed, and not enough")


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({}, "not known: the model made no call yet"),
        ({"calls_native": 2}, "not needed so far: all calls came from the upstream's own parser, whole"),
        ({"calls_cut": 1}, "needed: calls were cut"),
        ({"calls_parsed": 1, "calls_native": 1}, "needed: calls came as text, or had to be mended"),
    ],
)
def test_still_needed(fields: dict[str, int], answer: str) -> None:
    tallies = Tallies(lambda: 0.0)
    tallies.add(_record("m", **fields))
    assert tallies.as_json()["m"]["still_needed"] == answer


def test_any_number_of_models() -> None:
    tallies = Tallies(lambda: 0.0, evidence=False)
    for number in range(MOST_MODELS + 5):
        tallies.add(_record(f"m{number:03}", residue=[ResidueHit("x", 0, "secret")]))
    told = tallies.as_json()
    assert len(told) == MOST_MODELS + 1
    assert told[OTHER]["requests"] == 5
    assert "secret" not in json.dumps(told)


# -- configuration -----------------------------------------------------------------------------------


def test_configuration_file(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('slug = "own"\n[envelope]\nkind = "none"\n')
    path = tmp_path / "proxy.toml"
    path.write_text(
        'upstream = "http://h:1"\nread_timeout = 30\ncapture_limit = 5\n'
        '[models]\n"a*" = "hermes"\nb = { dialect = "own.toml", prompt_tail = "<think>\\n" }\n'
    )
    config = read_config(str(path), {"port": 1, "upstream": "http://h:2"})
    assert (config.upstream, config.port, config.read_timeout, config.capture_limit) == (
        "http://h:2",
        1,
        30,
        5,
    )
    assert config.models == (
        ModelRule("a*", "hermes"),
        ModelRule("b", str(tmp_path / "own.toml"), "<think>\n"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('upstrem = "x"', "unknown key 'upstrem'; expected one of"),
        ("port = true", "port is int, not True"),
        ("upstream = [", "not TOML"),
        ("[models]\na = 1", 'expected "DIALECT"'),
        ('[models]\na = { prompt_tail = "x" }', 'expected "DIALECT"'),
        (
            'upstream = "http://h"\n[models]\na = "hermse"',
            "no dialect is called 'hermse'; did you mean hermes",
        ),
        ('upstream = "h:1"', "upstream is a URL such as"),
        ('upstream = "http://u:p@h"', "a key comes from the client"),
        ("port = 5", "no upstream: give --upstream URL"),
        ('upstream = "http://h"\non_cut = "x"', "on_cut is 'poison' or 'leave'"),
        ('upstream = "http://h"\nserver = "x"', "server is one of auto, llama-server"),
        ('upstream = "http://h"\nraw = true\nserver = "vllm"', "raw is for llama-server only"),
        ('upstream = "http://h"\nkeep_alive = 0.0', "keep_alive is above 0"),
        ('upstream = "http://h"\nport = 70000', "port is a number from 0 to 65535"),
    ],
)
def test_configuration_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "proxy.toml"
    path.write_text(text)
    with pytest.raises(ToolglotError) as caught:
        read_config(str(path), {})
    assert message in str(caught.value)


def test_defaults() -> None:
    config = Config(upstream="http://h")
    assert (config.host, config.connect_timeout, config.on_cut) == ("127.0.0.1", 10.0, "poison")
    assert config.max_request == 64 * MIB


def test_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    async def work() -> None:
        async with both(Script(answers={"m": Answer(CALL)}), otel=True) as b:
            body = {"model": "m", "messages": [{"role": "user", "content": "private"}], "tools": [PING]}
            headers = {"traceparent": parent}
            async with b.session.post(b.url + "/v1/chat/completions", json=body, headers=headers) as answer:
                await answer.read()

    run(work())
    (span,) = exporter.get_finished_spans()
    assert span.name == "chat m"
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" == parent.split("-")[1]
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert attributes["toolglot.calls.parsed"] == 1
    assert "private" not in str(attributes)


def test_aiohttp_is_not_imported_with_the_command() -> None:
    code = "import sys, toolglot.cli; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_probe_passes_behind_the_proxy_only() -> None:
    bare, proxied = probe.reports()
    assert bare.summary() == {"pass": 9, "fail": 18, "error": 0, "skip": 0}
    assert proxied.summary() == {"pass": 27, "fail": 0, "error": 0, "skip": 0}


@pytest.mark.parametrize("installed", [True, False])
def test_serve_runs_in_uvloop_where_it_is_installed(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    async def work() -> None:
        ran.append("work")

    def other(main: Coroutine[Any, Any, None]) -> None:
        ran.append("uvloop")
        asyncio.run(main)

    monkeypatch.setitem(sys.modules, "uvloop", SimpleNamespace(run=other) if installed else None)
    loop.run(work())
    assert ran == (["uvloop", "work"] if installed else ["work"])
