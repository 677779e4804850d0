"""Dialect: one tool-call format, as data.

Promises: frozen values only, no callables and no switches for recovery; what is read from TOML or from
a dict is checked, and an error names the source, the key and what was expected. Two dicts are
understood: toolglot's own form and, as it stands, gglib's ``DialectSpec``.

Does not: read files or know the bundled dialects (``registry``), nor scan text.
"""

from __future__ import annotations

from collections.abc import Mapping

from ._typing import Any, TypeVar
from .errors import DialectError
from .record import dataclass, field

_T = TypeVar("_T")


@dataclass(frozen=True)
class Envelope:
    """What stands around calls.

    ``kind`` is ``delimited``, ``messages`` (a stream of messages with headers) or ``none``. The first
    of each list of spellings is the one that ``render`` writes.

    ``open``, ``close``: markers around one body; ``late_close``: what some write behind a body that
    needs no close, which is markup there. ``gap``: what may stand between ``open`` and the
    body (``blank``, ``none``, or ``text``: other text too, which is rejected). ``layout``: whether white
    space next to markup belongs to it (``blank`` or ``none``); ``separator``: the only white space in
    front of a call that does. ``stops``: end-of-turn tokens, markup wherever they stand. ``special``:
    markers that are special tokens of the model. ``turn_open``: what starts the model's turn in a prompt;
    ``prompt_tail`` is read only after its last occurrence. ``prefill``: how the prompt ends where the
    caller does not say. ``wrap_open``, ``wrap_close``: markers around an answer; ``wrap_trim``: what of
    the border blanks inside them is markup (``newline`` or ``none``). ``lead``: what may stand in front
    of an answer and is no part of it.
    ``headers``: markers behind which a word up to the next marker is markup. ``lines``: markers that
    count only at the start of a line, and but for ``open`` only once the dialect is known: plain words.
    ``ends``: markers behind which, after a call, nothing is the model's to say: all of it is rejected.

    The rest is for ``messages``: ``start`` opens a header that names the ``role``, ``body`` ends it,
    ``end`` ends a message, ``call_end`` one with a call; ``channel`` and ``constrain`` introduce header
    fields, ``recipient`` the addressee, ``call_prefix`` is what a recipient that is a tool begins with,
    ``content_types`` are words that may be glued to it, and ``channels`` maps a channel to what its text
    is (``reasoning`` or ``content``), ``recipients`` an addressee that is no tool.
    """

    kind: str = "delimited"
    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    late_close: tuple[str, ...] = ()
    gap: str = "blank"
    layout: str = "none"
    separator: str = ""
    stops: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    turn_open: tuple[str, ...] = ()
    prefill: str = ""
    wrap_open: tuple[str, ...] = ()
    wrap_close: tuple[str, ...] = ()
    wrap_trim: str = "newline"
    lead: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    role: str = ""
    body: str = ""
    end: tuple[str, ...] = ()
    call_end: tuple[str, ...] = ()
    channel: str = ""
    constrain: str = ""
    recipient: str = ""
    call_prefix: str = ""
    content_types: tuple[str, ...] = ()
    channels: tuple[tuple[str, str], ...] = ()
    recipients: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Tag:
    """A tag with a name in it: ``open`` NAME ``close`` … ``end``.

    ``key``: the attribute whose value the name is, in quotes or not, among others (``<invoke
    name="NAME" …>``); empty where the name itself stands there (``<function=NAME>``). ``counter``: an
    attribute that counts the calls from one. ``types``: the attribute that types the value; ``stated``
    how: ``boolean`` (whether it is a string) or ``name`` (of the type). ``escapes``: ``xml`` where
    attribute values are escaped, ``text`` where the value between the tags is, too. ``empty``: ``closed``
    where a call's tag may close itself with a slash. ``others``: whether attributes of other names may stand
    in it (``any`` or ``none``).
    """

    open: str
    close: str
    end: str
    key: str = ""
    counter: str = ""
    types: str = ""
    stated: str = "name"
    escapes: str = "none"
    empty: str = "malformed"
    others: str = "any"


