"""Templates that are not trusted end in an outcome, in a process of their own, within limits."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conversations import GIVEN
from tests.test_sandbox import ESCAPES, VALUES, WRITTEN
from toolglot.derive import child as child_module
from toolglot.derive import worker as module
from toolglot.derive.frames import LARGEST, BrokenFrameError, pack, receive
from toolglot.derive.outcome import Failure, Reason, Rendered, Variables, from_json, to_json
from toolglot.derive.sandbox import Sandbox
from toolglot.derive.settings import Settings, settings_for
from toolglot.derive.watch import Watch
from toolglot.derive.worker import Worker
from toolglot.errors import DerivationError

LIMITED = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux is sure to limit the memory of a process"
)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker(seconds=20.0) as made:
        yield made


@pytest.fixture(scope="module")
def quick() -> Iterator[Worker]:
    """For what runs until it is ended."""
    with Worker(seconds=0.5) as made:
        yield made


def why(outcome: Any) -> Reason:
    assert isinstance(outcome, Failure), outcome
    return outcome.reason


def answers(worker: Worker) -> bool:
    """Whether it goes on, whatever went before."""
    return worker.render("{{ 1 + 1 }}", {}) == Rendered("2")


# -- the same as in this process ---------------------------------------------------------------------


@pytest.mark.parametrize("template", [template for template, _ in WRITTEN] + ESCAPES)
def test_the_same_as_in_this_process(worker: Worker, template: str) -> None:
    assert worker.render(template, VALUES) == Sandbox().render(template, VALUES)
    assert worker.variables(template) == Sandbox().variables(template)


def test_settings_reach_it(worker: Worker) -> None:
    template = "{% set l = [] %}{% set _ = l.append('[1]' | from_json) %}{{ l }}"
    assert worker.render(template, {}, Settings(mutable=True, decoding=True)) == Rendered("[[1]]")
    assert why(worker.render(template, {})) is Reason.SYNTAX
    assert worker.variables(template, Settings(decoding=True)) == Variables(frozenset())


@pytest.mark.parametrize("text", ["", "é 東京 👩‍🚀", "\ud800 lone", "a\r\nb\0", "\x7f\u2028"])
def test_any_text_gets_there_and_back(worker: Worker, text: str) -> None:
    assert worker.render("{{ text }}", {"text": text}) == Rendered(text)
    assert worker.render("{{ '" + text.replace("\r\n", "\n") + "' }}", {}) == Rendered(
        text.replace("\r\n", "\n")
    )


# -- limits ------------------------------------------------------------------------------------------

NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
ENDLESS = {
    "loops": NESTED,
    "one large number": "{{ 9 ** (9 ** 9) }}",
    "a large number while it is compiled": "{% set a = 9 ** (9 ** 9) %}",
    "work in a macro": "{% macro m() %}" + NESTED + "{% endmacro %}{{ m() }}",
    "macros that call each other twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}"
    "{% endmacro %}{{ m(60) }}",
}


@pytest.mark.parametrize("template", ENDLESS.values(), ids=ENDLESS)
def test_what_does_not_end(quick: Worker, template: str) -> None:
    began = time.monotonic()
    assert quick.render(template, {}) == Failure(Reason.TIMEOUT, "not done after 0.5 s")
    # The next process is started, too; a machine that is busy takes its time for that.
    assert answers(quick)
    assert time.monotonic() - began < 30


LARGE = [
    "{{ 'a' * 10**9 }}",
    "{% set a = 'a' * 10**9 %}",
    "{{ ('a' * 10**9) | length }}",
    "{{ [1] * 10**9 }}",
    "{{ 'a' | center(10**9) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ '{:1000000000d}'.format(1) }}",
    "{{ 'a'.ljust(10**9) }}",
    "{{ ('a\n' * 1000) | indent(10**9) }}",
    "{% set n = namespace(a='aa') %}{% for _ in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}",
    "{% set n = namespace(a=[1]) %}{% for _ in range(60) %}{% set n.a = n.a + n.a %}{% endfor %}",
]


@LIMITED
@pytest.mark.parametrize("template", LARGE)
def test_what_takes_too_much_memory(worker: Worker, template: str) -> None:
    outcome = worker.render(template, {})
    assert isinstance(outcome, Failure), outcome
    assert (outcome.reason, outcome.message) == (Reason.MEMORY, "out of memory")
    assert answers(worker)


DEEP = {
    "a macro": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "two macros": "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
    "a caller": "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
    "a loop": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "a list in itself": "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
    "brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "signs": "{{ " + "not " * 5000 + "1 }}",
    "tests": "{% if true %}" * 3000 + "{% endif %}" * 3000,
}


@pytest.mark.parametrize("template", DEEP.values(), ids=DEEP)
def test_what_is_too_deep(worker: Worker, template: str) -> None:
    outcome = worker.render(template, {}, Settings(mutable=True))
    assert why(outcome) in {Reason.ERROR, Reason.SYNTAX, Reason.MEMORY, Reason.CRASHED}
    assert answers(worker)


def test_a_range_that_is_too_long(worker: Worker) -> None:
    outcome = worker.render("{% for i in range(10**9) %}{% endfor %}", {})
    assert why(outcome) is Reason.ERROR
    assert isinstance(outcome, Failure)
    assert outcome.message.startswith("OverflowError: Range too big.")


def test_too_much_text(worker: Worker) -> None:
    outcome = worker.render("{% for _ in range(99999) %}{{ 'a' * 999 }}{% endfor %}", {})
    assert outcome == Failure(Reason.OUTPUT, "more than 4194304 characters")
    assert answers(worker)


@LIMITED
def test_many_renders_do_not_add_up() -> None:
    """Processor time and memory are limited for each render, and not for the process's life."""
    busy = "{% for a in range(60) %}{% for b in range(9999) %}{% endfor %}{% endfor %}{{ 'a' * 10**6 }}"
    with Worker(seconds=1.0) as worker:
        assert answers(worker)
        first = process(worker)
        for _ in range(100):
            assert worker.render(busy, {}) == Rendered("a" * 10**6)
        assert process(worker) is first


# -- the process -------------------------------------------------------------------------------------


def process(worker: Worker) -> subprocess.Popen[bytes]:
    child = worker._child  # pyright: ignore[reportPrivateUsage]
    assert child is not None
    return child._process  # pyright: ignore[reportPrivateUsage]


def test_one_process_answers_many_times() -> None:
    with Worker() as worker:
        assert answers(worker)
        first = process(worker)
        assert why(worker.render("{{ raise_exception('no') }}", {})) is Reason.RAISED
        assert answers(worker)
        assert process(worker) is first
    assert first.returncode is not None


def test_a_process_that_was_ended_is_started_anew() -> None:
    with Worker() as worker:
        assert answers(worker)
        process(worker).kill()
        process(worker).wait()
        found = worker.render("{{ 1 }}", {})
        assert why(found) is Reason.CRASHED
        assert answers(worker)


def test_a_closed_worker() -> None:
    worker = Worker()
    worker.close()
    worker.close()
    with pytest.raises(DerivationError, match="the worker is closed"):
        worker.render("{{ 1 }}", {})


def test_an_interrupt_leaves_no_answer_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    with Worker() as worker:
        assert answers(worker)
        first = process(worker)

        def interrupted(_: Any) -> dict[str, Any]:
            raise KeyboardInterrupt

        monkeypatch.setattr(module, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.render("{{ 'late' }}", {})
        monkeypatch.undo()
        assert first.returncode is not None
        assert answers(worker)


def test_threads_may_share_it(worker: Worker) -> None:
    found: dict[int, Any] = {}

    def ask(number: int) -> None:
        for _ in range(20):
            found[number] = worker.render("{{ n }}", {"n": number})

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: Rendered(str(n)) for n in range(4)}


