"""Names, aliases and model ids."""

from __future__ import annotations

import subprocess
import sys

import pytest

import toolglot
from toolglot import BUNDLED, Dialect, UnknownDialectError, bundle, dialect_for_model
from toolglot.registry import bundled, dialect_text, load_file


def test_the_bundled_dialects() -> None:
    assert list(BUNDLED) == sorted(BUNDLED)
    assert {"hermes", "qwen3_coder", "gpt_oss", "gemma4", "none"} <= set(BUNDLED)
    assert not any(slug.startswith("_") for slug in BUNDLED)


@pytest.mark.parametrize("slug", BUNDLED)
def test_a_slug_names_its_dialect(slug: str) -> None:
    dialect = bundled(slug)
    assert dialect.slug == slug
    assert bundled(slug) is dialect
    assert dialect.sources, "a dialect says where its facts come from"
    assert dialect.title
    assert Dialect.from_toml(dialect_text(slug), slug) == dialect


@pytest.mark.parametrize("slug", BUNDLED)
def test_each_alias_names_its_dialect(slug: str) -> None:
    for alias in bundled(slug).aliases:
        assert bundled(alias) is bundled(slug)


def test_no_name_means_two_dialects() -> None:
    names = [name for slug in BUNDLED for name in (slug, *bundled(slug).aliases)]
    assert sorted(names) == sorted(set(names))
    assert "auto" not in names


@pytest.mark.parametrize(
    ("alias", "slug"),
    [
        # the names of vLLM, SGLang, llama.cpp, Ollama and the cases
        ("qwen25", "hermes"),
        ("qwen3_xml", "qwen3_coder"),
        ("nemotron3", "qwen3_coder"),
        ("openai", "gpt_oss"),
        ("gpt-oss", "gpt_oss"),
        ("harmony", "gpt_oss"),
        ("phi4_mini_json", "phi"),
        ("phi4_mini", "phi"),
        ("llama4_json", "llama3_json"),
        ("llama4_pythonic", "pythonic"),
        ("mistral", "mistral"),
        ("off", "none"),
    ],
)
def test_names_that_others_use(alias: str, slug: str) -> None:
    assert bundled(alias).slug == slug


def test_the_name_of_a_private_file_is_no_dialect() -> None:
    for name in ("_auto", "_gglib", "../registry", "hermes.toml"):
        with pytest.raises(UnknownDialectError):
            bundled(name)
    assert load_file("_auto").slug == "auto"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("hermess", "hermes"), ("qwen3-codr", "qwen3-coder"), ("mistrall", "mistral"), ("gpt_os", "gpt_oss")],
)
def test_an_unknown_name_comes_with_the_nearest_ones(name: str, hint: str) -> None:
    with pytest.raises(UnknownDialectError) as caught:
        bundled(name)
    assert str(caught.value).startswith(f"no dialect is called {name!r}; did you mean ")
    assert hint in str(caught.value)


def test_a_name_that_nothing_resembles_comes_without_a_hint() -> None:
    with pytest.raises(UnknownDialectError, match=r"^no dialect is called 'zzzzzzzz'$"):
        bundled("zzzzzzzz")
    with pytest.raises(LookupError):
        bundled("")


# -- models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "first"),
    [
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder"),
        ("qwen/qwen3-coder-30b", "qwen3_coder"),
        ("Qwen/Qwen3-8B", "hermes"),
        ("Qwen/Qwen2.5-7B-Instruct", "hermes"),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes"),
        ("openai/gpt-oss-20b", "gpt_oss"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral_v3"),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral_v11"),
        ("microsoft/Phi-4-mini-instruct", "phi"),
        ("google/gemma-4-31B-it", "gemma4"),
    ],
)
def test_the_likeliest_dialect_of_a_model(model: str, first: str) -> None:
    assert dialect_for_model(model)[0] == first


def test_the_longest_pattern_that_fits_ranks_highest() -> None:
    ranked = dialect_for_model("Qwen/Qwen3-Coder-30B-A3B-Instruct")
    assert ranked.index("qwen3_coder") < ranked.index("hermes")
    assert dialect_for_model("mistralai/Mistral-Nemo-Instruct-2407")[:2] == ["mistral_v3", "mistral"]
    assert dialect_for_model("meta-llama/Llama-3.2-3B-Instruct")[:2] == ["pythonic", "llama3_json"]


@pytest.mark.parametrize("model", ["acme/unheard-of-7b", ""])
def test_nothing_is_known_of_other_models(model: str) -> None:
    assert dialect_for_model(model) == []


@pytest.mark.parametrize("slug", BUNDLED)
def test_every_pattern_finds_its_dialect(slug: str) -> None:
    for pattern in bundled(slug).models:
        model = pattern.replace("*", "")
        assert slug in dialect_for_model(model)
        assert slug in dialect_for_model("org/" + model.upper() + "-x") or not pattern.endswith("*")


def test_what_is_ranked_can_be_parsed_with() -> None:
    for slug in dialect_for_model("Qwen/Qwen3-Coder-30B-A3B-Instruct"):
        assert toolglot.parse("Hello.", slug).content == "Hello."


def test_the_compact_form_says_what_the_files_say() -> None:
    for path, text in bundle.written().items():
        assert path.read_text(encoding="utf-8") == text, "make bundle"


def test_gglib_s_own_name_means_its_contract() -> None:
    found = toolglot.resolve("format:qwen-xml")
    assert isinstance(found, toolglot.Dialect)
    assert (found.slug, found.envelope.layout, found.ids.prefix) == ("qwen-xml", "none", "call_qwen_")
    assert "qwen-xml" not in toolglot.BUNDLED


def test_what_importing_leaves_out() -> None:
    """What few outputs need, and of the standard library what takes long to load."""
    if not hasattr(toolglot.Parser.feed, "__code__"):
        pytest.skip("compiled modules load what mypyc's run time needs")
    late = ("typing", "dataclasses", "contextlib", "toolglot.message", "toolglot.messages", "toolglot.schema")
    code = f"import sys, toolglot; toolglot.Parser('hermes'); print(*(set({late}) & sys.modules.keys()))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []
