"""Grammars against a real engine: what ``render`` writes is in, what is not a call of the tools is out.

    python -m tests.grammars [--dialect hermes] [--calls 200] [--format lark|gbnf] [--show]

For messages of BFCL's ground truth (``tests.bfcl``) that are not against their own schema and that a
dialect can write: the grammar of a required call has to take the whole text, and so has the one of a free
choice with prose in front. Three changes have to be refused: another name, a required argument left out, a
value of another type. llguidance's matcher judges Lark, and GBNF as llguidance's own converter reads it.
Exit status 1 where one of them is judged otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import llguidance
from llguidance.gbnf_to_lark import any_to_lark

import toolglot
from tests.bfcl import JSON_TYPES, NO_CALLS, Question, against_schema, questions
from toolglot import Message, ToolCall
from toolglot.grammar import Format, grammar

SLUGS = [slug for slug in toolglot.BUNDLED if slug not in NO_CALLS]
LIMITS = llguidance.LLParserLimits(initial_lexer_fuel=50_000_000, step_lexer_fuel=5_000_000)
PROSE = "Let me look.\n"


class _Bytes:
    """A tokenizer whose tokens are the bytes, one for the end of the text, and special ones from 257 on."""

    def __init__(self, *special: bytes) -> None:
        self.eos_token_id = 256
        self.bos_token_id = None
        self.tokens = [*(bytes([number]) for number in range(256)), b"<the end>", *special]
        self.special_token_ids = [*range(256, len(self.tokens))]

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text if isinstance(text, bytes) else text.encode())


@cache
def tokenizer() -> llguidance.LLTokenizer:
    """Reads a text as its bytes."""
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))


def with_special(*special: bytes) -> llguidance.LLTokenizer:
    """As ``tokenizer``, with special tokens beside the bytes."""
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes(*special)))


def compiled(
    text: str, language: Format, reader: llguidance.LLTokenizer | None = None
) -> llguidance.LLMatcher:
    """The matcher of a grammar; raises ``ValueError`` where the engine refuses it."""
    lark = any_to_lark(text) if language == "gbnf" else text
    text = llguidance.LLMatcher.grammar_from_lark(lark)
    made = llguidance.LLMatcher(reader or tokenizer(), text, limits=LIMITS)
    if made.is_error():
        raise ValueError(made.get_error())
    return made


def accepts(matcher: llguidance.LLMatcher, text: str) -> int:
    """How many bytes of ``text`` can be read; -1 where all can, and the text may end there."""
    matcher.reset()
    data = list(text.encode())
    taken = matcher.try_consume_tokens(data)
    if taken < len(data):
        return taken
    return -1 if matcher.is_accepting() else taken


@dataclass
class Result:
    """What became of the messages in one dialect."""

    slug: str
    accepted: int = 0
    refused: int = 0
    unwritten: int = 0
    wrong: list[str] = field(default_factory=list)


def sample(every: int, start: int = 0) -> list[Question]:
    """Questions whose values are of their declared types and whose required arguments are there."""
    return [question for question in questions()[start::every] if fits(question)]


def fits(question: Question) -> bool:
    """Whether the calls hold to what their tools declare; the data have some that do not."""
    return not against_schema(question) and all(
        holds(dict(call.arguments), {**question.tools[call.name], "type": "dict"}) for call in question.calls
    )


def holds(value: Any, schema: Any) -> bool:
    """Whether ``value`` is of ``schema``, whose types have the data's own names."""
    if not isinstance(schema, dict):
        return True
    kind = schema.get("type", "any").lower()
    if kind in known_types() and kind not in JSON_TYPES[type(value)]:
        return False
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return False
    if isinstance(value, list):
        return all(holds(item, schema.get("items")) for item in value)
    if isinstance(value, dict) and "properties" in schema:
        declared = schema["properties"]
        if set(value) - set(declared) or set(schema.get("required", ())) - set(value):
            return False
        return all(holds(item, declared[key]) for key, item in value.items())
    return True


