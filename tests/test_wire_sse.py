"""Server-sent events: what is a frame, in any split of the bytes."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.wire.sse import EventReader, Frame, FrameKind, encode_comment, encode_frame

JSON, DONE, COMMENT, MALFORMED = FrameKind.JSON, FrameKind.DONE, FrameKind.COMMENT, FrameKind.MALFORMED
ONE, TWO = Frame(JSON, {"a": 1}), Frame(JSON, {"b": 2})

LONGEST = 1000


def read(data: bytes, size: int) -> list[Frame]:
    reader = EventReader(LONGEST)
    found: list[Frame] = []
    for at in range(0, len(data), size):
        found += reader.feed(data[at : at + size])
    return found + reader.close()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize(
    ("data", "want"),
    [
        pytest.param(b'data: {"a": 1}\n\ndata: [DONE]\n\n', [ONE, Frame(DONE)], id="usual"),
        pytest.param(b'data: {"a": 1}\r\n\r\ndata: {"b": 2}\r\n\r\n', [ONE, TWO], id="CRLF"),
        pytest.param(b'data: {"a": 1}\r\rdata: {"b": 2}\r\r', [ONE, TWO], id="CR"),
        pytest.param(b'data:{"a": 1}\n\n', [ONE], id="no blank after the colon"),
        pytest.param(b'data: {"a": 1}\ndata: {"b": 2}\n', [ONE, TWO], id="no blank line between"),
        pytest.param(b'data: {"a":\ndata:  1}\n\n', [ONE], id="several lines"),
        pytest.param(b'data: {"a": 1}', [ONE], id="no line end"),
        pytest.param(b'\xef\xbb\xbfdata: {"a": 1}\n\n', [ONE], id="byte order mark"),
        pytest.param(b": ping\n\n:\n", [Frame(COMMENT, "ping"), Frame(COMMENT, "")], id="comments"),
        pytest.param(b"event: error\ndata: {}\n\n", [Frame(JSON, {}, "error")], id="named"),
        pytest.param(b"event: x\n\ndata: {}\n\n", [Frame(JSON, {})], id="a name without data is forgotten"),
        pytest.param(b"id: 1\nretry: 2\nnonsense\n\ndata:\n\n", [], id="nothing"),
        pytest.param(b'data: {"a\n\n', [Frame(MALFORMED, '{"a')], id="cut"),
        pytest.param('data: "é👩‍🚀"\n\n'.encode(), [Frame(JSON, "é👩‍🚀")], id="wide characters"),
        pytest.param(b'data: "\xe9"\n\n', [Frame(JSON, "\ufffd")], id="no UTF-8"),
        pytest.param(b"data: " + b"[" * 900 + b"\n\n", [Frame(MALFORMED, "[" * 900)], id="deep"),
    ],
)
def test_frames(data: bytes, want: list[Frame], size: int) -> None:
    assert read(data, size) == want


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_a_frame_that_is_too_long_is_the_last(size: int) -> None:
    data = b"data: {}\n\ndata: " + b"x" * 3000 + b"\n\ndata: {}\n\n"
    assert read(data, size) == [Frame(JSON, {}), Frame(FrameKind.TOO_LONG)]
    lines = b"data: [[[\n" * 400
    assert read(lines, size) == [Frame(FrameKind.TOO_LONG)]


@pytest.mark.parametrize(
    ("value", "want"),
    [({"a": "é\n"}, 'data: {"a":"é\\n"}\n\n'.encode()), ({"a": "\ud83d"}, b'data: {"a":"?"}\n\n')],
)
def test_frames_are_written(value: Any, want: bytes) -> None:
    assert encode_frame(value) == want


def test_comments_are_written() -> None:
    assert encode_comment() == b": keep-alive\n\n"
