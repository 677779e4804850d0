"""A real model behind the proxy, asked by the openai SDK: do its calls arrive parsed?

    python -m tests.realproxy [--questions 10] [--show]

llama-cpp-python's own server runs Gemma 3 of 270 million weights, with the chat template of Hermes put into
a copy of its file (``tests.realmodel`` says why), and knows nothing of calls: it answers with text.
``toolglot serve`` stands before it, and the SDK asks each question twice, whole and streamed. The model was
never trained on the format: each request carries the grammar of a call, which the proxy passes on, and an
answered question before its own. The same questions without the grammar are counted, not judged.

Exit status 1 where an answer is no call, or has another name or arguments that are not valid.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.realmodel import CONTEXT, LONGEST, with_template
from tests.realquestions import EXAMPLE, QUESTIONS, Asked, tools_of
from toolglot.grammar import grammar

SLUG = "hermes"
MODEL = "gemma-3-270m"
START = 120.0
"""Seconds until a server has to answer."""


@contextlib.contextmanager
def server(*arguments: str) -> Iterator[str]:
    """A server by its module and options, with a port of its own; the URL, once it answers there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(process, f"{url}/v1/models")
        yield url
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(url, timeout=5).close()
            return
        time.sleep(0.2)
    raise SystemExit(f"{' '.join(map(str, process.args))}: does not answer")  # type: ignore[arg-type]


def ask(client: Any, asked: Asked, held: bool, stream: bool) -> tuple[list[tuple[str, str]], str, str]:
    """The calls of an answer by name and arguments, its content, and why it ended."""
    tools = tools_of(EXAMPLE, asked)
    made = grammar(SLUG, tools, choice="required", parallel=False, format="gbnf")
    answer = client.chat.completions.create(
        model=MODEL,
        messages=[*EXAMPLE.messages(), *asked.messages()[:1]],
        tools=tools,
        temperature=0,
        max_tokens=LONGEST,
        stream=stream,
        extra_body={"grammar": made.text} if held else {},
    )
    if not stream:
        choice = answer.choices[0]
        calls = [(c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()]
        return calls, choice.message.content or "", choice.finish_reason
    names: dict[int, str] = {}
    arguments: dict[int, str] = {}
    content, finish = "", ""
    for chunk in answer:
        for choice in chunk.choices:
            content += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or ():
                names[call.index] = names.get(call.index, "") + (call.function.name or "")
                arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    return [(name, arguments[index]) for index, name in names.items()], content, finish


def faults(calls: Sequence[tuple[str, str]], content: str, finish: str, asked: Asked) -> list[str]:
    """What is wrong with an answer."""
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools_of(EXAMPLE, asked)}
    found = [] if len(calls) == 1 else [f"{len(calls)} calls"]
    found += [] if finish == "tool_calls" else [f"ended for {finish!r}"]
    found += [f"content {content!r}"] if content else []
    for name, arguments in calls:
        if name not in schemas:
            found.append(f"{name} was not offered")
            continue
        checked = importlib.import_module("jsonschema").Draft202012Validator(schemas[name])
        found += [f"{name}: {error.message}" for error in checked.iter_errors(json.loads(arguments))]
    return found


def judge(url: str, questions: Sequence[Asked], show: bool) -> int:
    """How many answers have a fault; prints a line for each way of asking."""
    client = importlib.import_module("openai").OpenAI(base_url=f"{url}/v1", api_key="none", timeout=600)
    wrong = 0
    for held, stream in ((True, False), (True, True), (False, True)):
        good = 0
        for asked in questions:
            calls, content, finish = ask(client, asked, held, stream)
            found = faults(calls, content, finish, asked)
            good += not found
            if show or (found and held):
                print(f"    {'!' if found else '.'} {asked.question} {calls} {'; '.join(found)}", flush=True)
        wrong += (len(questions) - good) * held
        print(
            f"{'with' if held else 'without'} the grammar, {'streamed' if stream else 'whole'}: "
            f"{good} of {len(questions)} answers are a valid call",
            flush=True,
        )
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Start both servers, and print how many answers are calls."""
    parser = argparse.ArgumentParser(prog="python -m tests.realproxy", description="A real model, proxied.")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="how many of the ten")
    parser.add_argument("--show", action="store_true", help="each answer")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        file = str(with_template(SLUG, Path(folder)))
        model = ("--model", file, "--model_alias", MODEL, "--n_ctx", str(CONTEXT))
        with (
            server("llama_cpp.server", *model) as upstream,
            server("toolglot", "serve", "--upstream", upstream, "--dialect", SLUG) as url,
        ):
            wrong = judge(url, QUESTIONS[: options.questions], options.show)
    print(f"real proxy: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
