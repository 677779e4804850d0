"""Where templates come from: texts, files, model folders, GGUF files, a server's answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ggufwriter import gguf, number, strings, text
from toolglot.derive import sources as module
from toolglot.derive.sources import TemplateSource, for_tools, from_path, from_props, read_templates
from toolglot.errors import DerivationError

JINJA = "{% for m in messages %}{{ m.content }}\r\n{% endfor %}é"


def write(folder: Path, files: dict[str, Any]) -> Path:
    """A folder with files: texts as they are, and everything else as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((content if isinstance(content, str) else json.dumps(content)).encode())
    return folder


def told(read: tuple[TemplateSource, ...]) -> list[tuple[str, str]]:
    return [(source.name, source.text) for source in read]


def fault(source: Any) -> str:
    with pytest.raises(DerivationError) as caught:
        read_templates(source)
    return str(caught.value)


# -- texts and files ---------------------------------------------------------------------------------


def test_a_text() -> None:
    assert read_templates(JINJA) == (TemplateSource("default", JINJA, {}, "text"),)


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("name", ["model.jinja", "template.txt", "none"])
def test_a_file_is_read_as_it_stands(tmp_path: Path, name: str, kind: type) -> None:
    path = write(tmp_path, {name: JINJA}) / name
    assert read_templates(kind(path)) == (TemplateSource("default", JINJA, {}, str(path)),)


def test_a_text_without_a_tag_may_stand_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"plain.jinja": "Hello"}) / "plain.jinja"
    assert told(read_templates(path)) == [("default", "Hello")]


@pytest.mark.parametrize("missing", ["no/such/file.jinja", "just a text", "x" * 10_000, "nul\0nul", ""])
def test_what_is_neither(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path / "empty", {"unrelated": "."}))
    assert fault(missing)


def test_a_missing_file() -> None:
    assert fault("no/such.jinja") == "no/such.jinja: no such file, and no template's text either"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.jinja"
    os.mkfifo(path)
    assert fault(path) == f"{path}: no such file, and no template's text either"


def test_no_text_and_too_much_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.jinja"
    path.write_bytes(b"\xff\xfe")
    assert fault(path) == f"{path}: no UTF-8 text"
    monkeypatch.setattr(module, "LONGEST_TEMPLATE", 3)
    path.write_bytes(b"abc")
    assert told(from_path(path)) == [("default", "abc")]
    path.write_bytes(b"abcd")
    assert fault(path) == f"{path}: more than 3 bytes"


# -- model folders -----------------------------------------------------------------------------------

CONFIG = {
    "bos_token": "<s>",
    "eos_token": {"__type": "AddedToken", "content": "</s>", "lstrip": False},
    "pad_token": None,
    "add_bos_token": True,
    "chat_template": "from the configuration",
}


@pytest.mark.parametrize(
    ("files", "expected", "place"),
    [
        ({"tokenizer_config.json": CONFIG}, [("default", "from the configuration")], "tokenizer_config.json"),
        (
            {
                "tokenizer_config.json": CONFIG,
                "chat_template.jinja": JINJA,
                "chat_template.json": {"chat_template": "old"},
            },
            [("default", JINJA)],
            "chat_template.jinja",
        ),
        (
            {
                "chat_template.jinja": "a",
                "additional_chat_templates/tool_use.jinja": "b",
                "additional_chat_templates/rag.jinja": "c",
                "additional_chat_templates/notes.txt": "d",
                "chat_templates/tool_use.jinja": "e",
                "chat_templates/other.jinja": "f",
            },
            [("default", "a"), ("rag", "c"), ("tool_use", "b"), ("other", "f")],
            "chat_template.jinja",
        ),
        (
            {
                "tokenizer_config.json": {
                    "chat_template": [
                        {"name": "default", "template": "a"},
                        {"name": "tool_use", "template": "b"},
                    ]
                }
            },
            [("default", "a"), ("tool_use", "b")],
            "tokenizer_config.json",
        ),
        (
            {"tokenizer_config.json": {}, "chat_template.json": {"chat_template": "processor"}},
            [("default", "processor")],
            "chat_template.json",
        ),
    ],
)
def test_a_folder(tmp_path: Path, files: dict[str, Any], expected: list[tuple[str, str]], place: str) -> None:
    read = read_templates(write(tmp_path, files))
    assert told(read) == expected
    assert read[0].origin.startswith(str(tmp_path / place))


