"""gguf: the chat templates and special tokens in the metadata block of a GGUF file.

Promises: only the metadata block is read, from its start, through one small buffer; tensors are never
touched. Versions 2 and 3, in either byte order. What is not asked for is stepped over and not loaded, an
array of numbers with one seek. A file is not trusted: every length and count is checked against the bytes
that are left and against a limit before anything is read, so that no file, however it was cut or forged,
makes the reader allocate much, run long, or raise anything but ``DerivationError``.

Does not: read tensors, write files, or look at a template's text.

Source: the GGUF specification, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, and the key names
of the ``gguf`` package 0.19.0.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NoReturn, Union

from ..errors import DerivationError

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)

LONGEST_KEY: Final = (1 << 16) - 1  # The specification's own limit, in bytes.
LONGEST_STRING: Final = 1 << 22
"""Bytes of one string that is loaded; the longest known template has less than a hundredth of it."""
MOST_TEXT: Final = 1 << 24
"""Bytes of all keys and of all strings that are loaded."""
MOST_KEYS: Final = 1 << 14
MOST_LOADED: Final = 1 << 10
"""Items of an array that is loaded."""
MOST_STEPS: Final = 1 << 23
"""Items of arrays that are stepped over one by one; vocabulary and merges of known models have a tenth."""
DEEPEST: Final = 4
"""Arrays in arrays."""

_STRING: Final = 8
_ARRAY: Final = 9
# By the number of a value's type in the file: what struct calls it.
_SCALARS: Final = dict(zip((*range(8), 10, 11, 12), "BbHhIif?Qqd", strict=True))
_BLOCK: Final = 1 << 16

TEMPLATE: Final = "tokenizer.chat_template"
TEMPLATE_NAMES: Final = "tokenizer.chat_templates"
TOKENS: Final = "tokenizer.ggml.tokens"
NAME: Final = "general.name"
ARCHITECTURE: Final = "general.architecture"
TOKEN_IDS: Final = {
    "tokenizer.ggml.bos_token_id": "bos_token",
    "tokenizer.ggml.eos_token_id": "eos_token",
    "tokenizer.ggml.eot_token_id": "eot_token",
    "tokenizer.ggml.eom_token_id": "eom_token",
    "tokenizer.ggml.unknown_token_id": "unk_token",
    "tokenizer.ggml.seperator_token_id": "sep_token",
    "tokenizer.ggml.padding_token_id": "pad_token",
    "tokenizer.ggml.mask_token_id": "mask_token",
}
"""Keys of token ids, by the name that a chat template has for the token."""


@dataclass(frozen=True)
class Array:
    """An array that was stepped over: its items' type, their number, and where in the file they begin."""

    kind: int
    count: int
    at: int


Value = Union[str, int, float, bool, tuple[str, ...], Array]


@dataclass(frozen=True)
class Gguf:
    """What a GGUF file says of its model.

    ``templates``: chat templates by name, the unnamed one as ``default``. ``tokens``: special tokens by the
    name that a template has for them (``bos_token`` …). ``name``, ``architecture``: empty where not stated.
    """

    version: int
    big_endian: bool
    name: str
    architecture: str
    templates: Mapping[str, str]
    tokens: Mapping[str, str]


def is_gguf(path: str | os.PathLike[str]) -> bool:
    """Whether the file begins as a GGUF file does. Raises ``OSError`` where it cannot be read."""
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_gguf(path: str | os.PathLike[str]) -> Gguf:
    """Read the metadata of the GGUF file at ``path``.

    Raises ``DerivationError``, which names the file and what is wrong where, if it cannot be read or is no
    GGUF file of a known version, or its metadata is cut or does not hold together.
    """
    try:
        with Path(path).open("rb") as file:
            return read_gguf_from(file, os.fspath(path))
    except OSError as error:
        raise DerivationError(f"{os.fspath(path)}: {error.strerror or error}") from error


def read_gguf_from(file: BinaryIO, origin: str) -> Gguf:
    """As ``read_gguf``, from an open file that can be sought; errors name it by ``origin``."""
    reader = _Reader(file, origin)
    version = _header(reader)
    values = _metadata(reader, _wanted)
    return Gguf(
        version=version,
        big_endian=reader.order == ">",
        name=_text(reader, values, NAME),
        architecture=_text(reader, values, ARCHITECTURE),
        templates=_templates(reader, values),
        tokens=_tokens(reader, values),
    )


def _wanted(key: str) -> bool:
    return key in {NAME, ARCHITECTURE, TOKENS, TEMPLATE_NAMES, *TOKEN_IDS} or _template_name(key) is not None


