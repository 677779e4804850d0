"""Draws: what a law asks for, made by Hypothesis piece by piece or from one seed that Hypothesis chose.

Piecewise draws shrink to a small example and cost ten times what the law itself does; the other
profiles draw a seed instead. A failure is replayed by its seed in either case.
"""

from __future__ import annotations

import itertools
import os
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.delivery import valid
from tests.strategies import (
    FRAGMENTS,
    KEYS,
    PROSE,
    TOOLS,
    Written,
    deltas_of,
    markers_for,
    messages,
    options,
    pool,
    prompt_tails,
    texts,
    values_alphabet,
)
from toolglot import Message, ToolCall

T = TypeVar("T")

SEEDED = os.environ.get("HYPOTHESIS_PROFILE", "dev") in ("quick", "ci", "fuzz")
SOURCES: st.SearchStrategy[Any] = st.randoms(use_true_random=True) if SEEDED else st.data()
"""What a law is given; ``draws`` makes of it what the law asks."""


class Draws(ABC):
    """What a law may ask for, of one subject."""

    def __init__(self, source: Any, subject: str) -> None:
        self._source = source
        self._subject = subject

    @abstractmethod
    def one_of(self, choices: Sequence[T]) -> T:
        """One of some values."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """An integer, bounds included."""

    @abstractmethod
    def text(self) -> str:
        """Text that is hard on the subject."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Any way to call Parser."""

    @abstractmethod
    def deltas(self, text: str) -> list[str]:
        """Some split of a text, empty deltas included."""

    @abstractmethod
    def message(self) -> Message:
        """A message to be written."""

    @abstractmethod
    def prose(self, letters: Sequence[str]) -> list[str]:
        """Deltas of some letters."""


class Piecewise(Draws):
    """Each piece drawn by Hypothesis, so that a failing example shrinks."""

    def one_of(self, choices: Sequence[T]) -> T:
        drawn: T = self._source.draw(st.sampled_from(choices))
        return drawn

    def integer(self, low: int, high: int) -> int:
        return int(self._source.draw(st.integers(low, high)))

    def text(self) -> str:
        return str(self._source.draw(texts(self._subject) | st.text(max_size=40)))

    def options(self) -> dict[str, Any]:
        return dict(self._source.draw(options(self._subject)))

    def deltas(self, text: str) -> list[str]:
        return list(self._source.draw(deltas_of(text)))

    def message(self) -> Message:
        drawn: Message = self._source.draw(messages(self._subject))
        return drawn

    def prose(self, letters: Sequence[str]) -> list[str]:
        word = st.text(st.sampled_from(letters), min_size=1, max_size=8)
        return list(self._source.draw(st.lists(word, min_size=1, max_size=8)))


class Seeded(Draws):
    """All pieces from one generator."""

    def one_of(self, choices: Sequence[T]) -> T:
        chosen: T = self._source.choice(choices)
        return chosen

    def integer(self, low: int, high: int) -> int:
        return int(self._source.randint(low, high))

    def text(self) -> str:
        rng: random.Random = self._source
        if rng.random() < 0.05:
            return "".join(chr(rng.randrange(0x2100)) for _ in range(rng.randrange(40)))
        return "".join(self._piece() for _ in range(rng.randrange(11)))

    def _piece(self) -> str:
        rng: random.Random = self._source
        markers = markers_for(self._subject)
        kind = rng.random()
        if markers and kind < 0.35:
            return rng.choice(markers)
        if markers and kind < 0.5:
            marker = rng.choice(markers)
            at = rng.randrange(len(marker))
            return marker[:at] if rng.random() < 0.5 else marker[at:]
        written = pool(self._subject)
        if written and kind < 0.65:
            chosen: Written = rng.choice(written)
            low = 0 if rng.random() < 0.5 else rng.randint(0, len(chosen.text))
            high = len(chosen.text) if rng.random() < 0.5 else rng.randint(0, len(chosen.text))
            return chosen.text[low:high]
        return rng.choice(FRAGMENTS)

    def options(self) -> dict[str, Any]:
        return {
            "tools": self.one_of([None, [], TOOLS]),
            "on_defect": self.one_of(["repair", "strict"]),
            "arguments": self.one_of(["stream", "whole"]),
            "finish_reason": self.one_of([None, "stop", "length", "tool_calls"]),
            "prompt_tail": "" if self._source.random() < 0.5 else self.one_of(prompt_tails(self._subject)),
        }

    def deltas(self, text: str) -> list[str]:
        cuts = sorted(self.integer(0, len(text)) for _ in range(self.integer(0, 6)))
        return [text[i:j] for i, j in itertools.pairwise([0, *cuts, len(text)])]

    def message(self) -> Message:
        names = ("get", "do_it", "notes.add", "a-b", "x:y")
        calls = tuple(
            ToolCall(name=f"{self.one_of(names)}{i}", arguments=self._object(2))
            for i in range(self.integer(0, 3))
        )
        return Message(content=self._prose(), reasoning=self._prose(), tool_calls=calls)

    def _prose(self) -> str:
        if self._source.random() < 0.3:
            return ""
        return "".join(self.one_of(PROSE) for _ in range(self.integer(0, 20)))

    def _object(self, depth: int) -> dict[str, Any]:
        return {self.one_of(KEYS): self._value(depth) for _ in range(self.integer(0, 3))}

    def _value(self, depth: int) -> Any:
        rng: random.Random = self._source
        kind = rng.random()
        if kind < 0.15:
            return self.one_of([None, True, False])
        if kind < 0.3:
            return rng.randint(-(10 ** rng.randrange(26)), 10 ** rng.randrange(26))
        if kind < 0.4:
            return rng.choice([0.5, -2.25, 1e21, 1e-7, 0.1, 3.0]) * rng.randint(-9, 9)
        if kind < 0.85 or depth == 0:
            return self._string()
        if kind < 0.93:
            return [self._value(depth - 1) for _ in range(rng.randrange(4))]
        return self._object(depth - 1)

    def _string(self) -> str:
        rng: random.Random = self._source
        if rng.random() < 0.5:
            return "".join(rng.choice(values_alphabet()) for _ in range(rng.randrange(20)))
        pieces = [*FRAGMENTS, *markers_for(self._subject)]
        return valid("".join(rng.choice(pieces) for _ in range(rng.randrange(4))))

    def prose(self, letters: Sequence[str]) -> list[str]:
        return [
            "".join(self.one_of(letters) for _ in range(self.integer(1, 8)))
            for _ in range(self.integer(1, 8))
        ]


def draws(source: Any, subject: str) -> Draws:
    """The draws that ``source`` stands for."""
    return Seeded(source, subject) if SEEDED else Piecewise(source, subject)
