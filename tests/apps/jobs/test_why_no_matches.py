"""Why there are no matches: the reasons by count, the nearest misses, and the one change that brings most and
keeps its word."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.jobs.test_job import TEXT, judge, posting, write
from tests.apps.jobs.weeks import Search
from tests.harness.databases import Database
from thresher.admin.times import read_now
from thresher.apps.jobs.service.postings import judge_again
from thresher.apps.jobs.service.why_no_matches import WhyNoMatches, why_no_matches
from thresher.practice.web import PracticeWeb

OLD = "2026-02-10"


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web)
    yield found
    found.close()


def judged(search: Search, *postings: dict[str, Any]) -> WhyNoMatches:
    """Postings of different companies, so that none is the same opening as another, once they are judged."""
    keys = [f"greenhouse:acme/{number}" for number in range(1, len(postings) + 1)]
    for key, said in zip(keys, postings, strict=True):
        company = f"Harbour {key[-1] * 3}"
        write(
            search, posting(key, **{"company_name": company, "url": f"https://h.example/{key[-1]}", **said})
        )
    judge(search, *keys)
    return why_no_matches(search.store, read_now(search.store))


def matches(search: Search) -> int:
    return len(search.records("match"))


NEAR = {"title": "Software Engineer"}  # 76 of 80
AGED = {"posted": OLD}
CHEAP = {"description": TEXT.replace("$160,000 - $190,000", "$60,000 - $70,000")}
SECRET = {"description": f"{TEXT} You must hold a security clearance."}
UNREAD = {"description": None, "url": None}


@pytest.mark.promise(13)
def test_the_reasons_are_counted_and_the_nearest_misses_say_what_they_lack(search: Search) -> None:
    found = judged(search, NEAR, NEAR, AGED, CHEAP, UNREAD, {"title": "Engineer"})
    assert {each.rule: each.postings for each in found.reasons} == {
        "score": 3,
        "too_old": 1,
        "salary_floor": 1,
        "unknown": 1,
    }
    assert (found.postings, found.matches, found.waiting) == (6, 0, 0)
    best, *others = found.nearest
    assert (best.score, best.needed, best.title) == (76, 80, "Software Engineer")
    assert best.score >= others[-1].score
    assert all(each.lacks for each in found.nearest)
    assert next(found.sentences).startswith("Why: 3 below the minimum score, ")


@pytest.mark.parametrize(
    ("postings", "name", "then", "brings"),
    [
        ([NEAR, NEAR, AGED], "jobs.score.needed", 76, 2),
        ([NEAR, AGED, AGED, {**AGED, "title": "Sales Engineer"}], "jobs.filter.age_limit", 20, 2),
        ([SECRET, SECRET, NEAR], "excluded.keywords", None, 2),
        ([{"title": "Gardener"}], None, None, 0),
    ],
    ids=["score", "age", "profile", "nothing"],
)
@pytest.mark.promise(13)
def test_the_change_that_is_named_brings_what_it_promises(
    search: Search, postings: list[dict[str, Any]], name: str | None, then: int | None, brings: int
) -> None:
    change = judged(search, *postings).change
    assert matches(search) == 0
    if name is None:
        assert change is None
        return
    assert change is not None
    assert (change.name, change.then, change.brings) == (name, then, brings)
    if not name.startswith("jobs."):
        assert "profile.yaml" in change.commands[0]
        return
    assert change.commands[0] == f"thresher config set {name} {then}"
    search.set(**{name.replace(".", "__"): then})
    judge_again(search.store, search.registry, every=True)
    search.work()
    assert matches(search) == brings


def test_postings_that_wait_for_a_judgement_are_counted(search: Search) -> None:
    write(search, posting("greenhouse:acme/1"))
    found = why_no_matches(search.store, read_now(search.store))
    assert (found.waiting, found.reasons) == (1, ())
    assert "thresher jobs judge" in next(found.sentences)
