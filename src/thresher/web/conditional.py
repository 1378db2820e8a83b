"""GET that is answered only if something has changed, and HEAD: the same answer without its body.

The tag of an answer is a digest of its bytes, so it is strong and needs no bookkeeping. It spares the
transfer, not the work.
"""

import hashlib
from collections.abc import AsyncGenerator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Scope, Send

from thresher.web.auth import values

IS_HEAD = "thresher.head"
_OF_THE_BODY = frozenset({b"content-length", b"content-type"})


def as_get(scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Have a HEAD answered as a GET, whose body is not sent."""

    async def bare(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return {**scope, "method": "GET", IS_HEAD: True}, bare


def conditional(request: Request, response: Response) -> Response:
    """Tag the answer to a GET; where the client has it already, answer 304. A stream has no tag, and for a
    HEAD it is not even begun. What must not be stored is nothing to compare with later.
    """
    if isinstance(response, StreamingResponse):
        if request.scope.get(IS_HEAD):
            response.body_iterator = _nothing()
        return response
    if response.status_code != 200 or "no-store" in response.headers.get("Cache-Control", ""):
        return response
    tag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
    response.headers["ETag"] = tag
    if not is_known(tag, values(request.scope["headers"], b"if-none-match")):
        return response
    unchanged = Response(status_code=304)
    unchanged.raw_headers = [each for each in response.raw_headers if each[0] not in _OF_THE_BODY]
    return unchanged


def is_known(tag: str, said: list[str]) -> bool:
    """Tell whether If-None-Match names a tag, or any (RFC 9110, 13.1.2: weak tags count there too)."""
    names = {each.strip().removeprefix("W/") for value in said for each in value.split(",")}
    return tag in names or "*" in names


async def _nothing() -> AsyncGenerator[bytes, None]:
    pieces: tuple[bytes, ...] = ()
    for piece in pieces:
        yield piece
