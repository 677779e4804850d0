"""Sentences of a grammar: random texts that its intermediate form allows, built without an engine."""

from __future__ import annotations

import random
from collections.abc import Callable

from toolglot.grammar.form import Alt, Chars, Lit, Members, Node, Ref, Rep, Rules, Seq, Token, Upto, Word

DEEPEST = 12
PLAIN = "abcXYZ 019_-.,:;!?/'éß漢😀"


class Sentences:
    """Draws texts of nodes; ``markers`` are what raw text is spiced with where it may hold them."""

    def __init__(self, rules: Rules, markers: tuple[str, ...], seed: int) -> None:
        self._rules = rules
        self._markers = markers
        self._random = random.Random(seed)

    def draw(self, node: Node, depth: int = 0) -> str:
        """A text of ``node``."""
        if isinstance(node, Lit):
            return node.text
        if isinstance(node, Chars):
            return self._char(node)
        if isinstance(node, Token):
            return self.draw(node.node, depth)
        if isinstance(node, Ref):
            return self.draw(self._rules.get(node), depth + 1)
        if isinstance(node, Seq):
            return "".join(self.draw(part, depth) for part in node.parts)
        if isinstance(node, Alt):
            # What recurses is listed last: deep down the first options end it.
            options = node.options if depth < DEEPEST else node.options[:1]
            return self.draw(self._random.choice(options), depth)
        if isinstance(node, Rep):
            most = node.least + 2 if node.most is None else node.most
            times = (
                node.least
                if depth >= DEEPEST
                else self._random.randint(node.least, min(most, node.least + 2))
            )
            return "".join(self.draw(node.node, depth) for _ in range(times))
        if isinstance(node, Upto):
            return self._until(lambda text: self._fits(node, text)) + node.stop
        if isinstance(node, Word):
            word = node
            return self._drawn(
                lambda: "".join(self._char(word.chars) for _ in range(self._random.randint(1, 6))),
                lambda text: text not in word.without,
            )
        return self._members(node, depth)

    def _members(self, node: Members, depth: int) -> str:
        chosen = [n for n in range(len(node.parts)) if n in node.required or self._random.random() < 0.5]
        if node.some and not chosen:
            chosen = [self._random.randrange(len(node.parts))]
        if len(node.parts) <= 6:
            self._random.shuffle(chosen)
        texts = [self.draw(node.parts[n], depth + 1) for n in chosen]
        if node.extra is not None and self._random.random() < 0.3:
            texts.append(self.draw(node.extra, depth + 1))
        return self.draw(node.separator).join(texts)

    def _char(self, chars: Chars) -> str:
        pool = [c for low, high in chars.ranges for c in (low, high)] if not chars.negated else [*PLAIN]
        return self._random.choice([char for char in pool if chars.holds(char)])

    def _fits(self, node: Upto, text: str) -> bool:
        return (text + node.stop).find(node.stop) == len(text) and not any(m in text for m in node.without)

    def _until(self, fits: Callable[[str], bool]) -> str:
        cut = [marker[:-1] for marker in self._markers]
        pieces = [*PLAIN, *'\n<>"}] ', *self._markers, *cut]

        def raw() -> str:
            return "".join(self._random.choice(pieces) for _ in range(self._random.randint(0, 6)))

        return self._drawn(raw, fits)

    def _drawn(self, draw: Callable[[], str], fits: Callable[[str], bool]) -> str:
        for _ in range(50):
            text = draw()
            if fits(text):
                return text
        return "x"