@dataclass(frozen=True)
class Body:
    """How the inside of an envelope is read; which fields count depends on ``codec``.

    ``name_keys``, ``arguments_keys``, ``id_keys``: JSON keys (of a tag: attributes), in order of rank.
    ``id_at``: where the format's own id stands: ``after_arguments``, ``before_name``, ``around_name``
    (the name is a part of it, and a counter follows), else behind the name. ``wrap_keys``: keys of an
    object that holds the call, ``list_keys`` of a list that holds calls. ``name``, ``param``: tags
    of ``tagged``. ``trim``: what of a raw value's border blanks is markup (``newline``: one on each
    side where the value began with one; ``blank``; ``none``). ``prefixes``: words before the name.
    ``separators``: what may stand between name and arguments, ``endings`` behind the arguments.
    ``after``: blanks behind the body that are markup where a marker or the end follows (``blank`` or
    ``none``). ``id_mark``: what stands between name and id. ``empty``: ``object`` where no text at all
    stands for no arguments. ``names``: ``doubled`` where a tool may be called by its name twice, with a
    dot between.
    ``delims``: string delimiters as (open, close) pairs; ``loose_delims`` those taken only in repair.
    ``key_marks``: what ends a bare key. ``runs``: ``one`` where a run of delimiters counts as one.
    ``words``: ``text`` where a bare word is a string, ``loose`` where that is a repair. ``zeros``:
    ``integer`` where bare digits with leading zeros may stand for a declared integer, else ``text``.
    ``open``, ``close``: markers around each single call inside the envelope; an envelope that has such
    calls is a section. ``inside``: ``json`` where a tagged call may hold one JSON object instead of
    parameters, ``whole``: markers around one. ``quote``: markers around a raw value, which ``render``
    writes where the value holds one of ``quoted``. ``line``: what ``render`` writes between tags.
    ``key_open`` … ``type_close``: the markers of ``kv_pairs``. ``gaps``: texts that count as blanks
    between them. ``untyped``: what a raw value without a schema is (``json`` where it parses, or
    ``text``). ``value_end``: ``optional`` where models are known to leave a raw value's own close out, so
    that it is no slip. ``nulls``: whether the word null is null by the ``schema`` or ``always``.
    ``wrappers``: names whose call only wraps another. ``suffix``: what follows a callee's name.
    ``text_key``: the argument that free text stands for. ``namespace``: what stands before each tag of
    ``xml_tree``, ``item`` the tag of a list's element. ``rank``: ``last`` where, under ``auto``, every other
    family that has the same opener goes before this body.
    """

    codec: str
    name_keys: tuple[str, ...] = ("name",)
    arguments_keys: tuple[str, ...] = ("arguments", "parameters")
    id_keys: tuple[str, ...] = ()
    id_at: str = ""
    wrap_keys: tuple[str, ...] = ()
    list_keys: tuple[str, ...] = ()
    name: Tag | None = None
    param: Tag | None = None
    trim: str = "none"
    prefixes: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    after: str = "none"
    id_mark: tuple[str, ...] = ()
    empty: str = "malformed"
    names: str = "plain"
    delims: tuple[tuple[str, str], ...] = ()
    loose_delims: tuple[tuple[str, str], ...] = ()
    runs: str = "each"
    key_marks: tuple[str, ...] = (":",)
    words: str = "loose"
    zeros: str = "text"
    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    inside: str = "tags"
    whole: tuple[str, ...] = ()
    quote: tuple[str, ...] = ()
    quoted: str = ""
    line: str = "\n"
    key_open: tuple[str, ...] = ()
    key_close: tuple[str, ...] = ()
    value_open: tuple[str, ...] = ()
    value_close: tuple[str, ...] = ()
    type_open: tuple[str, ...] = ()
    type_close: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    untyped: str = "json"
    value_end: str = "needed"
    nulls: str = "schema"
    wrappers: tuple[str, ...] = ()
    suffix: str = ""
    text_key: str = ""
    namespace: str = ""
    item: str = ""
    rank: str = "first"


@dataclass(frozen=True)
class Unmarked:
    """A way in which a call stands without its envelope.

    ``shape``: ``object``, ``array`` (bare or fenced JSON), ``list`` (``[f(…)]``), ``opener`` (the
    body's own opener), ``name`` (an offered name and the body's bracket), ``lines``. ``place``:
    ``answer`` (it opens the answer), ``line``, ``word`` (at a word's start), ``text``. ``gate``:
    ``offered`` (only offered tools) or ``open`` (structure decides). ``standing``: ``canonical``, or
    ``repair`` where ``strict`` does not take it. ``boundary``: characters that may stand right before,
    besides blanks and the start. ``when``: ``always``, or ``alone`` where it counts only
    while no call came in a stronger form (the envelope, or an unmarked form listed before it).
    """

    shape: str
    place: str
    gate: str = "offered"
    standing: str = "canonical"
    boundary: str = ""
    when: str = "always"


