"""A real model, held to our grammars: whatever it writes, is it a call that the parser reads?

    python -m tests.realmodel [--dialect hermes] [--questions 10] [--show]

Gemma 3 of 270 million weights answers ten questions in each of three formats, whose bodies are JSON, tagged
parameters and braces. It was never trained on any of them, so what it knows of a format is the prompt:
without the grammar hardly an answer would be a call. The file of its weights has no chat template, so for
each format a copy is made with that family's own (``../shared/templates``) in its metadata, by the gguf
package; ``toolglot.derive`` reads it back from there and renders the prompt, and the grammar is the one of a
required call. llama.cpp runs the model and the grammar: always the likeliest token that the grammar allows.

Each answer has to end by itself, come back without a defect, whole and token by token, and be calls of
offered tools with arguments that are valid by the tools' schemas. Exit status 1 where one is not.
"""

from __future__ import annotations

import argparse
import codecs
import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import toolglot
from tests.llamacpp import CANDIDATES, Sampler, Vocabulary, model_file, module, sampler
from tests.places import NO_SHARED, shared_folder
from tests.realquestions import EXAMPLE, QUESTIONS, Asked, tools_of
from toolglot.derive import Failure, Worker, for_tools, read_templates, settings_for
from toolglot.errors import DerivationError
from toolglot.grammar import grammar

TEMPLATES = {
    "hermes": "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use.jinja",
    "qwen3_coder": "Qwen3-Coder.jinja",
    "gemma4": "google-gemma-4-31B-it.jinja",
}
CONTEXT = 3072
LONGEST = 192
"""Tokens of an answer. An answer that is longer was not ended by the grammar, and counts as a fault."""


class Model:
    """A model with its weights, and the likeliest text that a grammar allows."""

    def __init__(self, file: Path) -> None:
        self._numpy = importlib.import_module("numpy")
        self._llama = module()
        self._model = self._llama.Llama(str(file), n_ctx=CONTEXT, n_batch=512, verbose=False)
        self._vocabulary = Vocabulary(self._llama, self._model.model)

    def answers(self, prompt: str, made: Any) -> Iterator[bytes]:
        """The tokens of an answer, at most ``LONGEST``, and an empty one where it ended by itself."""
        vocabulary, state = self._vocabulary, sampler(self._llama, self._vocabulary, made)
        self._model.reset()
        self._model.eval(vocabulary.tokens(prompt, special=True))
        for _ in range(LONGEST):
            token = self._next(state)
            if vocabulary.ends(token):
                yield b""
                return
            state.accept(token)
            yield vocabulary.piece(token)
            self._model.eval([token])

    def _next(self, state: Sampler) -> int:
        """The likeliest token that the grammar allows."""
        pointer = self._llama.llama_get_logits_ith(self._model.ctx, -1)
        logits = self._numpy.ctypeslib.as_array(pointer, shape=(self._model.n_vocab(),))
        for most in (*CANDIDATES, len(logits)):
            likeliest = self._numpy.argpartition(-logits, most - 1)[:most]
            ordered = likeliest[self._numpy.argsort(-logits[likeliest])]
            token = state.first(ordered.tolist())
            if token is not None:
                return token
        raise AssertionError("the grammar allows no token at all")


def templates() -> Path:
    """The families' chat templates, which write the prompts."""
    shared = shared_folder()
    if shared is None:
        raise SystemExit(NO_SHARED)
    return shared / "templates"


def with_template(slug: str, folder: Path) -> Path:
    """A copy of the model's file with the family's chat template in its metadata."""
    made = folder / f"{slug}.gguf"
    template = (templates() / TEMPLATES[slug]).read_text(encoding="utf-8")
    tool = [sys.executable, "-m", "gguf.scripts.gguf_new_metadata", "--chat-template", template]
    subprocess.run([*tool, str(model_file()), str(made)], check=True, capture_output=True)
    return made


