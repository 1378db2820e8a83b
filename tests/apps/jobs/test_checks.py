"""What a list does not say is asked of the posting's own page: whether it is still there, and still reads so.
Trouble closes nothing."""

import json
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

import pytest

from tests.apps.jobs.weeks import Search
from tests.harness import tasks
from tests.harness.databases import Database, only_files
from thresher import NewTask
from thresher.admin.records import write_records
from thresher.core.clock import DAY
from thresher.core.record import Found, Link
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.records import entry
from thresher.practice.web import Knob, PracticeWeb, Trouble, robots

HOST = "www.kestrel.example"
FEED = f"https://{HOST}/feed.xml"
KEY = f"site:{FEED}"
TEXT = (
    "You will grind lenses by hand, look after the machines that polish them, and teach others how to do both well. "
    * 3
)
pytestmark = [pytest.mark.promise(7), only_files]


BAMBOO = "juniper.bamboohr.com"


@pytest.fixture
def search(database: Database, web: PracticeWeb) -> Iterator[Search]:
    found = Search(database, web)
    board = {
        "url": FEED,
        "platform": "rss",
        "status": "active",
        "failures": 0,
        "due_at": 0,
        "scraped_at": 0,
        "company": "kestrel.example",
    }
    known = {"name": "Kestrel Optics", "name_key": "kestreloptics", "status": "complete"}
    records = [
        entry(COMPANY, "kestrel.example", known),
        entry(BOARD, KEY, {**board, "company_name": "Kestrel Optics"}, Link("company", "kestrel.example")),
    ]
    write_records(found.store, records)
    yield found
    found.close()


def feed(*numbers: int) -> Knob:
    rows = "".join(
        f"<item><title>Lens Grinder {each}</title><link>https://{HOST}/careers/{each}-x</link><guid>https://{HOST}/careers/{each}-x</guid>"
        f"<pubDate>Mon, 02 Mar 2026 09:00:00 GMT</pubDate><description>{escape(TEXT)}</description></item>"
        for each in numbers
    )
    text = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Openings</title><link>https://{HOST}/</link>{rows}</channel></rss>'
    return Knob(Trouble.BODY, HOST, "/feed.xml", text=text, kind="application/rss+xml")


def page(number: int, text: str = TEXT, **said: Any) -> Knob:
    declared = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": f"Lens Grinder {number}",
        "description": text,
        "hiringOrganization": {"@type": "Organization", "name": "Kestrel Optics"},
        **said,
    }
    html = f"<html><head><title>Lens Grinder {number}</title><script type='application/ld+json'>{json.dumps(declared)}</script></head>"
    return Knob(
        Trouble.BODY,
        HOST,
        f"/careers/{number}-x",
        text=f"{html}<body><h1>Lens Grinder {number}</h1><p>{text}</p></body></html>",
    )


def gone(number: int) -> Knob:
    return Knob(Trouble.STATUS, HOST, f"/careers/{number}-x", status=404)


def states(search: Search) -> dict[str, str]:
    return {each.data["title"].rpartition(" ")[2]: each.data["state"] for each in search.records(POSTING)}


def posting(search: Search, number: int) -> Found:
    (found,) = [each for each in search.records(POSTING) if each.data["title"].endswith(f" {number}")]
    return found


def asked(search: Search, number: int) -> int:
    return sum(each.path == f"/careers/{number}-x" for each in search.requests())


def test_what_a_feed_shows_no_more_is_closed_when_its_page_is_gone_twice(search: Search):
    search.look(feed(1, 2), day=0)
    for day in (1, 2, 3, 4, 5):
        search.look(feed(2), gone(1), day=day)
        assert search.unfinished() == 0
    assert states(search) == {"1": "closed", "2": "open"}
    assert posting(search, 1).data["closed_at"] > posting(search, 1).data["first_seen"]
    assert asked(search, 2) == 0
    assert asked(search, 1) == 2


def test_what_a_feed_shows_no_more_stays_open_while_its_page_is_there(search: Search):
    search.look(feed(1, 2), day=0)
    for day in range(1, 11):
        search.look(feed(2), page(1), day=day)
    assert states(search) == {"1": "open", "2": "open"}
    found = posting(search, 1).data
    assert found["seen_at"] > search.clock.now() - 4 * DAY
    assert (found["missed"], asked(search, 1)) == (0, 3)


