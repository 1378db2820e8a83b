"""A queue in which everything has happened that the pages about work show, some of it to hostile names."""

from dataclasses import dataclass, replace

from tests.harness.groups import opened
from tests.harness.tasks import claim_one, done, entry, filing, put, retry, running, settle
from thresher.core.clock import SECOND
from thresher.core.gate import GateLimits
from thresher.core.settlement import Error, Settlement
from thresher.store import sources
from thresher.store.store import Store

EVIL = """<script>alert(1)</script>"' onmouseover=alert(1) {{7*7}}"""
HOSTILE_URL = "https://evil.example/%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
FRAMES = ("shop/read.py:12 in read: price = row['price']", "shop/stages.py:40 in fetch: read(page)")
TRACE = f"\n  at {FRAMES[0]}\n  from {FRAMES[1]}"
EVIDENCE = (
    '{"source": "abc", "places": {"title": {"quote": "Oak table", "start": 5, "end": 14}, "price": null}}'
)


@dataclass(frozen=True)
class Work:
    """The ids of what a test asks for."""

    failed: list[int]
    hostile: int
    retried: int
    waiting: int
    root: int
    child: int
    run: int
    run_failed: int
    run_live: int


def fails(store: Store, *entries, message: str = "no price on the page") -> int:
    task = running(store, *entries)
    settle(store, Settlement.fail(task, error=Error("Malformed", message, TRACE)))
    return int(task.id)


def fill(store: Store) -> Work:
    """Failures of two kinds, a task that is tried again, one behind a disabled source, a lineage with records
    and a refusal, and a run.
    """
    sources.add_source(store, "shop", GateLimits())
    failed = [fails(store, entry("item", key=f"item {n}", gates=["source:shop"])) for n in range(3)]
    hostile = fails(store, entry("item", url=HOSTILE_URL, payload={"name": EVIL}), message=EVIL)
    flaky = running(store, entry("page", key="flaky"))
    settle(store, retry(flaky, 60 * SECOND))
    root = running(store, entry("list", url="https://shop.example/"))
    child_entries = (entry("item", url="https://shop.example/1"), entry("list", url="https://shop.example/"))
    brings = (replace(filing("oak-1"), evidence=EVIDENCE),)
    settle(store, done(root, children=child_entries, records=brings))
    child = claim_one(store)
    settle(store, done(child))
    run = opened(store, entry("part", key="1"), entry("part", key="2"), subject="the shop", key="shop")
    part = claim_one(store)
    settle(store, Settlement.fail(part, error=Error("Gone", "404")))
    live = claim_one(store)
    (waiting,) = put(store, entry("item", key="waits", gates=["source:shop"]))
    sources.disable(store, "source:shop", "auth", "the shop's key was refused")
    store.turn([], 50, 1_000_000)  # finds the source closed, and parks its lane
    ids = (hostile, int(flaky.id), waiting, int(root.id), int(child.id), run, int(part.id), int(live.id))
    return Work(failed, *ids)
