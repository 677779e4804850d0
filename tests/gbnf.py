"""A reader of GBNF, as llama.cpp documents it, and a matcher that takes one character at a time.

Enough of the language for what toolglot writes, read strictly: an unknown escape, a rule that is not
there, or left recursion is an error. A state is a set of stacks, as in llama.cpp, so that a grammar
which it could not run for the number of its stacks shows here too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

_TOKEN = re.compile(
    r"""\s*(?:(?P<literal>"(?:[^"\\\n]|\\.)*")|(?P<chars>\[(?:[^\]\\\n]|\\.)*\])|(?P<name>[a-zA-Z][a-zA-Z0-9-]*)
    |(?P<times>\{[0-9]+(?:,[0-9]*)?\})|(?P<mark>[|()*+?]))""",
    re.VERBOSE,
)
_UNIT = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\[nrt\"\\\[\]]|[^\\]", re.DOTALL)
_NAMED = {"\\n": "\n", "\\r": "\r", "\\t": "\t"}
MOST_STACKS = 2000


@dataclass(frozen=True)
class One:
    """One character of the ranges, or of none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def takes(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) is not self.negated


Element = Union[One, str]
Rule = list[tuple[Element, ...]]
Stack = tuple[Element, ...]


def units(text: str) -> list[str]:
    """The characters that the inside of a literal or class stands for."""
    found: list[str] = []
    at = 0
    while at < len(text):
        match = _UNIT.match(text, at)
        if match is None:
            raise ValueError(f"bad escape in {text!r} at {at}")
        unit = match.group()
        at = match.end()
        if unit[0] == "\\" and unit[1] in "xuU":
            found.append(chr(int(unit[2:], 16)))
        else:
            found.append(_NAMED.get(unit, unit[-1]))
    return found


class Gbnf:
    """A grammar that was read; raises ``ValueError`` where it is none."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, Rule] = {}
        for line in text.splitlines():
            name, sign, body = line.partition(" ::= ")
            if not sign or name in self.rules or not re.fullmatch("[a-zA-Z][a-zA-Z0-9-]*", name):
                raise ValueError(f"no rule: {line!r}")
            self.rules[name] = []
            self._tokens = self._split(body)
            self._at = 0
            self.rules[name] = self._options()
            if self._at != len(self._tokens):
                raise ValueError(f"not read to its end: {line!r}")
        self._check()

    def accepts(self, text: str) -> bool:
        """Whether all of ``text`` is a sentence."""
        stacks = self._open({("root",)})
        for char in text:
            moved = {
                stack[1:] for stack in stacks if stack and isinstance(stack[0], One) and stack[0].takes(char)
            }
            stacks = self._open(moved)
            if len(stacks) > MOST_STACKS:
                raise ValueError("too many stacks")
            if not stacks:
                return False
        return () in stacks

    def _open(self, stacks: set[Stack]) -> set[Stack]:
        """The stacks with a character on top, or nothing left."""
        seen: set[Stack] = set()
        waiting = list(stacks)
        while waiting:
            stack = waiting.pop()
            if stack in seen:
                continue
            seen.add(stack)
            if stack and isinstance(stack[0], str):
                waiting += [(*option, *stack[1:]) for option in self.rules[stack[0]]]
        return {stack for stack in seen if not stack or isinstance(stack[0], One)}

    @staticmethod
    def _split(body: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        at = 0
        while at < len(body):
            match = _TOKEN.match(body, at)
            if match is None:
                raise ValueError(f"no token at {body[at : at + 30]!r}")
            kind = match.lastgroup or ""
            found.append((kind, match[kind]))
            at = match.end()
        return found

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("", "")

    def _options(self) -> Rule:
        options = [self._sequence()]
        while self._peek()[1] == "|" and self._peek()[0] == "mark":
            self._at += 1
            options.append(self._sequence())
        return options

    def _sequence(self) -> tuple[Element, ...]:
        found: list[Element] = []
        while self._peek()[0] and self._peek() not in {("mark", "|"), ("mark", ")")}:
            kind, text = self._peek()
            self._at += 1
            found += self._repeated(self._element(kind, text))
        return tuple(found)

    def _element(self, kind: str, text: str) -> tuple[Element, ...]:
        if kind == "literal":
            return tuple(One(((char, char),), False) for char in units(text[1:-1]))
        if kind == "chars":
            return (self._class(text[1:-1]),)
        if kind == "name":
            return (text,)
        if (kind, text) != ("mark", "("):
            raise ValueError(f"unexpected {text!r}")
        inner = self._options()
        if self._peek() != ("mark", ")"):
            raise ValueError("a bracket is not closed")
        self._at += 1
        return (self._new(inner),)

    @staticmethod
    def _class(text: str) -> One:
        negated = text.startswith("^")
        pieces = [match.group() for match in _UNIT.finditer(text[1:] if negated else text)]
        ranges: list[tuple[str, str]] = []
        while pieces:
            low = units(pieces.pop(0))[0]
            wide = len(pieces) > 1 and pieces[0] == "-"
            high = units(pieces[1])[0] if wide else low
            del pieces[: 2 if wide else 0]
            ranges.append((low, high))
        return One(tuple(ranges), negated)

    def _repeated(self, element: tuple[Element, ...]) -> tuple[Element, ...]:
        kind, text = self._peek()
        if kind != "times" and (kind, text) not in {("mark", "*"), ("mark", "+"), ("mark", "?")}:
            return element
        self._at += 1
        low, _, high = text.strip("{}").partition(",")
        least, most = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}.get(text, (0, 0))
        if kind == "times":
            least, most = int(low), int(high or -1) if "," in text else int(low)
        if most < 0:
            again = self._new([()])
            self.rules[again] = [(*element, again), ()]
            return (*element * least, again)
        rest: Rule = [()]
        for _ in range(most - least):
            rest = [(*element, *((self._new(rest),) if rest != [()] else ())), ()]
        return (*element * least, *((self._new(rest),) if rest != [()] else ()))

    def _new(self, options: Rule) -> str:
        name = f"{len(self.rules)}'"
        self.rules[name] = options
        return name

    def _check(self) -> None:
        """All names are there, and none leads back to itself before a character."""
        names = {e for rule in self.rules.values() for option in rule for e in option if isinstance(e, str)}
        if names - set(self.rules) or "root" not in self.rules:
            raise ValueError(f"no rules for {sorted(names - set(self.rules))}")
        empty: set[str] = set()
        while True:
            more = {n for n, rule in self.rules.items() if any(all(e in empty for e in o) for o in rule)}
            if more == empty:
                break
            empty = more
        edges = {name: self._first(rule, empty) for name, rule in self.rules.items()}
        for name in self.rules:
            seen: set[str] = set()
            waiting = set(edges[name])
            while waiting:
                seen |= waiting
                waiting = {next_ for n in waiting for next_ in edges[n]} - seen
            if name in seen:
                raise ValueError(f"left recursion through {name}")

    @staticmethod
    def _first(rule: Rule, empty: set[str]) -> set[str]:
        found: set[str] = set()
        for option in rule:
            for element in option:
                if isinstance(element, One):
                    break
                found.add(element)
                if element not in empty:
                    break
        return found