@pytest.mark.parametrize(
    "trouble",
    [
        Knob(Trouble.STATUS, HOST, "/careers", status=503),
        Knob(Trouble.STATUS, HOST, "/careers", status=403),
        Knob(Trouble.CAPTCHA, HOST, "/careers", text="cloudflare"),
        Knob(
            Trouble.BODY,
            HOST,
            "/careers",
            text="<html><body><h1>Welcome</h1><p>We make glasses.</p></body></html>",
        ),
        Knob(
            Trouble.BODY,
            HOST,
            "/careers",
            text="<html><body><h1>Page not found</h1><p>Sorry.</p></body></html>",
        ),
        Knob(Trouble.RESET, HOST, "/careers"),
        Knob(Trouble.RATE_LIMITED, HOST, "/careers", seconds=600),
    ],
    ids=lambda knob: f"{knob.trouble}-{knob.status or knob.text[:22]}",
)
def test_no_trouble_with_its_page_closes_a_posting(search: Search, trouble: Knob):
    search.look(feed(1, 2), day=0)
    for day in (4, 8, 12):
        search.look(feed(2), trouble, day=day)
        search.reopen()
    assert states(search) == {"1": "open", "2": "open"}
    assert (posting(search, 1).data["missed"], asked(search, 1) > 0) == (0, True)


def test_a_page_that_we_may_not_ask_for_is_neither_asked_for_nor_a_failure(search: Search):
    search.look(feed(1, 2), day=0)
    search.look(feed(2), robots(HOST, "User-agent: *\nDisallow: /careers/"), gone(1), day=4)
    assert (states(search)["1"], asked(search, 1), posting(search, 1).data["missed"]) == ("open", 0, 0)
    assert [state for (kind, state) in search.kinds() if kind == "job" and state == "failed"] == []


def test_a_site_that_loses_all_its_pages_at_once_is_believed_only_the_third_time(search: Search):
    numbers = range(1, 14)
    search.look(feed(*numbers), day=0)
    lost = Knob(Trouble.STATUS, HOST, "/careers", status=404)
    for day in (4, 5):
        search.look(feed(13), lost, day=day)
    assert set(states(search).values()) == {"open"}
    search.look(feed(13), *map(page, numbers), day=6)
    assert {each.data["missed"] for each in search.records(POSTING)} == {0}
    for day in (10, 11, 12):
        search.look(feed(13), lost, day=day)
    assert states(search) == {str(each): "open" if each == 13 else "closed" for each in numbers}


def test_a_page_that_leads_to_another_opening_proves_nothing(search: Search):
    search.look(feed(1, 2), day=0)
    before = posting(search, 1).data
    away = Knob(Trouble.REDIRECT, HOST, "/careers/1-x", text=f"https://{HOST}/careers/2-x")
    search.look(feed(2), away, page(2), day=4)
    after = posting(search, 1).data
    assert (after["description"], after["seen_at"], after["state"]) == (
        before["description"],
        before["seen_at"],
        "open",
    )


def test_a_page_that_was_gone_for_a_day_is_not_a_closing(search: Search):
    search.look(feed(1, 2), day=0)
    search.look(feed(2), gone(1), day=4)
    assert posting(search, 1).data["missed"] == 1
    search.look(feed(2), page(1), day=5)
    assert (posting(search, 1).data["missed"], states(search)["1"]) == (0, "open")
    search.look(feed(2), gone(1), day=9)
    assert states(search)["1"] == "open"
    search.look(feed(1, 2), gone(1), day=10)
    assert (posting(search, 1).data["missed"], states(search)["1"]) == (0, "open")


def test_a_closed_posting_that_the_feed_shows_again_is_relisted(search: Search):
    search.look(feed(1, 2), day=0)
    for day in (4, 5):
        search.look(feed(2), gone(1), day=day)
    assert states(search)["1"] == "closed"
    search.look(feed(1, 2), page(1), day=6)
    assert (states(search)["1"], posting(search, 1).data["relisted"]) == ("open", 1)


def test_only_a_batch_is_checked_in_a_look_and_everybody_has_a_turn(search: Search):
    search.set(jobs__recheck_batch=3)
    search.look(feed(*range(1, 12)), day=0)
    wall = Knob(
        Trouble.BODY,
        HOST,
        "/careers",
        text="<html><body><h1>Welcome</h1><p>We make glasses.</p></body></html>",
    )
    for day in (4, 5, 6, 7):
        before = len(search.requests())
        search.look(feed(11), wall, day=day)
        assert sum("/careers/" in each.path for each in search.requests()[before:]) <= 3
    assert [number for number in range(1, 11) if not asked(search, number)] == []


def test_a_board_that_proves_what_is_gone_is_not_asked_posting_by_posting(search: Search):
    search.add("acme")
    search.work()
    search.confirm()
    jobs = search.kinds()
    for day in range(1, 6):
        search.look(feed(1), Knob(Trouble.CAP, "boards-api.greenhouse.io", number=3), day=day / 2)
    checks = tasks.rows(search.store, "select payload from tasks where kind = 'job'")
    assert jobs
    assert [each for each in checks if json.loads(each[0]).get("check")] == []


