"""Stops: patterns of the characters at which a search ends, compiled once.

Promises: each finds a single character, but for the patterns of a run, which say how far it goes.

Does not: search. ``scanner``, ``jsonstream`` and ``runs`` do, and count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ._typing import TYPE_CHECKING
from .late import late
from .parts import Beginning

if TYPE_CHECKING:
    from typing import Final

_SURROGATES: Final = r"\ud800-\udfff"
# Escapes that one match takes: the engine keeps a note of each.
_AT_ONCE: Final = 255
_QUOTES: Final = '"\\\\'
_CONTROLS: Final = r"\x00-\x1f"
SURROGATE: Final = late(f"[{_SURROGATES}]")
LETTER: Final = late(r"\w")

# Ends of words in the body syntaxes.
NAME_STOP: Final = late(r"""[\s\[\]{}()<>"'`,;\\]""")
WORD_STOP: Final = late(r"[^\w.\-]")
SCALAR_STOP: Final = late(r"[,)\]}:\n]")

# Whole pieces of strict JSON, where all is there that tells what they are: a key up to its value, and a
# string in an object or an array, with what may stand behind it.
_WHOLE: Final = r'"[^"\\\x00-\x1f]*"'
PLAIN_KEY: Final = late(rf"{_WHOLE}[ \t\r\n]*:[ \t\r\n]*(?=[^ \t\r\n])")
PLAIN_START: Final = late(rf"{{[ \t\r\n]*{_WHOLE}[ \t\r\n]*:[ \t\r\n]*(?=[^ \t\r\n])")
PLAIN_MEMBER: Final = late(rf'{_WHOLE}(?=[ \t\r\n]*(?:}}|,[ \t\r\n]*"))')
PLAIN_ELEMENT: Final = late(rf'{_WHOLE}(?=[ \t\r\n]*(?:]|,[ \t\r\n]*["\[{{0-9-]))')
# Where an object that begins otherwise is told at the latest, but for a key with such characters.
BEHIND_START: Final = late(r"[:\[\]{}]")


_GAP: Final = r"[ \t\r\n]*"
# Where something is known to need no care, there are few of them.
_PLAIN_MOST: Final = 64
_FEW: Final = rf"[ \t\r\n]{{0,{_PLAIN_MOST}}}"
_PLAIN_SCALAR: Final = r"-?(?:0|[1-9]\d{0,63})(?:\.\d{1,64})?(?:[eE][+-]?\d{1,64})?|true|false|null"
# Members behind another one, as many as are there without an object or an array in them; the object's end.
_NEXT: Final = rf'(?={_GAP}(?:}}|,{_GAP}"))'
_MEMBER: Final = rf"(?:,{_GAP}{_WHOLE}{_GAP}:{_GAP}(?:{_WHOLE}|{_PLAIN_SCALAR}){_NEXT})"
_OVER: Final = rf"(?:{_GAP}}})?"
PLAIN_MEMBERS: Final = late(rf"(?:{_MEMBER}+{_OVER})?", re.ASCII)
# The end of a string and of a member; the same with such members behind it.
MEMBER_END: Final = late(rf'"{_NEXT}')
MEMBERS_END: Final = late(rf'"{_NEXT}{_MEMBER}*{_OVER}', re.ASCII)
BEHIND_MEMBER: Final = late(r"[^ \t\r\n,]")


# Behind an object's first member, a piece at a time: a scalar, a member's key, the end of an object.
SCALAR_END: Final = late(rf"(?:{_PLAIN_SCALAR}){_NEXT}", re.ASCII)
NEXT_KEY: Final = late(rf"{_FEW},{_FEW}{_WHOLE}{_FEW}:{_FEW}(?=[^ \t\r\n])")
OBJECT_END: Final = late(rf"{_FEW}}}")
NO_MEMBERS: Final = late(rf"{{{_FEW}}}")


