"""The HTTP client given to vendors' libraries: no redirects, no decompression, a bounded body.

A key goes out with every request, so an answer that points elsewhere is an error, never followed.
"""

from collections.abc import AsyncIterator
from contextvars import ContextVar

import httpx2

CONNECT_SECONDS = 10.0
MIN_BODY = 256 * 1024
MAX_BODY = 64 * 1024 * 1024
# A token in its own event takes about 300 bytes at the most verbose vendor.
BODY_PER_TOKEN = 400

_most: ContextVar[int] = ContextVar("most", default=MIN_BODY)


class UnreadableReply(Exception):
    """An answer that is not read on. Not an `httpx2` error: a vendor's library must not take it for bad luck
    on the wire.
    """


def expect(tokens: int) -> None:
    """How long the answers of this task's calls may be from here on."""
    _most.set(min(MAX_BODY, MIN_BODY + tokens * BODY_PER_TOKEN))


def client(*, direct: bool) -> httpx2.AsyncClient:
    """One for each provider; its owner closes it. `direct`: past the proxy that the environment may name, for
    servers of one's own.
    """
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        headers={"accept-encoding": "identity"},  # a packed answer could unpack to anything
        follow_redirects=False,
        trust_env=not direct,
        event_hooks={"request": [_impatient], "response": [_bounded]},
    )


async def _impatient(request: httpx2.Request) -> None:
    """Libraries ask for one time limit for everything; the time to connect is kept short under it."""
    limits = dict(request.extensions.get("timeout") or {})
    asked = limits.get("connect")
    request.headers["user-agent"] = request.headers.get_list("user-agent")[
        0
    ]  # one library sends two, which strict servers refuse
    limits["connect"] = CONNECT_SECONDS if asked is None else min(asked, CONNECT_SECONDS)
    request.extensions = {**request.extensions, "timeout": limits}


async def _bounded(response: httpx2.Response) -> None:
    if response.has_redirect_location:
        raise UnreadableReply(
            f"it answers {response.status_code}, a redirect; set base_url to the final address"
        )
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnreadableReply("it compresses its answer although it was asked not to")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, _most.get())


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > self._most:
                raise UnreadableReply(
                    f"its answer is longer than {self._most} bytes, the limit for this call"
                )
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
