"""The body of a request: the limits on its size and its time, and large bodies written to a file while they
arrive.

Counted while it arrives, never afterwards. A client that stops in the middle must not hold a place
indefinitely.
"""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from re import Pattern
from tempfile import SpooledTemporaryFile

from fastapi import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.config.settings import Settings
from thresher.core.errors import DatabaseProblem
from thresher.core.spooled import Spooled
from thresher.web.problem import Problem

log = logging.getLogger("thresher.web")

BODY_LIMIT, BODY_PATIENCE = "web.body_limit", "web.body_patience"


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Maximum size and duration of a request body: numbers, or names of settings."""

    size: str | int = BODY_LIMIT
    patience: str | float = BODY_PATIENCE

    def read(self, settings: Settings) -> tuple[int, float, str]:
        """Return the bytes, the seconds, and the setting behind the bytes."""
        size = settings.count(self.size) if isinstance(self.size, str) else self.size
        patience = float(settings[self.patience]) if isinstance(self.patience, str) else self.patience
        return size, patience, f" ({self.size})" if isinstance(self.size, str) else ""


Limits = Sequence[tuple[str, Pattern[str], BodyLimit]]  # method, path, what holds there


class BodyReader:
    """Stops reading at `web.body_limit` bytes and after `web.body_patience` seconds, and drops a response
    that the client does not read for as long.

    `limits` are the limits of single routes.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Callable[[], Settings],
        tell: Callable[[Problem], Response] = Problem.response,
        limits: Limits = (),
    ) -> None:
        self._app, self._settings, self._tell, self._limits = app, settings, tell, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, patience, where = self._limit(scope).read(self._settings())
        says = f"a body may have at most {limit:,} bytes{where}; send it in parts"
        if declared(scope) > limit:
            await self._tell(Problem(413, "ContentTooLarge", says, {"Connection": "close"}))(
                scope, receive, send
            )
            return
        try:
            await self._app(scope, _Counted(receive, limit, patience, says), _patient(send, patience))
        except _Untaken:
            log.info(
                "%s %s: the client read nothing for %g seconds; the connection was closed",
                scope["method"],
                ascii(scope["path"]),
                patience,
            )

    def _limit(self, scope: Scope) -> BodyLimit:
        for method, path, limit in self._limits:
            if method == scope["method"] and path.fullmatch(scope["path"]):
                return limit
        return BodyLimit()


class _Untaken(Exception):
    """The client does not read."""


def _patient(send: Send, patience: float) -> Send:
    async def within(message: Message) -> None:
        try:
            async with asyncio.timeout(patience):
                await send(message)
        except TimeoutError:
            raise _Untaken from None

    return within


class _Counted:
    """The body of one request, piece by piece."""

    def __init__(self, receive: Receive, limit: int, patience: float, says: str) -> None:
        self._receive, self._left, self._says = receive, limit, says
        self._until: float | None = None
        self._patience = patience
        self._done = False

    async def __call__(self) -> Message:
        if self._done:
            return await self._receive()  # waits for the other side to hang up, however long that takes
        loop = asyncio.get_running_loop()
        self._until = self._until or loop.time() + self._patience
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(
                408, f"the body did not arrive within {self._patience:g} seconds", {"Connection": "close"}
            ) from None
        self._left -= len(message.get("body", b""))
        self._done = message["type"] != "http.request" or not message.get("more_body", False)
        if self._left < 0:
            raise HTTPException(413, self._says, {"Connection": "close"})
        return message


def declared(scope: Scope) -> int:
    """Return the declared length of a body; 0 if there is none."""
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[0][:20]) if lengths and lengths[0].isdigit() else 0


# Write a large body to a temporary file while it arrives, one chunk in memory, with its digest.

IN_MEMORY = 1_048_576  # bytes; what is larger goes to the disk


class Shares:
    """Counts the bytes of bodies that each key has in progress in this process: arriving, or waiting to be
    imported.
    """

    def __init__(self) -> None:
        self._held: Counter[int] = Counter()

    @contextmanager
    def share(self, key: int, most: int, where: str) -> Iterator["Share"]:
        """Reserve space for one body of a key, and release it at the end of the block. `where` names the
        setting behind `most`.
        """
        share = Share(self._held, key, most, where)
        try:
            yield share
        finally:
            share.give_back()


class Share:
    """The part of a key's space that one body uses."""

    def __init__(self, held: Counter[int], key: int, most: int, where: str) -> None:
        self._all, self._key, self._most, self._where, self._mine = held, key, most, where, 0

    def reach(self, size: int) -> None:
        """Reserve space for a body of this many bytes, or refuse it."""
        more = size - self._mine
        if more <= 0:
            return
        if self._all[self._key] + more > self._most:
            says = (
                f"this key is sending too much at once: with this body more than {self._most:,} bytes "
                f"({self._where}); wait for the other responses first"
            )
            raise HTTPException(429, says, {"Retry-After": "5", "Connection": "close"})
        self._all[self._key] += more
        self._mine = size

    def give_back(self) -> None:
        self._all[self._key] -= self._mine
        if not self._all[self._key]:
            del self._all[self._key]


@asynccontextmanager
async def spooled(request: Request, limit: int, advice: str, share: Share) -> AsyncIterator[Spooled]:
    """Hold the body of a request for the length of a block. Stop reading at `limit` bytes, and where the
    space of its key ends. `advice` says how to send a larger one.
    """
    if declared(request.scope) > limit:
        raise _too_large(limit, advice)
    share.reach(declared(request.scope))
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        digest, size = hashlib.sha256(), 0
        try:
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise _too_large(limit, advice)
                share.reach(size)
                digest.update(piece)
                file.write(piece)
        except ClientDisconnect:
            raise HTTPException(400, "the client disconnected before it had sent the whole body") from None
        except OSError as problem:
            raise DatabaseProblem(
                f"there is no space for the body: {problem.strerror}; nothing was changed, try again later"
            ) from problem
        yield Spooled(digest.hexdigest(), size, file)  # type: ignore[arg-type]  # it is one; its stub says otherwise


def _too_large(limit: int, advice: str) -> HTTPException:
    return HTTPException(413, f"a body may have at most {limit:,} bytes {advice}", {"Connection": "close"})