class Head:
    """The beginning of an object: ``whole`` matches it, ``begun`` all that may go on as it, with no care.

    ``parts``: the patterns of which ``begun`` is made.
    """

    __slots__ = ("begun", "parts", "whole")

    def __init__(self, whole: re.Pattern[str], begun: Beginning, parts: tuple[str, ...]) -> None:
        self.whole = whole
        self.begun = begun
        self.parts = parts


# A key up to where its value begins.
_KEY: Final = ('"', rf'[^"\\\x00-\x1f{_SURROGATES}]*', '"', _GAP, ":", _GAP)


@lru_cache(maxsize=64)
def name_head(keys: tuple[str, ...]) -> Head:
    """An object up to the end of its first member, a name, which is group 1; another member follows."""
    either = "|".join(map(re.escape, keys))
    name = rf'{{{_GAP}"(?:{either})"{_GAP}:{_GAP}"([^"\\\x00-\x1f]*)"(?={_GAP},{_GAP}")'
    inside = rf'[^"\\\x00-\x1f{_SURROGATES}]*'
    parts = ("{", _GAP, *map(re.escape, f'"{keys[0]}"'), _GAP, ":", _GAP, '"', inside, '"', _GAP, ",", _GAP)
    return Head(re.compile(name), _begun(parts), parts)


@lru_cache(maxsize=64)
def object_head(key: str) -> Head:
    """What stands between a member's value and the object that is the value of the next one, ``key``."""
    parts = (_GAP, ",", _GAP, *map(re.escape, f'"{key}"'), _GAP, ":", _GAP)
    whole = re.compile("".join((*parts, "(?={)")))
    # Nothing of the object need go out before its first value begins.
    parts = (*parts, "{", _GAP, *_KEY)
    return Head(whole, _begun(parts), parts)


def _begun(*ways: Sequence[str]) -> Beginning:
    """Any beginning of what the parts of one of the ``ways`` match in turn."""
    patterns: list[str] = []
    for parts in ways:
        pattern = ""
        for part in reversed(parts):
            pattern = rf"{part}(?:\Z|{pattern})" if pattern else part
        patterns.append(pattern)
    return Beginning(late("|".join(patterns)))


# Of a member that is plain: its key; what stands between a string or another value and the next one.
KEY_BEGUN: Final = _begun(_KEY)
COMMA_BEGUN: Final = _begun((",", _GAP, *_KEY))
QUOTE_BEGUN: Final = _begun(('"', _GAP, ",", _GAP, *_KEY))
SCALAR_BEGUN: Final = _begun((r"[A-Za-z0-9+\-._]+", _GAP, ",", _GAP, *_KEY))
START_BEGUN: Final = _begun(("{", _GAP, *_KEY))
AFTER_BEGUN: Final = _begun((_GAP, ",", _GAP, *_KEY))
BLANKS_BEGUN: Final = Beginning(late(_GAP))
# The same of an element.
ELEMENT_QUOTE_BEGUN: Final = _begun(('"', _GAP, ",", _GAP))


@lru_cache(maxsize=256)
def heads_begun(literals: tuple[str, ...], head: tuple[str, ...]) -> Beginning:
    """Any beginning of ``literals`` in turn and then of what the parts of ``head`` match, blanks between."""
    parts: list[str] = []
    for literal in literals:
        parts += (_GAP, *map(re.escape, literal))
    return _begun((*parts, _GAP, *head))


