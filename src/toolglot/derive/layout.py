"""layout: how a template writes an assistant's turn, as literal text with slots; and the writing itself.

Promises: a layout is data, made of literals in which one private-use character stands for each slot.
``written`` gives the template's own turn, byte for byte, blanks and spelling of values included.

Does not: say what a model may write instead. That is the dialect's, which is made from a layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import RenderError
from ..message import Message
from .values import kind_of, value_text

NAME: Final = "\ue000"
ID: Final = "\ue001"
INDEX: Final = "\ue002"
KEY: Final = "\ue003"
SLOTS: Final = (NAME, ID, INDEX, KEY)


@dataclass(frozen=True)
class Form:
    """How a value of one type stands: ``open`` (with its key), the value in ``codec``, ``close``."""

    open: str
    codec: str
    close: str


@dataclass(frozen=True)
class Pairs:
    """Arguments written one by one: ``forms`` by JSON type, ``separator`` between, ``order`` of the keys."""

    forms: Mapping[str, Form]
    separator: str = ""
    order: str = "given"


@dataclass(frozen=True)
class Layout:
    """A turn: ``header``, the calls between ``section_open`` and ``section_close``, ``end``.

    Each call is ``head``, arguments, ``tail``, and ``separator`` stands between two. ``several_close`` is
    the section's close behind more than one call, and where ``closes`` is ``each`` behind each but the first.
    ``arguments``: the name of a codec that writes them as one object, or ``Pairs``.
    ``empty``: a whole call without arguments, where it is no ordinary one. ``index``: the number of the first
    call. ``single``: whether only one call can be written.
    ``content``: what stands around content in front of calls, the section's open with it; None where calls
    drop it. ``answer``: around content without calls..
    """

    header: str
    end: str
    section_open: str
    section_close: str
    head: str
    tail: str
    arguments: str | Pairs
    separator: str = ""
    several_close: str = ""
    closes: str = "last"
    empty: str | None = None
    index: int = 0
    single: bool = False
    content: tuple[str, str] | None = None
    answer: tuple[str, str] = ("", "")
    extra: dict[str, str] = field(default_factory=dict)


def written(layout: Layout, message: Message) -> str:
    """The turn of ``message``. Raises ``RenderError`` where the layout has no place for a part of it."""
    calls = message.tool_calls
    if not calls:
        return layout.header + layout.answer[0] + message.content + layout.answer[1] + layout.end
    if len(calls) > 1 and layout.single:
        raise RenderError("this template writes one call in a turn")
    if message.content and layout.content is None:
        raise RenderError("this template drops content in front of calls")
    parts = [
        _call(layout, number, call.name, call.id, call.arguments)
        for number, call in enumerate(calls, start=layout.index)
    ]
    close = layout.several_close if len(calls) > 1 else layout.section_close
    if layout.closes == "each":
        parts[1:-1] = [part + layout.several_close for part in parts[1:-1]]
    content = message.content.join(layout.content) if message.content and layout.content else ""
    opener = "" if content else layout.section_open
    return layout.header + content + opener + layout.separator.join(parts) + close + layout.end


def _call(layout: Layout, number: int, name: str, own_id: str, arguments: Mapping[str, Any]) -> str:
    if not arguments and layout.empty is not None:
        text = layout.empty
    else:
        text = layout.head + "\ue004" + layout.tail
    text = text.replace(NAME, name).replace(ID, own_id).replace(INDEX, str(number))
    return text.replace("\ue004", written_arguments(layout, arguments))


def written_arguments(layout: Layout, arguments: Mapping[str, Any]) -> str:
    """The arguments of one call as the layout writes them."""
    how = layout.arguments
    if isinstance(how, str):
        return value_text(how, dict(arguments))
    items = sorted(arguments.items()) if how.order == "sorted" else list(arguments.items())
    return how.separator.join(_pair(how, key, value) for key, value in items)


def _pair(how: Pairs, key: str, value: Any) -> str:
    form = how.forms.get(kind_of(value))
    if form is None:
        raise RenderError(f"this template writes no {kind_of(value)}")
    return form.open.replace(KEY, key) + value_text(form.codec, value) + form.close.replace(KEY, key)
