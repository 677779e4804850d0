"""The command: what it prints, where, and with which exit code."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.places import SRC
from tests.test_derive import TAGGED
from toolglot.cli import deltas, event_as_json, main
from toolglot.grammar import grammar

CALL = 'Sure.\n<tool_call>\n{"name": "ping", "arguments": {"n": 1}}\n</tool_call>'
SLIP = '<tool_call>{"name": "ping", "arguments": {"n": 1,}}</tool_call>'
CUT = '<tool_call>{"name": "ping", "arguments": {"n": 1'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one well-formed call."""
    path = tmp_path / "out.txt"
    path.write_text(CALL, encoding="utf-8")
    return path


def stdin(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command line."""
    code = main([str(word) for word in argv])
    out, err = capsys.readouterr()
    return code, out, err


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# parse


def test_parse(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "parse", file, "--dialect", "hermes")
    assert (code, err) == (0, "")
    call_id = toolglot.parse(CALL, "hermes").tool_calls[0].id
    span = list(toolglot.parse(CALL, "hermes").tool_calls[0].span)
    assert json.loads(out) == {
        "content": "Sure.",
        "reasoning": "",
        "tool_calls": [{"id": call_id, "name": "ping", "arguments": {"n": 1}, "span": span}],
        "defects": [],
        "dialect": "hermes",
    }


def test_parse_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stdin(monkeypatch, "ein Gruß\r\n".encode())
    code, out, _ = run(capsys, "parse")
    assert code == 0
    assert json.loads(out)["content"] == "ein Gruß\r\n"
    assert "ein Gruß" in out


def test_parse_openai(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "parse", file, "--openai", "--dialect", "hermes")
    assert json.loads(out) == toolglot.parse(CALL, "hermes").to_openai()


def test_parse_passes_every_option_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = written(
        tmp_path / "t.txt",
        "hm</think><tool_call>\n<function=f>\n<parameter=x>\n07\n</parameter>\n</function>",
    )
    tools = written(tmp_path / "tools.json", json.dumps({"f": {"properties": {"x": {"type": "string"}}}}))
    code, out, _ = run(
        capsys, "parse", text, "--dialect", "qwen3_coder", "--tools", tools, "--prompt-tail", "<think>\n",
        "--finish-reason", "stop", "--arguments", "whole",
    )  # fmt: skip
    result = json.loads(out)
    assert code == 0
    assert result["reasoning"] == "hm"
    assert [call["arguments"] for call in result["tool_calls"]] == [{"x": "07"}]
    assert [defect["kind"] for defect in result["defects"]] == ["missing_close"]


def test_defects_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "parse", written(tmp_path / "t", SLIP), "--dialect", "hermes")
    assert (code, err) == (0, "")
    (defect,) = json.loads(out)["defects"]
    assert (defect["kind"], defect["raw"], defect["index"]) == ("repaired", ",", 0)
    assert SLIP[slice(*defect["span"])] == ","


@pytest.mark.parametrize("command", ["parse", "events", "explain"])
def test_defects_exit_1_under_strict(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, command, written(tmp_path / "t", SLIP), "--dialect", "hermes", "--strict")
    assert (code, err) == (1, "")
    assert "malformed_call" in out


@pytest.mark.parametrize("command", ["parse", "events", "explain"])
def test_no_defects_exit_0_under_strict(command: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, command, file, "--dialect", "hermes", "--strict")[0] == 0


def test_finish_reason_tells_a_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "t", CUT)
    _, out, _ = run(capsys, "parse", path, "--dialect", "hermes", "--strict", "--finish-reason", "length")
    assert json.loads(out)["content"] == ""
    _, out, _ = run(capsys, "parse", path, "--dialect", "hermes", "--strict", "--finish-reason", "stop")
    assert json.loads(out)["content"] == CUT


def test_own_dialect_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dialect = written(
        tmp_path / "mine.toml",
        'slug = "mine"\n[envelope]\nopen = ["<<"]\nclose = [">>"]\n[[body]]\ncodec = "json_object"\n',
    )
    text = written(tmp_path / "t", '<<{"name": "f", "arguments": {}}>>')
    code, out, _ = run(capsys, "parse", text, "--dialect", dialect)
    assert code == 0
    assert [call["name"] for call in json.loads(out)["tool_calls"]] == ["f"]
    assert json.loads(out)["dialect"] == "mine"


# parse --jsonl


def test_jsonl_keeps_the_other_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / "t.jsonl", json.dumps({"id": 7, "output": "a\u2028b"}, ensure_ascii=False) + "\n\n"
    )
    code, out, _ = run(capsys, "parse", path, "--jsonl")
    assert code == 0
    (line,) = out.splitlines(keepends=False) if "\u2028" not in out else [out.rstrip("\n")]
    record = json.loads(line)
    assert (record["id"], record["output"], record["parsed"]["content"]) == (7, "a\u2028b", "a\u2028b")


def test_jsonl_field_and_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"text": text}) for text in (CALL, SLIP)]
    path = written(tmp_path / "t.jsonl", "\n".join(lines))
    code, out, _ = run(capsys, "parse", path, "--jsonl", "--field", "text", "--dialect", "hermes", "--strict")
    assert code == 1
    assert [len(json.loads(line)["parsed"]["tool_calls"]) for line in out.splitlines()] == [1, 0]


def test_jsonl_openai(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "t.jsonl", json.dumps({"output": "Hi."}))
    _, out, _ = run(capsys, "parse", path, "--jsonl", "--openai")
    assert json.loads(out)["parsed"] == {"role": "assistant", "content": "Hi."}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", ":2: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", ":2: expected an object"),
        ("{}", ":2: no text in field 'output'"),
        ('{"output": 1}', ":2: no text in field 'output'"),
    ],
)
def test_jsonl_line_that_cannot_be_used(
    line: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "t.jsonl", f'{{"output": "ok"}}\n{line}\n')
    code, out, err = run(capsys, "parse", path, "--jsonl")
    assert (code, err) == (1, f"toolglot: {path}{told}\n")
    assert json.loads(out)["parsed"]["content"] == "ok"


# events


def test_events(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "events", file, "--dialect", "hermes", "--split", "1000")
    lines = [json.loads(line) for line in out.splitlines()]
    parser = toolglot.Parser("hermes")
    expected: list[dict[str, Any]] = [{"delta": 0, **event_as_json(event)} for event in parser.feed(CALL)]
    expected += [{"delta": "close", **event_as_json(event)} for event in parser.close()]
    assert code == 0
    assert lines == json.loads(json.dumps(expected))
    assert lines[0] == {"delta": 0, "event": "text", "text": "Sure.", "span": [0, 5]}


@pytest.mark.parametrize("split", ["char", "token", "7"])
def test_events_tile_the_text(split: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "events", file, "--dialect", "hermes", "--split", split)
    events = [json.loads(line) for line in out.splitlines()]
    numbers = [event["delta"] for event in events if event["delta"] != "close"]
    assert numbers == sorted(numbers)
    assert max(numbers) < len(list(deltas(CALL, split)))
    covered = sorted(at for event in events if event["event"] != "defect" for at in range(*event["span"]))
    assert covered == list(range(len(CALL)))


def test_event_as_json() -> None:
    defect = toolglot.Defect(toolglot.DefectKind.LIMIT, "r", "d", (1, 2))
    assert event_as_json(defect) == {
        "event": "defect",
        "kind": "limit",
        "raw": "r",
        "detail": "d",
        "span": (1, 2),
    }
    start = toolglot.CallStart(0, "c", "f", (1, 2))
    assert event_as_json(start) == {"event": "call_start", "index": 0, "id": "c", "name": "f", "span": (1, 2)}


@pytest.mark.parametrize(
    ("split", "pieces"),
    [
        ("char", list("a b")),
        ("2", ["a ", "b"]),
        ("token", ["a", " b"]),
    ],
)
def test_deltas(split: str, pieces: list[str]) -> None:
    assert list(deltas("a b", split)) == pieces


def test_token_deltas_keep_tags_whole() -> None:
    text = 'Hi<|im_end|></tool_call>\n[TOOL_CALLS]f[ARGS]{"a": 1234}<x y>'
    assert list(deltas(text, "token")) == [
        "Hi", "<|im_end|>", "</tool_call>", "\n", "[TOOL_CALLS]", "f", "[ARGS]",
        "{", '"', "a", '"', ":", " ", "123", "4", "}", "<", "x", " y", ">",
    ]  # fmt: skip


# explain


def test_explain(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "explain", file, "--dialect", "hermes")
    assert code == 0
    assert out.startswith(f"hermes: {len(CALL)} characters, 1 call, 0 defects\n")
    assert "   1 | Sure.↵\n       .....m\n" in out
    assert out.endswith('calls\n  0  ping  {"n": 1}\n\nno defects\n')


def test_explain_colour(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[" in run(capsys, "explain", file, "--color", "always")[1]
    assert "\x1b[" not in run(capsys, "explain", file)[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in run(capsys, "explain", file)[1]
    assert "\x1b[" not in run(capsys, "explain", file, "--color", "never")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run(capsys, "explain", file)[1]
    assert "\x1b[" in run(capsys, "explain", file, "--color", "always")[1]


def test_explain_width_and_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "t", "word " * 100)
    short = run(capsys, "explain", path, "--width", "27")[1]
    assert "... 19 more rows of content (--full shows them)" in short
    assert "more rows" not in run(capsys, "explain", path, "--width", "27", "--full")[1]


# dialects


def test_dialects(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = run(capsys, "dialects")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == list(toolglot.BUNDLED)
    phi = toolglot.resolve("phi")
    assert isinstance(phi, toolglot.Dialect)
    assert (
        f"\nphi            {phi.title}\n"
        "    codecs     json_array\n"
        f"    aliases    {', '.join(phi.aliases)}\n"
        f"    models     {', '.join(phi.models)}\n"
    ) in out


def test_one_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    source = (SRC / "dialects" / "phi.toml").read_text(encoding="utf-8")
    assert run(capsys, "dialects", "phi") == (0, source, "")
    assert run(capsys, "dialects", "phi4_mini") == (0, source, "")


# grammar


# render and derive


@pytest.mark.parametrize(
    "given",
    [
        [{"name": "ping", "arguments": {"n": 1}}],
        {"name": "ping", "arguments": '{"n": 1}'},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "ping", "arguments": {"n": 1}}}],
        },
    ],
)
def test_render(given: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "m.json", json.dumps(given))
    code, out, err = run(capsys, "render", file, "--dialect", "hermes")
    assert (code, err) == (0, "")
    assert out == '<tool_call>\n{"name": "ping", "arguments": {"n": 1}}\n</tool_call>'


def test_render_the_turn_of_a_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "m.json", '[{"name": "ping", "arguments": {"n": "1"}}]')
    template = written(tmp_path / "t.jinja", TAGGED)
    code, out, _ = run(capsys, "render", file, "--template", template)
    assert (code, out) == (0, "<|im_start|>assistant\n<call:ping><arg:n>1</arg></call><|im_end|>\n")


def test_what_render_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "m.json", '[{"name": "ping"}]')
    assert run(capsys, "render", file)[0] == 2
    assert run(capsys, "render", written(tmp_path / "n.json", "3"), "--dialect", "hermes") == (
        1,
        "",
        f"toolglot: {tmp_path / 'n.json'}: expected an assistant message, or a list of calls\n",
    )
    code, _, err = run(capsys, "render", file, "--dialect", "auto")
    assert (code, err) == (1, "toolglot: only a dialect can be written: auto and custom parsers read\n")


def test_derive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = written(tmp_path / "t.jinja", TAGGED)
    code, out, err = run(capsys, "derive", template)
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == ["dialect      of its own (tagged)", "confidence   verified"]
    code, out, _ = run(capsys, "derive", template, "--explain")
    assert code == 0
    assert "string              → '<arg:{key}>' raw '</arg>'" in out.splitlines()
    code, out, _ = run(capsys, "derive", template, "--toml")
    assert code == 0
    assert toolglot.Dialect.from_toml(out).bodies[0].codec == "tagged"
    code, out, _ = run(capsys, "derive", template, "--json")
    assert (code, json.loads(out)["confidence"]) == (0, "verified")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ messages[0].tool_calls", "no dialect: syntax: line 1: syntax: unexpected"),
        ("{{ messages }}", "no dialect: no-tool-calls-in-template: the template never reads tool_calls"),
        ("{# tool_calls #}{{ helper(messages) }}", "no dialect: needs-variable:helper: line 1: undefined: "),
    ],
)
def test_a_template_that_gives_nothing(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "derive", written(tmp_path / "t.jinja", text))
    assert code == 1
    assert err.startswith(f"toolglot: {said}")
    assert err.count("\n") == 1


def test_a_template_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.jinja"
    assert run(capsys, "derive", path) == (
        1,
        "",
        f"toolglot: {path}: no such file, and no template's text either\n",
    )


def test_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tools = written(
        tmp_path / "tools.json", '{"ping": {"properties": {}}, "pong": {"properties": {"n": {}}}}'
    )
    common = ("grammar", "--dialect", "hermes", "--tools", tools)
    code, out, err = run(capsys, *common, "--choice", "ping", "--one-call", "--format", "gbnf")
    rule = '{\\"name\\": \\"ping\\", \\"arguments\\": {}}'
    assert (code, out, err) == (0, f'root ::= "<tool_call>\\n{rule}\\n</tool_call>"\n', "")
    code, out, err = run(capsys, *common, "--format", "gbnf")
    assert code == 0
    assert err == (
        "toolglot: lazy, from one of these on, anywhere: ['<tool_call>']\n"
        "toolglot: members of any name may repeat: no rule can tell that one was there\n"
    )
    code, out, err = run(capsys, *common, "--json")
    made = grammar("hermes", json.loads(tools.read_text(encoding="utf-8")))
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "text": made.text,
        "format": "lark",
        "triggers": ["<tool_call>"],
        "lazy": False,
        "at_start": False,
        "notes": list(made.notes),
    }


def test_grammar_without_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tools = written(tmp_path / "tools.json", '{"ping": {}}')
    assert run(capsys, "grammar", "--dialect", "hermes") == (
        2,
        "",
        "toolglot: a grammar needs --tools FILE (see toolglot grammar --help)\n",
    )
    code, out, err = run(capsys, "grammar", "--dialect", "none", "--tools", tools)
    assert (code, out) == (1, "")
    assert err == "toolglot: none: the dialect has no calls, so there is no grammar of them\n"


# failures


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["frobnicate"],
        ["parse", "a", "b"],
        ["parse", "--nope"],
        ["parse", "--dialect"],
        ["parse", "--finish-reason", "tired"],
        ["parse", "--field", "x"],
        ["parse", "--dial", "hermes"],
        ["events", "--split", "0"],
        ["events", "--split", "word"],
        ["explain", "--width", "-1"],
        ["explain", "--jsonl"],
        ["dialects", "a", "b"],
    ],
)
def test_usage_error_is_one_line_and_exits_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err.startswith("toolglot: ")
    assert err.count("\n") == 1
    assert "--help)" in err


def test_unusable_input_is_one_line_and_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failure(*argv: object) -> str:
        code, out, err = run(capsys, *argv)
        assert (code, out) == (1, "")
        assert err.count("\n") == 1
        return err

    text, missing, broken = (
        written(tmp_path / "t", "x"),
        tmp_path / "missing",
        written(tmp_path / "b.json", "{"),
    )
    number = written(tmp_path / "n.json", "7")
    (tmp_path / "latin").write_bytes(b"ab\xff")
    assert failure("parse", missing) == f"toolglot: {missing}: No such file or directory\n"
    assert failure("parse", tmp_path) == f"toolglot: {tmp_path}: Is a directory\n"
    assert failure("parse", tmp_path / "latin") == f"toolglot: {tmp_path / 'latin'}: not UTF-8 at byte 2\n"
    assert failure("parse", text, "--tools", missing) == f"toolglot: {missing}: No such file or directory\n"
    assert failure("parse", text, "--tools", broken).startswith(f"toolglot: {broken}: not JSON: ")
    assert failure("parse", text, "--tools", number) == (
        f"toolglot: {number}: expected a list of tools or an object of schemas by name\n"
    )
    assert "nonesuch" in failure("parse", text, "--dialect", "nonesuch")
    assert "nonesuch" in failure("dialects", "nonesuch")
    assert failure("dialects", "auto").startswith("toolglot: auto is a choice among dialects: ")
    own = written(tmp_path / "d.toml", 'slug = "x"\ncolour = "red"\nbody = [{ codec = "json_object" }]\n')
    assert failure("parse", text, "--dialect", own) == f"toolglot: {own}: colour: unknown key\n"
    assert failure("parse", text, "--dialect", written(tmp_path / "e.toml", "slug = \n")).startswith(
        "toolglot: "
    )
    assert failure("parse", text, "--dialect", missing.with_suffix(".toml")).endswith(
        "No such file or directory\n"
    )
    stdin(monkeypatch, b"\xff")
    assert failure("parse") == "toolglot: standard input: not UTF-8 at byte 0\n"


@pytest.mark.parametrize("tools", ["[1]", '[{"type": "function"}]', '{"f": 1}'])
def test_tools_of_another_shape_exit_1(
    tools: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, path = written(tmp_path / "t", "x"), written(tmp_path / "tools.json", tools)
    code, out, err = run(capsys, "parse", text, "--dialect", "hermes", "--tools", path)
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_deep_tools_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, path = written(tmp_path / "t", "x"), written(tmp_path / "tools.json", "[" * 200_000)
    code, _, err = run(capsys, "parse", text, "--tools", path)
    assert (code, err) == (1, f"toolglot: {path}: nested too deep\n")


def test_long_integers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digits = "7" * 5000
    text = written(tmp_path / "t", f'<tool_call>{{"name": "f", "arguments": {{"n": {digits}}}}}</tool_call>')
    for name in ("parse", "events"):
        code, out, _ = run(capsys, name, text, "--dialect", "hermes")
        assert code == 0
        assert f'"n": {digits}}}' in out.replace("\n", "").replace("  ", "")
    assert run(capsys, "explain", text, "--dialect", "hermes")[0] == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"toolglot {toolglot.__version__}\n", "")


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(command in out for command in ("parse", "events", "explain", "dialects"))


# as a process


def command(*argv: str) -> list[str]:
    return [sys.executable, "-m", "toolglot", *argv]


def test_as_a_module(file: Path) -> None:
    done = subprocess.run(command("parse", str(file)), capture_output=True, check=True, encoding="utf-8")
    assert json.loads(done.stdout)["content"] == "Sure."
    assert subprocess.run(command("parse", "--nope"), capture_output=True, check=False).returncode == 2


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    path = written(tmp_path / "t", "word " * 50_000)
    with subprocess.Popen(
        command("events", str(path), "--split", "char"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


def test_output_in_another_encoding(file: Path, tmp_path: Path) -> None:
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(SRC.parent)}
    path = written(tmp_path / "t", "Grüße 😀")
    done = subprocess.run(command("parse", str(path)), capture_output=True, check=True, env=environment)
    assert json.loads(done.stdout.decode("ascii"))["content"] == "Grüße 😀"
    done = subprocess.run(command("explain", str(path)), capture_output=True, check=True, env=environment)
    assert rb"1 | Gr\xfc\xdfe \U0001f600" in done.stdout
