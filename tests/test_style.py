"""Rules of the house that a linter does not know, checked on the syntax trees of ``src/toolglot``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

import toolglot
from tests.places import SRC

MODULES = {path.relative_to(SRC).as_posix(): path for path in sorted(SRC.rglob("*.py"))}
modules = pytest.mark.parametrize("module", MODULES)

LONGEST = 400

# A module may import its own layer and those above it in this list; every module is in it.
# fmt: off
LAYERS: tuple[tuple[str, ...], ...] = (
    ("_typing", "events", "native", "errors", "_toml", "record", "late", "limits", "spans", "bundle"),
    ("message", "dialect", "spec", "specwrite", "schema", "schemawalk", "markers", "scanner", "pieces",
     "jsontext", "draft", "jsonstream", "jsonstring", "sinks", "stops", "parts", "runs", "proserun", "waits",
     "window",
     "counts",
     "literals", "faults"),
    ("bodies/*", "calls", "ledger", "channel", "table", "state", "sections", "ways", "echo", "envelope",
     "delimited", "claims", "closing", "answers", "reasoning", "messages", "registry", "gglib", "assembler"),
    ("parser", "lane", "auto", "custom", "render", "grammar/*"),
    ("derive/*", "residue"),
    ("wire/*",),
    ("__init__", "explain"),
    ("cli/*", "__main__", "proxy/*", "integrations/*"),
)
# fmt: on

# Imports inside a function that go up, and why.
UPWARDS = {("spec.py", "gglib.py"): "Dialect.from_dict is the one door for both forms of a dict"}

THE_PATH = (2, 3)
"""The layers that see every delta: their modules ask ``scanner`` and ``jsonstream`` to search."""
OFF_THE_PATH = {"registry.py", "gglib.py", "render.py"}
"""Their modules that see none: they read data, or write."""
STRING_SEARCHES = {"find", "rfind", "index", "rindex", "count", "split", "rsplit", "partition", "rpartition"}
PATTERN_SEARCHES = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "raw_decode"}
SEARCHES = STRING_SEARCHES | PATTERN_SEARCHES | {"splitlines", "scan_once"}
SEARCHING_MODULES = {"re", "json.decoder", "json.scanner"}

MARKER = re.compile(
    r"<\||\|>|｜|(?<!\?P)</?[A-Za-z_]+[:=>]|\[/?[A-Z_]{3,}\]|functools\[|to=functions|<\w+_\w+>",
)


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def name_of(module: str) -> str:
    return module.removesuffix(".py")


def layer_of(module: str) -> int | None:
    name = name_of(module).removesuffix("/__init__")
    folder = name.split("/")[0] + "/*"
    return next((number for number, layer in enumerate(LAYERS) if name in layer or folder in layer), None)


def on_the_path(module: str) -> bool:
    if module in OFF_THE_PATH or module.startswith("grammar/"):
        return False
    return layer_of(module) in THE_PATH


# -- searching -------------------------------------------------------------------------------------


def searches(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES:
            if not _asks_the_scanner(node.func.value):
                yield node.lineno, f".{node.func.attr}()"
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in _imported(node):
                if name in SEARCHING_MODULES:
                    yield node.lineno, f"import {name}"


def _asks_the_scanner(value: ast.expr) -> bool:
    """Whether the object asked is the scanner's source, by its name: ``source`` or ``self._source``."""
    name = value.attr if isinstance(value, ast.Attribute) else value.id if isinstance(value, ast.Name) else ""
    return name.lstrip("_") in {"source", "src", "scanner"}


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names]


@pytest.mark.parametrize("module", [m for m in MODULES if on_the_path(m)])
def test_only_the_scanner_searches(module: str) -> None:
    """Law 5 is counted at one seam: no other module on a delta's path searches."""
    assert list(searches(tree_of(module))) == []


def test_the_path_exists() -> None:
    assert {"parser.py", "envelope.py", "auto.py", "assembler.py"} <= set(MODULES)
    assert any(m.startswith("bodies/") for m in MODULES)


