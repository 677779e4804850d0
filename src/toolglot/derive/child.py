"""child: what runs in a worker's process: it renders what it is asked to, one after the other.

Promises: before the first template the process limits itself, where its system has such limits: memory, no
file that it could write, no core dump; and before each one its processor time, so that it ends even when
nobody is left to end it. It ends with its input. What a template prints goes nowhere.

Does not: decide what too long is in wall time: its parent (``worker``) does.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, BinaryIO

from .frames import BrokenFrameError, pack, receive, send
from .outcome import to_json
from .sandbox import Sandbox
from .settings import Settings


def main(memory: int) -> None:
    """Answer requests from standard input on standard output; ``memory`` is the limit in bytes."""
    requests, answers = sys.stdin.buffer, _private(sys.stdout.buffer)
    resource = _resource()
    if resource is not None:
        _limit(resource, "RLIMIT_CORE", 0)
        _limit(resource, "RLIMIT_FSIZE", 0)
        _limit(resource, "RLIMIT_AS", memory)
    sandbox = Sandbox()
    with suppress(BrokenFrameError):
        send(answers, pack({}))
        while True:
            request = receive(requests)
            _limit_time(resource, request["seconds"])
            send(answers, pack(_answer(sandbox, request)))


def _answer(sandbox: Sandbox, request: Mapping[str, Any]) -> dict[str, Any]:
    settings = Settings(mutable=request["mutable"], decoding=request["decoding"])
    if request["variables"] is None:
        return to_json(sandbox.variables(request["template"], settings))
    return to_json(sandbox.render(request["template"], request["variables"], settings))


def _private(pipe: BinaryIO) -> BinaryIO:
    """The pipe under a number of its own; whatever is printed from now on goes to standard error."""
    own = os.fdopen(os.dup(pipe.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), pipe.fileno())
    return own


def _resource() -> ModuleType | None:
    """The module that limits a process, where the system has it."""
    try:
        return importlib.import_module("resource")
    except ImportError:
        return None


def _limit(resource: ModuleType, name: str, value: int) -> None:
    kind = getattr(resource, name, None)
    # A system may know a limit and not let it be set.
    with suppress(ValueError, OSError):
        if kind is not None:
            resource.setrlimit(kind, (value, value))


def _limit_time(resource: ModuleType | None, seconds: float) -> None:
    """Limit processor time from now on, to a little more than the parent waits."""
    if resource is None:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    end = math.ceil(usage.ru_utime + usage.ru_stime + seconds) + 1
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))
