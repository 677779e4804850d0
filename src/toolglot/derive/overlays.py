"""overlays: what models write besides what their template shows, as data (``overlays.toml``).

Promises: an overlay only adds bodies behind those that were derived, and is kept only where every turn of the
template still reads the same. It is chosen by the derived dialect's own marker and body syntax.

Does not: change what is written, or know a model's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from .._toml import loads
from ..dialect import Body, Dialect
from ..record import replace
from ..registry import load_file


@dataclass(frozen=True)
class Overlay:
    """``open`` and ``codec`` as a derived dialect must have them; ``also``: slugs of bundled dialects."""

    open: str
    codec: str
    also: tuple[str, ...]


@cache
def overlays() -> tuple[Overlay, ...]:
    """All that are known."""
    data = loads((files("toolglot.derive") / "overlays.toml").read_text(encoding="utf-8"))
    return tuple(
        Overlay(item["when"]["open"], item["when"]["codec"], tuple(item["also"])) for item in data["overlay"]
    )


def overlaid(dialect: Dialect) -> Dialect:
    """The dialect with the bodies of every overlay that fits it; itself where none does."""
    fitting = [
        overlay
        for overlay in overlays()
        if overlay.open in dialect.envelope.open and dialect.bodies[0].codec == overlay.codec
    ]
    bodies = list(dialect.bodies)
    for slug in (slug for overlay in fitting for slug in overlay.also):
        for body in load_file(slug).bodies:
            _add(bodies, body)
    return replace(dialect, bodies=tuple(bodies)) if bodies != list(dialect.bodies) else dialect


def _add(bodies: list[Body], body: Body) -> None:
    """Add a body; one of a syntax that is there already, and begins alike, only adds its keys."""
    for number, own in enumerate(bodies):
        if own.codec == body.codec and own.open == body.open:
            bodies[number] = replace(
                own,
                name_keys=_joined(own.name_keys, body.name_keys),
                arguments_keys=_joined(own.arguments_keys, body.arguments_keys),
            )
            return
    bodies.append(body)


def _joined(own: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return (*own, *(key for key in more if key not in own))
