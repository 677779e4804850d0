"""Calls as the client gets them: indices, ids, and each delta in its one canonical form.

Promises: indices count up from 0 in the order in which calls begin, whoever made them; a call's first
delta has its id, type and name, later ones only arguments; no id occurs twice in a conversation. The last
brace of parsed arguments goes out when the call is known to be one, so that what a client has of an
unfinished call is never whole JSON. Calls beyond the one that a request allows are noted in the report.

Does not know where calls come from.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Mapping
from typing import Any, Final, Literal

from .nesting import Nesting
from .report import EVIDENCE, PIECES, DroppedCall, Report

Deltas = list[dict[str, Any]]
Form = Literal["function", "custom"]

_ALPHABET: Final = string.ascii_letters + string.digits
_LENGTH: Final = 24
_NUMBERED: Final = re.compile(r"(.*\D)(\d{1,9})")
_TEXT: Final = {"function": "arguments", "custom": "input"}


def add(deltas: Deltas, more: Deltas) -> None:
    """Append ``more``; arguments that go on with the last delta's are joined to it."""
    for delta in more:
        body, last = _arguments_only(delta), _arguments_only(deltas[-1]) if deltas else None
        if body is None or last is None or body[0] != last[0]:
            deltas.append(delta)
        else:
            last[1]["arguments"] += body[1]["arguments"]


def _arguments_only(delta: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """Index and function of a delta that holds nothing but a piece of one call's arguments."""
    entries = delta.get("tool_calls")
    if not entries or len(entries) > 1 or entries[0].keys() != {"index", "function"}:
        return None
    return entries[0]["index"], entries[0]["function"]


class WrittenCall:
    """One call on its way to the client; ``index`` is None where it is left out."""

    __slots__ = ("dropped", "ended", "form", "held", "id", "index", "name", "native", "nesting")

    def __init__(self, index: int | None, id: str, name: str, form: Form, native: bool) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.form: Form = form
        self.native = native
        self.nesting = Nesting()
        self.held = ""
        self.ended = False
        self.dropped: DroppedCall | None = None


class CallWriter:
    """Writes the calls of one choice.

    ``single``: whether only the first call is kept. ``legacy``: whether it is written as
    ``function_call``. ``taken``: the ids that the conversation has already.
    """

    def __init__(self, choice: int, report: Report, *, single: bool, legacy: bool, taken: set[str]) -> None:
        self._choice = choice
        self._report = report
        self._single = single or legacy
        self._legacy = legacy
        self._taken = set(taken)
        self.calls: list[WrittenCall] = []

    @property
    def finished(self) -> int:
        """Finished calls that the client has."""
        return sum(call.ended for call in self.calls if call.index is not None)

    def start(
        self,
        name: str,
        id: str | None,
        *,
        native: bool,
        form: Form = "function",
        extra: Mapping[str, Any] | None = None,
    ) -> tuple[WrittenCall, Deltas]:
        """A call begins; ``id`` is the one it came with, ``extra`` fields that are passed on."""
        kept = sum(call.index is not None for call in self.calls)
        index = None if self._single and kept else kept
        call = WrittenCall(index, self._unique(id, native), name, form, native)
        self.calls.append(call)
        if index is None:
            self._drop(call)
            return call, []
        body = {"name": name, _TEXT[form]: ""}
        if self._legacy:
            return call, [{"function_call": body}]
        entry = {"index": index, "id": call.id, "type": form, form: body, **(extra or {})}
        return call, [{"tool_calls": [entry]}]

    def arguments(self, call: WrittenCall, text: str, extra: Mapping[str, Any] | None = None) -> Deltas:
        """The next piece of a call's arguments."""
        if not call.native:
            text = call.held + text
            sure = len(text.rstrip().removesuffix("}")) if text.rstrip().endswith("}") else len(text)
            text, call.held = text[:sure], text[sure:]
        return self._send(call, text, extra)

    def end(self, call: WrittenCall) -> Deltas:
        """The call is finished."""
        call.ended = True
        held, call.held = call.held, ""
        if call.native:
            self._report.calls_native += 1
            # No arguments at all is how some say that there are none; clients need an object.
            held = "" if call.nesting.begun or call.form == "custom" else "{}"
        else:
            self._report.calls_parsed += 1
        return self._send(call, held)

    def cut(self, call: WrittenCall, *, poison: bool) -> Deltas:
        """The call will not finish: what the client has of it must not be taken for one."""
        self._report.calls_cut += 1
        call.held = ""
        if not poison or call.form == "custom":
            return []
        return self._send(call, call.nesting.poison())

    def _send(self, call: WrittenCall, text: str, extra: Mapping[str, Any] | None = None) -> Deltas:
        if call.dropped is not None:
            room = EVIDENCE - len(call.dropped.arguments)
            call.dropped.arguments += text[: max(room, 0)]
            return []
        if not text and not extra:
            return []
        call.nesting.feed(text)
        body = {_TEXT[call.form]: text}
        if self._legacy:
            return [{"function_call": body}]
        return [{"tool_calls": [{"index": call.index, call.form: body, **(extra or {})}]}]

    def _drop(self, call: WrittenCall) -> None:
        call.dropped = DroppedCall(self._choice, call.name[:EVIDENCE], "")
        self._report.dropped_calls += 1
        if len(self._report.dropped) < PIECES:
            self._report.dropped.append(call.dropped)

    def _unique(self, id: str | None, native: bool) -> str:
        if id and id in self._taken and native:
            self._report.native_repairs["repeated id"] += 1
        found = id or ""
        match = _NUMBERED.fullmatch(found) if found in self._taken else None
        if match is not None:
            # A format that numbers its calls goes on counting, and its template can still read the id.
            number = int(match[2])
            while found in self._taken:
                number += 1
                found = f"{match[1]}{number:0{len(match[2])}}"
        while not found or found in self._taken:
            found = "call_" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        self._taken.add(found)
        return found
