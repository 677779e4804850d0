"""A stand-in tokenizer for peers that read token ids: one id a marker, one a delta's text, made beforehand.

No model repository is needed, and making the ids is not measured.
"""

from __future__ import annotations

import re
from typing import Any

from ..workloads import FORMATS, split


class Tokens:
    """Ids for the markers of a format and for whatever else comes."""

    def __init__(self, dialect: str, stop: str, extra: tuple[str, ...] = ()) -> None:
        self.marks = tuple(dict.fromkeys((*FORMATS[dialect].marks, stop, *extra)))
        self.ids: dict[str, int] = {}
        self.words: dict[int, str] = {}
        for mark in self.marks:
            self.id(mark)
        self.eos_token, self.eos_token_id = stop, self.id(stop)
        self.all_special_tokens = [stop]
        self.all_special_ids = [self.eos_token_id]
        self.chat_template = None
        self.unk_token_id = 0
        self.is_fast = False
        self.supports_grammar = False
        self.name_or_path = ""

    def id(self, word: str) -> int:
        """The id of one token."""
        if word not in self.ids:
            self.ids[word] = 1000 + len(self.ids)
            self.words[self.ids[word]] = word
        return self.ids[word]

    def encode(self, text: str, add_special_tokens: bool = False, **_: Any) -> list[int]:
        """Ids of a text."""
        if re.fullmatch(r"<\|[^<>|]+\|>", text):
            self.marks = tuple(dict.fromkeys((*self.marks, text)))
        return [self.id(word) for word in split(text, self.marks)]

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": self.encode(text)}

    def __len__(self) -> int:
        return 200_000

    def decode(self, ids: int | list[int], skip_special_tokens: bool = False, **_: Any) -> str:
        """The text of ids."""
        several = [ids] if isinstance(ids, int) else ids
        return "".join(
            self.words[i] for i in several if not (skip_special_tokens and i in self.all_special_ids)
        )

    def get_vocab(self) -> dict[str, int]:
        """All words and their ids."""
        return dict(self.ids)

    @property
    def vocab(self) -> dict[str, int]:
        """The same."""
        return dict(self.ids)

    def tokenize(self, text: str, **_: Any) -> list[str]:
        """The words of a text."""
        return split(text, self.marks)

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """One id, or a list of them."""
        return self.id(tokens) if isinstance(tokens, str) else [self.id(t) for t in tokens]

    def convert_ids_to_tokens(self, ids: Any, **_: Any) -> Any:
        """One word, or a list of them."""
        return self.words[ids] if isinstance(ids, int) else [self.words[i] for i in ids]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The words joined."""
        return "".join(tokens)
