"""Grammars: a dialect, the tools and the tool choice as a grammar that constrains what a model writes.

Promises: one intermediate form (``form``) is built from the same dialect that parses and renders, and three
writers spell it: GBNF for llama.cpp, Lark for llguidance, a structural tag for XGrammar.

    >>> from toolglot.grammar import grammar
    >>> made = grammar("hermes", {"ping": {"properties": {}}}, format="gbnf")
    >>> made.lazy, made.triggers
    (True, ('<tool_call>',))
"""

from .export import Format, Grammar, grammar

__all__ = ["Format", "Grammar", "grammar"]