def opened_head(opener: str, head: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of ``head`` behind a marker and blanks."""
    return (*map(re.escape, opener), _GAP, *head)


@lru_cache(maxsize=64)
def again(opener: str, start: str) -> re.Pattern[str]:
    """``opener``, group 1, behind blanks, and blanks behind it up to what the pattern ``start`` matches."""
    return re.compile(f"{_GAP}({re.escape(opener)}){_GAP}(?={start})")


@lru_cache(maxsize=64)
def tag_start(opener: str, close: str, then: str) -> str:
    """The pattern of a tag with a name in it, and of ``then`` behind it and blanks."""
    other = rf"[^{re.escape(close[0])}<\n]*"
    name = rf"{other}[^{re.escape(close[0])}<\s]{other}"
    return re.escape(opener) + name + re.escape(close) + _GAP + re.escape(then)


@lru_cache(maxsize=64)
def turn(closer: str, opener: str, head: str) -> re.Pattern[str]:
    """``closer`` and ``opener`` behind blanks, what is between them as group 1, then blanks and ``head``."""
    return re.compile(f"{_FEW}{re.escape(closer)}({_FEW}){re.escape(opener)}{_FEW}{head}")


@lru_cache(maxsize=64)
def named_tag(opener: str, close: str, then: str) -> str:
    """The pattern of a tag and the name in it, which are groups, up to ``then`` behind it and blanks."""
    name = rf"([^{re.escape(close[0])}<\n]*)"
    return rf"({re.escape(opener)}{name}{re.escape(close)}){_FEW}(?={re.escape(then)})"


@lru_cache(maxsize=64)
def other_than(characters: str) -> re.Pattern[str]:
    """Matches any character but ``characters``."""
    return re.compile("[^" + re.escape(characters) + "]")


@lru_cache(maxsize=256)
def tag_stop(literal: str) -> re.Pattern[str]:
    """Matches the first character at which a tag that ``literal`` closes may stop."""
    return re.compile("[" + re.escape(literal[0]) + "<\n]")


@lru_cache(maxsize=256)
def tag_whole(opener: str, close: str) -> re.Pattern[str]:
    """A tag with nothing but a name in it, which is the group."""
    return re.compile(rf"{re.escape(opener)}([^{re.escape(close[0])}<\n]*){re.escape(close)}")


@lru_cache(maxsize=256)
def tag_parts(opener: str, close: str, attributes: bool, then: str = "") -> tuple[str, ...]:
    """The parts of a tag, and of ``then`` behind it and blanks but for its last character."""
    outside = re.escape(close[0]) + "<\n" + _SURROGATES
    inside = rf"[^{outside}]*"
    if attributes:
        quoted = [f"{q}[^{q}\n{_SURROGATES}]*" for q in "\"'"]
        whole = "|".join(piece + piece[0] for piece in quoted)
        inside = rf"(?:[^\"'{outside}]|{whole})*(?:{'|'.join(quoted)})?"
    behind = (_GAP, *map(re.escape, then[:-1])) if then else ()
    return (*map(re.escape, opener), inside, *map(re.escape, close), *behind)


@lru_cache(maxsize=256)
def tag_begun(opener: str, close: str, attributes: bool, then: str = "") -> Beginning:
    """Any beginning of a tag, or of ``then`` behind it and blanks, that is not the whole of it."""
    return _begun(tag_parts(opener, close, attributes, then))


@lru_cache(maxsize=256)
def plain_element(opener: str, close: str, end: str, block: str, firsts: str) -> re.Pattern[str]:
    """A tag, a value on lines of its own and its ``end``, and what follows, where all of it is there.

    Name, value, and which of ``opener`` and ``block`` follows are the groups; nothing in the value begins
    with one of ``firsts``. Name and blanks are short.
    """
    name = rf"([^{re.escape(close[0])}<\s]{{1,{_PLAIN_MOST}}})"
    tag = re.escape(opener) + name + re.escape(close)
    value = rf"\n([^{re.escape(firsts)}]*)\n{re.escape(end)}"
    return re.compile(tag + value + rf"{_FEW}(?=({re.escape(opener)}|{re.escape(block)}))")


@lru_cache(maxsize=256)
def plain_end(opener: str, end: str, block: str, firsts: str) -> re.Pattern[str]:
    """The same from inside the value on, with the rest of that and what follows as groups."""
    value = rf"([^{re.escape(firsts)}]*)\n{re.escape(end)}"
    return re.compile(value + rf"{_FEW}(?=({re.escape(opener)}|{re.escape(block)}))")


@lru_cache(maxsize=256)
def line_tag(opener: str, close: str) -> re.Pattern[str]:
    """A tag with a short name in it, which is the group, and the end of its line."""
    name = rf"([^{re.escape(close[0])}<\n]{{1,{_PLAIN_MOST}}})"
    return re.compile(rf"{re.escape(opener)}{name}{re.escape(close)}\n")


@lru_cache(maxsize=256)
def value_end_begun(
    end: str, opener: str, close: str, attributes: bool, block: str, plain: bool
) -> Beginning:
    """Any beginning of a value's ``end`` and, behind blanks, of the next value's tag or of ``block``.

    All of the tag, but not all of ``block``: behind that the call is complete. With ``plain``, a whole value
    on its lines may stand between, whose tag's name is a group.
    """
    before, last = opened_head(end, ()), tuple(map(re.escape, block[:-1]))
    tag = tag_parts(opener, close, attributes)
    if not plain:
        return _begun((*before, *tag), (*before, *last))
    name = rf"([^{re.escape(close[0])}<\s{_SURROGATES}]*)"
    value = rf"[^{re.escape(end[0] + opener[0] + block[0])}{_SURROGATES}]*"
    whole = (*map(re.escape, opener), name, *map(re.escape, close), r"\n", value, *opened_head(end, ()))
    return _begun((*before, *whole, *tag), (*before, *whole, *last), (*before, *last))


@lru_cache(maxsize=256)
def one_of(characters: str) -> re.Pattern[str]:
    """Matches any one of ``characters``."""
    return re.compile("[" + re.escape(characters) + "]")


def holds(pattern: re.Pattern[str], text: str) -> bool:
    """Whether ``pattern`` matches anywhere in ``text``."""
    return pattern.search(text) is not None


# -- runs ------------------------------------------------------------------------------------------


class Patterns:
    """What a run looks for: ``stop`` finds a character that needs care.

    Of text that is JSON, ``inside`` matches as much as may stand in a string and ``begun`` an escape that
    is not whole. Of other text, ``inside`` finds what may begin a marker and ``begun`` what ends a run.
    """

    __slots__ = ("begun", "inside", "stop")

    def __init__(self, stop: str, inside: str, begun: str) -> None:
        self.stop = re.compile(stop)
        self.inside = re.compile(inside)
        self.begun = re.compile(begun)


_JSON_ESCAPES: Final = r'["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
# Python's and JSON's mean and are spelled the same.
_SHARED_ESCAPES: Final = r'["\\bfnrt]'


@lru_cache(maxsize=64)
def string_patterns(close: str, *, python: bool = False) -> Patterns:
    """The patterns of a quoted string that ends with the character ``close``."""
    ends = _QUOTES + _CONTROLS + _SURROGATES + re.escape(close).strip('"')
    plain = f"[^{ends}]*"
    escapes = _SHARED_ESCAPES if python else _JSON_ESCAPES
    begun = r"\\" if python else r"\\(?:u[0-9a-fA-F]{0,3})?"
    # What is certainly an escape, or a quotation mark that is escaped, needs no care.
    short = _SHARED_ESCAPES if python else r'["\\/bfnrt]'
    care = rf'(?<=\\)(?!{short})|(?<=")(?<![^\\]\\")(?<!\A\\")|(?<=[{ends.replace(_QUOTES, "", 1)}])'
    return Patterns(f"[{ends}](?:{care})", rf"{plain}(?:\\(?:{escapes}){plain}){{0,{_AT_ONCE}}}", begun)


@lru_cache(maxsize=256)
def raw_patterns(firsts: str, escape: str) -> Patterns:
    """The patterns of raw text in which markers that begin with one of ``firsts``, and ``escape``, count."""
    ends = _SURROGATES + re.escape(escape)
    inside = re.escape(firsts) + ends
    return Patterns(f"[{_QUOTES}{_CONTROLS}{inside}]", f"[{inside}]", f"[{ends}]")


@lru_cache(maxsize=256)
def prose_patterns(firsts: str) -> Patterns:
    """The patterns of prose in which markers that begin with one of ``firsts`` count."""
    inside = _SURROGATES + re.escape(firsts)
    return Patterns(f"[{inside}]", f"[{inside}]", f"[{_SURROGATES}]")
