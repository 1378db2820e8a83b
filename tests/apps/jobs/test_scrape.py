"""A round over the boards that are due: each gets one task, and none is asked for twice."""

from collections.abc import Iterator

import pytest

from tests.apps.jobs.scraping import Scraping
from tests.harness import tasks
from tests.harness.databases import Database, only_files, with_processes
from thresher import NewTask
from thresher.core.clock import HOUR
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.store import groups


@pytest.fixture
def scraping(database: Database, web: PracticeWeb) -> Iterator[Scraping]:
    found = Scraping(database, web)
    yield found
    found.close()


def ask(scraping: Scraping) -> None:
    scraping.shop.put(scraping.registry, NewTask("scrape", key="scrape"))
    scraping.work()


def looks(scraping: Scraping) -> int:
    return int(tasks.rows(scraping.store, "select count(*) from tasks where kind = 'scrape_source'")[0][0])


@with_processes
def test_the_boards_that_are_due_are_looked_at_and_are_due_again_later(scraping: Scraping):
    keys = [scraping.add(token) for token in ("acme", "borealis", "fathom")]
    scraping.add("garnet", status="pending")
    scraping.add("heron", status="disabled")
    scraping.add("juniper", due_at=scraping.clock.now() + HOUR, scraped_at=1)
    ask(scraping)
    assert looks(scraping) == 3
    assert all(scraping.postings(key) for key in keys)
    assert {scraping.board(key)["due_at"] for key in keys} == {scraping.clock.now() + 20 * HOUR}
    ask(scraping)
    assert looks(scraping) == 3


@with_processes
def test_a_round_is_a_run_that_counts_what_its_looks_saw(scraping: Scraping):
    keys = [scraping.add(token) for token in ("acme", "borealis")]
    ask(scraping)
    seen = sum(len(scraping.postings(key)) for key in keys)
    with scraping.store.read() as session:
        (run,) = groups.find(session, runs=True)
    assert (run.name, run.subject, run.is_running, run.failed) == ("scrape", "2 boards", False, 0)
    assert (run.counts["boards"], run.counts["postings"], run.counts["new"], run.members) == (
        2,
        seen,
        seen,
        2 + seen,
    )
    ask(scraping)
    with scraping.store.read() as session:
        assert len(groups.find(session)) == 1, "a round in which nothing is due is no run"


@only_files
def test_boards_that_a_person_names_are_looked_at_whether_they_are_due_or_not(scraping: Scraping):
    wanted = scraping.add("acme", due_at=scraping.clock.now() + HOUR, scraped_at=1)
    disabled = scraping.add("heron", status="disabled")
    scraping.add("fathom")
    scraping.shop.put(scraping.registry, NewTask("scrape", {"boards": [wanted, disabled, "nobody's"]}))
    scraping.work()
    assert looks(scraping) == 1
    assert scraping.postings(wanted)


@only_files
def test_a_board_is_looked_at_more_often_the_better_its_tier(scraping: Scraping):
    keys = {
        tier: scraping.add(token, tier=tier)
        for tier, token in (("S", "acme"), ("A", "borealis"), ("D", "fathom"))
    }
    ask(scraping)
    hours = {
        tier: (scraping.board(key)["due_at"] - scraping.clock.now()) // HOUR for tier, key in keys.items()
    }
    assert hours == {"S": 5, "A": 10, "D": 20}


@only_files
@pytest.mark.promise(5)
def test_boards_that_wait_behind_a_closed_gate_take_nobodys_turn(scraping: Scraping):
    scraping.shop.store.settings = type(scraping.store.settings)(
        {**scraping.store.project_settings, "jobs.scrape_batch": 1}, scraping.store.settings.catalogue
    )
    stuck = scraping.add("acme", due_at=0)
    other = scraping.add("borealis", due_at=1)
    scraping.web.turn(Knob(Trouble.CAPTCHA, "boards-api.greenhouse.io", text="cloudflare"))
    for _ in range(2):
        ask(scraping)
    assert scraping.board(stuck)["scraped_at"] == 0
    assert scraping.postings(other)


@only_files
@pytest.mark.promise(2)
def test_a_round_over_nothing_new_writes_nothing_but_looks(scraping: Scraping):
    keys = [scraping.add(token) for token in ("acme", "borealis", "cobalt", "fathom", "heron", "juniper")]
    ask(scraping)
    before = {each.key: each.updated_at for each in scraping.records("posting")}
    jobs, since = scraping.jobs(), scraping.requests()[-1].number
    scraping.clock.advance(21 * HOUR)
    ask(scraping)
    assert looks(scraping) == 2 * len(keys)
    assert {each.key: each.updated_at for each in scraping.records("posting")} == before
    assert scraping.jobs() == jobs
    assert [each.status for each in scraping.requests(since)] == [304] * len(keys)
