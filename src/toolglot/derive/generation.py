"""generation: the ``generation`` block of transformers' chat templates, which only marks a stretch of text.

Promises: the block's body is rendered as it stands. Does not: record where it stood.
Imports Jinja2, and so is itself imported only where a template is compiled.
"""

from __future__ import annotations

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser


class Generation(Extension):
    """``generation`` … ``endgeneration``."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja2 declares it

    def parse(self, parser: Parser) -> nodes.Node:
        """The block as a scope of its own."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)