@pytest.mark.promise(2)
def test_a_check_of_a_posting_that_a_look_has_closed_meanwhile_opens_nothing(search: Search):
    search.look(feed(1), day=0)
    found = posting(search, 1)
    write_records(search.store, [entry(POSTING, found.key, {"state": "closed", "closed_at": 5})])
    search.web.turn(page(1))
    search.put(
        NewTask(
            "job",
            {"posting": found.key, "check": True, "listed": False, "fetch": found.data["url"]},
            key=found.key,
        )
    )
    search.work()
    assert (states(search)["1"], asked(search, 1)) == ("closed", 0)


# --- lists without texts


@pytest.fixture
def thin(search: Search) -> Search:
    """A board whose list has no texts, looked at for the first time."""
    search.add("juniper")
    search.work()
    search.confirm()
    write_records(search.store, [entry(BOARD, KEY, {"status": "disabled"})])
    assert search.board("juniper").data["coverage"]["description"] == 0
    return search


def edited(number: str, title: str, text: str) -> Knob:
    opening = {
        "jobOpeningName": title,
        "description": f"<p>{text}</p>",
        "jobOpeningStatus": "Open",
        "id": number,
    }
    answer = json.dumps({"meta": {}, "result": {"jobOpening": opening}})
    return Knob(Trouble.BODY, BAMBOO, f"/careers/{number}/detail", text=answer, kind="application/json")


def details(search: Search, since: int = 0) -> list[str]:
    return [each.path for each in search.requests()[since:] if each.path.endswith("/detail")]


def stand_still(search: Search, *knobs: Knob) -> None:
    """A day later here; the board shows what it showed."""
    search.tomorrow()
    search.web.turn(*knobs)
    search.scrape()
    search.work()
    search.web.web.panel.clear()


def test_an_edit_behind_a_list_without_texts_is_seen_after_a_week(thin: Search):
    one = thin.postings("juniper")[0]
    knob = edited(one.data["number"], one.data["title"], TEXT + " Now with COBOL.")
    since = len(thin.requests())
    for _ in range(6):
        stand_still(thin, knob)
    assert details(thin, since) == []
    for _ in range(2):
        stand_still(thin, knob)
    (after,) = [each for each in thin.postings("juniper") if each.key == one.key]
    assert "Now with COBOL." in after.data["description"]
    assert "cobol" in after.data["facts"]["skills"]
    assert (after.data["revision"], after.data["state"]) == (1, "open")
    assert sorted(details(thin, since)) == sorted(set(details(thin, since)))


def test_reading_again_what_has_not_changed_judges_nothing_anew(thin: Search):
    decided = {each.key: each.data["at"] for each in thin.records("decision")}
    read = {each.key: each.data["read_at"] for each in thin.postings("juniper")}
    since = len(thin.requests())
    for _ in range(8):
        stand_still(thin)
    assert len(details(thin, since)) == len(read)
    assert {each.key: each.data["read_at"] for each in thin.postings("juniper")} == read
    assert {each.key: each.data["at"] for each in thin.records("decision")} == decided
    asked = [each for each in thin.requests()[since:] if each.path.endswith("/detail")]
    assert {each.status for each in asked} == {304}


def test_only_a_batch_is_read_again_in_a_look(thin: Search):
    thin.set(jobs__reread_batch=2)
    number = len(thin.postings("juniper"))
    since = len(thin.requests())
    for _ in range(7):
        stand_still(thin)
    for look in range(1, 4):
        stand_still(thin)
        assert len(details(thin, since)) <= 2 * (look + 1)
    for _ in range(number):
        stand_still(thin)
    assert len(set(details(thin, since))) == number


def test_a_detail_that_is_gone_closes_nothing_that_the_list_still_shows(thin: Search):
    thin.set(jobs__close_looks=1, jobs__reread_days=1.0)
    since, same = len(thin.requests()), Knob(Trouble.BODY, BAMBOO, "/careers/list", **listing(thin))
    for _ in range(3):
        stand_still(
            thin, *(Knob(Trouble.STATUS, BAMBOO, path, status=404) for path in set(details(thin))), same
        )
    assert {each.status for each in thin.requests()[since:] if each.path.endswith("/detail")} == {404}
    assert {(each.data["state"], each.data["missed"]) for each in thin.postings("juniper")} == {("open", 0)}


def listing(search: Search) -> dict[str, Any]:
    rows = [
        {"id": each.data["number"], "jobOpeningName": each.data["title"]}
        for each in search.postings("juniper")
    ]
    return {
        "text": json.dumps({"meta": {"totalCount": len(rows)}, "result": rows}),
        "kind": "application/json",
    }
