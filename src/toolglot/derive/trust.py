"""trust: of all that may tell a template's dialect, the word that is believed.

Promises: in this order, the response template that a checkpoint carries (``declared``), a template known by
its hash (``exact``), a derivation that is a bundled dialect's format (``builtin``), one that was verified
(``verified``), the bundled dialect whose markers the template mentions (``guessed``), none (``refused``).
What was refused keeps its reasons, also where a dialect was known or guessed all the same. One template is
derived once: what came of it is kept, by its hash.

Does not: derive anything that it is not asked for: a server does it before its first request.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final

from ..errors import ResponseTemplateError
from ..registry import load_file
from .core import induced
from .derived import Derived, Refusal
from .guess import guess
from .known import known_dialect
from .response_template import from_config
from .sources import TemplateSource, for_tools, read_templates
from .template import Renderer
from .worker import Worker

KEPT: Final = 64
"""Derivations that are kept, the last used."""

_Key = tuple[str, tuple[tuple[str, str], ...], str]


class Cache:
    """Derivations by the hash of their template and its special tokens; it may be shared by threads."""

    def __init__(self, size: int = KEPT) -> None:
        self._size = size
        self._kept: OrderedDict[_Key, Derived] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, source: TemplateSource) -> Derived | None:
        """What came of the template, if it is kept."""
        with self._lock:
            found = self._kept.get(_key(source))
            if found is not None:
                self._kept.move_to_end(_key(source))
            return found

    def put(self, source: TemplateSource, derived: Derived) -> None:
        """Keep what came of the template, and forget what was not used for the longest time."""
        with self._lock:
            self._kept[_key(source)] = derived
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


def _key(source: TemplateSource) -> _Key:
    declared = json.dumps(source.declared, sort_keys=True, default=str)
    return source.sha256, tuple(sorted(source.tokens.items())), declared


_SHARED: Final = Cache()


def derive(
    source: str | os.PathLike[str] | Mapping[str, Any] | TemplateSource,
    *,
    name: str | None = None,
    special_tokens: Mapping[str, str] | None = None,
    renderer: Renderer | None = None,
    cache: Cache | None = None,
) -> Derived:
    """What a model's chat template tells of how it writes tool calls.

    ``source``: a template's text; a path to one, to a Hugging Face model's folder or to a GGUF file; the
    answer of llama-server's ``/props``; or one of ``read_templates``. Of several templates the one called
    ``name`` counts, else the one for tools. ``special_tokens``: the tokenizer's, by the names that templates
    use (``bos_token``), over those that the source has. ``renderer``: a ``Worker`` that goes on to be used;
    one is made, and ended, where there is none. ``cache``: where to keep the result, else a common one.

    Takes a quarter of a second, the first time. Raises ``DerivationError`` where there is no template, where
    the source cannot be read, or where Jinja2 is missing; what is wrong with a template is a refusal.
    """
    found = source if isinstance(source, TemplateSource) else for_tools(read_templates(source), name)
    if special_tokens:
        found = replace(found, tokens={**found.tokens, **special_tokens})
    kept = _SHARED if cache is None else cache
    derived = kept.get(found)
    if derived is None:
        with ExitStack() as stack:
            if renderer is None:
                renderer = stack.enter_context(Worker())
            derived = _trusted(found, renderer)
        kept.put(found, derived)
    return derived


def _trusted(source: TemplateSource, renderer: Renderer) -> Derived:
    derived = induced(source.text, renderer, source.tokens)
    if source.declared:
        try:
            declared = from_config(source.declared)
        except ResponseTemplateError as error:
            refusal = Refusal("response-template", str(error))
            derived = replace(derived, refusals=(*derived.refusals, refusal))
        else:
            return replace(derived, dialect=declared, confidence="declared", builtin="")
    known = known_dialect(source.sha256)
    if known:
        return replace(derived, dialect=load_file(known), confidence="exact", builtin=known)
    if derived.dialect is None:
        guessed = guess(source.text)
        if guessed:
            return replace(derived, dialect=load_file(guessed), confidence="guessed", builtin=guessed)
    return derived
