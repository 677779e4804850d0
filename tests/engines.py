"""Grammars against the engines that no suite can depend on: XGrammar and llama.cpp.

    python -m tests.engines [--engine xgrammar|llama.cpp] [--dialect hermes] [--calls 200]

XGrammar brings torch along and llama.cpp is compiled: ``make grammar-engines`` installs both. Each takes what
``render`` writes, by the grammar of a required call and by that of a free choice with prose in front: a
structural tag for XGrammar, for llama.cpp GBNF that it applies from a trigger on. Each refuses the changed
messages of ``tests.grammars``. Exit status 1 where one judges otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import toolglot
from tests.bfcl import Question, questions
from tests.grammars import PROSE, SLUGS, mutants, sample, written
from toolglot import Message
from toolglot.grammar import Format, Grammar, grammar

Accepts = Callable[[str], bool]

MOST_TOOLS = 8
"""Of the tools of a question; some offer forty, which makes each run four times as long."""


class Engine(Protocol):
    """What reads grammars. ``free``: the format in which it takes a choice between text and calls."""

    name: str
    free: Format

    def compiled(self, made: Grammar) -> Accepts:
        """Whether a whole text is one of the grammar; raises ``ValueError`` where the engine refuses it."""
        ...


class XGrammar:
    """Reads character by character, without a vocabulary."""

    name = "xgrammar"
    free: Format = "structural-tag"

    def __init__(self) -> None:
        try:
            self._module: Any = importlib.import_module("xgrammar")
        except ImportError as error:
            says = f"xgrammar is not installed: pip install torch==2.13.0, then xgrammar ({error})"
            raise SystemExit(says) from None
        # Without a cache: hardly any two questions have the same tools.
        self._compiler = self._module.GrammarCompiler(self._module.TokenizerInfo([]), cache_enabled=False)

    def compiled(self, made: Grammar) -> Accepts:
        """The matcher of a GBNF text, whose language its EBNF shares, or of a structural tag."""
        module = self._module
        try:
            read = module.Grammar.from_ebnf if made.format == "gbnf" else module.Grammar.from_structural_tag
            form = self._compiler.compile_grammar(read(made.text))
        except RuntimeError as error:
            raise ValueError(str(error)) from error
        matcher = module.GrammarMatcher(form, terminate_without_stop_token=True)

        def accepts(text: str) -> bool:
            matcher.reset()
            return bool(matcher.accept_string(text)) and bool(matcher.is_terminated())

        return accepts


@dataclass
class Result:
    """What became of the messages in one dialect."""

    accepted: int = 0
    refused: int = 0
    unwritten: int = 0
    wrong: list[str] = field(default_factory=list)


def judge(slug: str, asked: Sequence[Question], judges: Sequence[Engine]) -> list[Result]:
    """Accept what ``render`` writes of each message, and refuse its mutants: a result for each engine."""
    results = [Result() for _ in judges]
    for question in map(fewer, asked):
        try:
            text = toolglot.render(Message(tool_calls=question.calls), slug, tools=question.tools)
        except toolglot.RenderError:
            for result in results:
                result.unwritten += 1
            continue
        required = grammar(slug, question.tools, choice="required", format="gbnf")
        changed = [(what, written(mutant, slug)) for what, mutant in mutants(question)]
        others = [(what, other) for what, other in changed if other is not None and other != text]
        for engine, result in zip(judges, results, strict=True):
            choice = grammar(slug, question.tools, format=engine.free)
            try:
                found = [
                    f"{question.id}: {fault}" for fault in faults(engine, required, choice, text, others)
                ]
            except ValueError as error:
                found = [f"{question.id}: {error}"[:400]]
            result.wrong += found
            result.accepted += not found
            result.refused += 0 if found else len(others)
    return results


def fewer(question: Question) -> Question:
    """The question with no more than ``MOST_TOOLS`` tools, those that are called first."""
    called = [call.name for call in question.calls]
    names = [*called, *(name for name in question.tools if name not in called)]
    kept = set(names[: max(MOST_TOOLS, len(called))])
    tools = {name: schema for name, schema in question.tools.items() if name in kept}
    return replace(question, tools=tools)


def faults(
    engine: Engine, required: Grammar, choice: Grammar, text: str, others: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """What an engine judges wrongly; raises ``ValueError`` where it cannot read a grammar."""
    takes, free = engine.compiled(required), engine.compiled(choice)
    prose = "" if choice.at_start else PROSE
    for what, accepts, given in (
        ("required", takes, text),
        ("free", free, prose + text),
        ("prose", free, PROSE),
    ):
        if not accepts(given):
            yield f"{what} does not accept {given!r:.300}"
    for what, other in others:
        if takes(other):
            yield f"accepted {what}: {other!r:.300}"


def engines(names: Sequence[str]) -> list[Engine]:
    """The engines of those names, which have to be installed."""
    found: list[Engine] = []
    if "xgrammar" in names:
        found.append(XGrammar())
    if "llama.cpp" in names:
        from tests.llamacpp import LlamaCpp

        found.append(LlamaCpp())
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per engine and dialect, and what was judged wrongly."""
    names = ("xgrammar", "llama.cpp")
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description="Grammars against engines.")
    parser.add_argument("--engine", action="append", choices=names, help="only this engine")
    parser.add_argument("--dialect", action="append", help="only this dialect")
    parser.add_argument("--calls", type=int, default=200, help="messages per dialect")
    options = parser.parse_args(arguments)
    asked = sample(max(1, len(questions()) // options.calls - 1))[: options.calls]
    judges = engines(options.engine or names)
    totals = [Result() for _ in judges]
    for slug in options.dialect or SLUGS:
        for engine, result, total in zip(judges, judge(slug, asked, judges), totals, strict=True):
            print(
                f"{engine.name:9} {slug:20} {result.accepted:4} accepted {result.refused:4} changed refused "
                f"{result.unwritten:4} cannot be written {len(result.wrong):4} wrong",
                flush=True,
            )
            for fault in result.wrong[:2]:
                print(f"    ! {fault}")
            total.accepted += result.accepted
            total.refused += result.refused
            total.wrong += result.wrong
    for engine, total in zip(judges, totals, strict=True):
        print(
            f"engines: {engine.name}: {total.accepted} accepted; {total.refused} refused; "
            f"{len(total.wrong)} wrong"
        )
    return 1 if any(total.wrong for total in totals) else 0


if __name__ == "__main__":
    sys.exit(main())
