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


@pytest.mark.parametrize(
    ("pieces", "want"),
    [
        (["Hi", "", " é"], "Hi é"),
        (["a\\n", "b"], "a\nb"),
        (["\\u00e9", "\\\\", '\\"'], 'é\\"'),
        # Half a character in each of two frames is none, and half an escaped one stays half of one.
        ([b"\xc3", b"\xa9"], None),
        (["\\ud83d", "\\ude00"], "\ud83d\ude00"),
        (["a\\", "b"], None),
        (["a\\", '","b'], None),
        (['a","b'], None),
        (['a"', '"b'], None),
        (['",1,"', "b"], None),
        (['a", "b', "\\n"], None),
        (["\\n", '"],["'], None),
        (["\\n", '",' + "[" * 200_000], None),
        (["\n"], None),
        (["\x00"], None),
        (["\\x"], None),
    ],
)
def test_what_the_pieces_say(pieces: list[str | bytes], want: str | None) -> None:
    assert said([p if isinstance(p, bytes) else p.encode() for p in pieces]) == want


def fed(*reads: bytes, **fields: Any) -> list[bytes]:
    """What goes out for each read, behind a first text."""
    stream = Exchange(request(), Settings(dialect="hermes", **fields)).stream()
    stream.feed(written(["Hi"])[0])
    return [stream.feed(read) for read in reads]


def own(text: str, field: str = "content") -> bytes:
    """The client's frame of a text."""
    choice = f'{{"index":0,"delta":{{"{field}":"{text}"}},"finish_reason":null}}'
    head = '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m"'
    return f'data: {{{head},"choices":[{choice}]}}\n\n'.encode()


def test_frames_of_one_read_keep_their_number_and_their_escapes() -> None:
    texts = [" the", " caf\\u00e9", ' \\"x\\"', " é"]
    read = b"".join(written(["@"])[0].replace(b"@", text.encode()) for text in texts)
    assert fed(read) == [b"".join(own(text) for text in texts)]


def test_frames_of_one_read_are_one_where_something_is_held() -> None:
    reads = [
        b"".join(written([" a", " b\n"])),
        b"".join(written(["\nc", "", " <tool"])),
        written(["box>"])[0],
    ]
    assert fed(*reads) == [own(" a b"), own("\\n\\nc"), own(" <toolbox>")]


def test_one_that_has_no_text_is_left_out() -> None:
    assert fed(b"".join(written([" a", "", " b"])), written([""])[0]) == [own(" a b"), b""]


def test_a_read_that_begins_and_ends_inside_of_a_frame() -> None:
    data = b"".join(written([" a", " b", " c", " d"]))
    at = len(data) // 8
    assert b"".join(fed(data[:at], data[at:-at], data[-at:])) == b"".join(map(own, [" a", " b", " c", " d"]))


def test_other_frames_among_them() -> None:
    other = f"data: {json.dumps(chunk({'content': ' x'}, index=1))}\n\n".encode()
    usage = f"data: {json.dumps(chunk({'content': ' y'}, usage={'n': 1}))}\n\n".encode()
    a, b, c, d = written([" a", " b", " c", " d"])
    [out] = fed(a + b + other + c + b": ping\n\n" + usage + d + b"data: [DONE]\n\n" + a)
    said = [
        f if isinstance(f, str) else (f["choices"][0]["index"], f["choices"][0]["delta"].get("content"))
        for f in frames(out)
    ]
    texts = [(0, " a"), (0, " b"), (1, ""), (1, " x"), (0, " c"), (0, " y"), (0, " d")]
    assert said == [*texts, (0, None), (1, None), "[DONE]"]
    assert out.count(b": ping\n\n") == 1


def test_reasoning_under_both_names() -> None:
    stream = Exchange(request(), Settings(dialect="hermes", reasoning_field="both")).stream()
    stream.feed(written(["Hm"], "reasoning")[0])
    [one] = frames(stream.feed(b"".join(written([" a", " b"], "reasoning"))))
    assert one["choices"][0]["delta"] == {"reasoning_content": " a b", "reasoning": " a b"}


def test_a_read_over_the_end_of_the_answer() -> None:
    """What follows the finish is no part of the answer, however alike it looks."""
    finish = f"data: {json.dumps(chunk({}, 'stop'))}\n\n".encode()
    [out] = fed(written([" a"])[0] + finish + b"".join(written([" b", " c"])))
    assert [f["choices"][0]["delta"] for f in frames(out)] == [{"content": " a"}, {}]


def test_an_upstream_that_is_never_alike_is_not_asked_for_ever() -> None:
    alike = Alike()
    for number in range(40):
        value = chunk({"content": "Sure"}, created=number)
        alike.learn(f"data: {json.dumps(value)}\n\n".encode(), value)
    assert alike.pieces(f"data: {json.dumps(chunk({'content': 'x'}, created=39))}\n\n".encode()) is None
    assert alike.pieces(f"data: {json.dumps(chunk({'content': 'x'}, created=15))}\n\n".encode()) == [b"x"]