def prompt_of(file: Path, worker: Worker, asked: Asked) -> str:
    """The prompt of a question, behind one that is answered: by the template in the file."""
    source = for_tools(read_templates(file))
    variables = {
        **source.tokens,
        "messages": [*EXAMPLE.messages(), *asked.messages()[:1]],
        "tools": tools_of(EXAMPLE, asked),
        "add_generation_prompt": True,
    }
    outcome = worker.render(source.text, variables, settings_for(source.text))
    if isinstance(outcome, Failure):
        raise SystemExit(f"{file}: {outcome}")
    return outcome.text


def faults(
    text: str, ended: bool, pieces: Sequence[bytes], asked: Asked, slug: str, prompt: str
) -> list[str]:
    """What is wrong with an answer."""
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools_of(EXAMPLE, asked)}
    tail = prompt[-2000:]
    stop = "stop" if ended else "length"
    message = toolglot.parse(text, slug, tools=schemas, prompt_tail=tail, finish_reason=stop)
    found = [] if ended else [f"not ended after {LONGEST} tokens"]
    found += [f"{defect.kind.value}: {defect.detail}" for defect in message.defects]
    found += [] if message.tool_calls else ["no call"]
    found += [f"content {message.content!r}"] if message.content else []
    for call in message.tool_calls:
        if call.name not in schemas:
            found.append(f"{call.name} was not offered")
            continue
        checked = importlib.import_module("jsonschema").Draft202012Validator(schemas[call.name])
        found += [f"{call.name}: {error.message}" for error in checked.iter_errors(dict(call.arguments))]
    if streamed(pieces, slug, schemas, tail, stop).tool_calls != message.tool_calls:
        found.append("token by token it is another message")
    return found


def streamed(
    pieces: Sequence[bytes], slug: str, schemas: dict[str, Any], tail: str, stop: str
) -> toolglot.Message:
    """The message of an answer that comes token by token."""
    parser = toolglot.Parser(slug, tools=schemas, prompt_tail=tail)
    decoder = codecs.getincrementaldecoder("utf-8")()
    events = [event for piece in pieces for event in parser.feed(decoder.decode(piece))]
    return toolglot.assemble([*events, *parser.close(finish_reason=stop)])


def judge(slug: str, file: Path, questions: Sequence[Asked], show: bool) -> int:
    """How many answers have a fault; prints a line for each of them, and one for the dialect."""
    model, wrong, written = Model(file), 0, 0
    with Worker() as worker:
        for asked in questions:
            prompt = prompt_of(file, worker, asked)
            made = grammar(slug, tools_of(EXAMPLE, asked), choice="required", parallel=False, format="gbnf")
            pieces = list(model.answers(prompt, made))
            ended = pieces[-1:] == [b""]
            text = b"".join(pieces).decode(errors="replace")
            written += len(pieces) - ended
            found = faults(text, ended, pieces, asked, slug, prompt)
            wrong += bool(found)
            if found or show:
                print(f"    {'!' if found else '.'} {asked.question} {text!r} {'; '.join(found)}", flush=True)
    print(
        f"{slug:12} {len(questions):3} answers of {written} tokens: {len(questions) - wrong} without a fault",
        flush=True,
    )
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the model's file has of a template, and a line per dialect."""
    parser = argparse.ArgumentParser(prog="python -m tests.realmodel", description="A real model.")
    parser.add_argument("--dialect", action="append", choices=sorted(TEMPLATES), help="only this dialect")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="how many of the ten")
    parser.add_argument("--show", action="store_true", help="each answer")
    options = parser.parse_args(arguments)
    templates()
    try:
        print(f"the model's own template: {for_tools(read_templates(model_file())).sha256}")
    except DerivationError as error:
        print(f"the model's own template: none ({json.dumps(str(error).partition(': ')[2])})")
    wrong = 0
    slugs = options.dialect or list(TEMPLATES)
    for slug in slugs:
        with tempfile.TemporaryDirectory() as folder:
            file = with_template(slug, Path(folder))
            wrong += judge(slug, file, QUESTIONS[: options.questions], options.show)
    total = len(slugs) * min(options.questions, len(QUESTIONS))
    print(f"real model: {total - wrong} of {total} answers without a fault")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
