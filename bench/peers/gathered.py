"""Calls put together from a peer's pieces, in the cheapest way, so that this costs all peers the same."""

from __future__ import annotations


class Gathered:
    """Names and argument text by the index of the call."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[str, list[str]]] = {}

    def add(self, index: int, name: str | None, arguments: str | None) -> None:
        """Take one piece."""
        if index not in self._found:
            self._found[index] = (name or "", [])
        if arguments:
            self._found[index][1].append(arguments)

    def calls(self) -> list[tuple[str, str]]:
        """Name and arguments of each."""
        return [(name, "".join(pieces)) for _, (name, pieces) in sorted(self._found.items())]
