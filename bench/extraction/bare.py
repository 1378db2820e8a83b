"""The limit: every page of the walk is fetched, by a list that is known beforehand, and nothing is read."""

import asyncio

import aiohttp
import uvloop
from bench.extraction.site import pages_of
from bench.extraction.walk import IN_FLIGHT, Watch, tell, walk


async def fetch_all() -> None:
    given = walk()
    paths = iter([path for path in pages_of(f"n{given.items}.numbered") if not path.startswith("/members")])
    watch, fetched = Watch(), 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal fetched
        for path in paths:
            async with session.get(f"{given.site}{path}", allow_redirects=False) as answer:
                await answer.read()
            fetched += 1

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
        await asyncio.gather(*(work(session) for _ in range(IN_FLIGHT)))
    seconds, used, memory = watch.used()
    tell("aiohttp, nothing read", fetched, seconds, used, memory, "nothing")


if __name__ == "__main__":
    uvloop.run(fetch_all())
