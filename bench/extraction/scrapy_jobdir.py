"""Scrapy with its queue on disk (JOBDIR), items to a JSON lines file."""

import json

import scrapy
from bench.extraction.walk import IN_FLIGHT, LINKS, START, Watch, fields_of, list_pages, walk
from scrapy.crawler import CrawlerProcess

GIVEN = walk()


class Catalogue(scrapy.Spider):
    name = "catalogue"
    pages = 0

    async def start(self):  # type: ignore[no-untyped-def]
        yield scrapy.Request(f"{GIVEN.site}{START}", self.first)

    def first(self, response):  # type: ignore[no-untyped-def]
        numbers = response.css(".pager a::text, .pagination a::text, nav a::text").getall()
        for path in list_pages(numbers):
            yield response.follow(path, self.parse)
        yield from self.parse(response)

    def parse(self, response):  # type: ignore[no-untyped-def]
        type(self).pages += 1
        yield from response.follow_all(response.css(LINKS).getall(), self.detail)

    def detail(self, response):  # type: ignore[no-untyped-def]
        type(self).pages += 1
        yield fields_of(response.selector)


def main() -> None:
    rows = GIVEN.folder / "items.jsonl"
    process = CrawlerProcess(
        {
            "JOBDIR": str(GIVEN.folder / "queue"),
            "FEEDS": {str(rows): {"format": "jsonlines"}},
            "ROBOTSTXT_OBEY": True,
            "LOG_ENABLED": False,
            "CONCURRENT_REQUESTS": IN_FLIGHT,
            "CONCURRENT_REQUESTS_PER_DOMAIN": IN_FLIGHT,
            "DOWNLOAD_DELAY": 0,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    watch = Watch()
    process.crawl(Catalogue)
    process.start()
    items = [json.loads(line) for line in rows.read_text().splitlines()]
    watch.report("Scrapy + JOBDIR", GIVEN, Catalogue.pages, items, "items; a queue not safe against a kill")


if __name__ == "__main__":
    main()
