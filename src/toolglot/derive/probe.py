"""probe: conversations with sentinels in every slot, and the turn that a template renders for one.

Promises: sentinels are plain words, none a prefix of another, with edges that no markup shares; all renders
that are compared offer the same tools; a user speaks first. The first input shape whose render shows name,
key and value unescaped is used throughout.

Does not: read anything out of a turn (``frame``, ``pairs``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .derived import Refused
from .settings import NOW
from .template import Template, TemplateFault

NAMES: Final = ("zqfnalpha", "zqfnbeta", "zqfngamma")
KEYS: Final = ("zkone", "zktwo", "zkthree", "zkfour", "zkfive")
VALUES: Final = ("zvuno", "zvdos", "zvtre")
IDS: Final = ("zidaaaa01", "zidbbbb02", "zidcccc03")
CONTENT: Final = "zcsaid"
THOUGHT: Final = "zrthink"
RESULT: Final = "zxresult"
ASKED: Final = "zuask"

Calls = Sequence[tuple[str, Mapping[str, Any]]]
USER: Final[dict[str, Any]] = {"role": "user", "content": ASKED}


@dataclass(frozen=True)
class Shape:
    """How a message with calls is given to the template.

    ``arguments``: as an ``object`` or a JSON ``string``. ``content``: ``empty``, ``null`` or ``absent``.
    ``ids``: ``plain``, or ``counted`` (``functions.NAME:INDEX``). ``after``: whether the calls come ``last``
    or a ``result`` follows.
    """

    arguments: str = "object"
    content: str = "empty"
    ids: str = "plain"
    after: str = "last"


def shapes() -> Iterator[Shape]:
    """All input shapes, the usual first."""
    for after in ("last", "result"):
        for ids in ("plain", "counted"):
            for arguments in ("object", "string"):
                for content in ("empty", "null", "absent"):
                    yield Shape(arguments, content, ids, after)


def _schema() -> dict[str, Any]:
    described = {"type": "string", "description": "d"}
    return {"type": "object", "properties": {key: dict(described) for key in KEYS}, "required": []}


def offered() -> list[dict[str, Any]]:
    """The tools of every probe, each property described, which some templates read."""
    return [
        {"type": "function", "function": {"name": name, "description": "d", "parameters": _schema()}}
        for name in NAMES
    ]


class Prober:
    """Renders conversations of one template, in the shape that it understands."""

    def __init__(self, template: Template) -> None:
        self.template = template
        self.shape = Shape()
        self.variables: dict[str, Any] = {"tools": offered()}
        self._bases: dict[str, str] = {}

    def render(self, messages: list[dict[str, Any]], *, prompt: bool = False, **variables: Any) -> str:
        """A conversation's text; raises ``TemplateFault``."""
        return self.template.render(messages, prompt=prompt, **{**self.variables, **variables})

    def base(self) -> str:
        """What stands before the assistant's turn."""
        if "" not in self._bases:
            self._bases[""] = self.render([USER])
        return self._bases[""]

    def message(self, calls: Calls, content: str = "", reasoning: str = "") -> dict[str, Any]:
        """An assistant's message in the chosen shape."""
        message: dict[str, Any] = {"role": "assistant"}
        if content or self.shape.content == "empty" or not calls:
            message["content"] = content
        elif self.shape.content == "null":
            message["content"] = None
        if calls:
            message["tool_calls"] = [self._call(i, *call) for i, call in enumerate(calls)]
        if reasoning:
            message.update(dict.fromkeys(("reasoning_content", "reasoning", "thinking"), reasoning))
        return message

    def id_of(self, index: int, name: str) -> str:
        """The id that the call at ``index`` is given."""
        return IDS[index % len(IDS)] if self.shape.ids == "plain" else f"functions.{name}:{index}"

    def _call(self, index: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given: Any = dict(arguments)
        if self.shape.arguments == "string":
            given = json.dumps(given, ensure_ascii=False)
        return {
            "id": self.id_of(index, name),
            "type": "function",
            "function": {"name": name, "arguments": given},
        }

    def turn(self, calls: Calls, content: str = "", reasoning: str = "") -> str:
        """The assistant's turn: what the template adds to the user's; raises ``TemplateFault``."""
        message = self.message(calls, content, reasoning)
        messages = [USER, message]
        result = self.shape.after == "result"
        if result:
            messages += [
                {
                    "role": "tool",
                    "tool_call_id": call["id"],
                    "name": call["function"]["name"],
                    "content": RESULT,
                }
                for call in message.get("tool_calls", ())
            ]
        text = self.added(self.render(messages))
        end = text.find(RESULT) if result else -1
        return text[:end] if end >= 0 else text

    def added(self, text: str) -> str:
        """What ``text`` has more than the user's turn."""
        base = self.base()
        if text.startswith(base):
            return text[len(base) :]
        asked = text.rfind(ASKED)
        return text[max(common(base, text), asked + len(ASKED) if asked >= 0 else 0) :]


def common(left: str, right: str) -> int:
    """How many characters two texts begin with in common."""
    least = min(len(left), len(right))
    return next((i for i in range(least) if left[i] != right[i]), least)


ONE: Final = [(NAMES[0], {KEYS[0]: VALUES[0]})]
"""One call with one argument."""


def find_shape(prober: Prober) -> None:
    """Set the first shape whose render shows a call's name, key and value as they are.

    Variables that some templates have in place of ``tools`` are given where one asks for them. Raises
    ``Refused``: ``needs-variable``, ``raises`` or ``no-tool-calls-in-template``.
    """
    try:
        _find(prober)
    except Refused as refusal:
        if refusal.code.partition(":")[2] not in _SUPPLIED:
            raise
        prober.variables.update(_SUPPLIED)
        _find(prober)


_SUPPLIED: Final = {"functions": json.dumps(offered()), "datetime": NOW.date().isoformat()}


def _find(prober: Prober) -> None:
    faults: list[TemplateFault] = []
    second: Shape | None = None
    for shape in shapes():
        prober.shape = shape
        try:
            turn = prober.turn(ONE)
        except TemplateFault as fault:
            faults.append(fault)
            continue
        if not all(word in turn for word in (NAMES[0], KEYS[0], VALUES[0])):
            continue
        if f'\\"{KEYS[0]}\\"' not in turn and f"'{KEYS[0]}': '" not in turn:
            return
        second = second or shape
    if second is None:
        raise _no_shape(faults)
    prober.shape = second


def _no_shape(faults: list[TemplateFault]) -> Refused:
    needed = next((fault.failure for fault in faults if fault.failure.variable), None)
    if needed is not None:
        return Refused("needs-variable:" + needed.variable, str(needed))
    if faults:
        return Refused("raises:" + str(faults[0]), str(faults[0]))
    return Refused("no-tool-calls-in-template", "no input shape makes the template show a call")
