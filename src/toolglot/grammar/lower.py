"""Lower: the three nodes that are no plain context-free grammar, as plain rules.

Promises: the same texts, but for ``Members`` beyond ``ANY_ORDER`` parts, which come in the order given;
``Upto`` and ``Word`` become the states of an automaton, one rule each, that reads one character at a
time and never has to go back. All recursion is to the right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from .form import EMPTY, Alt, Chars, Lit, Members, Node, Ref, Rep, Rules, Seq, Token, Upto, Word, alt, seq

ANY_ORDER = 6
"""How many members may come in any order: their rules are as many as their subsets."""


def in_any_order(members: Members) -> bool:
    """Whether the members' order is free, and not the one given."""
    return len(members.parts) <= ANY_ORDER


def lower(node: Node, rules: Rules) -> Node:
    """``node`` as plain rules, which are added to ``rules``."""
    if isinstance(node, Upto):
        upto = node
        return rules.lowered(upto, lambda: _upto(upto, rules))
    if isinstance(node, Word):
        word = node
        return rules.lowered(word, lambda: _word(word, rules))
    if isinstance(node, Members):
        members = node
        return rules.lowered(members, lambda: _members(members, rules))
    return node


def _members(node: Members, rules: Rules) -> Node:
    """The members as rules: one for each set of those that are still to come."""
    parts = [rules.add(part) for part in node.parts]
    extra = None if node.extra is None else rules.add(node.extra)
    made: dict[tuple[int, ...], Ref] = {}

    def rest(left: tuple[int, ...]) -> Node:
        if not left and extra is None:
            return EMPTY
        if left not in made:
            made[left] = rules.reserve()
            rules.define(made[left], alt(steps(left, node.separator)))
        return made[left]

    def steps(left: tuple[int, ...], before: Node) -> list[Node]:
        found = [seq(before, parts[n], rest(after)) for n, after in _nexts(node, left)]
        if extra is not None:
            found.append(seq(before, extra, rest(left)))
        return found if node.required.intersection(left) else [*found, EMPTY]

    first = steps(tuple(range(len(parts))), EMPTY)
    return alt(option for option in first if option != EMPTY or not node.some)


def _nexts(node: Members, left: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """Which member may come next, and what is left after it."""
    if in_any_order(node):
        return [(n, tuple(m for m in left if m != n)) for n in left]
    found: list[tuple[int, tuple[int, ...]]] = []
    for at, n in enumerate(left):
        found.append((n, left[at + 1 :]))
        if n in node.required:
            break
    return found


def _upto(node: Upto, rules: Rules) -> Node:
    """An automaton over the markers: a state is the longest end of the text that may begin one of them."""
    states = _states(node.stop, node.without)
    made = {prefix: rules.reserve() for prefix in states}
    for prefix, steps in states.items():
        options: list[Node] = [
            Lit(step.text) if step.state is None else seq(Lit(step.text), made[step.state])
            for step in steps
            if step.text
        ]
        other = Chars(tuple((step.char, step.char) for step in steps), negated=True)
        rules.define(made[prefix], alt((*options, seq(other, made[""]))))
    return made[""]


class _Step(NamedTuple):
    """Where ``char`` leads: ``text`` is read, empty where nothing may; no ``state`` follows the stop."""

    char: str
    text: str
    state: str | None


@lru_cache(maxsize=64)
def _states(stop: str, without: tuple[str, ...]) -> Mapping[str, Sequence[_Step]]:
    """From each state the steps that do not lead back to the first; all tools of a dialect share them."""
    markers = (stop, *without)
    prefixes = {marker[:size] for marker in markers for size in range(len(marker))}
    alphabet = sorted({char for marker in markers for char in marker})
    states: dict[str, list[_Step]] = {}
    for prefix in sorted(prefixes, key=lambda prefix: (len(prefix), prefix)):
        states[prefix] = steps = []
        for char in alphabet:
            text = prefix + char
            begun = _begun(text, stop)
            found = [marker for marker in without if text.endswith(marker)]
            if begun == len(stop):
                steps.append(_Step(char, char, None))
            elif not found:
                state = next(text[at:] for at in range(len(text) + 1) if text[at:] in prefixes)
                if state:
                    steps.append(_Step(char, char, state))
            elif max(map(len, found)) <= begun:
                # The marker is a part of the stop, which then has to come.
                steps.append(_Step(char, char + stop[begun:], None))
            else:
                steps.append(_Step(char, "", None))
    return states


def _begun(text: str, stop: str) -> int:
    """How much of ``stop`` the end of ``text`` is."""
    return next(size for size in range(len(stop), -1, -1) if text.endswith(stop[:size]))


def _word(node: Word, rules: Rules) -> Node:
    """A tree of the words' characters, left at the first that belongs to none of them."""
    words = [word for word in node.without if word and all(map(node.chars.holds, word))]
    prefixes = {word[:size] for word in words for size in range(len(word) + 1)}
    if not words:
        return Rep(node.chars, 1)
    made = {prefix: rules.reserve() for prefix in sorted(prefixes, key=lambda p: (len(p), p))}
    for prefix, ref in made.items():
        following = sorted({p[-1] for p in prefixes if p and p[:-1] == prefix})
        options: list[Node] = [seq(Lit(char), made[prefix + char]) for char in following]
        options.append(seq(_except(node.chars, following), Rep(node.chars)))
        if prefix and prefix not in words:
            options.append(EMPTY)
        rules.define(ref, alt(options))
    return made[""]


def _except(chars: Chars, gone: Sequence[str]) -> Chars:
    """``chars`` without those of ``gone``."""
    if chars.negated:
        return Chars((*chars.ranges, *((char, char) for char in gone)), negated=True)
    ranges: list[tuple[str, str]] = []
    for low, high in chars.ranges:
        for char in gone:
            if low <= char <= high:
                if low < char:
                    ranges.append((low, chr(ord(char) - 1)))
                low = chr(ord(char) + 1)
        if low <= high:
            ranges.append((low, high))
    return Chars(tuple(ranges))


def plain(start: Node, rules: Rules) -> dict[str, Node]:
    """All rules that ``start`` leads to, lowered, under their names; ``root`` is the first."""
    done: dict[str, Node] = {}
    waiting: list[tuple[str, Node]] = [("root", start)]
    while waiting:
        name, node = waiting.pop()
        if name not in done:
            done[name] = _rewritten(node, rules)
            waiting += [(ref, rules.nodes[ref]) for ref in reversed(_references(done[name]))]
    return done


def _rewritten(node: Node, rules: Rules) -> Node:
    if isinstance(node, Seq):
        return seq(*(_rewritten(part, rules) for part in node.parts))
    if isinstance(node, Alt):
        return alt(_rewritten(option, rules) for option in node.options)
    if isinstance(node, Rep):
        return Rep(_rewritten(node.node, rules), node.least, node.most)
    if isinstance(node, (Upto, Word, Members)):
        return lower(node, rules)
    if isinstance(node, Token):
        return rules.add(_rewritten(node.node, rules))
    return node


def _references(node: Node) -> list[str]:
    if isinstance(node, Ref):
        return [node.name]
    if isinstance(node, Seq):
        return [name for part in node.parts for name in _references(part)]
    if isinstance(node, Alt):
        return [name for option in node.options for name in _references(option)]
    return _references(node.node) if isinstance(node, (Rep, Token)) else []
