"""A crawl whose workers are killed again and again ends as if nobody had been killed, and the web hardly
notices.

What can be promised of a request that is under way when its worker dies: nothing is stored of it, its host is
left alone until the worker's lease has ended, and then its page is asked for once more. What cannot: that the
server has not seen it. So a server may see a page once for every attempt at it, and never two at the same
time.
"""

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.crawl import FORBIDDEN, HOSTS, INTERVAL, KNOBS, SETTINGS, WEB_SEED, expected, make_app, roots
from tests.chaos.crawl_herd import KILLS, herd
from tests.harness.databases import drop_schema
from thresher.config.project import Project
from thresher.engine.registry import Registry
from thresher.practice.web import LogEntry, gaps, peak, practice_process
from thresher.runtime import open_store

SEED = 20_611
ROBOTS = "/robots.txt"


@dataclass(frozen=True)
class Crawled:
    """What a crawl left behind: in the database, and in the server's log."""

    killed: int
    ends: list[Any]
    log: list[LogEntry]
    records: dict[str, str]
    tasks: list[tuple[Any, ...]]
    attempts: list[tuple[Any, ...]]
    lost: int
    largest: int
    in_flight: list[tuple[Any, ...]]

    @property
    def crashed(self) -> int:
        return sum(ending == "crashed" for _, ending in self.attempts)

    @property
    def pages(self) -> list[LogEntry]:
        return [each for each in self.log if each.path != ROBOTS]


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@pytest.mark.promise(16)
@pytest.mark.promise(18)
@pytest.mark.promise(19)
@pytest.mark.parametrize("name", ["sqlite", "postgres"])
def test_a_crawl_whose_workers_are_killed_ends_as_if_nobody_had_been_killed(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    # One test, not one for each question: the crawl is the expensive part, and test processes share no
    # fixtures.
    with database(name, tmp_path, request) as url:
        crawled = crawl(name, url)
    for question in QUESTIONS:
        question(crawled)


@contextmanager
def database(name: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    if name == "sqlite":
        yield f"sqlite:///{folder / 'queue.db'}"
        return
    url = f"{request.getfixturevalue('postgres_url')}?schema=t_{secrets.token_hex(6)}"
    try:
        yield url
    finally:
        drop_schema(url)


def crawl(name: str, url: str, seed: int = SEED) -> Crawled:
    print(f"seed {seed}, {KILLS} kills, on {name}")
    titles, forbidden = expected()
    with closing(open_store(url, Project(Path(), settings=SETTINGS))) as store:
        registry = Registry([make_app()], store.settings)
        store.enqueue([registry.admit(each) for each in roots()])
        with practice_process(WEB_SEED) as web:
            web.turn(*KNOBS)
            with herd(url, web.url, seed, notes=2 * len(titles) + len(forbidden)) as workers:
                workers.crawl()
            log = web.log()
        with store.read() as session:
            return Crawled(
                workers.killed,
                workers.ends,
                log,
                records=dict(session.rows("select key, data from records")),
                tasks=session.rows("select url, state, error_name from tasks"),
                attempts=session.rows(
                    "select t.url, a.ending from attempts a join tasks t on t.id = a.task_id"
                ),
                lost=session.rows("select count(*) from events where kind = 'worker_lost'")[0][0],
                largest=session.rows(
                    "select max(length(payload) + coalesce(length(checkpoint), 0)) from tasks"
                )[0][0],
                in_flight=session.rows(
                    "select name, in_flight from gates where in_flight > 0 union all select 'permit', id from permits"
                ),
            )


def _workers_were_really_killed_at_work(crawled: Crawled) -> None:
    assert (crawled.killed, crawled.ends) == (KILLS, [])
    assert crawled.crashed >= KILLS // 2, "too few of the kills hit anything"


def _a_killed_crawl_brings_exactly_what_a_quiet_one_brings(crawled: Crawled) -> None:
    titles, _ = expected()
    assert [task for task in crawled.tasks if task[0] in titles and task[0] not in crawled.records] == []
    assert (titles.keys() - crawled.records.keys(), crawled.records.keys() - titles.keys()) == (set(), set())
    assert all(title in crawled.records[url] for url, title in titles.items())


def _every_page_has_one_task_and_every_task_one_end(crawled: Crawled) -> None:
    titles, forbidden = expected()
    wanted = [
        *((url, "succeeded", None) for url in titles),
        *((url, "failed", "Refused") for url in forbidden),
    ]
    assert sorted(crawled.tasks) == sorted(wanted)
    ends = Counter(url for url, ending in crawled.attempts if ending in ("done", "failed"))
    assert set(ends.values()) == {1}
    assert ends.keys() == titles.keys() | forbidden


def _a_host_is_asked_by_one_at_a_time_and_never_too_soon_whoever_was_killed(crawled: Crawled) -> None:
    for host in HOSTS:
        seen = [each for each in crawled.log if each.host == host]
        assert peak(seen) == 1, host
        assert min(gaps(seen)) >= INTERVAL, host
        assert seen[0].path == ROBOTS


def _no_path_is_asked_for_that_robots_txt_forbids(crawled: Crawled) -> None:
    assert [each.target for each in crawled.log if each.path.startswith(FORBIDDEN)] == []


def _what_the_kills_cost_the_web_is_bounded_by_what_was_in_flight(crawled: Crawled) -> None:
    titles, _ = expected()
    asked = Counter(f"https://{each.host}{each.target}" for each in crawled.pages)
    crashes = Counter(url for url, ending in crawled.attempts if ending == "crashed")
    assert {url: times for url, times in asked.items() if times > 1 + crashes[url]} == {}
    assert asked.total() - len(titles) <= crawled.crashed <= crawled.lost * len(HOSTS)


def _nothing_of_the_dead_is_left_at_the_gates(crawled: Crawled) -> None:
    assert crawled.in_flight == []


def _no_page_travels_in_the_queue(crawled: Crawled) -> None:
    assert crawled.largest < 100, "a page has twenty kilobytes"


QUESTIONS = (
    _workers_were_really_killed_at_work,
    _a_killed_crawl_brings_exactly_what_a_quiet_one_brings,
    _every_page_has_one_task_and_every_task_one_end,
    _a_host_is_asked_by_one_at_a_time_and_never_too_soon_whoever_was_killed,
    _no_path_is_asked_for_that_robots_txt_forbids,
    _what_the_kills_cost_the_web_is_bounded_by_what_was_in_flight,
    _nothing_of_the_dead_is_left_at_the_gates,
    _no_page_travels_in_the_queue,
)
