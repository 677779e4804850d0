"""The words and units of the proxy's settings: what its command line shows before anything else is loaded."""

from __future__ import annotations

from typing import Final

MIB: Final = 1024 * 1024

KINDS: Final = ("auto", "llama-server", "ollama", "sglang", "vllm", "other")
"""The kinds of server that are told apart; ``auto`` asks the upstream."""
