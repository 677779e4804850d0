"""Ledger: which call of a message is which, and what it is called.

Promises: indices count from zero without a gap, and no two calls have the same id.

Does not: know what a call is.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_RANDOM_BYTES: Final = 12


class Ledger:
    """Counts the calls of one message and gives them ids, over all channels.

    An id that the model repeats is its first call's; the others get one of ours.
    """

    __slots__ = ("_taken", "count", "prefix", "random")

    def __init__(self, prefix: str, random: bool = False) -> None:
        self.count = 0
        self.prefix = prefix
        self.random = random
        # Whose id is whose, from the first one on that the model wrote: before, all are counted.
        self._taken: dict[str, int] | None = None

    @property
    def counted(self) -> bool:
        """Whether each id is an index behind the prefix: a call that is read anew gets its own again."""
        return self._taken is None and not self.random

    def enter(self, own: str | None) -> tuple[int, str]:
        """Index and id of the next call; ``own`` is the id that the model wrote, if any."""
        index = self.count
        self.count += 1
        if self._taken is None:
            if not own:
                return index, self._random() if self.random else f"{self.prefix}{index}"
            self._taken = {} if self.random else {f"{self.prefix}{n}": n for n in range(index)}
        # A call that was taken back leaves its id to the next one of its index, or to later ones.
        if own and self._taken.get(own, index) >= index:
            self._taken[own] = index
            return index, own
        if self.random:
            return index, self._random()
        number = index
        while self._taken.get(f"{self.prefix}{number}", index) < index:
            number += 1
        self._taken[f"{self.prefix}{number}"] = index
        return index, f"{self.prefix}{number}"

    def _random(self) -> str:
        import secrets

        return self.prefix + secrets.token_hex(_RANDOM_BYTES)
