"""watch: a deadline for a call that blocks, on any system.

Promises: one thread for many deadlines, and next to no cost where they are kept, as a thread for each, or a
wake-up for each, would be.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from time import monotonic


class Watch:
    """Calls ``late``, in a thread of its own, once a deadline passed; after that it is of no use any more."""

    def __init__(self, late: Callable[[], None]) -> None:
        self._late = late
        self._deadline: float | None = None
        self._wakes = 0.0
        self._ended = False
        self._missed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="toolglot-watch", daemon=True)
        self._thread.start()

    def start(self, seconds: float) -> None:
        """Set a deadline from now on, in place of an earlier one."""
        with self._changed:
            self._deadline = monotonic() + seconds
            # A thread that wakes before it, for a deadline that was kept, will see this one then.
            if self._deadline < self._wakes:
                self._changed.notify()

    def stop(self) -> None:
        """Take the deadline back."""
        with self._changed:
            self._deadline = None

    @property
    def missed(self) -> bool:
        """Whether a deadline passed."""
        with self._changed:
            return self._missed

    def end(self) -> None:
        """End the thread."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        with self._changed:
            while not self._ended:
                deadline = math.inf if self._deadline is None else self._deadline
                left = deadline - monotonic()
                if left <= 0:
                    self._missed = True
                    self._late()
                    return
                self._wakes = deadline
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
