"""Tags: XGrammar's structural tag, as JSON.

Promises: where calls are the model's choice, each trigger opens a tag whose content is a grammar and text
outside tags is free; where a call has to come, the whole format is one grammar. Grammars are XGrammar's
EBNF, which ``gbnf`` writes.

Source: XGrammar's structural tag documentation (``triggered_tags``, ``tag``, ``grammar``).
"""

from __future__ import annotations

import json
from typing import Any

from .answer import Answer
from .form import Lit, alt
from .gbnf import write_gbnf


def write_tags(answer: Answer, free: bool) -> str:
    """The structural tag; with ``free`` any text may stand before, between and after the calls."""
    form = _triggered(answer) if free else _grammar(write_gbnf(answer.calls, answer.rules))
    return json.dumps({"type": "structural_tag", "format": form}, ensure_ascii=False, indent=2) + "\n"


def _grammar(text: str) -> dict[str, Any]:
    return {"type": "grammar", "grammar": text}


def _triggered(answer: Answer) -> dict[str, Any]:
    tags: list[dict[str, Any]] = []
    for trigger in answer.triggers:
        rest = alt(region.rest for region in answer.regions if region.trigger == trigger)
        content = _text(rest.text) if isinstance(rest, Lit) else _grammar(write_gbnf(rest, answer.rules))
        tags.append({"type": "tag", "begin": trigger, "content": content, "end": ""})
    return {
        "type": "triggered_tags",
        "triggers": list(answer.triggers),
        "tags": tags,
        "at_least_one": False,
        "stop_after_first": not answer.several,
    }


def _text(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}
