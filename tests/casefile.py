"""Reads the text case files of ``tests/cases``; their form is described in ``tests/cases/README.md``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TYPES = {"any": {}, **{t: {"type": t} for t in ("string", "integer", "number", "boolean", "array", "object")}}
OPTIONS = {"dialect", "tools", "tools_json", "mode", "finish", "prompt_tail", "spec", "shows", "kind"}
EXPECTED = {"content", "reasoning", "calls", "ids", "defects", "free"}
SECTIONS = {"--- raw", "--- raw json", "--- expect"}


class CaseFileError(Exception):
    """A case file is not in its form; the message names file and line."""


@dataclass(frozen=True)
class Case:
    """One case: a text, how it is parsed, and what comes out."""

    file: Path
    line: int
    title: str
    dialect: Any
    raw: str
    tools: list[dict[str, Any]] | None = None
    mode: str = "repair"
    finish: str | None = None
    prompt_tail: str = ""
    content: str = ""
    reasoning: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    ids: list[str] | None = None
    defects: list[str] = field(default_factory=list)
    free: list[str] = field(default_factory=list)
    shows: tuple[str, ...] = ()
    kind: str | None = None

    @property
    def id(self) -> str:
        return f"{self.file.name}:{self.line} {self.title}"

    @property
    def options(self) -> dict[str, Any]:
        return {"tools": self.tools, "on_defect": self.mode, "prompt_tail": self.prompt_tail}


def tools_from(signature: str) -> list[dict[str, Any]]:
    """Tools in OpenAI's form out of compact signatures; ``?`` after a name makes the parameter optional.

    >>> tools_from("ping()")[0]["function"]["parameters"]
    {'type': 'object', 'properties': {}, 'required': []}
    >>> tools_from("find(q: string, n?: integer|null)")[0]["function"]["parameters"]["properties"]
    {'q': {'type': 'string'}, 'n': {'type': ['integer', 'null']}}
    """
    tools = []
    for tool in filter(None, (part.strip() for part in signature.split(";"))):
        name, _, rest = tool.partition("(")
        if not rest.endswith(")"):
            raise ValueError(f"not a signature: {tool!r}")
        properties, required = {}, []
        for parameter in filter(None, (part.strip() for part in rest[:-1].split(","))):
            key, _, kind = (part.strip() for part in parameter.partition(":"))
            if not key.endswith("?"):
                required.append(key)
            properties[key.rstrip("?")] = _schema(kind)
        schema = {"type": "object", "properties": properties, "required": required}
        tools.append({"type": "function", "function": {"name": name.strip(), "parameters": schema}})
    return tools


def _schema(kind: str) -> dict[str, Any]:
    if "|" in kind:
        return {"type": [part.strip() for part in kind.split("|")]}
    return dict(TYPES[kind])


def read(file: Path) -> Iterator[Case]:
    """All cases of a file; its name is the dialect of those that name none."""
    lines = file.read_text(encoding="utf-8").split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("=== ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        try:
            yield _case(file, start + 1, lines[start:end])
        except (ValueError, KeyError) as error:
            raise CaseFileError(f"{file}:{start + 1}: {type(error).__name__}: {error}") from error


def _case(file: Path, line: int, block: list[str]) -> Case:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    options: dict[str, str] = {}
    for text in block[1:]:
        if text in SECTIONS:
            current = sections.setdefault(text, [])
        elif sections:
            current.append(text)
        elif text.strip() and not text.startswith("#"):
            key, _, value = text.partition(":")
            options[key.strip()] = value.strip()
    _known(options, OPTIONS)
    raw = json.loads("\n".join(sections["--- raw json"])) if "--- raw json" in sections else None
    if raw is None:
        raw = "\n".join(sections["--- raw"])
    expected = json.loads("\n".join(sections["--- expect"]))
    _known(expected, EXPECTED)
    tools = tools_from(options["tools"]) if options.get("tools") not in (None, "none offered") else None
    if options.get("tools") == "none offered":
        tools = []
    if "tools_json" in options:
        tools = json.loads(options["tools_json"])
    return Case(
        file=file,
        line=line,
        title=block[0].removeprefix("=== ").strip(),
        dialect=json.loads(options["spec"]) if "spec" in options else options.get("dialect", file.stem),
        raw=raw,
        tools=tools,
        mode=options.get("mode", "repair"),
        finish=options.get("finish"),
        prompt_tail=json.loads(options.get("prompt_tail", '""')),
        content=expected.get("content", ""),
        reasoning=expected.get("reasoning", ""),
        calls=[(name, arguments) for name, arguments in expected.get("calls", [])],
        ids=expected.get("ids"),
        defects=expected.get("defects", []),
        free=expected.get("free", []),
        shows=tuple(filter(None, (part.strip() for part in options.get("shows", "").split(",")))),
        kind=options.get("kind"),
    )


def not_applicable(file: Path) -> dict[str, str]:
    """The behaviours that a file's dialect cannot show, each with its reason."""
    reasons = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("=== "):
            break
        if line.strip():
            slug, colon, reason = line.removeprefix("not applicable ").partition(": ")
            if not line.startswith("not applicable ") or not colon or not reason.strip():
                raise CaseFileError(f"{file}:{number}: expected 'not applicable SLUG: REASON'")
            reasons[slug] = reason.strip()
    return reasons


def _known(given: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}; expected one of {sorted(known)}")
