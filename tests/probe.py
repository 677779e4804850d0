"""What ``canitoolcall probe`` says of an engine that does not parse, bare and behind the proxy.

    python -m tests.probe

The engine is the scripted upstream: it says what a Qwen3 would, as text. Exit status 1 unless the probe
passes in full behind the proxy and fails without it.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import Any

from canitoolcall.probe import BUILTIN_SCENARIOS, ProbeReport, Scenario, probe

from tests.scripted import Answer, Script, running

MODEL = "Qwen/Qwen3-8B"
BEFORE, AFTER = "http://127.0.0.1:8080/v1", "http://127.0.0.1:8100/v1"
"""The addresses that are shown: those of the tests are another each time."""

_CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "single-call": [("get_weather", {"city": "Paris"})],
    "parallel-calls": [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Tokyo"})],
    "nested-args": [
        (
            "create_event",
            {
                "title": "Design review",
                "start": "2026-10-01T15:00:00Z",
                "attendees": [
                    {"name": "Ana", "email": "ana@example.com"},
                    {"name": "Bo", "email": "bo@example.com"},
                ],
                "location": {"city": "Berlin", "room": "4.12"},
            },
        )
    ],
    "unicode-args": [
        ("save_note", {"title": "Grüße aus Zürich", "body": "Café ☕ in 東京 — naïve résumé 🚀"})
    ],
    "empty-args": [("get_server_time", {})],
    "forced-tool-choice": [("get_weather", {"city": "Lisbon"})],
    "reasoning-then-call": [("record_answer", {"answer": "9.9"})],
}
_TEXTS = {"no-call": "42", "tool-result-followup": "It is 18 °C in Paris, and the sky is clear."}


def says(scenario: Scenario) -> str:
    """The model's text: thinking, then calls or an answer."""
    thought = "<think>\nLet me see what is asked, and answer that.\n</think>\n\n"
    calls = [
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}\n</tool_call>"
        for name, arguments in _CALLS.get(scenario.id, ())
    ]
    return thought + ("\n".join(calls) or _TEXTS[scenario.id])


@lru_cache(maxsize=1)
def reports() -> tuple[ProbeReport, ProbeReport]:
    """The probe's report of the bare engine, and of the proxy before it."""
    script = Script()
    for scenario in BUILTIN_SCENARIOS:
        # The engine knows the scenario by what is asked.
        script.by_request[json.dumps(scenario.messages[0]["content"])] = Answer(says(scenario))
    with running(script) as both:
        return (
            probe(both.upstream + "/v1", MODEL, concurrency=1),
            probe(both.proxy + "/v1", MODEL, concurrency=1),
        )


def shown(report: ProbeReport, address: str) -> str:
    """A report as the command prints it."""
    return report.render_text().replace(report.base_url, address)


def before() -> str:
    """The bare engine's report, for the docs."""
    return _fenced(BEFORE, shown(reports()[0], BEFORE))


def after() -> str:
    """The proxy's report, for the docs."""
    return _fenced(AFTER, shown(reports()[1], AFTER))


def _fenced(address: str, text: str) -> str:
    table, problems, list_of_them = text.partition("\n\nproblems:\n")
    lines = [f"$ canitoolcall probe --base-url {address} --model {MODEL}", table]
    if problems:
        first, *rest = (line.rstrip() for line in list_of_them.splitlines())
        cut = first.rsplit("; ", 1)
        lines += [problems.strip("\n"), cut[0] + ";", "    " + cut[-1], f"  ... and {len(rest)} more"]
    return "\n".join(["```text", *lines, "```"])


def main() -> int:
    """Print both reports."""
    bare, proxied = reports()
    print(shown(bare, BEFORE), shown(proxied, AFTER), sep="\n\n")
    good, bad = proxied.summary(), bare.summary()
    return 0 if good["pass"] == len(proxied.outcomes) and bad["fail"] else 1


if __name__ == "__main__":
    sys.exit(main())
