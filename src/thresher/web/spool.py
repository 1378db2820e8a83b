"""Write a large body to a temporary file while it arrives, one chunk in memory, with its digest."""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from tempfile import SpooledTemporaryFile

from fastapi import HTTPException
from starlette.requests import ClientDisconnect, Request

from thresher.core.errors import DatabaseProblem
from thresher.core.spooled import Spooled
from thresher.web.body_limit import declared

IN_MEMORY = 1_048_576  # bytes; what is larger goes to the disk


class Shares:
    """How many bytes of bodies each key has under way in this process: arriving, or waiting to be
    imported.
    """

    def __init__(self) -> None:
        self._held: Counter[int] = Counter()

    @contextmanager
    def share(self, key: int, most: int, where: str) -> Iterator["Share"]:
        """Room for one body of a key, given back when the block ends. `where` names the setting of `most`."""
        share = Share(self._held, key, most, where)
        try:
            yield share
        finally:
            share.give_back()


class Share:
    """What one body takes of its key's room."""

    def __init__(self, held: Counter[int], key: int, most: int, where: str) -> None:
        self._all, self._key, self._most, self._where, self._mine = held, key, most, where, 0

    def reach(self, size: int) -> None:
        """Have room for a body of so many bytes, or refuse it."""
        more = size - self._mine
        if more <= 0:
            return
        if self._all[self._key] + more > self._most:
            says = f"this key has bodies under way, {self._most:,} bytes with this one ({self._where}); wait for their answers first"
            raise HTTPException(429, says, {"Retry-After": "5", "Connection": "close"})
        self._all[self._key] += more
        self._mine = size

    def give_back(self) -> None:
        self._all[self._key] -= self._mine
        if not self._all[self._key]:
            del self._all[self._key]


@asynccontextmanager
async def spooled(request: Request, limit: int, advice: str, share: Share) -> AsyncIterator[Spooled]:
    """The body of a request, for the length of a block. Reading stops at `limit` bytes, and where the room of
    its key ends. `advice` says how to send a larger one.
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
            raise HTTPException(400, "the other side hung up before the body was whole") from None
        except OSError as problem:
            raise DatabaseProblem(
                f"there is no room for the body: {problem.strerror}; nothing was changed, try again later"
            ) from problem
        yield Spooled(digest.hexdigest(), size, file)  # type: ignore[arg-type]  # it is one; its stub says otherwise


def _too_large(limit: int, advice: str) -> HTTPException:
    return HTTPException(413, f"a body has at most {limit:,} bytes {advice}", {"Connection": "close"})
