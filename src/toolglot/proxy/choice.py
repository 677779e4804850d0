"""Choice: in which dialect a model's answers are read, and why.

Promises: the order is the command line, the configuration file, the upstream's template, the model's id,
automatic detection; among the patterns of one source an exact id goes first, then the longest pattern.
The answer for a model changes only when a template's dialect is offered.

Does not: read templates or ask an upstream (``upstream``, ``template``).
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from ..auto import Resolved, resolve
from ..dialect import Dialect
from ..registry import dialect_for_model
from .config import ModelRule, load_dialect, slug_of

MOST_MODELS = 1_000
"""Models whose choice is remembered. Ids come from clients, so there may be any number of them."""


class Choice(NamedTuple):
    """A dialect for a model, and why; ``prompt_tail`` is "" where it is unknown."""

    dialect: Resolved
    reason: str
    prompt_tail: str = ""

    @property
    def slug(self) -> str:
        """What the dialect is called."""
        return slug_of(self.dialect)


class Choices:
    """The choice for each model that was asked for."""

    def __init__(self, given: Sequence[ModelRule] = (), models: Sequence[ModelRule] = ()) -> None:
        self._sources = (("the command line", tuple(given)), ("the configuration file", tuple(models)))
        self._offered: dict[str, Choice] = {}
        self._made: dict[str, Choice] = {}

    def of(self, model: str) -> Choice:
        """The choice for a model's id."""
        made = self._made.get(model)
        if made is None:
            made = self._choose(model)
            if len(self._made) < MOST_MODELS:
                self._made[model] = made
        return made

    def ruled(self, model: str) -> bool:
        """Whether the caller said how this model is read, so that no template need be looked at."""
        return any(_best(rules, model) for _, rules in self._sources)

    def offer(self, model: str, dialect: Dialect, reason: str) -> None:
        """A template of the upstream gave ``dialect``; ``model`` "" stands for every model."""
        self._offered[model] = Choice(dialect, reason)
        self._made.clear()

    def made(self) -> dict[str, Choice]:
        """The choices made so far, by model."""
        return dict(self._made)

    def _choose(self, model: str) -> Choice:
        for source, rules in self._sources:
            rule = _best(rules, model)
            if rule is not None:
                reason = f"{source} says so for {rule.pattern}"
                return Choice(load_dialect(rule.dialect), reason, rule.prompt_tail)
        offered = self._offered.get(model) or self._offered.get("")
        if offered is not None:
            return offered
        known = dialect_for_model(model)
        if known:
            return Choice(resolve(known[0]), "the model's id fits the dialect's patterns")
        return Choice(resolve("auto"), "nothing told the dialect: it is found in each answer's text")


def _best(rules: Sequence[ModelRule], model: str) -> ModelRule | None:
    exact = next((rule for rule in rules if rule.pattern == model), None)
    if exact is not None:
        return exact
    lowered = model.lower()
    fitting = [rule for rule in rules if fnmatchcase(lowered, rule.pattern.lower())]
    return max(fitting, key=lambda rule: len(rule.pattern.replace("*", "")), default=None)
