"""Grammars against XGrammar, whose matcher reads character by character: EBNF and structural tags.

    python -m tests.engines [--dialect hermes] [--calls 20]

XGrammar is no dependency, since it brings torch along: ``make grammar-engines`` installs both. It has to take
what ``render`` writes, by the GBNF text (whose language its EBNF shares) and by the structural tag of a
free choice, and to refuse by both the changed messages of ``tests.grammars``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

import toolglot
from tests.bfcl import Question, questions
from tests.grammars import PROSE, SLUGS, mutants, sample, written
from toolglot import Message
from toolglot.grammar import grammar

NOT_INSTALLED = "xgrammar is not installed: pip install torch==2.13.0, then xgrammar"

Accepts = Callable[[Any, str], bool]


def engine() -> tuple[Any, Accepts]:
    """XGrammar's module, and whether one of its grammars takes a whole text."""
    try:
        module = importlib.import_module("xgrammar")
        testing = importlib.import_module("xgrammar.testing")
    except ImportError as error:
        raise SystemExit(f"{NOT_INSTALLED} ({error})") from None
    accepts: Accepts = testing._is_grammar_accept_string
    return module, accepts


def judge(slug: str, question: Question, module: Any, accepts: Accepts) -> list[str] | None:
    """What is judged wrongly of a question; None where the dialect cannot write it."""
    try:
        text = toolglot.render(Message(tool_calls=question.calls), slug, tools=question.tools)
    except toolglot.RenderError:
        return None
    required = grammar(slug, question.tools, choice="required", format="gbnf")
    free = grammar(slug, question.tools, format="gbnf")
    tag = grammar(slug, question.tools, format="structural-tag")
    lark = module.Grammar.from_ebnf(required.text)
    lazy = module.Grammar.from_ebnf(free.text)
    tags = module.Grammar.from_structural_tag(tag.text)
    faults: list[str] = []
    start = min((at for trigger in free.triggers if (at := text.find(trigger)) >= 0), default=-1)
    prose = "" if tag.at_start else PROSE
    for what, made, given in (
        ("required", lark, text),
        ("lazy", lazy, text[start:]),
        ("tags", tags, prose + text),
        ("prose", tags, PROSE),
    ):
        if not accepts(made, given):
            faults.append(f"{what} does not accept {given!r:.300}")
    for what, mutant in mutants(question):
        changed = written(mutant, slug)
        if changed is not None and changed != text and accepts(lark, changed):
            faults.append(f"accepted {what}: {changed!r:.300}")
    return faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per dialect, and what was judged wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description="Grammars against XGrammar.")
    parser.add_argument("--dialect", action="append", help="only this dialect")
    parser.add_argument("--calls", type=int, default=20, help="messages per dialect")
    options = parser.parse_args(arguments)
    module, accepts = engine()
    asked = sample(max(1, len(questions()) // options.calls - 1))[: options.calls]
    wrong = 0
    for slug in options.dialect or SLUGS:
        judged = [judge(slug, question, module, accepts) for question in asked]
        faults = [fault for found in judged if found for fault in found]
        wrong += len(faults)
        done = sum(found is not None for found in judged)
        print(f"{slug:20} {done:4} messages {len(faults):4} wrong", flush=True)
        for fault in faults[:2]:
            print(f"    ! {fault}")
    print(f"engines: xgrammar: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
