"""The first look at a board: what it found counts as old as that look, or the age rule would hide it all."""

from collections.abc import Iterator

import pytest

from tests.apps.jobs.test_job import write
from tests.apps.jobs.weeks import Search
from tests.harness.databases import Database
from thresher import NewTask
from thresher.apps.jobs.service.postings import judge_again, set_profile
from thresher.hiring.kinds import BOARD, POSTING
from thresher.hiring.records import entry
from thresher.practice.web import PracticeWeb

BOARD_KEY = "greenhouse:acme"
# Nothing but age speaks against an opening.
ANYTHING = """
workplace: {onsite: yes, hybrid_in: [Portland, Leeds]}
salary: {floor: 0, target: 0}
levels: {excluded: []}
excluded: {types: [], keywords: [], commission: []}
"""


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web, jobs__filter__age_limit=0)
    board = {
        "platform": "greenhouse",
        "token": "acme",
        "url": "https://job-boards.greenhouse.io/acme",
        "parts": {"token": "acme"},
        "company_name": "Acme Anvils",
        "status": "active",
    }
    set_profile(found.store, ANYTHING, "profile.yaml")
    write(found, entry(BOARD, BOARD_KEY, board))
    look(found)
    yield found
    found.close()


def look(search: Search) -> None:
    search.put(NewTask("scrape_source", {"board": BOARD_KEY}, key=BOARD_KEY))
    search.work()


def too_old(search: Search) -> set[str]:
    return {
        each.key
        for each in search.records("decision")
        if any(rule["name"] == "too_old" for rule in each.data["rejections"])
    }


@pytest.mark.promise(13)
def test_the_age_rule_does_not_hide_what_the_first_look_at_a_board_found(search: Search) -> None:
    first = search.records(POSTING)
    old = [each for each in first if each.data["posted"] < "2026-03-02"]
    assert (len(old) > 3, all(each.data["first_look"] for each in first)) == (True, True)
    assert too_old(search) == set()
    search.begin(20)
    look(search)
    later = [each for each in search.records(POSTING) if each.key not in {one.key for one in first}]
    assert later, "nothing new was listed in twenty days"
    assert not any(each.data.get("first_look") for each in later)
    assert too_old(search) & {each.key for each in later}, "the age rule holds on later looks"
    judge_again(search.store, search.registry, every=True)
    search.work()
    said = [each.data["rejections"][0] for each in search.records("decision") if each.key in too_old(search)]
    assert any("the first look at its board was 20 days ago" in each["reason"] for each in said)


def test_the_exception_can_be_turned_off(search: Search) -> None:
    search.set(jobs__filter__age_first_look=0)
    judge_again(search.store, search.registry, every=True)
    search.work()
    assert too_old(search)
