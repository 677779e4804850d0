"""Errors: any server's error body in OpenAI's shape.

Promises: ``{"error": {"message", "type", "param", "code"}}``, whatever the server sent, with the fields
that it does not know kept. Does not raise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from .jsonbody import NOT_JSON, decode_json

_BY_STATUS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
}
_FIELDS: Final = ("message", "type", "param", "code")
_LONGEST: Final = 2000


def error_body(
    message: str, *, type: str = "invalid_request_error", param: str | None = None, code: Any = None
) -> dict[str, Any]:
    """An error of our own, as OpenAI writes one."""
    return {"error": {"message": message, "type": type, "param": param, "code": code}}


def is_error(body: Mapping[str, Any]) -> bool:
    """Whether a body or an event says an error, in OpenAI's form or in the flat one."""
    return bool(body.get("error")) or (body.get("object") == "error" and "message" in body)


def error_status(error: Mapping[str, Any]) -> int:
    """The HTTP status of an error that came with a good one: its code, where that is a status, else 502."""
    code = error["error"].get("code")
    return code if type(code) is int and 400 <= code <= 599 else 502


def openai_error(body: object, status: int = 500) -> dict[str, Any]:
    """What an upstream answered with ``status``, as OpenAI writes errors.

    ``body`` is the parsed JSON, or the text or bytes where it was none. Understands OpenAI's own form, an
    ``error`` that is a string, the flat form (``message`` beside ``object`` or ``code``) and ``detail``.
    """
    if isinstance(body, (bytes, bytearray)):
        body = bytes(body).decode("utf-8", "replace")
    if isinstance(body, str):
        value = decode_json(body)
        body = body if value is NOT_JSON else value
    kept: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping):
            fields, kept = dict(inner), {k: v for k, v in body.items() if k != "error"}
        elif isinstance(inner, str) and inner:
            fields = {"message": inner, **{k: v for k, v in body.items() if k in _FIELDS[1:]}}
        elif "message" in body or "detail" in body:
            fields = {k: v for k, v in body.items() if k not in ("object", "detail", "error")}
            if not isinstance(fields.get("message"), str):
                detail = body.get("detail", body.get("message"))
                fields["message"] = detail if isinstance(detail, str) else json.dumps(detail)
        else:
            fields = {"message": json.dumps(body, ensure_ascii=False)[:_LONGEST]}
    else:
        fields = {"message": str(body)[:_LONGEST].strip() if body else ""}
    message = fields.get("message")
    if not isinstance(message, str) or not message:
        fields["message"] = f"the upstream answered with status {status}"
    if not isinstance(fields.get("type"), str) or not fields["type"]:
        fields["type"] = _BY_STATUS.get(status, "server_error" if status >= 500 else "invalid_request_error")
    error = {name: fields.get(name) for name in _FIELDS}
    error.update({k: v for k, v in fields.items() if k not in error})
    return {"error": error, **kept}
