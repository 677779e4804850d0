"""The metadata of GGUF files: what is read, what is stepped over, and files that are not to be trusted."""

from __future__ import annotations

import io
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ggufwriter import ARRAY, CODES, STRING, Items, Pair, gguf, number, string, strings, text
from toolglot.derive import gguf as module
from toolglot.derive.gguf import is_gguf, read_gguf, read_gguf_from
from toolglot.errors import DerivationError

TEMPLATE = "{{ messages }} é"
TOKENS = ["<unk>", "<s>", "</s>", "é", "<|eot|>"]
EVERY_TYPE = [Pair(f"x.{kind}", kind, 1) for kind in CODES]
EVERY_ARRAY = [Pair(f"x.array.{kind}", ARRAY, Items(kind, [1, 0, 1])) for kind in CODES]
NESTED = Pair("x.nested", ARRAY, Items(ARRAY, [Items(STRING, ["a", "b"]), Items(ARRAY, [Items(4, [1])])]))
MODEL = [
    text("general.architecture", "llama"),
    number("tokenizer.ggml.bos_token_id", 1),
    *EVERY_TYPE,
    *EVERY_ARRAY,
    NESTED,
    strings("tokenizer.ggml.tokens", TOKENS),
    strings("tokenizer.ggml.merges", ["a b", "", "é é"]),
    number("tokenizer.ggml.eos_token_id", 2),
    number("tokenizer.ggml.unknown_token_id", 0, kind=10),
    number("tokenizer.ggml.padding_token_id", -1, kind=5),
    number("tokenizer.ggml.eot_token_id", 4),
    number("tokenizer.ggml.mask_token_id", 5),
    text("tokenizer.chat_template", TEMPLATE),
    strings("tokenizer.chat_templates", ["tool_use"]),
    text("tokenizer.chat_template.tool_use", "{{ tools }}"),
    text("tokenizer.chat_template.empty", ""),
    text("general.name", "A model"),
    strings("x.last", ["z" * 10]),
]
WHOLE = gguf(MODEL)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


def fault(path: Path, raw: bytes) -> str:
    """What is wrong with a file, without its name."""
    path.write_bytes(raw)
    with pytest.raises(DerivationError) as caught:
        read_gguf(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("block", [16, 1 << 16])
def test_what_is_read(
    path: Path, order: str, version: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    path.write_bytes(gguf(MODEL, version=version, order=order))
    read = read_gguf(path)
    assert (read.version, read.big_endian) == (version, order == ">")
    assert (read.name, read.architecture) == ("A model", "llama")
    assert read.templates == {"default": TEMPLATE, "tool_use": "{{ tools }}"}
    assert read.tokens == {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "eot_token": "<|eot|>",
    }


def test_a_file_that_says_nothing(path: Path) -> None:
    path.write_bytes(gguf([]))
    read = read_gguf(path)
    assert (read.name, read.architecture, read.templates, read.tokens) == ("", "", {}, {})


def test_what_follows_the_metadata_is_not_read(path: Path) -> None:
    path.write_bytes(gguf([text("tokenizer.chat_template", TEMPLATE)]) + b"\xff" * 1000)
    assert read_gguf(path).templates == {"default": TEMPLATE}


def test_is_gguf(path: Path) -> None:
    path.write_bytes(gguf([]))
    assert is_gguf(path)
    path.write_bytes(b"GGU")
    assert not is_gguf(path)


@pytest.mark.parametrize("order", ["<", ">"])
def test_cut_at_every_byte(order: str) -> None:
    whole = gguf(MODEL, order=order)
    for end in range(len(whole)):
        with pytest.raises(DerivationError, match=r"^cut: byte \d+: "):
            read_gguf_from(io.BytesIO(whole[:end]), "cut")
    assert read_gguf_from(io.BytesIO(whole), "cut").name == "A model"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "byte 0: 4 bytes are announced where 0 are left: the file is cut or forged"),
        (b"PK\x03\x04 and more", "byte 4: no GGUF file: it does not begin with GGUF"),
        (gguf([], version=1), "byte 8: GGUF version 1; 2 and 3 can be read, so convert the model anew"),
        (gguf([], version=4), "byte 8: GGUF version 4; 2 and 3 can be read, so convert the model anew"),
        (gguf([], count=1 << 60), f"byte 24: {1 << 60} keys; at most 16384 are read"),
        (
            gguf([], count=2),
            "byte 24: 26 bytes are announced where 0 are left: the file is cut or forged",
        ),
        (gguf([text("a", "b"), text("a", "c")]), "byte 55: the key 'a' stands twice"),
        (gguf([text("k" * 65536, "b")]), "byte 32: a key of 65536 bytes: more than is read"),
        (
            gguf([Pair("a", 4, 1)])[:-8] + struct.pack("<IQ", 13, 0),
            "byte 37: a value of the unknown type 13",
        ),
        (
            gguf([number("tokenizer.chat_template", 1)]),
            "tokenizer.chat_template is no string",
        ),
        (
            gguf([text("tokenizer.chat_template", "abc")])[:-3] + b"\xff\xfe\xfd",
            "byte 70: tokenizer.chat_template is no UTF-8",
        ),
        (
            gguf([strings("tokenizer.chat_templates", ["rag"])]),
            "tokenizer.chat_templates lists 'rag', but no tokenizer.chat_template.rag is there",
        ),
        (
            gguf([strings("tokenizer.ggml.tokens", ["a"]), Pair("tokenizer.ggml.bos_token_id", 6, 0.0)]),
            "tokenizer.ggml.bos_token_id is no integer",
        ),
    ],
)
def test_what_is_wrong(path: Path, raw: bytes, message: str) -> None:
    assert fault(path, raw) == message


