"""Captured exchanges: what is kept, run again, and made into cases."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import toolglot
from tests.casefile import read
from tests.scripted import Answer, Script, chunk, sse
from tests.test_proxy_faults import CALL, both, faulty
from toolglot import CaptureError
from toolglot.cli import main
from toolglot.proxy import redact
from toolglot.proxy.capture import FILES, Capture, read_capture
from toolglot.proxy.case import case
from toolglot.proxy.config import ModelRule
from toolglot.proxy.replay import replay
from toolglot.registry import bundled

SLIP = '<tool_call>{"name": "ping", "arguments": {"n": 1,}}</tool_call>'
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "mail",
            "description": "how we send mail",
            "parameters": {
                "type": "object",
                "properties": {
                    "to": {"type": "string"},
                    "mood": {"enum": ["glad"], "description": "private"},
                },
            },
        },
    }
]


def captured(folder: Path, script: Script, *asked: dict[str, Any], **settings: Any) -> list[Path]:
    """The files that a proxy leaves after these requests."""

    async def run() -> None:
        async with both(script, capture=str(folder), **settings) as b:
            for fields in asked:
                async with b.ask(**fields) as answer:
                    await answer.read()
        # Lines are written by a thread.
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(run())
    return sorted(folder.glob("*.jsonl"))


def test_only_what_is_odd(tmp_path: Path) -> None:
    script = Script(answers={"m": Answer(CALL), "slip": Answer(SLIP)})
    asked = [{"model": model, "stream": stream} for model in ("m", "slip") for stream in (True, False)]
    (file,) = captured(tmp_path / "odd", script, *asked, given=())
    kept = list(read_capture(str(file)))
    assert [(one.model, one.streamed) for one in kept] == [("slip", True), ("slip", False)]
    (everything,) = captured(tmp_path / "all", script, *asked, capture_all=True, given=())
    assert len(list(read_capture(str(everything)))) == 4
    if sys.platform != "win32":
        assert os.stat(file).st_mode & 0o777 == 0o600


def test_run_again_chunk_for_chunk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def fault(response: Any) -> None:
        data = chunk({"content": "é" + SLIP})
        await response.write(data[:130])
        await asyncio.sleep(0.02)
        await response.write(data[130:] + b'data: {"error": {"message": "gone"}}\n\n')

    (file,) = captured(tmp_path, faulty(fault), {})
    (one,) = read_capture(str(file))
    assert len([piece for piece in one.received if piece]) == 2
    again = replay(one)
    assert again.same
    assert again.now[0]["tool_calls"] == [{"name": "ping", "arguments": '{"n": 1}'}]
    assert again.now[1] == {"error": "gone"}
    assert main(["replay", str(file), "--check"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["dialect"], told["defects"]) == (True, "hermes", {"repaired": 1})
    assert main(["replay", str(file), "--check", "--dialect", "none"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["same"], told["choices"][0]["content"]) == (False, "é" + SLIP)
    assert told["then"][0]["content"] == "é"


def test_answers_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are kept, since a stream broke; there is nothing to run again, and no case in them."""

    async def page(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.Response(text="<html>")

    async def odd(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await sse(request)
        call = {"function": {"name": "ping", "arguments": {"n": 1}}}
        await response.write(chunk({"content": "Now", "tool_calls": [call]}) + b"data: " + b"[" * 100_000)
        return response

    script = Script(faults={"m": page, "odd": odd})
    (file,) = captured(tmp_path, script, {"stream": False}, {"model": "odd"}, given=())
    assert main(["replay", str(file), "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["same"] for line in lines] == [True, True]
    assert main(["case", str(file)]) == 0
    told = capsys.readouterr()
    assert told.err == f"left out: {file}:1: the upstream sent no content, so there is nothing to parse\n"
    assert '"Now"' in told.out


def test_a_folder_is_bounded(tmp_path: Path) -> None:
    capture = Capture(tmp_path, everything=True, limit=8_000)
    for number in range(200):
        capture.write(json.dumps({"number": number, "filler": "x" * 80}))
    files = sorted(tmp_path.iterdir())
    assert len(files) <= FILES + 1
    assert sum(file.stat().st_size for file in files) <= 9_000
    last = json.loads(files[-1].read_text().splitlines()[-1])
    assert last["number"] == 199


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not a captured exchange: JSONDecodeError"),
        ("{}", "not a captured exchange: KeyError: 'version'"),
        ('{"version": 9}', "version 9 is not 1: record it anew"),
        ('{"version": 1, "whole": false}', "too large to be captured whole"),
        ("[]", "not a captured exchange: TypeError"),
    ],
)
def test_files_that_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("\n" + line + "\n")
    assert main(["replay", str(file)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"toolglot: {file}:2: ")
    assert message in err
    assert main(["replay", str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_a_dialect_that_is_not_bundled(tmp_path: Path) -> None:
    """Its data is kept with the exchange; a name alone, of a later version say, needs ``--dialect``."""
    own = tmp_path / "own.toml"
    own.write_text(bundled("hermes").to_toml().replace('slug = "hermes"', 'slug = "own"'))
    rule = ModelRule("m", str(own))
    (file,) = captured(tmp_path, Script(answers={"m": Answer(SLIP)}), {}, given=(rule,))
    (one,) = read_capture(str(file))
    assert (one.settings.dialect.slug, replay(one).same) == ("own", True)  # type: ignore[union-attr]  # a dialect
    line = json.loads(file.read_text())
    file.write_text(json.dumps({**line, "dialect_spec": None}))
    with pytest.raises(CaptureError, match="no dialect is called 'own'; name one with --dialect"):
        list(read_capture(str(file)))
    assert len(list(read_capture(str(file), toolglot.resolve("hermes")))) == 1


# -- cases -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
def test_a_case_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], stream: bool) -> None:
    (file,) = captured(tmp_path, Script(answers={"m": Answer("Now: " + SLIP)}), {"stream": stream})
    assert main(["case", str(file), "--line", "1"]) == 0
    written = tmp_path / "hermes.txt"
    written.write_text(capsys.readouterr().out, encoding="utf-8")
    (made,) = read(written)
    assert (made.title, made.dialect, made.finish, made.mode) == (
        "captured from m",
        "hermes",
        "stop",
        "repair",
    )
    assert (made.raw, made.content) == ("Now: " + SLIP, "Now:")
    assert (made.calls, made.defects) == ([("ping", {"n": 1})], ["repaired"])
    assert [tool["function"]["name"] for tool in made.tools or ()] == ["ping"]
    assert main(["case", str(file), "--line", "7"]) == 1
    assert "no exchange in line 7" in capsys.readouterr().err


def test_a_redacted_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        'Dear Ann, 12 \\o/\n<tool_call>\n{"name": "mail", "arguments": '
        '{"to": "ann@example.org", "mood": "glad", "extra": ["Zoë \\u00e9", 45.5, true,]}}\n</tool_call>'
    )
    (file,) = captured(tmp_path, Script(answers={"m": Answer(text)}), {"tools": TOOLS})
    assert main(["case", str(file), "--redact", "contents"]) == 0
    out = capsys.readouterr().out
    written = tmp_path / "hermes.txt"
    written.write_text(out, encoding="utf-8")
    (made,) = read(written)
    assert made.raw == (
        'xxxx xxx, 11 \\o/\n<tool_call>\n{"name": "mail", "arguments": '
        '{"to": "xxx@xxxxxxx.xxx", "mood": "glad", "extra": ["xxx \\u00e9", 11.1, true,]}}\n</tool_call>'
    )
    assert "ann" not in out.lower().replace("annot", "")
    assert "private" not in out
    assert "how we send mail" not in out


def test_a_redaction_that_changes_the_parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = captured(tmp_path, Script(answers={"m": Answer(SLIP)}), {})
    (one,) = read_capture(str(file))
    monkeypatch.setattr(redact, "contents", lambda text, dialect, names: "xxx")
    with pytest.raises(CaptureError, match="parses otherwise; redact it by hand"):
        case(one, "contents")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-abcDEF0123456789 end", "key xx-xxxXXX1111111111 end"),
        ("Bearer abc.DEF-123456", "Bearer xxx.xxx-111111"),
        ("https://user:pa55@host/x", "https://xxxx:xx11@host/x"),
        ('"password": "hunter2", "n": 1', '"password": "xxxxxx1", "n": 1'),
        ("api_key=0123456789", "api_key=1111111111"),
        ("skating in Paris, token by token", "skating in Paris, token by token"),
    ],
)
def test_secrets(text: str, masked: str) -> None:
    assert redact.secrets(text) == masked.replace("xx-xxxXXX", "xx-xxxxxx")


