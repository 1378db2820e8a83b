"""The limit: a client and a parser, a list of URLs in memory, rows in a list. Nothing survives anything."""

import asyncio

import aiohttp
import uvloop
from bench.crawlers.visit import IN_FLIGHT, Watch, visit
from selectolax.lexbor import LexborHTMLParser


async def crawl() -> None:
    given = visit()
    watch, rows, urls = Watch(), [], iter(given.urls)

    async def work(session: aiohttp.ClientSession) -> None:
        for url in urls:
            async with session.get(url) as answer:
                tree = LexborHTMLParser(await answer.read())
            rows.append([tree.css_first(css).text() for css in ("h1", ".price", ".availability")])

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
        await asyncio.gather(*(work(session) for _ in range(IN_FLIGHT)))
    watch.report("bare aiohttp + selectolax", given, len(rows), "none: everything is in memory")


if __name__ == "__main__":
    uvloop.install()
    asyncio.run(crawl())
