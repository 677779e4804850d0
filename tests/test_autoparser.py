"""llama.cpp's conditions on a template's text, and what is kept of what they and its own code gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import autoparser
from tests.autoparser import KEPT, TURNS, Rule
from tests.derivation import GOLDEN, corpus
from tests.known import load_toml
from tests.places import NO_SHARED, shared_folder

FOLDER = shared_folder()
KEPT_DATA = load_toml(KEPT)


def test_there_are_as_many_rules_as_in_the_source() -> None:
    assert [len(autoparser.rules(kind, KEPT_DATA)) for kind in ("branch", "workaround", "patch")] == [
        16,
        12,
        4,
    ]


@pytest.mark.parametrize(
    ("text", "holds"),
    [("a b x", True), ("a b y", True), ("a b", False), ("b x", False), ("a b x no", False)],
)
def test_a_rule_needs_all_and_one_of_any_and_none(text: str, holds: bool) -> None:
    assert Rule("n", "f.cpp:1", all=("a", "b"), any=("x", "y"), none=("no",)).holds(text) is holds


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("{{ messages }}", "auto"),
        ("<|channel|> ... <tool_call><function=<parameter=", "own GPT-OSS"),
        ("<tool_call> <function= <parameter=", "own Qwen3-Coder"),
        ("<tool_call><function=<parameter= '<tool_call><function=' ~ tool_call.name ~ '>'", "auto"),
        ("laguna_glm_thinking Bailing V3 chat template", "auto + Laguna, Bailing V3"),
    ],
)
def test_the_first_branch_counts_and_every_workaround(text: str, there: str) -> None:
    assert autoparser.route(text, KEPT_DATA) == there


def _line(turn: int, calls: list[dict[str, str]], content: str = "") -> dict[str, Any]:
    written = " ".join(call["name"] for call in calls)
    return {
        "stage": "turn",
        "turn": turn,
        "written": written,
        "results": [{"content": content, "calls": calls}],
    }


def test_what_was_read_is_told_in_words() -> None:
    paris = [{"name": "get_weather", "arguments": '{"city": "Paris"}'}]
    seven = [{"name": "ping", "arguments": '{"n": 7}'}]
    assert autoparser.what_was_read([_line(0, paris), _line(4, seven)], 0) == (
        "read one; unread empty; unwritten two types null texts"
    )
    assert autoparser.what_was_read([_line(0, paris, content="<call>")], 0).startswith("unread one")


def test_a_number_is_not_read_by_a_text() -> None:
    lines = [_line(10, [{"name": "send_mail", "arguments": '{"to": 1, "body": "b", "code": 42}'}])]
    assert "unread texts" in autoparser.what_was_read(lines, 0)


def test_no_parser_is_told_with_the_last_line_of_its_fault() -> None:
    lines = [{"stage": "params", "error": "While executing\n ^^^\nError: needs  a user\n"}]
    assert autoparser.what_was_read(lines, 0) == "no parser: Error: needs a user"
    assert autoparser.what_was_read([], -6) == "no parser: status -6"


def test_a_program_is_asked_for_each_turn(tmp_path: Path) -> None:
    program = tmp_path / "probe"
    program.write_text(
        "#!/bin/sh\n"
        "echo 'tool_mode: JSON_NATIVE' >&2\n"
        "echo 'per_call_start: <c>' >&2\n"
        'echo \'{"stage": "params"}\'\n'
        'echo \'{"stage": "turn", "turn": 0, "error": "raises"}\'\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    found = autoparser.run(program, tmp_path / "any.jinja")
    assert found.read == "unwritten one two empty types null texts"
    assert (found.own, found.found) == (True, "JSON_NATIVE <c>")


def test_every_template_of_the_corpus_is_kept() -> None:
    names = list(load_toml(GOLDEN)["summaries"])
    assert list(KEPT_DATA["routes"]) == names
    assert list(KEPT_DATA["read"]) in ([], names)
    assert {name for one in KEPT_DATA["report"] for name in one["templates"]} <= set(names)


def test_every_way_is_a_rule_of_the_source() -> None:
    branches = {f"own {rule.name}" for rule in autoparser.rules("branch", KEPT_DATA)}
    by_hand = {rule.name for rule in autoparser.rules("workaround", KEPT_DATA)}
    for there in KEPT_DATA["routes"].values():
        assert there in branches or set(
            there.removeprefix("auto").removeprefix(" + ").split(", ")
        ) <= by_hand | {""}


def test_every_turn_is_named_in_what_is_kept() -> None:
    for told in KEPT_DATA["read"].values():
        words = [name for names in autoparser.turns_by_word(told).values() for name in names]
        assert told.startswith("no parser") or sorted(words) == sorted(TURNS)


@pytest.mark.skipif(FOLDER is None, reason=NO_SHARED)
def test_the_conditions_give_what_is_kept() -> None:
    assert FOLDER is not None
    for name in corpus(FOLDER):
        text = (FOLDER / "templates" / name).read_bytes().decode("utf-8")
        assert autoparser.route(text, KEPT_DATA) == KEPT_DATA["routes"][name], name
