"""Settings: what the caller decides about reading and writing Chat Completions.

Promises: a value that cannot work raises when the settings are made, not in the middle of an answer.
Does not choose a dialect for a model, and holds no address or key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ..auto import AUTO, resolve
from ..errors import WireError
from ..limits import Limits
from ..parser import Named, OnDefect

ReasoningField = Literal["reasoning_content", "reasoning", "both"]
ForcedFinish = Literal["tool_calls", "stop"]
OnCut = Literal["poison", "leave"]
ToolsAbsent = Literal["text", "read"]


@dataclass(frozen=True)
class Settings:
    """How one exchange is read and written.

    ``dialect``, ``on_defect``, ``limits``: the parser's. ``prompt_tail``: the end of the prompt as the
    model saw it; None or ``""`` is unknown. ``reasoning_field``: the name under which clients get
    reasoning; ``upstream_reasoning_field`` the one in which their history goes up. ``forced_finish``:
    the finish reason where the request forced one named function. ``on_cut``: whether the arguments of
    a call that was cut are closed so that no lenient JSON reader takes them (``poison``) or left as
    they are. ``tools_absent``: whether envelopes stay text where a request has no ``tools``, or are
    read. ``keep_special``: whether the request asks a vLLM or SGLang upstream for special tokens.
    ``frame``: the longest event of a stream, in characters.

    Raises ``WireError``, ``UnknownDialectError`` or ``DialectError``.
    """

    dialect: Named = AUTO
    on_defect: OnDefect = "repair"
    reasoning_field: ReasoningField = "reasoning_content"
    upstream_reasoning_field: str = "reasoning_content"
    forced_finish: ForcedFinish = "tool_calls"
    on_cut: OnCut = "poison"
    tools_absent: ToolsAbsent = "text"
    prompt_tail: str | None = None
    keep_special: bool = False
    limits: Limits | None = None
    frame: int = 1 << 26

    def __post_init__(self) -> None:
        for name, allowed in (
            ("on_defect", ("repair", "strict")),
            ("reasoning_field", get_args(ReasoningField)),
            ("forced_finish", get_args(ForcedFinish)),
            ("on_cut", get_args(OnCut)),
            ("tools_absent", get_args(ToolsAbsent)),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise WireError(f"{name} is {' or '.join(map(repr, allowed))}, not {value!r}", param=name)
        if not self.upstream_reasoning_field:
            raise WireError("upstream_reasoning_field needs a name", param="upstream_reasoning_field")
        resolved = resolve(self.dialect)
        if isinstance(self.dialect, Mapping):
            # What is compiled for a dialect is kept by the object, which a dict would make anew each time.
            object.__setattr__(self, "dialect", resolved)
