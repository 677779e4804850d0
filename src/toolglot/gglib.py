"""Reading gglib's ``DialectSpec`` dict as it stands.

Promises: markers, codecs, emission and id prefix mean what gglib's ``normalize`` makes of them: calls
count on either channel, tagged values are trimmed, unknown keys are ignored, empty markers refused.
What its two codecs read is data, in ``dialects/_gglib.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ._typing import Any
from .dialect import Dialect, Envelope, Ids, Layout
from .record import replace
from .registry import load_file
from .spec import Table, read_string, read_strings


def read_spec(data: Mapping[str, Any], origin: str) -> Dialect:
    """The dialect that a gglib spec describes. Raises ``DialectError`` naming the key."""
    table = Table(dict(data), origin, "")
    base = load_file("_gglib")
    codecs = dict(zip(base.aliases, base.bodies, strict=True))
    markers = {key: table.take(key, "", read_string) for key in ("tool_open", "tool_close")}
    for key, text in markers.items():
        if not text:
            raise table.fail(key, "a marker that is not empty", text)
    names = table.take("body_codecs", (base.aliases[0],), read_strings)
    if not names:
        raise table.fail("body_codecs", "at least one codec", [])
    for name in names:
        if name not in codecs:
            raise table.fail("body_codecs", " or ".join(codecs), name)
    emission = table.table("emission").data
    return replace(
        base,
        slug=table.take("id", base.slug, read_string),
        aliases=(),
        envelope=Envelope(open=(markers["tool_open"],), close=(markers["tool_close"],)),
        bodies=tuple(codecs[name] for name in names),
        ids=Ids(table.take("id_prefix", base.ids.prefix, read_string)),
        render=Layout(
            after_open="\n" if emission.get("newline_after_open", True) else "",
            before_close="\n" if emission.get("newline_before_close", True) else "",
            between="\n",
        ),
    )
