"""sources: where a model's chat templates come from.

Promises: each template comes with its name, its text as it stands there, the special tokens that it may
write, and the place it was read from. Files are not trusted: what is read is bounded, and whatever is wrong
with them is a ``DerivationError`` that names the file and says what to do.

Does not: look at a template's text, render it, or fetch anything.

Sources: transformers 5.24.0 (``tokenization_utils_base.py``: files win over the tokenizer's configuration; of
several templates ``tool_use`` is the one for tools, else ``default``); llama-server's ``GET /props``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import DerivationError
from .gguf import is_gguf, read_gguf

LONGEST_TEMPLATE: Final = 1 << 22
"""Bytes of a template's file."""
LONGEST_JSON: Final = 1 << 26
"""Bytes of a JSON file: some configurations list a whole vocabulary."""
MOST_TEMPLATES: Final = 64

DEFAULT: Final = "default"
TOOL_USE: Final = "tool_use"

TEMPLATE_FILE: Final = "chat_template.jinja"
FOLDERS: Final = ("additional_chat_templates", "chat_templates")
TOKENIZER_FILE: Final = "tokenizer_config.json"
TOKENS_FILE: Final = "special_tokens_map.json"
PROCESSOR_FILE: Final = "chat_template.json"
_TEMPLATE: Final = "chat_template"
_SUFFIX: Final = ".jinja"
_DECLARATIONS: Final = ("response_template", "response_schema")

_JINJA: Final = re.compile(r"\{[%{#]")
_OBJECT: Final = re.compile(r'\s*\{\s*["}]')


@dataclass(frozen=True)
class TemplateSource:
    """One chat template.

    ``name``: ``default`` where it has none. ``tokens``: special tokens by the names that templates have for
    them, such as ``bos_token``. ``origin``: the file, and where in it, for a person to read. ``declared``:
    what the configuration says of the model's output, under ``response_template`` or ``response_schema``.
    """

    name: str
    text: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    origin: str = "text"
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """The hash of the text as UTF-8, in hexadecimal, by which a known template is told.

        >>> TemplateSource("default", "{{ messages }}").sha256[:12]
        'f24189f08c85'
        """
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def read_templates(source: str | os.PathLike[str] | Mapping[str, Any]) -> tuple[TemplateSource, ...]:
    """The templates of ``source``, at least one.

    ``source`` is a path as ``from_path`` takes it, the answer of llama-server's ``/props`` as a dict or as
    JSON text, or a template's own text, which is told from a path by what it holds: a Jinja tag. Raises
    ``DerivationError``.

    >>> read_templates("{{ messages }}")[0].name
    'default'
    """
    if isinstance(source, Mapping):
        return from_props(source)
    if isinstance(source, str) and _OBJECT.match(source):
        return from_props(_json(source, "the text"))
    if isinstance(source, str) and _JINJA.search(source):
        return (TemplateSource(DEFAULT, source),)
    return from_path(source)


def for_tools(sources: Sequence[TemplateSource], name: str | None = None) -> TemplateSource:
    """The template that a request with tools is rendered with: the one of that name, if one is given.

    Else ``tool_use``, then ``default``, then the only one. Raises ``DerivationError`` where that leaves none.

    >>> for_tools([TemplateSource("default", "a"), TemplateSource("tool_use", "b")]).text
    'b'
    """
    by_name = {source.name: source for source in sources}
    for wanted in (TOOL_USE, DEFAULT) if name is None else (name,):
        if wanted in by_name:
            return by_name[wanted]
    if name is None and len(sources) == 1:
        return sources[0]
    known = ", ".join(by_name) or "none"
    if name is None:
        raise DerivationError(f"none of the templates is the one for tools; name one of: {known}")
    raise DerivationError(f"no template is called {name!r}; there are: {known}")


