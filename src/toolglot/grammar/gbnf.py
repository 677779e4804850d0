"""GBNF: the grammar language of llama.cpp, whose EBNF also XGrammar reads.

Promises: one rule a line, ``root`` first, names of letters and digits only; characters that are not plain
printable ASCII are escaped, so that the text survives any transport.

Source: llama.cpp ``grammars/README.md`` and ``src/llama-grammar.cpp``; XGrammar's EBNF documentation. Both
read ``\\xHH``, ``\\uHHHH`` and ``\\UHHHHHHHH`` in literals and character classes.
"""

from __future__ import annotations

from typing import Final

from .form import Alt, Chars, Lit, Node, Ref, Rep, Rules, Seq
from .lower import plain

_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_gbnf(start: Node, rules: Rules) -> str:
    """The text of the grammar whose texts are those of ``start``."""
    return "".join(f"{name} ::= {_spelled(node)}\n" for name, node in plain(start, rules).items())


def _spelled(node: Node) -> str:
    if isinstance(node, Lit):
        return '"' + "".join(_char(char, '"\\') for char in node.text) + '"'
    if isinstance(node, Chars):
        ranges = (
            _char(low, "]^-\\") + ("" if low == high else "-" + _char(high, "]^-\\"))
            for low, high in node.ranges
        )
        return "[" + ("^" if node.negated else "") + "".join(ranges) + "]"
    if isinstance(node, Ref):
        return node.name
    if isinstance(node, Seq):
        return " ".join(_grouped(part) for part in node.parts) or '""'
    if isinstance(node, Alt):
        return " | ".join(_spelled(option) for option in node.options)
    assert isinstance(node, Rep), "lowered before"
    return _grouped(node.node, True) + _times(node)


def _grouped(node: Node, repeated: bool = False) -> str:
    """The node in brackets where it would else be read as more or less than one."""
    loose = isinstance(node, Alt) or (repeated and isinstance(node, (Seq, Rep)))
    return f"({_spelled(node)})" if loose else _spelled(node)


def _times(node: Rep) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.least, node.most))
    return short or f"{{{node.least},{'' if node.most is None else node.most}}}"


def _char(char: str, escaped: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if char in escaped:
        return "\\" + char if char in '"\\]' else f"\\x{code:02X}"
    if 0x20 <= code < 0x7F:
        return char
    return f"\\x{code:02X}" if code < 0x80 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