def test_what_json_cannot_carry_is_the_callers_fault(worker: Worker) -> None:
    with pytest.raises(TypeError):
        worker.render("{{ a }}", {"a": object()})
    with pytest.raises(ValueError, match="at most"):
        worker.render("{{ a }}", {"a": "x" * (LARGEST + 1)})
    assert answers(worker)


def test_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with Worker() as worker, pytest.raises(DerivationError, match="no process to render templates in: "):
        worker.render("{{ 1 }}", {})


def test_a_process_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CODE", "raise SystemExit(3)")
    with Worker() as worker, pytest.raises(DerivationError, match=r"did not start .* ended with 3"):
        worker.render("{{ 1 }}", {})


def test_no_jinja(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with Worker() as worker, pytest.raises(DerivationError, match=r"pip install 'toolglot\[derive\]'"):
        worker.render("{{ 1 }}", {})


def test_the_package_is_imported_without_jinja() -> None:
    code = "import sys; sys.modules['jinja2'] = None; import toolglot.derive, toolglot.derive.worker"
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": path}, check=True)


LIAR = (
    "import sys, json\n"
    "def say(raw): sys.stdout.buffer.write(len(raw).to_bytes(4, 'big') + raw); sys.stdout.buffer.flush()\n"
    "say(b'{}'); sys.stdin.buffer.read(4); "
)


@pytest.mark.parametrize(
    "answer",
    [
        "say(b'[1]')",
        "say(b'{\"text\": 1}')",
        'say(b\'{"reason": "none", "message": "", "line": 1, "variable": ""}\')',
        "say(b'{\"variables\": []}')",
        "say(b'{')",
        "say(b'[' * 100000)",
        "sys.stdout.buffer.write(b'\\xff' * 9)",
        "raise SystemExit(1)",
        "import os; os.abort()",
    ],
)
def test_a_process_is_not_believed(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """Whoever breaks out of the sandbox can write what they want, and no more than that."""
    monkeypatch.setattr(module, "_CODE", LIAR + answer)
    with Worker() as worker:
        assert why(worker.render("{{ 1 }}", {})) is Reason.CRASHED
        monkeypatch.undo()
        assert answers(worker)


def test_a_process_that_does_not_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CODE", LIAR + "import time; time.sleep(60)")
    with Worker(seconds=0.5) as worker:
        assert why(worker.render("{{ a }}", {"a": "x" * (1 << 22)})) is Reason.TIMEOUT


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system has no /proc")
def test_its_environment_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    with Worker() as worker:
        assert answers(worker)
        assert b"secret" not in Path(f"/proc/{process(worker).pid}/environ").read_bytes()


def limits(code: str, memory: int = module.MEMORY) -> subprocess.CompletedProcess[bytes]:
    """What comes of code that runs where a template would, in a process with the limits of one."""
    start = (
        "import resource; from toolglot.derive import child\n"
        "for name in ('RLIMIT_CORE', 'RLIMIT_FSIZE'): child._limit(resource, name, 0)\n"
        f"child._limit(resource, 'RLIMIT_AS', {memory}); child._limit_time(resource, 0.1)\n"
    )
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, env={"PYTHONPATH": path}, check=False
    )


@LIMITED
def test_it_ends_even_when_nobody_is_left_to_end_it() -> None:
    assert limits("while True: pass").returncode == module._OUT_OF_TIME  # pyright: ignore[reportPrivateUsage]


@LIMITED
def test_it_cannot_write_a_file(tmp_path: Path) -> None:
    path = tmp_path / "written"
    assert b"File too large" in limits(f"open({str(path)!r}, 'w').write('a' * 10**6)").stderr
    assert path.read_text() == ""


def test_what_is_printed_goes_nowhere_and_it_ends_with_its_input() -> None:
    path = os.pathsep.join(sys.path)
    code = "from toolglot.derive import child, sandbox; print('noise'); child.main(1 << 30); print('after')"
    request = {"template": "{{ 1 }}", "variables": {}, "mutable": False, "decoding": False, "seconds": 1}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=pack(request),
        capture_output=True,
        env={"PYTHONPATH": path},
        check=True,
    )
    assert ended.stdout.endswith(pack({}) + pack({"text": "1"}))
    assert b"after" in ended.stderr


