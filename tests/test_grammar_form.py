"""The intermediate form, and its three nodes as plain rules."""

from __future__ import annotations

import itertools

import pytest

from tests.gbnf import Gbnf
from toolglot.grammar.form import (
    EMPTY,
    NEVER,
    Alt,
    Chars,
    Lit,
    Members,
    Node,
    Rep,
    Rules,
    Upto,
    Word,
    alt,
    listed,
    one_of,
    prefixed,
    seq,
    starts,
)
from toolglot.grammar.gbnf import write_gbnf


def read(node: Node) -> Gbnf:
    return Gbnf(write_gbnf(node, Rules()))


def test_sequences_join_literals() -> None:
    assert seq(Lit("a"), EMPTY, seq(Lit("b"), one_of("x")), Lit("")) == seq(Lit("ab"), one_of("x"))
    assert seq(Lit("a"), Lit("b")) == Lit("ab")
    assert seq() == EMPTY
    assert seq(Lit("a"), NEVER) == NEVER


def test_options_are_had_once() -> None:
    assert alt([Lit("a"), NEVER, Alt((Lit("b"), Lit("a")))]) == Alt((Lit("a"), Lit("b")))
    assert alt([Lit("a"), Lit("a")]) == Lit("a")
    assert alt([]) == NEVER


def test_equal_nodes_share_a_rule() -> None:
    rules = Rules()
    assert rules.add(Rep(Lit("a"))) == rules.add(Rep(Lit("a")))
    assert len(rules.nodes) == 1


def test_ranges() -> None:
    assert one_of("a-c_-") == Chars((("a", "c"), ("_", "_"), ("-", "-")))
    assert one_of("ab", negated=True).holds("c")
    assert not one_of("ab", negated=True).holds("a")


def test_what_a_node_starts_with() -> None:
    rules = Rules()
    call = rules.add(alt([seq(Lit("f("), Rep(Lit("x"))), seq(Lit("g("), Rep(Lit("y")))]))
    node = seq(Lit("["), call, Lit("]"))
    assert starts(node, rules) == [
        ("[f(", seq(Rep(Lit("x")), Lit("]"))),
        ("[g(", seq(Rep(Lit("y")), Lit("]"))),
    ]
    assert prefixed("\n", seq(Lit("a"), Rep(Lit("b"))), rules) == seq(Lit("\na"), Rep(Lit("b")))


@pytest.mark.parametrize(
    ("least", "most", "taken"),
    [(0, None, {0, 1, 2, 3}), (1, None, {1, 2, 3}), (0, 0, {0}), (2, 3, {2, 3}), (0, 1, {0, 1})],
)
def test_lists(least: int, most: int | None, taken: set[int]) -> None:
    made = read(listed(Lit("x"), Lit(","), least, most))
    assert {n for n in range(4) if made.accepts(",".join("x" * n))} == taken


@pytest.mark.parametrize(
    ("node", "alphabet"),
    [
        (Upto("ab"), "abc"),
        (Upto("aab"), "ab"),
        (Upto("abab"), "abc"),
        (Upto("ba", ("aa",)), "abc"),
        (Upto("</", ("<a", "/a")), "</a"),
        (Upto('<"', ('"',)), '<"a'),
        (Upto("<>x", ("<>",)), "<>x"),
    ],
)
def test_text_up_to_a_marker(node: Upto, alphabet: str) -> None:
    """Every short text, by the definition: the first stop ends it, and nothing forbidden stands before."""
    made = read(node)
    for size in range(7):
        for text in map("".join, itertools.product(alphabet, repeat=size)):
            before = text.removesuffix(node.stop)
            meant = text.find(node.stop) == len(text) - len(node.stop) and text.endswith(node.stop)
            assert made.accepts(text) == (meant and not any(w in before for w in node.without)), text


def test_words_but_for_some() -> None:
    made = read(Word(one_of("a-c"), ("ab", "abc", "c", "x")))
    for size in range(5):
        for text in map("".join, itertools.product("abc", repeat=size)):
            assert made.accepts(text) == (size > 0 and text not in {"ab", "abc", "c"}), text
    assert not made.accepts("d")


@pytest.mark.parametrize("some", [False, True])
def test_members_in_any_order(some: bool) -> None:
    made = read(Members((Lit("a"), Lit("b"), Lit("c")), frozenset(), Lit(","), None, some))
    for size in range(4):
        for chosen in itertools.permutations("abc", size):
            assert made.accepts(",".join(chosen)) == (size > 0 or not some)
    assert not made.accepts("a,a")
    assert not made.accepts("a,")


def test_required_members_and_others() -> None:
    made = read(Members((Lit("a"), Lit("b")), frozenset({1}), Lit(","), Lit("x")))
    assert all(made.accepts(text) for text in ("b", "a,b", "b,a", "x,b", "x,b,x,x,a", "b,x"))
    assert not any(made.accepts(text) for text in ("", "a", "x", "a,x", "b,b", "b,a,b"))
