"""Lark: the dialect of Lark's grammar language that llguidance reads.

Promises: rules in lower case, and as terminals in upper case what has no references: strings, numbers,
words and text up to a marker, of which llguidance then reads each in one go. Text up to a marker is a lazy
terminal. Where a text may hold no calls, free text is part of the grammar, since llguidance has no triggers.

Source: llguidance ``docs/syntax.md`` (terminals and rules, lazy lexemes, ``&`` and ``~``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from .answer import Answer
from .form import EMPTY, Alt, Chars, Lit, Members, Node, Ref, Rep, Rules, Seq, Token, Upto, Word, alt, seq
from .lower import lower

_ANY: Final = "/(?s:.*)/"
_SPECIAL: Final = re.compile(r"<[^<>\s\[\]]+>")
_CLASS_ESCAPED: Final = "\\]^-[/&~"


def write_lark(answer: Answer, free: bool, special: Sequence[str] = ()) -> str:
    """The text of the grammar; with ``free`` any text may stand before, between and after the calls.

    ``special``: markers that are special tokens; raises ``ValueError`` for one that Lark has no way to name.
    """
    for marker in special:
        if not _SPECIAL.fullmatch(marker):
            raise ValueError(f"llguidance names special tokens as <…>, so it cannot name {marker!r}")
    writer = _Writer(answer.rules, special)
    writer.rule("start", _start(answer, writer) if free else writer.node(answer.calls))
    return writer.text()


def _start(answer: Answer, writer: _Writer) -> str:
    """Free text up to a trigger, what has to follow it, and free text again."""
    triggers = " | ".join(map(_literal, answer.triggers))
    if answer.at_start:
        free = writer.terminal(f"~(({triggers}) {_ANY}) & {_ANY}")
        calls = alt(seq(Lit(region.trigger), region.rest) for region in answer.regions)
        return f"{writer.node(calls)} | {free}"
    tail = writer.terminal(f"~({_ANY} ({triggers}) {_ANY}) & {_ANY}")
    options = []
    for trigger in answer.triggers:
        head = writer.upto(_ANY, trigger)
        rest = alt(region.rest for region in answer.regions if region.trigger == trigger)
        options.append(f"{head} ({writer.node(rest)})" if rest != EMPTY else head)
    return f"({' | '.join(options)}){'*' if answer.several else '?'} {tail}"


class _Writer:
    """Collects rules and terminals as they are first needed."""

    def __init__(self, rules: Rules, special: Sequence[str]) -> None:
        self._rules = rules
        self._special = tuple(sorted(special, key=len, reverse=True))
        self._lines: dict[str, str] = {}
        self._terminals: dict[str, str] = {}
        self._lazy: dict[str, str] = {}

    def text(self) -> str:
        """The grammar."""
        heads = [f"{name}: {body}" for name, body in self._lines.items()]
        lazy = [f"{name}[lazy]: {terminal}" for terminal, name in self._lazy.items()]
        return "\n".join([*heads, *lazy, *(f"{name}: {b}" for b, name in self._terminals.items())]) + "\n"

    def rule(self, name: str, body: str) -> None:
        """A rule by name, before those it leads to."""
        self._lines = {name: body, **self._lines}

    def terminal(self, body: str) -> str:
        """The terminal of that text."""
        return self._terminals.setdefault(body, f"T{len(self._terminals)}")

    def lazy(self, body: str) -> str:
        """The rule that reads as few characters as that terminal needs."""
        return self._lazy.setdefault(self.terminal(body), f"lazy{len(self._lazy)}")

    def upto(self, before: str, stop: str) -> str:
        """Text of ``before`` and the first ``stop``; no text holds a special token, so that one ends it."""
        token = next((marker for marker in self._special if stop.startswith(marker)), None)
        if token is None:
            return self.lazy(f"{before} {_literal(stop)}")
        return f"{self.terminal(before)} {self.literal(stop)}"

    def literal(self, text: str) -> str:
        """A literal in a rule, with special tokens by their names."""
        for marker in self._special:
            before, found, after = text.partition(marker)
            if found:
                return " ".join(
                    filter(None, (before and self.literal(before), marker, after and self.literal(after)))
                )
        return _literal(text)

    def node(self, node: Node) -> str:
        """A node in a rule."""
        if isinstance(node, Lit):
            return self.literal(node.text)
        if isinstance(node, Upto):
            return self.upto(_before(node), node.stop)
        if isinstance(node, (Token, Word)):
            return self.terminal(_regular(node))
        if isinstance(node, Members):
            return self.node(lower(node, self._rules))
        if isinstance(node, Ref):
            if node.name not in self._lines:
                self._lines[node.name] = ""
                self._lines[node.name] = self.node(self._rules.get(node))
            return node.name
        if isinstance(node, Seq):
            return " ".join(self._grouped(part) for part in node.parts) or '""'
        if isinstance(node, Alt):
            return " | ".join(self.node(option) for option in node.options)
        if isinstance(node, Rep):
            return self._grouped(node.node, True) + _times(node)
        return _regular(node)

    def _grouped(self, node: Node, repeated: bool = False) -> str:
        loose = isinstance(node, Alt) or (repeated and isinstance(node, (Seq, Rep)))
        return f"({self.node(node)})" if loose else self.node(node)


def _before(node: Upto) -> str:
    inside = " | ".join(map(_literal, (node.stop, *node.without)))
    return f"(~({_ANY} ({inside}) {_ANY}) & {_ANY})"


def _regular(node: Node) -> str:
    """A node without references, as part of a terminal."""
    if isinstance(node, Lit):
        return _literal(node.text)
    if isinstance(node, Chars):
        return _class(node)
    if isinstance(node, Token):
        return _regular(node.node)
    if isinstance(node, Word):
        word = f"{_class(node.chars)[:-1]}+/"
        others = " | ".join(_literal(text) for text in node.without if text)
        return f"(~({others}) & {word})" if others else word
    if isinstance(node, Seq):
        return " ".join(_bracketed(part) for part in node.parts) or '""'
    if isinstance(node, Alt):
        return " | ".join(_regular(option) for option in node.options)
    assert isinstance(node, Rep), "terminals hold neither references nor text up to a marker"
    return _bracketed(node.node) + _times(node)


def _bracketed(node: Node) -> str:
    return f"({_regular(node)})" if isinstance(node, (Alt, Seq, Rep)) else _regular(node)


def _times(node: Rep) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.least, node.most))
    return short or f"{{{node.least},{'' if node.most is None else node.most}}}"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _class(chars: Chars) -> str:
    ranges = (_char(low) + ("" if low == high else "-" + _char(high)) for low, high in chars.ranges)
    return "/[" + ("^" if chars.negated else "") + "".join(ranges) + "]/"


def _char(char: str) -> str:
    if char in _CLASS_ESCAPED:
        return "\\" + char
    return char if " " <= char != "\x7f" else f"\\x{ord(char):02x}"