def _template_name(key: str) -> str | None:
    """The name of the template that stands under ``key``, if one does."""
    if key == TEMPLATE:
        return "default"
    return key.removeprefix(TEMPLATE + ".") if key.startswith(TEMPLATE + ".") else None


def _templates(reader: _Reader, values: Mapping[str, Value]) -> dict[str, str]:
    found = {name: _text(reader, values, key) for key in values if (name := _template_name(key)) is not None}
    named = values.get(TEMPLATE_NAMES, ())
    for name in named if isinstance(named, tuple) else ():
        if name not in found:
            reader.refuse(f"{TEMPLATE_NAMES} lists {name!r}, but no {TEMPLATE}.{name} is there")
    return {name: text for name, text in found.items() if text}


def _tokens(reader: _Reader, values: Mapping[str, Value]) -> dict[str, str]:
    """The special tokens whose ids are stated, looked up in one walk over the vocabulary."""
    vocabulary = values.get(TOKENS)
    if not isinstance(vocabulary, Array) or vocabulary.kind != _STRING:
        return {}
    ids: dict[str, int] = {}
    for key, name in TOKEN_IDS.items():
        value = values.get(key)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            reader.refuse(f"{key} is no integer")
        # An id of -1, or one past the end, is how converters say that a model has no such token.
        if 0 <= value < vocabulary.count:
            ids[name] = value
    texts = _strings_at(reader, vocabulary, set(ids.values()))
    return {name: texts[number] for name, number in ids.items()}


