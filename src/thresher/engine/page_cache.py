"""The page cache on the store: a `CachedResponse` of the caching rules is a row of pages.

Pages come by the dozen, and one transaction each would cost more than all the rest. So pages that arrive
while a transaction is under way share the next. The caller waits until its page is stored, but a page that
cannot be stored is returned all the same: failing its task would send the request again.
"""

import asyncio
import logging

import orjson

from thresher.core.errors import DatabaseProblem
from thresher.core.keys import parse
from thresher.core.record import clean
from thresher.fetch.cache import CachedResponse
from thresher.store import pages
from thresher.store.pages import Kept
from thresher.store.store import Store

# What one transaction takes at most: pages, and bytes of them.
MAX_PAGES, MAX_BYTES = 64, 16 << 20

log = logging.getLogger("thresher.pages")

Waiting = tuple[Kept, bytes, "asyncio.Future[None]"]


class StorePageCache:
    """Kept for all workers on this database. One for a process: it belongs to the event loop it is used
    in.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    async def find(self, key: str) -> CachedResponse | None:
        kept = await self._store.run(pages.find, self._store, key)
        return None if kept is None else _copy(kept)

    async def body(self, copy: CachedResponse) -> bytes:
        return await self._store.run(pages.body, self._store, copy.body)

    async def keep(self, key: str, copy: CachedResponse, body: bytes) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((_kept(key, copy), body, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await done

    async def _write(self) -> None:
        while self._waiting:
            group = self._take_group()
            try:
                if not await self._try(group) and len(group) > 1:
                    for each in group:  # one that cannot be kept must not take the others along
                        await self._try([each])
            finally:
                for _, _, done in group:
                    if not done.done():  # else whoever waited for it has been cancelled
                        done.set_result(None)

    def _take_group(self) -> list[Waiting]:
        size = number = 0
        for _, body, _ in self._waiting[:MAX_PAGES]:
            size += len(body)
            number += 1
            if size > MAX_BYTES:
                break
        group, self._waiting = self._waiting[:number], self._waiting[number:]
        return group

    async def _try(self, group: list[Waiting]) -> bool:
        """Whether it is worth trying no further: they are kept, or the database is away."""
        try:
            await self._store.run(pages.keep_many, self._store, [(kept, body) for kept, body, _ in group])
        except DatabaseProblem as problem:
            log.warning("%s pages could not be cached: %s", len(group), problem)
        except Exception:
            log.exception(
                "%s could not be cached together", ", ".join(kept.url[:200] for kept, _, _ in group[:3])
            )
            return False
        return True

    async def refresh(self, key: str, copy: CachedResponse) -> None:
        kept = _kept(key, copy)
        await self._store.run(pages.refresh, self._store, key, kept.headers, kept.stored, kept.fetched_at)

    async def forget(self, key: str) -> None:
        await self._store.run(pages.forget, self._store, key)


def _kept(key: str, copy: CachedResponse) -> Kept:
    headers = {clean(name): clean(value) for name, value in copy.headers.items()}
    notes = orjson.dumps(
        {
            "requested_at": copy.requested_at,
            "vary": {clean(name): clean(value) for name, value in copy.vary.items()},
        }
    )
    return Kept(
        key,
        clean(copy.url),
        parse(copy.url).hostname,
        copy.method,
        copy.status,
        headers,
        copy.answered_at,
        notes.decode(),
    )


def _copy(kept: Kept) -> CachedResponse:
    notes = orjson.loads(kept.stored)
    return CachedResponse(
        kept.url,
        kept.method,
        kept.status,
        kept.headers,
        notes["requested_at"],
        kept.fetched_at,
        notes["vary"],
        kept.hash,
    )
