"""A crawl to kill workers in: a few hundred pages on several hosts of the practice web, links followed as
children.

What it must bring is computed from the practice web's own pure functions, without a queue, a fetcher or a
process.
"""

import re
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from thresher import App, Context, Done, NewTask, Outcome, Pipeline, Record, Stage
from thresher.config.outward import Outward
from thresher.config.project import Project
from thresher.core.keys import host_gate
from thresher.engine.registry import Registry
from thresher.engine.worker import run_loop
from thresher.practice.web import DAY_ZERO, Knob, Trouble, robots
from thresher.practice.web.answer import WebRequest
from thresher.practice.web.sites import bulk
from thresher.reading.html.document import Document
from thresher.runtime import Runtime, install, open_store, opened_worker

WEB_SEED = 7
HOSTS = tuple(f"h{number}.bulk.example" for number in range(6))
FORBIDDEN = "/page/3"  # and whatever begins so
INTERVAL = 0.05
# Long enough on its way that many a kill finds a request there.
KNOBS = (
    Knob(Trouble.SLOW, "*.bulk.example", seconds=0.03),
    robots("*.bulk.example", f"User-agent: *\nDisallow: {FORBIDDEN}\n"),
)
SETTINGS: dict[str, int | float] = {
    "host.interval": INTERVAL,
    "worker.lease": 2.5,
    "worker.poll": 0.2,
    "worker.concurrency": 12,
    "reaper.every": 0.2,
    "retry.base": 0.1,
    "retry.max_crashes": 50,
    "retry.crash_spread": 0.2,
}
_LINK = re.compile(r'href="(/page/\d+)"')
_HEADING = re.compile(r"<h1>([^<]*)</h1>")


def followed(html: str, depth: int) -> list[str]:
    """Which links are followed: of the front page all, of a listed page the first, and none after that."""
    return list(dict.fromkeys(_LINK.findall(html)))[: (None, 1, 0)[depth]]


def expected() -> tuple[dict[str, str], set[str]]:
    """Every page that a crawl must bring, with its title; and every page that robots.txt keeps from us."""
    titles: dict[str, str] = {}
    forbidden: set[str] = set()
    for host in HOSTS:
        todo, known = [("/", 0)], {"/"}
        while todo:
            path, depth = todo.pop(0)
            if path.startswith(FORBIDDEN):
                forbidden.add(f"https://{host}{path}")
                continue
            html = bulk.site(WebRequest(host, path, WEB_SEED, DAY_ZERO)).body.decode()
            titles[f"https://{host}{path}"] = _HEADING.findall(html)[0]
            new = [link for link in followed(html, depth) if link not in known]
            known.update(new)
            todo += [(link, depth + 1) for link in new]
    return titles, forbidden


def make_app(tell: Callable[[bytes], None] = lambda _: None) -> App:
    """`tell` hears of every page before it is fetched and after."""

    async def read(ctx: Context) -> Outcome:
        url = ctx.task.url or ""
        tell(b"before")
        page = await ctx.fetch(url)
        tell(b"after")
        document = Document.of(page)
        heading = document.root.css_first("h1")
        record = Record("page", url, {"title": heading.line if heading else None})
        links = [document.absolute(link) for link in followed(document.html, ctx.task.depth)]
        return Done(records=(record,), children=tuple(NewTask("page", url=link) for link in links))

    def through(trip: Any) -> tuple[str, ...]:
        return (host_gate(trip.url),)

    return App("crawl", pipelines=(Pipeline("page", Stage(read, through=through)),))


def roots() -> list[NewTask]:
    return [NewTask("page", url=f"https://{host}/") for host in HOSTS]


def work(url: str, web: str, name: str, notes: Connection) -> None:
    """One worker process, until nothing is left to do."""
    project = Project(Path(), settings=SETTINGS, fetch=Outward(resolve={"*": web}))
    store = open_store(url, project)
    try:
        registry = Registry([make_app(notes.send_bytes)], store.settings)
        install(store, registry)
        with opened_worker(
            Runtime(store, registry, project.fetch), url, until_idle=True, name=name
        ) as worker:
            run_loop(worker.run())
    finally:
        store.close()
