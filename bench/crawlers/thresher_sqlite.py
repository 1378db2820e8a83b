"""Thresher on a SQLite file: every page a task behind its host's gate, every row written with the task's
settlement.

`--setting keep` also stores the body of every page, compressed and by its hash, for revalidation and replay.
`--setting two` works with two processes on the one file; their CPU is added up.
"""

import multiprocessing

from bench.crawlers.visit import IN_FLIGHT, Watch, visit

from thresher import App, Done, NewTask, Pipeline, Record, Stage, runtime
from thresher.config.outward import Outward
from thresher.core.context import Context
from thresher.core.gate import GateLimits
from thresher.core.keys import host_gate
from thresher.core.page import Page
from thresher.engine.process_pool import close_process_server
from thresher.engine.registry import Registry
from thresher.engine.worker import run_loop
from thresher.reading.html.document import Document
from thresher.store.backend import unscoped
from thresher.store.settings import change_setting
from thresher.store.sources import set_limits

BULK = 1_000


async def thing(ctx: Context) -> Done:
    page = await ctx.fetch(ctx.task.url)
    return Done(records=(Record("thing", ctx.task.url, await ctx.compute(read_thing, page)),))


def read_thing(page: Page) -> dict[str, str]:
    root = Document.of(page).root
    return {
        name: root.css_first(css).text
        for name, css in (("title", "h1"), ("price", ".price"), ("stock", ".availability"))
    }


def registry_for(site: str) -> Registry:
    return Registry([App("crawl", pipelines=(Pipeline("thing", Stage(thing, through=(host_gate(site),))),))])


def work(url: str, site: str) -> None:
    """Crawl until nothing is left."""
    with runtime.opened_store(url) as store:
        shop = runtime.Runtime(store, registry_for(site), Outward(allow=(site.removeprefix("http://"),)))
        with runtime.opened_worker(shop, url, until_idle=True) as worker:
            run_loop(worker.run())
        close_process_server()  # what its processes have used counts, too


def main() -> None:
    given = visit()
    gate, registry = host_gate(given.site), registry_for(given.site)
    url = f"sqlite:///{given.folder / 'crawl.db'}?durability=process"
    with runtime.opened_store(url) as store:
        for name, value in {
            "worker.concurrency": IN_FLIGHT,
            "fetch.keep_pages": 7 if given.setting == "keep" else 0,
        }.items():
            change_setting(store, name, value, "bench")
        store.meet_lanes([unscoped(gate)])
        set_limits(store, gate, GateLimits(max_in_flight=IN_FLIGHT))
        watch = Watch()
        for at in range(0, given.pages, BULK):
            store.enqueue(
                [registry.admit(NewTask("thing", url=address)) for address in given.urls[at : at + BULK]]
            )
        second = multiprocessing.get_context("spawn").Process(target=work, args=(url, given.site))
        if given.setting == "two":
            second.start()
        work(url, given.site)
        if given.setting == "two":
            second.join()
        with store.read() as session:
            stored = session.rows("select count(*) from records")[0][0]
        name = {"": "Thresher", "keep": "Thresher keeping pages", "two": "Thresher, two processes"}[
            given.setting
        ]
        watch.report(name, given, stored, "everything: durable queue, rows with the settlement")


if __name__ == "__main__":
    main()
