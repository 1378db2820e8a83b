"""How an answer goes out over the wire: whole and at once, or in one of the ways that wires have of
failing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from types import MappingProxyType

from aiohttp import web

from thresher.practice.web.answer import WebResponse
from thresher.practice.web.knob import Knob, Trouble

PIECES = 20
AT_ONCE = 256 * 1024
NEVER = 3_600 * 24


class Nothing(web.Response):
    """What the framework is given when the connection is spoilt: there is nothing left to send."""

    async def prepare(self, request: web.BaseRequest) -> None:  # noqa: ARG002
        return None

    async def write_eof(self, data: bytes = b"") -> None:  # noqa: ARG002
        return None


@dataclass(frozen=True, slots=True)
class Delivered:
    """What went out: the status (0 for none), how many bytes of the body, and whether that was the whole
    answer.
    """

    response: web.StreamResponse
    status: int = 0
    size: int = 0
    whole: bool = False


async def deliver(request: web.BaseRequest, answer: WebResponse, knob: Knob | None) -> Delivered:
    """Send it, well or badly."""
    if knob is not None:
        return await _SPOILT[knob.trouble](request, answer, knob)
    return await _whole(request, answer)


def fresh(request: web.BaseRequest, answer: WebResponse) -> bool:
    """Whether what the client has is still what we would send."""
    if answer.status != 200 or request.method not in ("GET", "HEAD"):
        return False
    if answer.etag and (known := request.headers.get("If-None-Match")) is not None:
        return known.strip() == "*" or answer.etag in [
            each.strip().removeprefix("W/") for each in known.split(",")
        ]
    since = request.headers.get("If-Modified-Since")
    return bool(since and answer.modified and _at(since) >= answer.modified.replace(microsecond=0))


def _at(text: str) -> datetime:
    """The time in a header; what is none was long ago."""
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _headers(request: web.BaseRequest, answer: WebResponse) -> dict[str, str]:
    headers = {"server": "practice", **answer.headers}
    if answer.status == 200 and request.method in ("GET", "HEAD"):
        if answer.etag:
            headers["etag"] = answer.etag
        if answer.modified:
            headers["last-modified"] = format_datetime(answer.modified, usegmt=True)
    return headers


async def _whole(request: web.BaseRequest, answer: WebResponse) -> Delivered:
    if fresh(request, answer):
        kept = {name: value for name, value in _headers(request, answer).items() if name != "content-type"}
        return await _sent(request, web.Response(status=304, headers=kept))
    if len(answer.body) > AT_ONCE:
        return await _streamed(request, answer)
    return await _sent(
        request, web.Response(status=answer.status, body=answer.body, headers=_headers(request, answer))
    )


async def _streamed(request: web.BaseRequest, answer: WebResponse) -> Delivered:
    """Piece by piece, as the client takes it: who stops reading at a limit must not have been sent the
    rest.
    """
    response = web.StreamResponse(status=answer.status, headers=_headers(request, answer))
    response.content_length = len(answer.body)
    await response.prepare(request)
    whole = memoryview(answer.body)
    for at in range(0, len(whole), AT_ONCE):
        await response.write(whole[at : at + AT_ONCE])
    await response.write_eof()
    return Delivered(response, answer.status, len(answer.body), whole=True)


async def _sent(request: web.BaseRequest, response: web.Response) -> Delivered:
    """Prepared and written here rather than by the framework: the log wants to know when the last byte
    went.
    """
    await response.prepare(request)
    await response.write_eof()
    return Delivered(response, response.status, response.content_length or 0, whole=True)


async def _slow(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:
    await asyncio.sleep(1.0 if knob.seconds is None else knob.seconds)
    return await _whole(request, answer)


async def _hang(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:  # noqa: ARG001
    await asyncio.sleep(NEVER if knob.seconds is None else knob.seconds)
    return _closed(request)


async def _drip(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:
    response = web.StreamResponse(status=answer.status, headers=_headers(request, answer))
    response.content_length = len(answer.body)
    await response.prepare(request)
    step = max(1, -(-len(answer.body) // (knob.number or PIECES)))
    pause = (1.0 if knob.seconds is None else knob.seconds) / (knob.number or PIECES)
    for at in range(0, len(answer.body), step):
        await asyncio.sleep(pause)
        await response.write(answer.body[at : at + step])
    await response.write_eof()
    return Delivered(response, answer.status, len(answer.body), whole=True)


async def _truncated(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:
    response = web.StreamResponse(status=answer.status, headers=_headers(request, answer))
    response.content_length = max(len(answer.body), 2)
    return await _part(request, response, answer.body[: knob.number or len(answer.body) // 2])


async def _cut_chunks(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:
    response = web.StreamResponse(status=answer.status, headers=_headers(request, answer))
    response.enable_chunked_encoding()
    return await _part(request, response, answer.body[: knob.number or len(answer.body) // 2])


async def _part(request: web.BaseRequest, response: web.StreamResponse, body: bytes) -> Delivered:
    await response.prepare(request)
    if body:
        await response.write(body)
    return Delivered(_closed(request).response, response.status, len(body))


async def _reset(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:  # noqa: ARG001
    return _closed(request)


async def _garbage(request: web.BaseRequest, answer: WebResponse, knob: Knob) -> Delivered:  # noqa: ARG001
    if request.transport:
        request.transport.write(b"\x16\x03\x01 this is not what you asked for\r\n\r\n\x00\xff")
    return _closed(request)


def _closed(request: web.BaseRequest) -> Delivered:
    if request.transport:
        request.transport.close()
    return Delivered(Nothing())


Delivery = Callable[[web.BaseRequest, WebResponse, Knob], Awaitable[Delivered]]
_SPOILT: MappingProxyType[Trouble, Delivery] = MappingProxyType(
    {
        Trouble.SLOW: _slow,
        Trouble.HANG: _hang,
        Trouble.DRIP: _drip,
        Trouble.TRUNCATED: _truncated,
        Trouble.CUT_CHUNKS: _cut_chunks,
        Trouble.RESET: _reset,
        Trouble.GARBAGE: _garbage,
    }
)