def _strings_at(reader: _Reader, array: Array, indices: set[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    reader.seek(array.at)
    passed = 0
    for index in sorted(indices):
        reader.skip_strings(index - passed)
        found[index] = reader.string(f"{TOKENS}[{index}]")
        passed = index + 1
    return found


def _text(reader: _Reader, values: Mapping[str, Value], key: str) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        reader.refuse(f"{key} is no string")
    return value


# -- the file's form ---------------------------------------------------------------------------------


def _header(reader: _Reader) -> int:
    if reader.take(len(MAGIC)) != MAGIC:
        reader.fail("no GGUF file: it does not begin with GGUF")
    raw = reader.take(4)
    version = int.from_bytes(raw, "little")
    # A small number whose low half is empty was written in the other byte order.
    if version & 0xFFFF == 0:
        reader.order = ">"
        version = int.from_bytes(raw, "big")
    if version not in VERSIONS:
        known = " and ".join(map(str, VERSIONS))
        reader.fail(f"GGUF version {version}; {known} can be read, so convert the model anew")
    return version


def _metadata(reader: _Reader, wanted: Callable[[str], bool]) -> dict[str, Value]:
    """The values under the keys that are ``wanted``; long arrays as ``Array``, not loaded."""
    reader.number("Q")  # Tensors: none of ours.
    count = reader.number("Q")
    # A key's length, its type and one byte of value.
    reader.check(count, 13, MOST_KEYS, "keys")
    seen: set[bytes] = set()
    values: dict[str, Value] = {}
    for _ in range(count):
        raw = reader.load(LONGEST_KEY, "a key")
        if raw in seen:
            reader.fail(f"the key {raw.decode(errors='replace')!r} stands twice")
        seen.add(raw)
        key = raw.decode(errors="replace")
        kind = reader.number("I")
        if wanted(key):
            values[key] = _value(reader, kind, key)
        else:
            _step_over(reader, kind, 0)
    return values


def _value(reader: _Reader, kind: int, key: str) -> Value:
    if kind == _STRING:
        return reader.string(key)
    if kind != _ARRAY:
        return reader.scalar(_scalar(reader, kind))
    item = reader.number("I")
    count = reader.number("Q")
    if key != TOKENS and item == _STRING:
        reader.check(count, 8, MOST_LOADED, f"items of {key}")
        return tuple(reader.string(key) for _ in range(count))
    array = Array(item, count, reader.at)
    _step_over_items(reader, item, count, 0)
    return array


def _step_over(reader: _Reader, kind: int, depth: int) -> None:
    if kind == _STRING:
        reader.skip(reader.number("Q"))
    elif kind == _ARRAY:
        item = reader.number("I")
        _step_over_items(reader, item, reader.number("Q"), depth)
    else:
        reader.skip(struct.calcsize(f"={_scalar(reader, kind)}"))


def _step_over_items(reader: _Reader, kind: int, count: int, depth: int) -> None:
    if kind == _STRING:
        reader.steps(count, 8)
        reader.skip_strings(count)
    elif kind == _ARRAY:
        if depth == DEEPEST:
            reader.fail(f"arrays more than {DEEPEST} deep")
        reader.steps(count, 12)
        for _ in range(count):
            _step_over(reader, kind, depth + 1)
    else:
        reader.skip(count * struct.calcsize(f"={_scalar(reader, kind)}"))


def _scalar(reader: _Reader, kind: int) -> str:
    code = _SCALARS.get(kind)
    if code is None:
        reader.fail(f"a value of the unknown type {kind}")
    return code


class _Reader:
    """A file with a cursor: reads in blocks, and fails before it reads past the end."""

    def __init__(self, file: BinaryIO, origin: str) -> None:
        self.order = "<"
        self._file = file
        self._origin = origin
        self._size = file.seek(0, os.SEEK_END)
        self._steps = 0
        self._text = 0
        self._block = b""
        self._start = 0  # Where in the file the block begins.
        self._pos = 0  # The cursor, in the block.

    @property
    def at(self) -> int:
        """The cursor, in bytes from the start of the file."""
        return self._start + self._pos

    def fail(self, what: str) -> NoReturn:
        """Raise the error that says what is wrong, and where."""
        self.refuse(f"byte {self.at}: {what}")

    def refuse(self, what: str) -> NoReturn:
        """Raise the error that says what is wrong, where the file as such could be read."""
        raise DerivationError(f"{self._origin}: {what}")

    def seek(self, at: int) -> None:
        """Put the cursor to ``at``, which may be anywhere up to the end."""
        within = at - self._start
        if 0 <= within <= len(self._block):
            self._pos = within
        else:
            self._block, self._start, self._pos = b"", at, 0

    def skip(self, count: int) -> None:
        """Step over ``count`` bytes."""
        self._have(count)
        self.seek(self.at + count)

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        self._have(count)
        if self._pos + count > len(self._block):
            self._fill(count)
        raw = self._block[self._pos : self._pos + count]
        if len(raw) < count:
            self.fail("the file became shorter while it was read")
        self._pos += count
        return raw

    def scalar(self, code: str) -> int | float:
        """The next number or truth value, of struct's type ``code``."""
        value: int | float = struct.unpack(self.order + code, self.take(struct.calcsize(f"={code}")))[0]
        return value

    def number(self, code: str) -> int:
        """The next integer, of struct's type ``code``."""
        return int(self.scalar(code))

    def load(self, most: int, what: str) -> bytes:
        """The next string's bytes, of which there may be ``most``."""
        length = self.number("Q")
        self._text += length
        if length > most or self._text > MOST_TEXT:
            self.fail(f"{what} of {length} bytes: more than is read")
        return self.take(length)

    def string(self, what: str) -> str:
        """The next string."""
        try:
            return self.load(LONGEST_STRING, what).decode()
        except UnicodeDecodeError:
            self.fail(f"{what} is no UTF-8")

    def check(self, count: int, each: int, most: int, what: str) -> None:
        """Refuse ``count`` items of at least ``each`` bytes where the file cannot or should not hold them."""
        if count > most:
            self.fail(f"{count} {what}; at most {most} are read")
        self._have(count * each)

    def steps(self, count: int, each: int) -> None:
        """As ``check``, for items that are stepped over one by one, all arrays of the file together."""
        self._steps += min(count, MOST_STEPS + 1)
        self.check(self._steps, 0, MOST_STEPS, "items of arrays")
        self._have(count * each)

    def skip_strings(self, count: int) -> None:
        """Step over ``count`` strings."""
        unpack = struct.Struct(self.order + "Q").unpack_from
        for _ in range(count):
            # By hand what ``number`` and ``skip`` do: a vocabulary is what takes the time.
            if self._pos + 8 > len(self._block):
                self._have(8)
                self._fill(8)
            length: int = unpack(self._block, self._pos)[0]
            self._pos += 8
            if self._pos + length <= len(self._block):
                self._pos += length
            else:
                self.skip(length)

    def _have(self, count: int) -> None:
        left = self._size - self.at
        if count > left:
            self.fail(f"{count} bytes are announced where {left} are left: the file is cut or forged")

    def _fill(self, count: int) -> None:
        """Read the block that begins at the cursor, with at least ``count`` bytes where the file has them."""
        self._start, self._pos = self.at, 0
        self._file.seek(self._start)
        self._block = self._file.read(max(count, _BLOCK))
        if len(self._block) < count:
            self.fail("the file became shorter while it was read")
