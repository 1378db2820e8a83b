"""The review: tiers follow the profile and the settings, from stored facts alone."""

from collections.abc import Iterator

import pytest
import yaml

from tests.apps.jobs.test_exclusion import EXAMPLE
from tests.apps.jobs.weeks import Search
from tests.harness.databases import Database, only_files
from tests.harness.tasks import rows
from thresher.apps.jobs.scraping.pace import pace_of, turn
from thresher.apps.jobs.service.companies import ask_review, list_companies
from thresher.apps.jobs.service.postings import set_profile
from thresher.core.clock import HOUR
from thresher.hiring.records import BoardRecord
from thresher.practice.web import PracticeWeb

NOTHING = {"city": None, "region": None, "country": None, "skills": {}}


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web)
    yield found
    found.close()


def wants(search: Search, **fields: object) -> None:
    set_profile(search.store, yaml.safe_dump({**EXAMPLE, **fields}), "profile.yaml")


def tiers(search: Search) -> dict[str, tuple[str | None, int | None]]:
    return {each.key: (each.tier, each.score) for each in list_companies(search.store)}


def loved(search: Search, token: str) -> dict[str, str]:
    """Ranks under which every technology of a company is required."""
    return dict.fromkeys(search.company(token).data["tech"], "required")


@pytest.mark.promise(12)
def test_a_new_profile_ranks_every_known_company_again_without_a_request(search: Search):
    wants(search, **NOTHING)
    search.add("acme", "orchard")
    search.work()
    before, asked = tiers(search), len(search.web.log())
    wants(search, **{**NOTHING, "skills": loved(search, "acme")})
    ask_review(search.store, search.registry)
    search.work()
    after = tiers(search)
    assert after["acme.example"][1] > before["acme.example"][1]
    assert after["acme.example"][0] < before["acme.example"][0]  # C stands before D
    assert search.board("acme").data["tier"] == after["acme.example"][0]
    assert "required" in search.company("acme").data["score_parts"][1]["note"]
    assert len(search.web.log()) == asked
    wants(search, **NOTHING)
    ask_review(search.store, search.registry)
    search.work()
    assert tiers(search) == before


@pytest.mark.promise(12)
def test_a_round_of_scraping_notices_that_the_points_have_changed(search: Search):
    search.add("acme")
    search.work()
    search.look()
    reviews = "select count(*) from tasks where kind = 'review'"
    (before,) = rows(search.store, reviews)[0]
    search.look()
    assert rows(search.store, reviews)[0] == (before,)  # nothing has changed
    search.set(jobs__company__tier_s=1, jobs__company__remote_first=33, jobs__company__ai_focus=33)
    search.look()
    # Two tasks may each notice it, one after the other's review has ended.
    assert rows(search.store, reviews)[0] > (before,)
    found = search.company("acme").data
    assert found["tier"] == ("S" if found["score"] else "D")
    assert found["score"] == sum(part["points"] for part in found["score_parts"])


@only_files
@pytest.mark.promise(5)
def test_the_order_of_the_boards_follows_the_new_tiers(search: Search):
    wants(search, **NOTHING)
    search.add("acme", "cobalt")
    search.work()
    search.look()

    def order() -> list[str]:
        known = [BoardRecord.of(each) for each in search.records("board") if each.data["status"] == "active"]
        return [each.key for each in turn(known, pace_of(search.store.settings), 10)]

    last = order()[-1]
    token, other = ("acme", "cobalt") if "acme" in last else ("cobalt", "acme")
    due = search.board(token).data["due_at"]
    ours = {name: rank for name, rank in loved(search, token).items() if name not in loved(search, other)}
    wants(search, **{**NOTHING, "skills": ours})
    search.set(jobs__company__remote_first=0, jobs__company__ai_focus=0)
    search.set(jobs__company__tier_s=20, jobs__interval_s=1)
    ask_review(search.store, search.registry)
    search.work()
    assert search.board(token).data["tier"] == "S"
    assert order()[0] == last
    board = search.board(token).data
    assert board["due_at"] == board["scraped_at"] + HOUR < due  # the interval of tier S from now on


@only_files
def test_a_company_read_again_hands_its_new_tier_to_its_board(search: Search):
    wants(search, **NOTHING)
    search.add("acme")
    search.work()
    assert search.board("acme").data["tier"] == "D"
    wants(search, **{**NOTHING, "skills": loved(search, "acme")})
    search.set(jobs__company__fresh_days=0)
    search.add("acme")
    search.work()
    assert search.company("acme").data["tier"] != "D"
    assert search.board("acme").data["tier"] == search.company("acme").data["tier"]
