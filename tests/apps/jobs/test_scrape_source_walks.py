"""How a list is walked: in parts, with interruptions, as far as it goes, and by whom it is read."""

import pytest

from tests.apps.jobs.looking import answer, scraping
from tests.apps.jobs.scraping import Scraping
from tests.harness.databases import Database, only_files
from thresher.core.clock import HOUR
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.reading.platforms.boards import Board

__all__ = ["scraping"]


@only_files
def test_a_list_past_its_cap_is_read_in_parts_and_proven(scraping: Scraping):
    key = scraping.add("dunlin")
    (task,) = scraping.look(key, day=0)
    planted = scraping.planted("dunlin")
    look = scraping.last_look(key)
    assert len(planted) > 2_000
    assert (look["complete"], look["found"], look["total"]) == (True, len(planted), len(planted)), look[
        "reason"
    ]
    assert "requested in parts by" in scraping.shop.fields(task)["reason"]
    assert len(scraping.postings(key)) == len(planted)


@only_files
@pytest.mark.promise(2)
def test_a_walk_that_is_interrupted_goes_on_without_asking_again(scraping: Scraping):
    key = scraping.add("ember")
    (task,) = scraping.look(
        key, day=0, knobs=(Knob(Trouble.STATUS, "api.smartrecruiters.com", status=503, after=2, times=1),)
    )
    assert scraping.shop.state(task) == "retryable"
    scraping.clock.advance(HOUR)
    scraping.work()
    assert scraping.shop.state(task) == "succeeded"
    assert [each.target.rpartition("offset=")[2] for each in scraping.requests()] == [
        "0",
        "100",
        "200",
        "200",
    ]
    assert scraping.last_look(key)["complete"]


@only_files
@pytest.mark.promise(7)
def test_a_walk_that_was_held_up_for_a_day_begins_anew(scraping: Scraping):
    key = scraping.add("ember")
    (task,) = scraping.look(
        key, day=0, knobs=(Knob(Trouble.STATUS, "api.smartrecruiters.com", status=503, after=2, times=1),)
    )
    scraping.clock.advance(24 * HOUR)
    scraping.work()
    assert scraping.shop.state(task) == "succeeded"
    assert [each.target.rpartition("offset=")[2] for each in scraping.requests()] == [
        "0",
        "100",
        "200",
        "0",
        "100",
        "200",
    ]


@only_files
def test_a_feed_shows_the_newest_only_and_keeps_the_names_of_the_companies(scraping: Scraping):
    key = scraping.add_board(
        Board("rss", None, "https://feeds.practice.example/rss.xml"), "Practice openings"
    )
    for look in range(5):
        (task,) = scraping.look(key, day=3 * look)
        assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    look = scraping.last_look(key)
    assert (look["found"], look["complete"]) == (50, False)
    assert scraping.postings(key, "closed") == []
    assert len(scraping.postings(key)) > 50


@only_files
def test_a_look_stops_early_at_known_pages_only_while_a_complete_one_is_fresh(scraping: Scraping):
    key = scraping.add("dunlin")
    scraping.look(key, day=0)
    since = scraping.requests()[-1].number
    scraping.look(key, day=0.2)
    assert len(scraping.requests(since)) < 10
    look = scraping.last_look(key)
    assert (look["complete"], look["reason"]) == (False, "stopped: 2 pages in a row with nothing new")
    assert scraping.postings(key, "closed") == []
    scraping.look(key, day=1.2)
    assert scraping.last_look(key)["complete"]


@only_files
def test_an_opening_that_another_board_keeps_gains_a_link_and_is_nobody_elses(scraping: Scraping):
    own = scraping.add("kestrel")
    scraping.look(own, day=0)
    jobs = len(scraping.jobs())
    other = scraping.add_board(Board("site", None, "https://www.kestrel.example/careers?page=2"), "Somebody")
    scraping.look(other, day=0.01)
    shared = scraping.postings(other, None)
    assert shared
    assert {each.data["board"] for each in shared} == {own}
    assert len(scraping.jobs()) == jobs


@only_files
def test_an_address_that_leads_nowhere_does_not_cost_the_look(scraping: Scraping):
    key = scraping.add("acme")
    rows = [
        {"id": 1, "title": "A\x00B", "absolute_url": "javascript:alert(1)"},
        {
            "id": 2,
            "title": "Long",
            "absolute_url": f"https://x.example/{'a' * 9_000}",
            "content": "語" * 40_000,
        },
    ]
    (task,) = scraping.look(key, day=0, knobs=(answer(rows),))
    assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    assert [each.data.get("url") for each in scraping.postings(key)] == [None, None]


@only_files
@pytest.mark.promise(7)
def test_a_page_that_only_a_script_fills_is_unknown_where_there_is_no_browser_and_no_model(
    scraping: Scraping,
):
    key = scraping.add("larkspur")
    (task,) = scraping.look(key, day=0)
    assert scraping.shop.state(task) == "failed"
    assert (scraping.last_look(key)["verdict"], "JavaScript" in scraping.last_look(key)["reason"]) == (
        "unknown",
        True,
    )


@only_files
@pytest.mark.promise(14)
def test_a_page_that_no_rule_reads_is_read_by_a_model_and_only_what_stands_there_counts(
    database: Database, web: PracticeWeb
):
    scraping = Scraping(database, web, thinks=True)
    key = scraping.add("kestrel")
    wanted = [each.title for each in scraping.planted("kestrel")[:4]]
    prose = "".join(
        f"<p>We would love to meet someone who would like to be our {title}, and so would they.</p>"
        for title in wanted
    )
    page = f"<html><head><title>Join us</title></head><body><h1>Join us</h1><article>{prose}</article></body></html>"
    (task,) = scraping.look(
        key, day=0, knobs=(Knob(Trouble.BODY, "www.kestrel.example", "/careers", text=page),)
    )
    assert scraping.shop.state(task) == "succeeded", scraping.shop.fields(task)["reason"]
    assert set(wanted) <= set(scraping.titles(key))
    assert all(title in prose for title in scraping.titles(key))
    assert {each.data.get("url") for each in scraping.postings(key)} == {
        None
    }  # the model named one, which stands nowhere
    assert not scraping.last_look(key)["complete"]
    scraping.close()


@only_files
@pytest.mark.promise(2)
def test_a_field_that_a_whole_board_stops_saying_is_an_alarm_and_is_not_forgotten(scraping: Scraping):
    key = scraping.add("acme")
    for day, text in ((0, "Forge things."), (1, "")):
        rows = [
            {
                "id": each,
                "title": f"Smith {each}",
                "absolute_url": f"https://acme.example/{each}",
                "content": text,
            }
            for each in range(8)
        ]
        scraping.look(key, day=day, knobs=(answer(rows),))
    assert scraping.board(key)["alarms"] == ["description is given by 0% of the rows, down from 100%"]
    assert {each.data["description"] for each in scraping.postings(key)} == {"Forge things."}
