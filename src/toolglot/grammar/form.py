"""The intermediate form of a grammar: what every engine's grammar language has in some spelling.

Promises: frozen nodes that compare by value, so that equal parts become one rule; a sequence holds no
two literals in a row and no sequence, so that what a text begins with can be read off it. Three nodes are
no plain context-free grammar, because engines differ in what they have for them: ``Upto`` (text up to a
marker), ``Word`` (a word that is none of some words) and ``Members`` (parts in any order).

Does not: know dialects, schemas or engines. ``lower`` turns the three into plain rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Union

Node = Union["Lit", "Seq", "Alt", "Rep", "Chars", "Token", "Ref", "Upto", "Word", "Members"]


@dataclass(frozen=True)
class Lit:
    """Exactly this text."""

    text: str


@dataclass(frozen=True)
class Seq:
    """One part after the other; made by ``seq``."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alt:
    """One of the options; made by ``alt``."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Rep:
    """``node`` at least ``least`` times and at most ``most`` times (None: without bound)."""

    node: Node
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Chars:
    """One character of the ranges, or with ``negated`` one of no range."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def holds(self, char: str) -> bool:
        """Whether ``char`` is one of them."""
        return any(low <= char <= high for low, high in self.ranges) is not self.negated


@dataclass(frozen=True)
class Token:
    """A part without references that an engine may read in one go."""

    node: Node


@dataclass(frozen=True)
class Ref:
    """The rule of that name."""

    name: str


@dataclass(frozen=True)
class Upto:
    """Any text up to the first ``stop``, and it; none of ``without`` may stand in the text before."""

    stop: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Word:
    """One or more of ``chars``, but none of the words ``without``."""

    chars: Chars
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Members:
    """Each of ``parts`` at most once, and the ``required`` ones (by index) exactly once.

    Up to a cap (``lower.ANY_ORDER``) they come in any order, beyond it in the order given. ``extra`` may
    come any number of times between them. ``separator`` stands between each two. ``some``: there is at least
    one.
    """

    parts: tuple[Node, ...]
    required: frozenset[int]
    separator: Node
    extra: Node | None = None
    some: bool = False


EMPTY = Seq(())
"""The empty text."""

NEVER = Alt(())
"""No text at all; a sequence with it is one, and an option of it is none."""


def seq(*parts: Node) -> Node:
    """The parts one after the other, with neighbouring literals joined."""
    flat: list[Node] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Seq) else (part,):
            last = flat[-1] if flat else None
            if piece == NEVER:
                return NEVER
            if isinstance(piece, Lit) and not piece.text:
                continue
            if isinstance(piece, Lit) and isinstance(last, Lit):
                flat[-1] = Lit(last.text + piece.text)
            else:
                flat.append(piece)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(options: Iterable[Node]) -> Node:
    """One of the options, each once; ``NEVER`` where there is none."""
    flat: dict[Node, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Alt) else (option,)))
    return next(iter(flat)) if len(flat) == 1 else Alt(tuple(flat))


def listed(node: Node, separator: Node, least: int = 0, most: int | None = None) -> Node:
    """``node`` as often as the bounds say, with ``separator`` between each two."""
    if most == 0:
        return EMPTY
    more = Rep(seq(separator, node), max(least - 1, 0), None if most is None else most - 1)
    some = seq(node, more) if most != 1 else node
    return Rep(some, 0, 1) if least == 0 else some


def one_of(chars: str, negated: bool = False) -> Chars:
    """One of the characters of ``chars``, of which ``a-z`` as in patterns are ranges."""
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(chars):
        wide = chars[at + 1 : at + 2] == "-" and at + 2 < len(chars)
        ranges.append((chars[at], chars[at + 2] if wide else chars[at]))
        at += 3 if wide else 1
    return Chars(tuple(ranges), negated)


class Rules:
    """Named rules; equal nodes share one, and a name can be had before its node, for recursion."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._known: dict[Node, Ref] = {}
        self._lowered: dict[Node, Node] = {}

    def add(self, node: Node) -> Ref:
        """The rule for ``node``."""
        if isinstance(node, Ref):
            return node
        if node not in self._known:
            self._known[node] = self.reserve()
            self.nodes[self._known[node].name] = node
        return self._known[node]

    def reserve(self) -> Ref:
        """A rule whose node is set later by ``define``."""
        name = f"r{len(self.nodes)}"
        self.nodes[name] = EMPTY
        return Ref(name)

    def lowered(self, node: Node, make: Callable[[], Node]) -> Node:
        """What ``make`` makes of ``node``, made once."""
        if node not in self._lowered:
            made = make()
            self._lowered[node] = made if isinstance(made, (Lit, Ref)) or made == EMPTY else self.add(made)
        return self._lowered[node]

    def define(self, ref: Ref, node: Node) -> None:
        """Give a reserved rule its node."""
        self.nodes[ref.name] = node

    def get(self, ref: Ref) -> Node:
        """The node behind a reference."""
        return self.nodes[ref.name]

    def members(self) -> Iterator[Members]:
        """All ``Members`` that stand in the rules."""
        waiting = list(self.nodes.values())
        while waiting:
            node = waiting.pop()
            if isinstance(node, Members):
                yield node
                waiting += node.parts
            elif isinstance(node, Seq):
                waiting += node.parts
            elif isinstance(node, Alt):
                waiting += node.options
            elif isinstance(node, (Rep, Token)):
                waiting.append(node.node)


def starts(node: Node, rules: Rules) -> list[tuple[str, Node]]:
    """Each literal that a text of ``node`` may begin with, as long as can be told, and what follows it."""
    if isinstance(node, Lit):
        return [(node.text, EMPTY)]
    if isinstance(node, Ref):
        return starts(rules.get(node), rules)
    if isinstance(node, Alt):
        return [start for option in node.options for start in starts(option, rules)]
    if isinstance(node, Seq) and node.parts:
        after = seq(*node.parts[1:])
        found: list[tuple[str, Node]] = []
        for text, rest in starts(node.parts[0], rules):
            if rest != EMPTY or not text or after == EMPTY:
                found.append((text, seq(rest, after)))
            else:
                found += [(text + more, behind) for more, behind in starts(after, rules)]
        return found
    return [("", node)]


def prefixed(text: str, node: Node, rules: Rules) -> Node:
    """``node`` behind ``text``, which becomes part of each literal that ``node`` may begin with.

    An engine that reads literals in one go cannot go back: where one is the beginning of another, the two
    have to be told apart inside of literals.
    """
    return alt(seq(Lit(text + start), rest) for start, rest in starts(node, rules))