def test_secrets_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SLIP.replace("1,", '"sk-0123456789abcdef",')
    (file,) = captured(tmp_path, Script(answers={"m": Answer("Ann: " + text)}), {})
    assert main(["case", str(file), "--redact", "secrets"]) == 0
    out = capsys.readouterr().out
    assert "Ann: " in out
    assert "sk-0123456789abcdef" not in out


# -- the command -------------------------------------------------------------------------------------


def test_serve_without_its_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    for name in [name for name in sys.modules if name.startswith("toolglot.proxy.")]:
        if name.rsplit(".", 1)[1] in ("serve", "app", "chat", "failures", "forward", "live", "source"):
            monkeypatch.delitem(sys.modules, name)
    assert main(["serve", "--upstream", "http://127.0.0.1:1"]) == 1
    err = capsys.readouterr().err
    assert (
        err == "toolglot: serve needs the extra proxy (aiohttp is missing): pip install 'toolglot[proxy]'\n"
    )


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 1, "no upstream: give --upstream URL"),
        (["--upstream", "h"], 1, "upstream is a URL"),
        (["--upstream", "http://h", "--dialect", "m=nix"], 1, "no dialect is called 'nix'"),
        (["--config", "none.toml"], 1, "none.toml: No such file"),
        (["--max-request", "0"], 2, "expected a whole number of MiB above 0, not '0'"),
        (["--on-cut", "x"], 2, "invalid choice: 'x'"),
    ],
)
def test_serve_that_cannot_start(
    capsys: pytest.CaptureFixture[str], options: list[str], code: int, message: str
) -> None:
    assert main(["serve", *options]) == code
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ["--upstream", "http://127.0.0.1:1", "--server", "other", "--port", str(port)]
        assert main(["serve", *options]) == 1
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err
