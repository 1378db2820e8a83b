"""Crawlee with its SQL storage on a SQLite file: the durable queue among the rivals."""

import asyncio
import logging

from bench.crawlers.visit import IN_FLIGHT, Watch, visit
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import SqlStorageClient


async def crawl() -> None:
    given = visit()
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

        @crawler.router.default_handler
        async def parse(context: ParselCrawlingContext) -> None:
            pick = context.selector.css
            await context.push_data(
                {
                    "title": pick("h1::text").get(),
                    "price": pick(".price::text").get(),
                    "stock": pick(".availability::text").get(),
                }
            )

        watch = Watch()
        await crawler.run(given.urls)
        stored = await crawler.get_data(limit=1)
        watch.report("Crawlee + SQLite", given, stored.total, "durable queue")


if __name__ == "__main__":
    asyncio.run(crawl())
