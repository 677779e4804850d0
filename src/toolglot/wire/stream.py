"""AnswerStream: an upstream's event stream in, the client's out. No I/O.

Promises: the client's stream is canonical whatever the upstream's is: a role chunk, deltas, one finish
chunk a choice and nothing of it afterwards, then usage where it was asked for, then the end mark. All
chunks share id, model and time. A stream that broke off, or an error in it, flushes what was held, makes
an open call unusable, and ends with an error event and the end mark. Any split of the bytes gives the
same text, calls and finish reasons in the same order; text that came in several chunks at once may go out
in fewer.

Does not keep time: who waits for the upstream sends comments meanwhile.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any, Final

from .alike import Alike, said
from .choice import Choice, reasoning_of
from .errors import error_body, is_error, openai_error
from .jsonbody import encode_json, to_bytes
from .native import numbered
from .offer import Offer
from .report import Report
from .settings import Settings
from .sse import DONE, EventReader, Frame, FrameKind, encode_comment, encode_frame
from .written import Deltas

_SHARED: Final = ("id", "object", "created", "model")
_STEADY: Final = ("system_fingerprint", "service_tier")
_CHOICE: Final = frozenset({"index", "delta", "message", "finish_reason", "logprobs"})
_BORDER: Final = b"\n\n"
_CR_BORDER: Final = b"\r\n\r\n"
_BEHIND: Final = b'"},"finish_reason":null}]}\n\n'
"""The client's frame behind a text."""
_TYPE: Final = "upstream_error"


