"""AnswerStream: an upstream's event stream in, the client's out. No I/O."""

from __future__ import annotations


class AnswerStream:
    """Bytes of the upstream's stream in, in any split; bytes for the client out."""

    @property
    def held(self) -> int:
        """Characters that the upstream has sent and the client has not got yet."""
        return 0

    def feed(self, data: bytes) -> bytes:
        """The next bytes of the upstream; what can go to the client now."""
        return data

    def close(self, error: str | None = None) -> bytes:
        """The upstream has ended, or broke off for ``error``; the rest of the client's stream."""
        return b""
