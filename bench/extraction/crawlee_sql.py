"""Crawlee with its SQL storage on a SQLite file: a durable queue, items in the same file."""

import asyncio
import logging

from bench.extraction.walk import IN_FLIGHT, LINKS, START, Watch, fields_of, list_pages, walk
from crawlee import ConcurrencySettings, Request
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import SqlStorageClient

BATCH = 1_000


async def crawl() -> None:
    given = walk()
    pages = 0
    logging.disable(logging.CRITICAL)
    async with SqlStorageClient(
        connection_string=f"sqlite+aiosqlite:///{given.folder / 'crawlee.db'}"
    ) as storage:
        crawler = ParselCrawler(
            storage_client=storage,
            respect_robots_txt_file=True,
            configure_logging=False,
            concurrency_settings=ConcurrencySettings(
                desired_concurrency=IN_FLIGHT, min_concurrency=IN_FLIGHT, max_concurrency=IN_FLIGHT
            ),
        )

        async def follow(context: ParselCrawlingContext) -> None:
            nonlocal pages
            pages += 1
            links = context.selector.css(LINKS).getall()
            await context.add_requests(
                [Request.from_url(f"{given.site}{path}", label="detail") for path in links]
            )

        @crawler.router.default_handler
        async def first(context: ParselCrawlingContext) -> None:
            numbers = context.selector.css("nav a::text").getall()
            others = [Request.from_url(f"{given.site}{path}", label="list") for path in list_pages(numbers)]
            for at in range(0, len(others), BATCH):
                await context.add_requests(others[at : at + BATCH])
            await follow(context)

        crawler.router.handler("list")(follow)

        @crawler.router.handler("detail")
        async def detail(context: ParselCrawlingContext) -> None:
            nonlocal pages
            pages += 1
            await context.push_data(fields_of(context.selector))

        watch = Watch()
        await crawler.run([f"{given.site}{START}"])
        stored = await crawler.get_data(limit=10**9)
        watch.report("Crawlee + SQLite", given, pages, stored.items, "items and a durable queue")


if __name__ == "__main__":
    asyncio.run(crawl())