class AnswerStream:
    """Bytes of the upstream's stream in, in any split; bytes for the client out."""

    def __init__(self, offer: Offer, settings: Settings, report: Report) -> None:
        self._offer = offer
        self._settings = settings
        self._report = report
        self._reader = EventReader(settings.frame)
        self._choices: dict[int, Choice] = {}
        # Made before the first chunk is there, which need not wait for it then.
        self._first = self._new(0)
        self._shared: dict[str, Any] = {}
        self._steady: dict[str, Any] = {}
        self._head = ""
        self._forms: dict[tuple[int, str], bytes] = {}
        self._usage: Any = None
        self._usage_sent = False
        self._passed = False
        self._out: list[bytes] = []
        self._alike = Alike()
        self._between = True
        """Whether what came so far ended with a frame, so that the next bytes begin one."""

    def _new(self, index: int) -> Choice:
        return Choice(index, self._offer, self._settings, self._report)

    @property
    def held(self) -> int:
        """Characters that the upstream has sent and the client has not got yet."""
        held = 0
        for choice in self._choices.values():
            if not choice.finished:
                held += choice.held
        return held

    @property
    def ended(self) -> bool:
        """Whether the client's stream is complete: nothing more comes, whatever is fed."""
        return self._report.ended

    def feed(self, data: bytes) -> bytes:
        """The next bytes of the upstream; what can go to the client now. After the end, nothing."""
        pieces = self._alike.pieces(data) if self._between else None
        if pieces and self._say(pieces):
            return self._flush()
        border = _BORDER if _BORDER in data else _CR_BORDER
        begin, end = 0, data.rfind(border) + len(border)
        if end < len(border):
            end = 0
        elif not self._between:
            begin = data.find(border) + len(border)
            self._one(data[:begin])
        if begin < end:
            self._whole(data[begin:end], border)
        if end < len(data):
            self._one(data[end:])
        return self._flush()

    def _whole(self, data: bytes, border: bytes) -> None:
        """Whole frames: of those that are alike, as many at once as come one behind the other."""
        frames = data.split(border)
        del frames[-1]
        at = 0
        while at < len(frames):
            pieces = self._alike.cut(frames, at, border)
            end = at + max(len(pieces), 1)
            if not pieces or not self._say(pieces):
                for frame in frames[at:end]:
                    self._one(frame + border)
            at = end

    def _one(self, data: bytes) -> None:
        """A frame, a part of one, or anything else."""
        if self.ended or not data:
            return
        frames = self._reader.feed(data)
        self._take(frames)
        if self._between and len(frames) == 1 and frames[0].kind is FrameKind.JSON and not frames[0].event:
            self._alike.learn(data, frames[0].value)
        self._between = data.endswith((_BORDER, _CR_BORDER))

    def close(self, error: str | None = None) -> bytes:
        """The upstream has ended, or broke off for ``error``; the rest of the client's stream."""
        if not self.ended:
            self._take(self._reader.close())
        if not self.ended:
            if error is not None and not self._complete:
                self._fail(error_body(error, type=_TYPE))
            else:
                self._end()
        return self._flush()

    @property
    def _complete(self) -> bool:
        return bool(self._choices) and all(choice.finished for choice in self._choices.values())

    def _flush(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def _say(self, pieces: list[bytes]) -> bool:
        """Frames that hold nothing but these texts, as one; False where they are not known to be such."""
        text = said(pieces)
        reader = None if text is None else self._choices.get(self._alike.index)
        if text is None or reader is None:
            return False
        if reader.finished or self.ended or not self._head:
            return False
        for delta in reader.say(self._alike.field, text) if text else ():
            [(key, value), *more] = delta.items()
            if more or not isinstance(value, str):
                self._send([_entry(reader.index, delta)], {})
                continue
            before = self._before(reader.index, key)
            if value == text and all(pieces):
                # What goes out as it came need not be escaped anew, and keeps its chunks.
                self._out.append(before + (_BEHIND + before).join(pieces) + _BEHIND)
            else:
                self._out.append(before + to_bytes(encode_basestring(value)[1:-1]) + _BEHIND)
        return True

    def _before(self, index: int, key: str) -> bytes:
        """The client's frame in front of a text."""
        found = self._forms.get((index, key))
        if found is None:
            entry = f'{{"index":{index},"delta":{{{encode_basestring(key)}:"'
            found = self._forms[index, key] = to_bytes(f'data: {self._head},"choices":[{entry}')
        return found

    # -- frames -----------------------------------------------------------------------------------

    def _take(self, frames: list[Frame]) -> None:
        for frame in frames:
            if self.ended:
                return
            if frame.kind is FrameKind.JSON and isinstance(frame.value, dict):
                if frame.event == "error" or is_error(frame.value):
                    self._fail(openai_error(frame.value))
                else:
                    self._chunk(frame.value)
            elif frame.kind is FrameKind.DONE:
                self._end()
            elif frame.kind is FrameKind.COMMENT:
                self._out.append(encode_comment(frame.value))
            elif frame.kind is FrameKind.TOO_LONG:
                self._fail(
                    error_body(
                        f"an event of the upstream is over {self._settings.frame} characters", type=_TYPE
                    )
                )
            else:
                self._malformed(frame)

    def _malformed(self, frame: Frame) -> None:
        self._report.malformed_frames += 1
        if frame.event == "error":
            self._fail(openai_error(frame.value))
        elif str(frame.value).lstrip().startswith("{"):
            # A part of the answer is lost, and what follows must not be joined over the gap.
            self._fail(error_body("the upstream sent an event that is not JSON", type=_TYPE))

    def _chunk(self, chunk: Mapping[str, Any]) -> None:
        self._share(chunk)
        choices = chunk.get("choices")
        rest = {
            k: v
            for k, v in chunk.items()
            if v is not None and k not in _SHARED and k not in _STEADY and k not in ("choices", "usage")
        }
        usage = chunk.get("usage")
        if not isinstance(choices, list) or not choices:
            self._beside(chunk, usage)
            return
        written: list[dict[str, Any]] = []
        for place, choice in enumerate(choices):
            if isinstance(choice, dict):
                written += self._choice(choice, place)
        if usage is not None:
            self._usage = usage
            if (self._offer.continuous or not self._offer.usage) and (written or not self._usage_sent):
                rest["usage"] = usage
                self._usage_sent = self._usage_sent or not self._offer.usage
        if rest and not written and not self._complete:
            written.append({"index": 0, "delta": {}, "finish_reason": None})
        for number, entry in enumerate(written, 1):
            self._send([entry], rest if number == len(written) else {})

    def _beside(self, chunk: Mapping[str, Any], usage: Any) -> None:
        """A chunk without a choice: usage, or something that is only passed on."""
        if usage is not None:
            if self._usage_sent and self._complete:
                return
            self._usage_sent = True
        self._passed = True
        self._out.append(encode_frame({**chunk, **self._shared} if "choices" in chunk else chunk))

    def _choice(self, choice: Mapping[str, Any], place: int) -> list[dict[str, Any]]:
        index = choice.get("index")
        index = index if isinstance(index, int) else place
        reader = self._choices.get(index)
        if reader is None:
            reader = self._first if index == 0 else self._new(index)
            self._choices[index] = reader
        if reader.finished:
            return []
        delta, message = choice.get("delta"), choice.get("message")
        if not isinstance(delta, dict):
            delta = numbered(message) if isinstance(message, dict) else {}
        written: list[dict[str, Any]] = []
        if not reader.begun:
            reader.begun = True
            role = delta.get("role")
            written.append(
                _entry(index, {"role": role if isinstance(role, str) else "assistant", "content": ""})
            )
        deltas = reader.take(delta)
        written += [_entry(index, d) for d in deltas]
        logprobs = choice.get("logprobs")
        if logprobs is not None and _unchanged(delta, deltas):
            if not deltas:
                # A token that ends inside of a character, say: it has no text, and its entry is whole.
                written.append(_entry(index, {}))
            written[-1]["logprobs"] = logprobs
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            written += [_entry(index, d) for d in reader.finish(reason)]
            written.append(_entry(index, {}, reader.reason))
        other = {k: v for k, v in choice.items() if k not in _CHOICE and v is not None}
        if other:
            if not written:
                written.append(_entry(index, {}))
            written[-1].update(other)
        return written

    # -- chunks -----------------------------------------------------------------------------------

    def _share(self, chunk: Mapping[str, Any]) -> None:
        """Take over what all chunks have in common, from the first that says it."""
        if "id" not in self._shared:
            if not (chunk.get("id") or chunk.get("choices")):
                return
            self._shared = {
                "id": chunk.get("id") or f"chatcmpl-{secrets.token_hex(12)}",
                "object": "chat.completion.chunk",
                "created": chunk.get("created") or int(time.time()),
                "model": chunk.get("model") or self._report.model,
            }
            self._report.model = str(self._shared["model"])
            self._head = ""
        steady = {k: chunk[k] for k in _STEADY if chunk.get(k) is not None}
        if steady and steady != self._steady:
            self._steady = {**self._steady, **steady}
            self._head = ""

    def _send(self, choices: list[dict[str, Any]], rest: Mapping[str, Any]) -> None:
        if not self._head:
            self._head = encode_json({**self._shared, **self._steady})[:-1]
            self._forms.clear()
        text = f'data: {self._head},"choices":{encode_json(choices)}'
        if rest:
            text += "," + encode_json(rest)[1:-1]
        self._out.append(to_bytes(text + "}\n\n"))

    def _end(self) -> None:
        """The upstream is through: what is missing for a whole stream is supplied."""
        if not self._choices and not self._passed:
            self._fail(error_body("the upstream's stream ended without an answer", type=_TYPE))
            return
        for choice in self._choices.values():
            if not choice.finished:
                for delta in choice.finish(None):
                    self._send([_entry(choice.index, delta)], {})
                self._send([_entry(choice.index, {}, choice.reason)], {})
        if self._offer.usage and self._usage is not None and not self._usage_sent:
            self._send([], {"usage": self._usage})
        self._out.append(DONE)
        self._report.ended = True

    def _fail(self, error: dict[str, Any]) -> None:
        for choice in self._choices.values():
            if not choice.finished:
                for delta in choice.finish(None, broken=True):
                    self._send([_entry(choice.index, delta)], {})
        self._report.failed = str(error["error"]["message"])
        self._out += [encode_frame(error), DONE]
        self._report.ended = True


def _entry(index: int, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "finish_reason": reason}


def _unchanged(delta: Mapping[str, Any], deltas: Deltas) -> bool:
    """Whether a delta's text went out as it came, so that what is said of its tokens still fits."""
    if len(deltas) > 1:
        return False
    content, thought = delta.get("content") or "", reasoning_of(delta)
    out = deltas[0] if deltas else {}
    return (out.get("content", ""), reasoning_of(out)) == (content, thought)
