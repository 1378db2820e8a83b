"""Thresher on a SQLite file: every page a task behind its host's gate, every row written with the task's settlement.

`--setting keep` also stores the body of every page, compressed and by its hash, for revalidation and replay.
"""

from bench.crawlers.visit import IN_FLIGHT, Watch, visit

from thresher import App, Done, NewTask, Pipeline, Record, Stage, build
from thresher.config.outward import Outward
from thresher.config.settings import Settings
from thresher.core.context import Context
from thresher.core.host import host_gate
from thresher.engine import loop
from thresher.engine.registry import Registry
from thresher.governance.gate import Limits
from thresher.reading.document import Document
from thresher.store.sources import set_limits

BULK = 1_000


async def thing(ctx: Context) -> Done:
    page = await ctx.fetch(ctx.task.url)
    root = Document.of(page).root
    fields = {name: root.css_first(css).text for name, css in (("title", "h1"), ("price", ".price"), ("stock", ".availability"))}
    return Done(records=(Record("thing", ctx.task.url, fields),))


def main() -> None:
    given = visit()
    gate = host_gate(given.site)
    stage = Stage(thing, through=(gate,))
    registry = Registry([App("crawl", pipelines=(Pipeline("thing", stage),))])
    url = f"sqlite:///{given.folder / 'crawl.db'}?durability=process"
    with build.opened_store(url) as store:
        store.project_settings = {"worker.concurrency": IN_FLIGHT, "fetch.keep_pages": 7 if given.setting == "keep" else 0}
        store.settings = Settings(store.project_settings)
        store.meet_lanes([(gate,)])
        set_limits(store, gate, Limits(max_in_flight=IN_FLIGHT))
        watch = Watch()
        for at in range(0, given.pages, BULK):
            store.enqueue([registry.admit(NewTask("thing", url=address)) for address in given.urls[at : at + BULK]])
        shop = build.Workshop(store, registry, Outward(allow=(given.site.removeprefix("http://"),)))
        with build.opened_worker(shop, url, until_idle=True) as worker:
            loop.run(worker.run())
        with store.read() as session:
            stored = session.rows("select count(*) from records")[0][0]
        name = f"Thresher{' keeping pages' if given.setting else ''}"
        watch.report(name, given, stored, "everything: durable queue, rows with the settlement")


if __name__ == "__main__":
    main()