@cache
def known_types() -> frozenset[str]:
    """The names of types that the data use."""
    return frozenset(name for names in JSON_TYPES.values() for name in names)


def mutants(question: Question) -> Iterator[tuple[str, Message]]:
    """Messages that are no calls of the tools: what is wrong, and the message."""
    call, *others = question.calls
    schema = question.tools[call.name]
    yield "name", Message(tool_calls=(ToolCall(call.name + "_x", call.arguments), *others))
    for name in schema.get("required", ()):
        fewer = {key: value for key, value in call.arguments.items() if key != name}
        yield f"without {name}", Message(tool_calls=(ToolCall(call.name, fewer), *others))
        break
    for name, value in call.arguments.items():
        declared = schema["properties"].get(name, {}).get("type")
        if declared in {"integer", "boolean", "array", "dict"}:
            other: Any = "no such value"
            wrong = {**call.arguments, name: other}
            yield (
                f"{name} as {type(value).__name__}",
                Message(tool_calls=(ToolCall(call.name, wrong), *others)),
            )
            break


def written(message: Message, slug: str) -> str | None:
    """The message's text, without a look at the tools; None where the dialect cannot carry it."""
    try:
        return toolglot.render(message, slug)
    except toolglot.RenderError:
        return None


def judge(slug: str, asked: Sequence[Question], language: Format) -> Result:
    """Accept what ``render`` writes of each message, and refuse its mutants."""
    result = Result(slug)
    for question in asked:
        message = Message(tool_calls=question.calls)
        try:
            text = toolglot.render(message, slug, tools=question.tools)
        except toolglot.RenderError:
            result.unwritten += 1
            continue
        try:
            _judge_one(result, question, text, language)
        except (ValueError, toolglot.ToolglotError) as error:
            result.wrong.append(f"{question.id}: {type(error).__name__}: {error}"[:400])
    return result


def _judge_one(result: Result, question: Question, text: str, language: Format) -> None:
    required = compiled(
        grammar(result.slug, question.tools, choice="required", format=language).text, language
    )
    taken = accepts(required, text)
    if taken != -1:
        data = text.encode()
        at = f"{data[max(0, taken - 40) : taken].decode(errors='replace')!r} | {data[taken : taken + 30]!r}"
        result.wrong.append(f"{question.id}: not accepted at {at}")
        return
    if language == "lark":
        free = compiled(grammar(result.slug, question.tools).text, language)
        if accepts(free, text) != -1 or accepts(free, PROSE) != -1:
            result.wrong.append(f"{question.id}: not accepted as a choice: {text!r:.200}")
            return
    result.accepted += 1
    for what, mutant in mutants(question):
        changed = written(mutant, result.slug)
        if changed is None or changed == text:
            continue
        if accepts(required, changed) == -1:
            result.wrong.append(f"{question.id}: accepted {what}: {changed!r:.300}")
        else:
            result.refused += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line per dialect, and what was judged wrongly."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.grammars", description="Grammars against llguidance."
    )
    parser.add_argument("--dialect", action="append", help="only this dialect")
    parser.add_argument("--calls", type=int, default=200, help="messages per dialect")
    parser.add_argument("--format", choices=("lark", "gbnf"), default="lark")
    parser.add_argument("--show", action="store_true", help="each fault")
    options = parser.parse_args(arguments)
    asked = sample(max(1, len(questions()) // options.calls - 1))[: options.calls]
    totals: Counter[str] = Counter()
    for slug in options.dialect or SLUGS:
        result = judge(slug, asked, options.format)
        totals.update(accepted=result.accepted, refused=result.refused, wrong=len(result.wrong))
        print(
            f"{slug:20} {result.accepted:4} accepted {result.refused:4} changed ones refused "
            f"{result.unwritten:4} cannot be written {len(result.wrong):4} wrong",
            flush=True,
        )
        for fault in result.wrong[: None if options.show else 2]:
            print(f"    ! {fault}")
    print(f"grammars: {totals['accepted']} accepted; {totals['refused']} refused; {totals['wrong']} wrong")
    return 1 if totals["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