@dataclass(frozen=True)
class Think:
    """Reasoning tags: ``open[i]`` pairs with ``close[i]``.

    ``trim``: what next to the tags inside is markup (``newline`` or ``none``). ``after``: blanks after
    the close that are markup (``blank`` or ``none``). ``label``: a first line inside that is markup.
    ``call_inside``: ``draft``, ``execute`` (a call, and reasoning goes on), ``ends`` (a call, and
    reasoning is over) or ``until_close``. ``ends``: markers of an answer that end the reasoning before
    it, where its close is missing.
    """

    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    trim: str = "newline"
    after: str = "blank"
    label: str = ""
    call_inside: str = "until_close"
    ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ids:
    """Ids for calls whose format has none of its own: ``prefix`` and a counter."""

    prefix: str = "call_"


@dataclass(frozen=True)
class Layout:
    """White space that ``render`` writes: inside envelopes and reasoning tags, before and between calls.

    ``calls``: ``each`` has an envelope of its own, or stands with the others in one (``together``), which
    then is a section. ``call_open``, ``call_close``: inside the markers around a single call of a section.
    """

    after_open: str = ""
    before_close: str = ""
    before: str = ""
    between: str = ""
    calls: str = "each"
    call_open: str = ""
    call_close: str = ""
    think_open: str = ""
    think_close: str = ""


@dataclass(frozen=True)
class Example:
    """A text of the dialect and its parse: ``calls`` as (name, arguments), content and reasoning.

    ``tools``: names that are offered; ``prompt_tail``: how the prompt before the text ended.
    """

    raw: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    content: str = ""
    reasoning: str = ""
    tools: tuple[str, ...] = ()
    prompt_tail: str = ""


@dataclass(frozen=True)
class Dialect:
    """One tool-call format: made by ``from_dict`` or ``from_toml``, or a bundled one from ``resolve``."""

    slug: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    envelope: Envelope = field(default_factory=Envelope)
    bodies: tuple[Body, ...] = ()
    unmarked: tuple[Unmarked, ...] = ()
    reasoning: Think = field(default_factory=Think)
    ids: Ids = field(default_factory=Ids)
    render: Layout = field(default_factory=Layout)
    examples: tuple[Example, ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], origin: str = "dialect") -> Dialect:
        """Read toolglot's own form, or a gglib ``DialectSpec`` (told by its ``tool_open``).

        Raises ``DialectError`` naming ``origin``, the key and what was expected. An unknown key is an
        error in the own form and ignored in gglib's.
        """
        from .spec import read_dialect

        return read_dialect(data, origin)

    @classmethod
    def from_toml(cls, text: str, origin: str = "dialect") -> Dialect:
        """Read a dialect file's text. Raises ``DialectError`` as ``from_dict``, also for bad TOML."""
        from ._toml import TOMLDecodeError, loads

        try:
            data = loads(text)
        except TOMLDecodeError as error:
            raise DialectError(f"{origin}: not TOML: {error}") from error
        return cls.from_dict(data, origin)

    def to_dict(self) -> dict[str, Any]:
        """The dialect as ``from_dict`` takes it, of JSON's types only; what has its default is left out."""
        from .specwrite import as_data

        return as_data(self)

    def to_toml(self) -> str:
        """The dialect as a dialect file's text. Raises ``TypeError`` where an example holds null."""
        from .specwrite import as_toml

        return as_toml(self)

    def markers(self) -> tuple[str, ...]:
        """All literal markers of the dialect, the longest first."""
        found: set[str] = {self.envelope.body, self.envelope.channel, self.envelope.constrain}
        envelope, think = self.envelope, self.reasoning
        found.update(envelope.open, envelope.close, envelope.stops, envelope.headers, envelope.start)
        found.update(envelope.wrap_open, envelope.wrap_close, envelope.lead, envelope.ends)
        found.update(envelope.end, envelope.call_end)
        found.update(think.open, think.close)
        for body in self.bodies:
            for tag in (body.name, body.param):
                if tag is not None:
                    found.update((tag.open, tag.end))
            found.update(body.open, body.close, body.prefixes, body.separators)
            found.update(body.endings, body.id_mark, body.whole, body.quote)
            found.update(body.key_open, body.key_close, body.value_open, body.value_close)
            found.update(body.type_open, body.type_close)
        return tuple(sorted(found - {""}, key=lambda marker: (-len(marker), marker)))
