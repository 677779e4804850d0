"""Native calls: the upstream's own ``tool_calls``, in whatever form, told apart and mended.

Promises: well-formed calls pass as they are but for their index. A missing or repeated index, an id or
name that is repeated on every delta, a null type, arguments that are an object or null, a name that comes
late: each is mended and counted. A call that never gets a name is none, and is counted too.

Does not change the text of arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .jsonbody import encode_json
from .report import Report
from .written import CallWriter, Deltas, Form, WrittenCall

_OWN: Final = ("index", "id", "type", "function", "custom")


class _Native:
    """One call of the upstream; ``written`` is None until its name is known."""

    __slots__ = ("early", "extra", "form", "id", "name", "written")

    def __init__(self, id: str, form: Form) -> None:
        self.id = id
        self.name = ""
        self.form: Form = form
        self.early = ""
        self.extra: dict[str, Any] = {}
        self.written: WrittenCall | None = None

    @property
    def complete(self) -> bool:
        return self.written is not None and self.written.nesting.complete


class NativeCalls:
    """The upstream's calls of one choice."""

    def __init__(self, writer: CallWriter, report: Report) -> None:
        self._writer = writer
        self._report = report
        self._calls: list[_Native] = []
        self._at: dict[int, _Native] = {}

    def take(self, entries: Iterable[object]) -> Deltas:
        """The entries of a delta's, or of a message's, ``tool_calls``."""
        return [delta for entry in entries if isinstance(entry, Mapping) for delta in self._entry(entry)]

    def close(self) -> list[WrittenCall]:
        """No more will come: the calls that were begun."""
        nameless = sum(call.written is None for call in self._calls)
        if nameless:
            self._report.native_repairs["no name"] += nameless
        return [call.written for call in self._calls if call.written is not None]

    def _entry(self, entry: Mapping[str, Any]) -> Deltas:
        form: Form = "custom" if isinstance(entry.get("custom"), Mapping) else "function"
        body = entry.get(form)
        body = body if isinstance(body, Mapping) else {}
        id, name = _text(entry.get("id")), _text(body.get("name"))
        text = self._arguments(body.get("input" if form == "custom" else "arguments"))
        extra = {k: v for k, v in entry.items() if k not in _OWN and v is not None}
        call = self._find(entry, id, name, text)
        if call is None:
            call = _Native(id, form)
            self._calls.append(call)
        elif call.written is not None:
            self._repeated(entry, call, id, name)
        call.id = call.id or id
        index = entry.get("index")
        if isinstance(index, int):
            self._at[index] = call
        if call.written is not None:
            return self._writer.arguments(call.written, text, extra)
        call.early += text
        call.extra.update(extra)
        call.name = call.name or name
        if not call.name:
            return []
        call.written, deltas = self._writer.start(
            call.name, call.id, native=True, form=call.form, extra=call.extra
        )
        return deltas + self._writer.arguments(call.written, call.early)

    def _find(self, entry: Mapping[str, Any], id: str, name: str, text: str) -> _Native | None:
        """The call that an entry goes on with; None where it begins another."""
        index = entry.get("index")
        if not isinstance(index, int) and self._calls:
            self._report.native_repairs["no index"] += 1
        if isinstance(index, int):
            known = self._at.get(index)
        elif id:
            known = next((c for c in reversed(self._calls) if c.id == id), None)
            if known is None and self._calls and not self._calls[-1].id and not name:
                known = self._calls[-1]
        else:
            known = self._calls[-1] if self._calls else None
        if known is None:
            return None
        other_id = bool(id and known.id and id != known.id)
        other_name = bool(name and known.name and name != known.name and (not id or not known.id))
        # With nothing else to tell them apart, arguments that begin anew do.
        again = bool(name and known.name and not id and known.complete and text.lstrip().startswith("{"))
        if other_id or other_name or again:
            if isinstance(index, int):
                self._report.native_repairs["repeated index"] += 1
            return None
        return known

    def _repeated(self, entry: Mapping[str, Any], call: _Native, id: str, name: str) -> None:
        if name:
            self._report.native_repairs["repeated name"] += 1
        elif id and call.id == id:
            self._report.native_repairs["repeated id on a delta"] += 1
        if "type" in entry and entry["type"] is None:
            self._report.native_repairs["null type"] += 1

    def _arguments(self, value: object) -> str:
        if isinstance(value, str):
            return value
        if value is None:
            return ""
        self._report.native_repairs["arguments no text"] += 1
        return encode_json(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def numbered(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message with an index on each call: in a whole one, each entry is a call of its own."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    numbered = [{**call, "index": i} if isinstance(call, Mapping) else call for i, call in enumerate(calls)]
    return {**message, "tool_calls": numbered}