def test_arrays_too_deep(path: Path) -> None:
    items = Items(4, [1])
    for _ in range(6):
        items = Items(ARRAY, [items])
    assert fault(path, gguf([Pair("x", ARRAY, items)])).endswith("arrays more than 4 deep")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DerivationError, match="No such file"):
        read_gguf(tmp_path / "none.gguf")
    with pytest.raises(DerivationError, match="directory"):
        read_gguf(tmp_path)


def test_vocabulary_of_numbers_names_no_token(path: Path) -> None:
    path.write_bytes(
        gguf([Pair("tokenizer.ggml.tokens", ARRAY, Items(4, [1])), number("tokenizer.ggml.bos_token_id", 0)])
    )
    assert read_gguf(path).tokens == {}


HUGE = 1 << 62
FORGED = {
    "string": struct.pack("<IQ", STRING, HUGE),
    "array of bytes": struct.pack("<IIQ", ARRAY, 0, HUGE),
    "array of strings": struct.pack("<IIQ", ARRAY, STRING, HUGE),
    "array of arrays": struct.pack("<IIQ", ARRAY, ARRAY, HUGE),
    "first string": struct.pack("<IIQQ", ARRAY, STRING, 1, HUGE),
}


@pytest.mark.parametrize(
    "key", ["x", "tokenizer.chat_template", "tokenizer.chat_templates", "tokenizer.ggml.tokens"]
)
@pytest.mark.parametrize("value", FORGED.values(), ids=FORGED)
def test_a_length_that_is_forged_allocates_nothing(path: Path, key: str, value: bytes) -> None:
    raw = gguf([], count=1) + string(key) + value + bytes(64)
    tracemalloc.start()
    try:
        assert fault(path, raw)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("key", ["x", "tokenizer.ggml.tokens"])
def test_many_items_do_not_make_it_run_long(path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No length is wrong, only the number of items, of all arrays together."""
    monkeypatch.setattr(module, "MOST_STEPS", 100)
    path.write_bytes(gguf([strings("y", [""] * 50), strings(key, [""] * 50)]))
    assert read_gguf(path).templates == {}
    raw = gguf([strings("y", [""] * 50), Pair(key, ARRAY, Items(ARRAY, [Items(STRING, [""] * 50)]))])
    assert fault(path, raw).endswith("101 items of arrays; at most 100 are read")


def test_all_that_is_loaded_together_is_bounded(path: Path) -> None:
    pairs = [text(f"tokenizer.chat_template.{n}", "a" * (1 << 22)) for n in range(5)]
    assert fault(path, gguf(pairs)).endswith("tokenizer.chat_template.3 of 4194304 bytes: more than is read")


@given(
    cuts=st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=12)), max_size=6)
)
def test_forged_anywhere(cuts: list[tuple[int, bytes]]) -> None:
    raw = bytearray(WHOLE)
    for at, new in cuts:
        raw[at : at + len(new)] = new
    with suppress(DerivationError):
        read = read_gguf_from(io.BytesIO(raw), "forged")
        assert set(read.tokens) <= set(module.TOKEN_IDS.values())


@given(raw=st.binary(max_size=200), order=st.sampled_from("<>"), keys=st.integers(0, 3))
def test_any_bytes(raw: bytes, order: str, keys: int) -> None:
    with suppress(DerivationError):
        read_gguf_from(io.BytesIO(gguf([], count=keys, order=order) + raw), "any")