@pytest.mark.parametrize(
    "code",
    [
        *("text.find('x')", "text.split()", "import re", "from re import compile", "pattern.search(text)"),
        *("json.JSONDecoder().raw_decode(t)", "self.buffer.index('<')"),
    ],
)
def test_a_search_is_seen(code: str) -> None:
    assert list(searches(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ["source.find(markers, 0)", "self._source.find(m, 0)", "event.index", "find(x)"]
)
def test_what_is_no_search(code: str) -> None:
    assert not list(searches(ast.parse(code)))


# -- size and faults -------------------------------------------------------------------------------


@modules
def test_length(module: str) -> None:
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= LONGEST


@modules
def test_no_blind_except(module: str) -> None:
    """A fault of ours is never swallowed."""
    blind = [
        node.lineno
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ExceptHandler)
        and (
            node.type is None
            or (isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"})
        )
    ]
    assert blind == []


@modules
def test_module_docstring(module: str) -> None:
    """Each module says what it promises."""
    assert ast.get_docstring(tree_of(module)) or not tree_of(module).body


# -- imports ---------------------------------------------------------------------------------------


def imports(module: str, lazy: bool) -> set[str]:
    """The modules of toolglot that a module imports; with ``lazy`` also inside of functions."""
    found: set[str] = set()
    for node in _walk(tree_of(module), lazy):
        if isinstance(node, ast.ImportFrom):
            found |= _targets(module, node)
        elif isinstance(node, ast.Import):
            found |= {_file(a.name.split(".")[1:]) for a in node.names if a.name.split(".")[0] == "toolglot"}
    return found - {module}


def _walk(tree: ast.AST, lazy: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not lazy:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield from _walk(node, lazy)


def _targets(module: str, node: ast.ImportFrom) -> set[str]:
    parts = (node.module or "").split(".") if node.module else []
    if node.level:
        package = module.split("/")[:-1]
        base = package[: len(package) - (node.level - 1)] + parts
    elif parts[:1] == ["toolglot"]:
        base = parts[1:]
    else:
        return set()
    # "from . import x" names a module, "from .x import y" something in one.
    named = {_file([*base, alias.name]) for alias in node.names}
    return {name for name in named if name in MODULES} or {_file(base)}


def _file(parts: list[str]) -> str:
    path = "/".join(parts)
    package = f"{path}/__init__.py".lstrip("/")
    return package if package in MODULES else f"{path}.py"


@modules
def test_each_module_has_a_layer(module: str) -> None:
    assert layer_of(module) is not None, "give it one in LAYERS"


@modules
def test_imports_go_one_way(module: str) -> None:
    own = layer_of(module) or 0
    above = {target for target in imports(module, lazy=True) if (layer_of(target) or 0) > own}
    assert above == {up for down, up in UPWARDS if down == module}


def test_no_import_cycle() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " → ".join([*path[path.index(module) :], module])
        if module not in done:
            for target in sorted(imports(module, lazy=False)):
                visit(target, (*path, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())
    assert done == set(MODULES)


@modules
def test_the_core_has_no_io(module: str) -> None:
    """No event loop, no HTTP and no templates in the core; hosts are imported lazily in integrations."""
    if module.startswith(("proxy/", "integrations/", "derive/")):
        return
    outside = {
        "asyncio",
        "http",
        "socket",
        "ssl",
        "jinja2",
        "httpx",
        "requests",
        "threading",
        "urllib.request",
    }
    found = {
        name
        for node in ast.walk(tree_of(module))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in _imported(node)
    }
    assert {name for name in found if name in outside or name.split(".")[0] in outside} == set()


# -- data in code ----------------------------------------------------------------------------------


def literals(module: str) -> Iterator[tuple[int, str]]:
    """String constants that are no docstrings."""
    tree = tree_of(module)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


END_OF_EVENTS = "[DONE]"
"""Looks like a marker, and is what ends a stream of events."""


@modules
def test_no_marker_in_code(module: str) -> None:
    """Markers are data: they stand in ``dialects/*.toml``."""
    found = [(line, text) for line, text in literals(module) if MARKER.search(text)]
    assert [(line, text) for line, text in found if text != END_OF_EVENTS] == []


@pytest.mark.parametrize(
    "text", ["<tool_call>", "</think>", "[TOOL_CALLS]", "<|call|>", "<function=", "functools["]
)
def test_a_marker_is_seen(text: str) -> None:
    assert MARKER.search(text)


@modules
def test_no_dialect_named_in_code(module: str) -> None:
    """No family is known to the code: what is said of one stands in its data."""
    if module.startswith(("integrations/",)):
        return
    codecs = {body.codec for slug in toolglot.BUNDLED for body in _dialect(slug).bodies}
    slugs = {*toolglot.BUNDLED} - codecs - {"auto", "none"}
    assert [(line, text) for line, text in literals(module) if text in slugs] == []


def _dialect(slug: str) -> toolglot.Dialect:
    dialect = toolglot.resolve(slug)
    assert isinstance(dialect, toolglot.Dialect)
    return dialect


def test_dialects_hold_no_code() -> None:
    assert [p.name for p in (SRC / "dialects").rglob("*") if p.is_file() and p.suffix != ".toml"] == []