def test_a_system_without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    assert child_module._resource() is None  # pyright: ignore[reportPrivateUsage]


# -- the corpus --------------------------------------------------------------------------------------

REFUSED = {
    "fireworks-ai-llama-3-firefunction-v2.jinja": "line 21: undefined: 'functions' is undefined",
    "functionary-v2.jinja": "line 4: undefined: 'generate_schema_from_functions' is undefined",
    "functionary-v2.llama3.jinja": "line 4: undefined: 'generate_schema_from_functions' is undefined",
    "functionary-v3.llama3.jinja": "line 4: undefined: 'generate_schema_from_functions' is undefined",
    "ik-MiroThinker.jinja": "line 4: undefined: 'tool' is undefined",
    "llama-cpp-deepseek-r1.jinja": (
        "line 12: error: TypeError: Object of type generator is not JSON serializable"
    ),
}


def test_each_template_renders_a_conversation_or_says_why_not(shared: Path, worker: Worker) -> None:
    refused: dict[str, str] = {}
    paths = sorted((shared / "templates").glob("*.jinja"))
    for path in paths:
        template = path.read_text(encoding="utf-8")
        outcome = worker.render(template, GIVEN, settings_for(template))
        if isinstance(outcome, Failure):
            refused[path.name] = str(outcome)
        else:
            assert "Is it warm?" in outcome.text, path.name
    assert len(paths) > 200
    assert refused == REFUSED


# -- frames, outcomes and deadlines ------------------------------------------------------------------

OUTCOMES = st.one_of(
    st.builds(Rendered, st.text()),
    st.builds(Variables, st.frozensets(st.text())),
    st.builds(Failure, st.sampled_from(Reason), st.text(), st.none() | st.integers(1), st.text()),
)


@given(outcome=OUTCOMES)
def test_an_outcome_there_and_back(outcome: Any) -> None:
    assert from_json(receive(io.BytesIO(pack(to_json(outcome))))) == outcome


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Failure(Reason.TIMEOUT, "not done after 5 s"), "timeout: not done after 5 s"),
        (Failure(Reason.UNDEFINED, "'x' is undefined", 2, "x"), "line 2: undefined: 'x' is undefined"),
    ],
)
def test_a_failure_in_one_line(outcome: Failure, line: str) -> None:
    assert str(outcome) == line


@given(raw=st.binary(max_size=40))
def test_any_bytes_are_a_frame_or_none(raw: bytes) -> None:
    with suppress(BrokenFrameError):
        assert isinstance(receive(io.BytesIO(raw)), dict)


def test_a_frame_that_is_cut() -> None:
    frame = pack({"text": "a"})
    for end in range(len(frame)):
        with pytest.raises(BrokenFrameError):
            receive(io.BytesIO(frame[:end]))


def test_a_frame_that_is_too_long() -> None:
    with pytest.raises(BrokenFrameError, match="a frame of"):
        receive(io.BytesIO((LARGEST + 1).to_bytes(4, "big")))


def test_deadlines() -> None:
    late = threading.Event()
    watch = Watch(late.set)
    for _ in range(100):
        watch.start(60.0)
        watch.stop()
    # An earlier one than the thread waits for.
    watch.start(60.0)
    watch.start(0.01)
    assert late.wait(30)
    assert watch.missed
    watch.end()
    watch.end()


def test_a_deadline_that_was_taken_back() -> None:
    late = threading.Event()
    watch = Watch(late.set)
    watch.start(0.2)
    watch.stop()
    assert not late.wait(0.5)
    assert not watch.missed
    watch.end()
