"""worker: templates that are not trusted, rendered in a process of their own.

Promises: every template ends in an ``Outcome`` within a limit of time and, where the system can limit a
process, of memory: one that loops, that writes without end, that recurses, or that breaks out of the sandbox
or of the interpreter. The process gets no secrets by its environment, answers in JSON only, and is started
anew after it had to be ended.

Does not: shut the process off from files that its user can read, or from the network: the sandbox does that,
and where it is not enough, the system has to (a container, a user of its own).
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, BinaryIO, Final, TypeVar, cast

from ..errors import DerivationError
from .frames import BrokenFrameError, pack, receive, send
from .outcome import Failure, Outcome, Reason, Rendered, Variables, from_json
from .settings import PLAIN, Settings
from .watch import Watch

SECONDS: Final = 5.0
"""Time for one render: known templates take less than a hundredth of a second."""
MEMORY: Final = 256 << 20
"""Bytes of memory for the process: the interpreter takes about a fifth of it."""
_START: Final = 60.0
_OUT_OF_TIME: Final = -getattr(signal, "SIGXCPU", 24)
"""What a process ends with that was ended by its limit of processor time."""
_STRANGE: Final = "the process that rendered it gave another answer than it was asked for"
# After these a process is not asked again: what is left of its memory may be too little for the next one.
_UNFIT: Final = (Reason.MEMORY, Reason.CRASHED, Reason.TIMEOUT)

# What an interpreter may need to start; all else of the parent's environment is none of a template's.
_ENVIRONMENT: Final = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_CODE: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from toolglot.derive.child import main; main(int(sys.argv[2]))"
)

_T = TypeVar("_T", Rendered, Variables)


class Worker:
    """Renders templates in another process, which is started with the first one.

    ``seconds`` is the time that one render may take, ``memory`` what the process may have in bytes. Close
    it, or use it in a ``with`` statement. It may be shared by threads, which then wait for each other.

    >>> with Worker() as worker:
    ...     worker.render("{{ messages[0].content }}", {"messages": [{"content": "Hello"}]})
    ...     str(worker.render("{{ raise_exception('no messages') }}", {}))
    Rendered(text='Hello')
    'line 1: raised: no messages'
    """

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._child: _Child | None = None
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process. Closing again does nothing."""
        with self._lock:
            self._closed = True
            self._drop()

    def render(self, template: str, variables: Mapping[str, Any], settings: Settings = PLAIN) -> Outcome:
        """Render the template's text with variables, which are made of JSON's types.

        Raises ``TypeError`` or ``ValueError`` where JSON cannot carry the variables, and ``DerivationError``
        where no process can be started or the worker is closed.
        """
        return self._ask(Rendered, template, dict(variables), settings)

    def variables(self, template: str, settings: Settings = PLAIN) -> Variables | Failure:
        """The variables that the template reads and does not set. Raises as ``render`` does."""
        return self._ask(Variables, template, None, settings)

    def _ask(
        self, kind: type[_T], template: str, variables: dict[str, Any] | None, settings: Settings
    ) -> _T | Failure:
        request = {
            "template": template,
            "variables": variables,
            "mutable": settings.mutable,
            "decoding": settings.decoding,
            "seconds": self._seconds,
        }
        frame = pack(request)
        with self._lock:
            child = self._ready()
            fit = False
            try:
                answer = child.ask(frame, self._seconds)
                if not isinstance(answer, (kind, Failure)):
                    return Failure(Reason.CRASHED, _STRANGE)
                fit = not (isinstance(answer, Failure) and answer.reason in _UNFIT) and child.lives()
                return answer
            finally:
                # Also where the caller interrupted: an answer to this would be taken for the next one's.
                if not fit:
                    self._drop()

    def _ready(self) -> _Child:
        if self._closed:
            raise DerivationError("the worker is closed; make a new one")
        if self._child is None:
            self._child = _Child(self._memory)
        return self._child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """One process, from its start until it is ended."""

    def __init__(self, memory: int) -> None:
        if importlib.util.find_spec("jinja2") is None:
            raise DerivationError("templates need Jinja2: pip install 'toolglot[derive]'")
        path = json.dumps([entry or os.getcwd() for entry in sys.path])
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", _CODE, path, str(memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            )
        except OSError as error:
            raise DerivationError(f"no process to render templates in: {error}") from error
        self._requests = cast("BinaryIO", self._process.stdin)
        self._answers = cast("BinaryIO", self._process.stdout)
        self._watch = Watch(self._process.kill)
        started = False
        try:
            started = self._within(_START) == {}
        finally:
            if not started:
                self.end()
        if not started:
            raise DerivationError(
                f"the process to render templates in did not start ({sys.executable} "
                f"ended with {self._process.returncode}; it has {memory} bytes of memory)"
            )

    def ask(self, frame: bytes, seconds: float) -> Outcome | Variables:
        """What came of one request; where that is no answer, the process is of no use any more."""
        answer = self._within(seconds, frame)
        if answer is not None:
            with suppress(ValueError):
                return from_json(answer)
            return Failure(Reason.CRASHED, _STRANGE)
        self.end()
        if self._watch.missed or self._process.returncode == _OUT_OF_TIME:
            return Failure(Reason.TIMEOUT, f"not done after {seconds:g} s")
        return Failure(Reason.CRASHED, f"the process that rendered it ended with {self._process.returncode}")

    def lives(self) -> bool:
        """Whether it can be asked again."""
        return not self._watch.missed and self._process.poll() is None

    def end(self) -> None:
        """End it, whatever it does, and let go of its pipes. Again it does nothing."""
        self._watch.end()
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            # What is still to be written goes nowhere.
            with suppress(OSError):
                pipe.close()

    def _within(self, seconds: float, frame: bytes = b"") -> dict[str, Any] | None:
        """Send ``frame`` and give the answer; None where the process ended, or was ended, being late."""
        self._watch.start(seconds)
        try:
            send(self._requests, frame)
            return receive(self._answers)
        except BrokenFrameError:
            return None
        finally:
            self._watch.stop()