def from_path(path: str | os.PathLike[str]) -> tuple[TemplateSource, ...]:
    """The templates of a file or folder.

    A folder is a Hugging Face model's. A file is a GGUF file, told by how it begins; JSON, told by its
    suffix: a tokenizer's configuration or an answer of ``/props``; or a template's text. Raises
    ``DerivationError``.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _from_folder(path)
        if not path.is_file():
            raise DerivationError(f"{path}: no such file, and no template's text either")
        if is_gguf(path):
            return _from_gguf(path)
    except (OSError, ValueError) as error:
        raise DerivationError(f"{path}: {_said(error)}") from error
    if path.suffix == ".json":
        data = _json(_read(path, LONGEST_JSON), str(path))
        sources = _from_config(data, str(path), _tokens(data, {}))
        return _some(sources, f"{path}: no {_TEMPLATE} in it")
    return (TemplateSource(DEFAULT, _read(path, LONGEST_TEMPLATE), {}, str(path)),)


def from_props(props: Mapping[str, Any], origin: str = "/props") -> tuple[TemplateSource, ...]:
    """The templates in what llama-server answers to ``GET /props``. Raises ``DerivationError``.

    >>> [source.name for source in from_props({"chat_template": "a", "chat_template_tool_use": "b"})]
    ['default', 'tool_use']
    """
    sources = _from_config(props, origin, _tokens(props, {}))
    fault = props.get("error")
    if not sources and isinstance(fault, Mapping):
        raise DerivationError(f"{origin}: the server answered with an error: {fault.get('message')}")
    return _some(
        sources, f"{origin}: no {_TEMPLATE} in it; the server has to be llama-server with a model loaded"
    )


def _some(sources: tuple[TemplateSource, ...], fault: str) -> tuple[TemplateSource, ...]:
    if not sources:
        raise DerivationError(fault)
    return sources


# -- kinds of files ----------------------------------------------------------------------------------


def _from_gguf(path: Path) -> tuple[TemplateSource, ...]:
    model = read_gguf(path)
    sources = tuple(
        TemplateSource(name, text, model.tokens, f"{path}, {_TEMPLATE} {name!r}")
        for name, text in model.templates.items()
    )
    return _some(
        sources,
        f"{path}: no tokenizer.{_TEMPLATE} in its metadata; of a model in several files, give the first",
    )


def _from_folder(path: Path) -> tuple[TemplateSource, ...]:
    config = _config(path / TOKENIZER_FILE)
    tokens = _tokens(config, _tokens(_config(path / TOKENS_FILE), {}))
    files = [(DEFAULT, path / TEMPLATE_FILE), *_named_files(path)]
    sources = tuple(
        TemplateSource(name, _read(file, LONGEST_TEMPLATE), tokens, str(file), _declared(config))
        for name, file in files
        if file.is_file()
    )
    if not sources:
        sources = _from_config(config, str(path / TOKENIZER_FILE), tokens)
    if not sources:
        sources = _from_config(_config(path / PROCESSOR_FILE), str(path / PROCESSOR_FILE), tokens)
    return _some(
        sources, f"{path}: no chat template: neither {TEMPLATE_FILE} nor {_TEMPLATE} in {TOKENIZER_FILE}"
    )


def _named_files(path: Path) -> Iterator[tuple[str, Path]]:
    seen: set[str] = set()
    for folder in FOLDERS:
        for file in sorted((path / folder).glob(f"*{_SUFFIX}")):
            name = file.name.removesuffix(_SUFFIX)
            if name not in seen:
                seen.add(name)
                yield name, file
            if len(seen) > MOST_TEMPLATES:
                raise DerivationError(f"{path / folder}: more than {MOST_TEMPLATES} templates")


def _from_config(
    config: Mapping[str, Any], origin: str, tokens: Mapping[str, str]
) -> tuple[TemplateSource, ...]:
    """The templates in a configuration: a text, a list of named ones, or texts by name."""
    found: dict[str, str] = dict(_named(config.get(_TEMPLATE), f"{origin}: {_TEMPLATE}"))
    extra = config.get(f"{_TEMPLATE}_{TOOL_USE}")
    if isinstance(extra, str) and extra:
        found.setdefault(TOOL_USE, extra)
    return tuple(
        TemplateSource(name, text, tokens, f"{origin}, {_TEMPLATE} {name!r}", _declared(config))
        for name, text in found.items()
    )


def _declared(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: config[key] for key in _DECLARATIONS if config.get(key) is not None}


def _named(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if value is None or value == "":
        return
    if isinstance(value, str):
        value = {DEFAULT: value}
    if isinstance(value, Mapping):
        value = [{"name": name, "template": text} for name, text in value.items()]
    if not isinstance(value, list) or len(value) > MOST_TEMPLATES:
        raise DerivationError(
            f"{place}: expected a text, or a list of at most {MOST_TEMPLATES} named templates"
        )
    for number, item in enumerate(value):
        name, text = (item.get("name"), item.get("template")) if isinstance(item, Mapping) else (None, None)
        if not isinstance(name, str) or not isinstance(text, str):
            raise DerivationError(f"{place}[{number}]: expected an object with the texts name and template")
        yield name, text


def _tokens(config: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, str]:
    """The special tokens of a configuration, over those that are ``known`` already."""
    tokens = dict(known)
    for name, value in config.items():
        text = value.get("content") if isinstance(value, Mapping) else value
        if name.endswith("_token") and isinstance(text, str):
            tokens[name] = text
    return tokens


# -- reading -----------------------------------------------------------------------------------------


def _config(path: Path) -> Mapping[str, Any]:
    """A JSON file that need not be there."""
    return _json(_read(path, LONGEST_JSON), str(path)) if path.is_file() else {}


def _json(text: str, origin: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DerivationError(f"{origin}: no JSON: {error}") from error
    if not isinstance(data, dict):
        raise DerivationError(f"{origin}: expected a JSON object")
    return data


def _read(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
        if len(raw) > most:
            raise DerivationError(f"{path}: more than {most} bytes")
        return raw.decode()
    except (OSError, ValueError) as error:
        raise DerivationError(f"{path}: {_said(error)}") from error


def _said(error: Exception) -> str:
    """What the error says, without the path that it repeats."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
