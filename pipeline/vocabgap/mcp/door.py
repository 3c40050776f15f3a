"""The door: what is no message gets an answer all the same, and over HTTP the token lets in."""

import json
import os
import re
import secrets
from collections.abc import Iterator
from hmac import compare_digest
from http import HTTPStatus
from typing import Any, Final

from mcp.server.transport_security import (
    DEFAULT_MAX_REQUEST_BODY_SIZE,
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vocabgap.errors import InvalidInputError
from vocabgap.mcp import TOKEN_VARIABLE

_RANDOM_BYTES: Final = 32
_NO_JSON: Final = "a message is one line of JSON"
_NO_MESSAGE: Final = "this is JSON, but no message of JSON-RPC 2.0"
_NO_IDENTIFIER: Final = "the id of a request is a text or a whole number"
_BATCH: Final = "batches are not taken: send each message alone"
_HALVED: Final = "a text holds half of a surrogate pair, as one has that was cut in the middle of a character"
_NO_TOKEN: Final = "the token is missing or wrong: send it as `Authorization: Bearer TOKEN`"  # noqa: S105


def refusals(text: str | bytes) -> list[JSONRPCError]:
    """The answers to what is no message, by the identifier where it has one; none to what is.

    The SDK drops some of it, answers some without the identifier, and takes a request whose identifier is of
    a wrong type for a notification; its client would wait for ever. A blank line has no answer.
    """
    if not text.strip():
        return []
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return [_error(None, PARSE_ERROR, _NO_JSON)]
    if isinstance(content, list):
        named = [each for each in content if isinstance(each, dict) and _identifier(each) is not None]
        return [_error(_identifier(each), INVALID_REQUEST, _BATCH) for each in named or [{}]]
    if not isinstance(content, dict):
        return [_error(None, INVALID_REQUEST, _NO_MESSAGE)]
    return list(_refused(text, content))


def _refused(text: str | bytes, content: dict[str, Any]) -> Iterator[JSONRPCError]:
    identifier = _identifier(content)
    if "id" not in content and "method" in content:
        return  # a notification, which is never answered
    if not _is_unicode(content):
        yield _error(identifier, PARSE_ERROR, _HALVED)
    elif identifier is None and "method" in content:
        yield _error(None, INVALID_REQUEST, _NO_IDENTIFIER)
    else:
        try:
            jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValidationError:
            yield _error(identifier, INVALID_REQUEST, _NO_MESSAGE)


def _identifier(content: dict[str, Any]) -> str | int | None:
    """The identifier of a message, if it can be one."""
    value = content.get("id")
    is_one = isinstance(value, str | int) and not isinstance(value, bool)
    return value if is_one and _is_unicode(value) else None


def _is_unicode(content: object) -> bool:
    """Whether every text in it is whole."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(identifier: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=message))


def chosen_token() -> str | None:
    """The token that the environment names, for clients that are to know it at every start.

    Raises:
        InvalidInputError: It is short, or no header can carry it.
    """
    token = os.environ.get(TOKEN_VARIABLE)
    if token and not re.fullmatch(r"[!-~]{16,}", token):
        raise InvalidInputError(
            f"{TOKEN_VARIABLE}: expected 16 or more visible characters of ASCII",
            hint="`openssl rand -hex 32` makes such a token; without the variable each start makes its own",
        )
    return token or None


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def guarded(app: ASGIApp, token: str, security: TransportSecuritySettings) -> ASGIApp:
    """The app of the SDK behind its door: the token first, then where it comes from, then the message."""
    return _Door(RequestBodyLimitMiddleware(_Messages(app), DEFAULT_MAX_REQUEST_BODY_SIZE), token, security)


class _Door:
    """Lets in who sends the token, from a page or a name of this server alone."""

    def __init__(self, app: ASGIApp, token: str, security: TransportSecuritySettings) -> None:
        self._app = app
        self._token = token.encode()
        self._security = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = await self._refused(Request(scope)) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    async def _refused(self, request: Request) -> Response | None:
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and compare_digest(sent.encode(), self._token):
            return await self._security.validate_request(request)
        return PlainTextResponse(_NO_TOKEN, HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": "Bearer"})


class _Messages:
    """Answers what is no message, and names the request where the SDK refuses one without saying which."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        pending = [await receive()]  # with all of the body: what limits it has read it
        body = pending[0].get("body", b"")
        errors = [each.model_dump(exclude_none=True) | {"id": each.id} for each in refusals(body)]
        if errors:
            content = errors if len(errors) > 1 else errors[0]
            await JSONResponse(content, HTTPStatus.BAD_REQUEST)(scope, receive, send)
            return

        async def replay() -> Message:
            return pending.pop() if pending else await receive()

        held: list[Message] = []

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= HTTPStatus.BAD_REQUEST:
                held.append(message)
                return
            if held:
                message = {**message, "body": _named(message.get("body", b""), body)}
                MutableHeaders(scope=held[0])["content-length"] = str(len(message["body"]))
                await send(held.pop())
            await send(message)

        await self._app(scope, replay, named)


def _named(answer: bytes, asked: bytes) -> bytes:
    """An error with the identifier of the request that it answers; whatever else it is stays."""
    try:
        error, request = json.loads(answer), json.loads(asked)
    except ValueError:
        return answer
    if not isinstance(error, dict) or "error" not in error or error.get("id") is not None:
        return answer
    return json.dumps({**error, "id": request.get("id")}).encode()
