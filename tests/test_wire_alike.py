"""Frames that differ only in their text take a short way; what they say is what the long way says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.upstream import chunk, frames, request
from toolglot.wire import Exchange, Settings
from toolglot.wire.alike import Alike, said

TEXTS = [
    "Sure",
    ' "quoted" \\ back',
    "\n",
    "é日😀",
    " <tool",
    "_call>\n{",
    '"name": "beep", "arguments": {}}',
    "</tool_call>",
]


def written(texts: list[str], field: str = "content", end: str = "\n\n", **dumps: Any) -> list[bytes]:
    """A frame for each text, all alike."""
    return [f"data: {json.dumps(chunk({field: t}), **dumps)}{end}".encode() for t in texts]


def client(pieces: list[bytes], monkeypatch: pytest.MonkeyPatch | None = None) -> list[Any]:
    """What a client gets; with ``monkeypatch`` by the long way only."""
    if monkeypatch is not None:
        monkeypatch.setattr(Alike, "pieces", lambda self, data: None)
    stream = Exchange(request(), Settings(dialect="hermes")).stream()
    found = frames(b"".join(map(stream.feed, pieces)) + stream.close())
    for one in found:
        for choice in one["choices"] if isinstance(one, dict) else ():
            for call in choice["delta"].get("tool_calls", ()):
                call.pop("id", None)
    return found


@pytest.mark.parametrize("field", ["content", "reasoning_content", "reasoning"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
def test_both_ways_say_the_same(field: str, ascii: bool, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = written(TEXTS, field, end, ensure_ascii=ascii)
    joined = [pieces[0], pieces[1], b"".join(pieces[2:5]), *pieces[5:]]
    short = [client(pieces), client(joined)]
    long = client(pieces, monkeypatch)
    assert short == [long, long]


def test_the_short_way_is_taken() -> None:
    alike = Alike()
    first, second, third = written(["Sure", " thing", ""])
    assert alike.pieces(first) is None
    alike.learn(first, chunk({"content": "Sure"}))
    assert (alike.field, alike.index) == ("content", 0)
    assert alike.pieces(second) == [b" thing"]
    assert alike.pieces(second + third + first) == [b" thing", b"", b"Sure"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b": ping\n\n",
        written(["x"])[0][:-1],
        written(["x"])[0] + b"data: [DONE]\n\n",
        written(["x"])[0].replace(b'"x"', b'"x\n"'),
        written(["x"])[0].replace(b'"x"', b'"\xff"'),
        written(["x"])[0].replace(b'"x"', b'"a" "b"'),
        written(["x"], "reasoning")[0],
    ],
)
def test_what_is_not_alike(data: bytes) -> None:
    alike = Alike()
    alike.learn(written(["Sure"])[0], chunk({"content": "Sure"}))
    pieces = alike.pieces(data)
    assert pieces is None or said(pieces) is None


@pytest.mark.parametrize(
    "value",
    [
        chunk({"content": "Sure"}, "stop"),
        chunk({"content": "Sure", "reasoning": "hm"}),
        chunk({"content": ""}),
        chunk({"tool_calls": [{"index": 0}]}),
        chunk({"content": "Sure"}, usage={"total_tokens": 1}),
        chunk({"content": "model"}, model="model"),
        {**chunk({"content": "Sure"}), "choices": []},
    ],
)
def test_what_is_not_learned(value: Any) -> None:
    alike = Alike()
    alike.learn(f"data: {json.dumps(value)}\n\n".encode(), value)
    assert alike.field == ""


def test_an_upstream_that_is_never_alike_is_not_asked_for_ever() -> None:
    alike = Alike()
    for number in range(40):
        value = chunk({"content": "Sure"}, created=number)
        alike.learn(f"data: {json.dumps(value)}\n\n".encode(), value)
    assert alike.pieces(f"data: {json.dumps(chunk({'content': 'x'}, created=39))}\n\n".encode()) is None
    assert alike.pieces(f"data: {json.dumps(chunk({'content': 'x'}, created=15))}\n\n".encode()) == [b"x"]