def test_special_tokens_of_a_folder(tmp_path: Path) -> None:
    old = {"bos_token": "<old>", "unk_token": {"content": "<unk>"}, "additional_special_tokens": ["<x>"]}
    write(tmp_path, {"tokenizer_config.json": CONFIG, "special_tokens_map.json": old})
    assert read_templates(tmp_path)[0].tokens == {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    }


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no chat template: neither chat_template.jinja nor chat_template in tokenizer_config.json"),
        (
            {"tokenizer_config.json": {"chat_template": ""}},
            "no chat template: neither chat_template.jinja nor chat_template in tokenizer_config.json",
        ),
        (
            {"tokenizer_config.json": {"chat_template": None}},
            "no chat template: neither chat_template.jinja nor chat_template in tokenizer_config.json",
        ),
    ],
)
def test_a_folder_without_a_template(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    assert fault(write(tmp_path, {"README.md": "x", **files})) == f"{tmp_path}: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "expected a JSON object"),
        ({"chat_template": 7}, "chat_template: expected a text, or a list of at most 64 named templates"),
        (
            {"chat_template": [{"name": "a"}]},
            "chat_template[0]: expected an object with the texts name and template",
        ),
        (
            {"chat_template": ["a"]},
            "chat_template[0]: expected an object with the texts name and template",
        ),
        (
            {"chat_template": {"a": 1}},
            "chat_template[0]: expected an object with the texts name and template",
        ),
        (
            {"chat_template": [{"name": str(n), "template": "t"} for n in range(65)]},
            "chat_template: expected a text, or a list of at most 64 named templates",
        ),
    ],
)
def test_a_configuration_that_is_wrong(tmp_path: Path, content: Any, message: str) -> None:
    write(tmp_path, {"tokenizer_config.json": content})
    assert fault(tmp_path) == f"{tmp_path / 'tokenizer_config.json'}: {message}"
    assert fault(tmp_path / "tokenizer_config.json") == f"{tmp_path / 'tokenizer_config.json'}: {message}"


def test_json_that_is_nested_without_end(tmp_path: Path) -> None:
    path = write(tmp_path, {"tokenizer_config.json": '{"a": ' + "[" * 200_000}) / "tokenizer_config.json"
    assert fault(path).startswith(f"{path}: no JSON: ")


def test_too_many_files(tmp_path: Path) -> None:
    write(tmp_path, {f"chat_templates/{n}.jinja": "t" for n in range(65)})
    assert fault(tmp_path) == f"{tmp_path / 'chat_templates'}: more than 64 templates"


def test_a_configuration_by_itself(tmp_path: Path) -> None:
    path = write(tmp_path, {"tokenizer_config.json": CONFIG}) / "tokenizer_config.json"
    origin = f"{path}, chat_template 'default'"
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    assert from_path(path) == (TemplateSource("default", "from the configuration", tokens, origin),)
    write(tmp_path, {"tokenizer_config.json": {}})
    assert fault(path) == f"{path}: no chat_template in it"


# -- GGUF files --------------------------------------------------------------------------------------


