"""Upstream: the server behind the proxy: its addresses, its kind, and the template that it offers.

Promises: one connection pool, which keeps no cookies and follows no redirect, so that nothing of one
client reaches another and no key another host. What is asked at the start is asked with short timeouts,
and an upstream that does not answer is not an error: its kind is then unknown.

Does not: read a template (``template``), or send a key of its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from .config import Config

ASK_TIMEOUT = 5.0
"""Seconds for each question at the start."""

# What names a connection and not a message (RFC 9110, 7.6.1), and what aiohttp writes itself.
HOP_BY_HOP = frozenset(
    (
        "connection",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)

_UNREADABLE = (aiohttp.ClientError, asyncio.TimeoutError, OSError, ValueError)


class Upstream:
    """The server behind the proxy. ``kind`` is ``other`` until ``ask`` has told it.

    ``open`` and ``close`` frame its use: they need a running event loop.
    """

    def __init__(self, config: Config) -> None:
        parts = urlsplit(config.upstream)
        path = parts.path.rstrip("/")
        base = f"{parts.scheme}://{parts.netloc}"
        self._api = base + (path or "/v1")
        self._root = base + path.removesuffix("/v1")
        self._config = config
        self._session: aiohttp.ClientSession | None = None
        self.kind = "other" if config.server == "auto" else config.server
        self.asked = config.server not in ("auto", "llama-server", "ollama")
        """Whether it has been asked what it is, or need not be."""

    @property
    def session(self) -> aiohttp.ClientSession:
        """The connection pool, once opened."""
        assert self._session is not None
        return self._session

    def url(self, path: str) -> URL:
        """Where a path of the proxy, with its query, is found upstream.

        ``/v1`` is the upstream's API base, if that was given with a path, such as ``…/api/v1``.
        """
        if path == "/v1" or path.startswith(("/v1/", "/v1?")):
            return URL(self._api + path[len("/v1") :], encoded=True)
        return URL(self._root + path, encoded=True)

    async def open(self) -> None:
        """Make the connection pool."""
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=self._config.connect_timeout, sock_read=self._config.read_timeout
        )
        self._session = aiohttp.ClientSession(
            # No limit: how many requests run at once is the upstream's to say.
            # Most servers close a connection that was idle for five seconds; ours goes before.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=timeout,
            auto_decompress=False,
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
            read_bufsize=2**18,
        )

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    async def post(
        self, path: str, body: Mapping[str, Any], headers: Sequence[tuple[str, str]]
    ) -> aiohttp.ClientResponse:
        """The answer to a JSON request; its body is unpacked as it is read. Raises aiohttp's errors.

        A connection that closed before any answer is most often one that the upstream had given up while
        it lay idle: the request is sent once more, which a completion can bear.
        """
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        for attempt in ("first", "last"):
            try:
                return await self.session.post(
                    self.url(path),
                    data=data,
                    headers=CIMultiDict(headers),
                    allow_redirects=False,
                    auto_decompress=True,
                )
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if attempt == "last":
                    raise
        raise AssertionError("the last attempt returns or raises")

    async def ask(self) -> dict[str, Any]:
        """Find out the server's kind where the settings do not say it; returns its ``/props``, if any."""
        if self._config.server != "auto":
            props = await self._json("/props") if self.kind == "llama-server" else None
            return props or {}
        props, ollama, sglang, vllm = await asyncio.gather(
            *(self._json(path) for path in ("/props", "/api/version", "/model_info", "/version"))
        )
        self.kind = "other"
        if props is not None and ("chat_template" in props or "default_generation_settings" in props):
            self.kind = "llama-server"
        elif ollama is not None and "version" in ollama:
            self.kind = "ollama"
        elif sglang is not None and "tokenizer_path" in sglang:
            self.kind = "sglang"
        elif vllm is not None and "version" in vllm:
            self.kind = "vllm"
        return props or {} if self.kind == "llama-server" else {}

    async def models(self) -> list[str]:
        """The ids of ``/v1/models``; empty where they cannot be had."""
        answer = await self._json("/v1/models")
        data = answer.get("data") if answer else None
        entries = data if isinstance(data, list) else []
        return [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]

    async def show(self, model: str) -> dict[str, Any]:
        """What Ollama's ``/api/show`` says of a model; empty where it says nothing."""
        return await self._json("/api/show", {"model": model}) or {}

    async def _json(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        timeout = aiohttp.ClientTimeout(total=ASK_TIMEOUT)
        method = "GET" if body is None else "POST"
        try:
            async with self.session.request(
                method, self.url(path), json=body, timeout=timeout, allow_redirects=False
            ) as answer:
                self.asked = True
                if answer.status != 200:
                    return None
                data = await answer.json(content_type=None)
        except _UNREADABLE:
            return None
        return data if isinstance(data, dict) else None


def passed_on(headers: Any, *without: str) -> list[tuple[str, str]]:
    """Headers less those of the connection, those that ``Connection`` names, and those ``without``."""
    named = {word.strip().lower() for value in headers.getall("Connection", ()) for word in value.split(",")}
    dropped = HOP_BY_HOP | named | set(without)
    return [(name, value) for name, value in headers.items() if name.lower() not in dropped]
