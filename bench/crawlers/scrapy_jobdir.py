"""Scrapy with its queue on disk (JOBDIR), which a killed process may lose or repeat; rows to a JSON lines
file."""

import scrapy
from bench.crawlers.visit import IN_FLIGHT, Watch, visit
from scrapy.crawler import CrawlerProcess

GIVEN = visit()


class Things(scrapy.Spider):
    name = "things"

    async def start(self):  # type: ignore[no-untyped-def]
        for url in GIVEN.urls:
            yield scrapy.Request(url)

    def parse(self, response):  # type: ignore[no-untyped-def]
        yield {
            name: response.css(f"{css}::text").get()
            for name, css in (("title", "h1"), ("price", ".price"), ("stock", ".availability"))
        }


def main() -> None:
    rows = GIVEN.folder / "rows.jsonl"
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
    process.crawl(Things)
    process.start()
    watch.report(
        "Scrapy + JOBDIR", GIVEN, len(rows.read_text().splitlines()), "queue on disk, not safe against a kill"
    )


if __name__ == "__main__":
    main()