def test_a_gguf_file(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(
        gguf(
            [
                strings("tokenizer.ggml.tokens", ["a", "<s>"]),
                number("tokenizer.ggml.bos_token_id", 1),
                text("tokenizer.chat_template", JINJA),
                text("tokenizer.chat_template.tool_use", "tools"),
            ]
        )
    )
    read = read_templates(path)
    assert told(read) == [("default", JINJA), ("tool_use", "tools")]
    assert read[1].origin == f"{path}, chat_template 'tool_use'"
    assert read[0].tokens == read[1].tokens == {"bos_token": "<s>"}


def test_a_gguf_file_without_a_template(tmp_path: Path) -> None:
    path = tmp_path / "model-00002-of-00002.gguf"
    path.write_bytes(gguf([]))
    assert fault(path) == (
        f"{path}: no tokenizer.chat_template in its metadata; of a model in several files, give the first"
    )


# -- a server's answer -------------------------------------------------------------------------------

PROPS = {
    "default_generation_settings": {"n_ctx": 4096},
    "model_path": "model.gguf",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "chat_template": JINJA,
    "chat_template_tool_use": "tools",
}


@pytest.mark.parametrize("form", [dict, json.dumps, lambda props: "\n " + json.dumps(props, indent=2)])
def test_props(form: Any) -> None:
    read = read_templates(form(PROPS))
    assert told(read) == [("default", JINJA), ("tool_use", "tools")]
    assert read[0].tokens == {"bos_token": "<s>", "eos_token": "</s>"}


def test_props_in_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"props.json": PROPS}) / "props.json"
    assert told(read_templates(path)) == [("default", JINJA), ("tool_use", "tools")]


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({}, "/props: no chat_template in it; the server has to be llama-server with a model loaded"),
        (
            {"chat_template": "", "chat_template_tool_use": ""},
            "/props: no chat_template in it; the server has to be llama-server with a model loaded",
        ),
        (
            {"error": {"code": 503, "message": "Loading model"}},
            "/props: the server answered with an error: Loading model",
        ),
        (
            '{"chat_template": "a',
            "the text: no JSON: Unterminated string starting at: line 1 column 19 (char 18)",
        ),
    ],
)
def test_props_without_a_template(props: Any, message: str) -> None:
    assert fault(props) == message


# -- which one is for tools --------------------------------------------------------------------------


def named(*names: str) -> list[TemplateSource]:
    return [TemplateSource(name, f"text of {name}") for name in names]


@pytest.mark.parametrize(
    ("names", "asked", "expected"),
    [
        (["default"], None, "default"),
        (["default", "tool_use"], None, "tool_use"),
        (["rag", "default"], None, "default"),
        (["rag"], None, "rag"),
        (["default", "tool_use"], "default", "default"),
        (["default", "rag"], "rag", "rag"),
    ],
)
def test_for_tools(names: list[str], asked: str | None, expected: str) -> None:
    assert for_tools(named(*names), asked).name == expected


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (["rag", "other"], None, "none of the templates is the one for tools; name one of: rag, other"),
        (["default"], "rag", "no template is called 'rag'; there are: default"),
        ([], None, "none of the templates is the one for tools; name one of: none"),
    ],
)
def test_no_template_for_tools(names: list[str], asked: str | None, message: str) -> None:
    with pytest.raises(DerivationError) as caught:
        for_tools(named(*names), asked)
    assert str(caught.value) == message


# -- anything ----------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "template", "content", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(["chat_template", "chat_template_tool_use", "bos_token", "error", "x"])


@given(props=st.dictionaries(KEYS, VALUES))
def test_any_answer_is_read_or_refused(props: dict[str, Any]) -> None:
    try:
        read = from_props(props)
    except DerivationError:
        return
    assert len({source.name for source in read}) == len(read) > 0


def test_each_template_of_the_corpus_is_read(shared: Path) -> None:
    paths = sorted((shared / "templates").glob("*.jinja"))
    rows = (shared / "templates" / "INDEX.tsv").read_text(encoding="utf-8").splitlines()
    header = rows[0].split("\t")
    hashes = {cells[0]: cells[header.index("sha256_12")] for cells in (row.split("\t") for row in rows[1:])}
    assert {path.name: read_templates(path)[0].sha256[:12] for path in paths} == {
        name: digest for name, digest in hashes.items() if name.endswith(".jinja")
    }
