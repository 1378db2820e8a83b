"""Discovery in trouble: walls, outages, boards that are there already, requests that name nothing."""

import asyncio

import pytest

from tests.apps.jobs.finder import Finder
from tests.apps.jobs.seeking import ACME, API, NO_SITES, OF_PLATFORM, drawn, finder, site, who
from thresher.admin.events import list_events
from thresher.apps.jobs.discovery.trial import trial
from thresher.apps.jobs.service.boards import disable_board
from thresher.core.clock import HOUR
from thresher.core.page import Verdict
from thresher.core.record import Found
from thresher.fetch.governor import FetchOptions, Ungoverned
from thresher.fetch.request import order
from thresher.hiring.records import BoardRecord
from thresher.practice.web import Knob, Trouble
from thresher.practice.web.company import HOSTED
from thresher.practice.web.sites.home import board_url
from thresher.reading.platforms.boards import recognise

__all__ = ["finder"]


# --- what is not a board, or not the company's


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    "url",
    [
        "https://job-boards.greenhouse.io/no-such-company",
        "https://jobs.lever.co/no-such-company",
        "https://jobs.ashbyhq.com/no-such-company",
        "https://careers.smartrecruiters.com/no-such-company",
        "https://no-such-company.bamboohr.com/careers",
        "https://no-such-company.recruitee.com/",
        "https://apply.workable.com/no-such-company/",
    ],
)
def test_a_token_that_nobody_has_is_no_board(finder, url):
    ended = finder.find(url)
    assert (ended["state"], finder.records("board"), finder.scrapes()) == ("failed", {}, [])


@pytest.mark.promise(7)
@pytest.mark.parametrize("platform", ["ashby", "smartrecruiters"])
def test_a_zero_is_no_proof_where_every_name_gives_a_zero(finder, platform):
    finder.web.turn(Knob(Trouble.NO_RESULTS, "*"))
    ended = finder.find(board_url(who(OF_PLATFORM[platform])))
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "proves nothing" in ended["reason"]


@pytest.mark.promise(7)
def test_a_board_that_was_given_for_a_company_it_does_not_name_is_not_given_to_it(finder):
    finder.find(ACME, name="Otter Robotics", website="https://www.otter.example/")
    board = finder.board()
    assert (board.data["confidence"], board.data["status"], board.data["company_name"]) == (
        "low",
        "pending",
        "Acme Anvils",
    )
    assert (board.data.get("company"), board.linked("company")) == (None, ())
    assert finder.records("company") == {}


@pytest.mark.promise(7)
def test_an_answer_from_another_host_is_not_the_boards(finder):
    finder.web.turn(
        Knob(
            Trouble.REDIRECT,
            API,
            "/v1/boards/acme/jobs",
            text="https://api.lever.co/v0/postings/borealis?mode=json",
        )
    )
    ended = finder.find(ACME)
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "redirects to api.lever.co" in ended["reason"]


@pytest.mark.promise(10)
@pytest.mark.parametrize(
    ("knob", "tag"),
    [
        (Knob(Trouble.CAPTCHA, API), "anti_bot"),
        (Knob(Trouble.STATUS, API, status=401), "auth"),
        (Knob(Trouble.STATUS, API, status=403), "forbidden"),
    ],
)
def test_a_wall_before_a_board_disables_it_with_its_tag(finder, knob, tag):
    finder.web.turn(knob)
    ended = finder.find(ACME, name="Acme Anvils")
    board = finder.board()
    assert (ended["state"], board.data["status"], board.data["disabled_tag"]) == ("failed", "disabled", tag)
    assert (board.data["last_look"]["verdict"], finder.scrapes()) == ("blocked", [])
    told = [each["detail"] for each in list_events(finder.store) if each["kind"] == "board_disabled"]
    assert [(each["board"], each["tag"]) for each in told] == [(board.key, tag)]


@pytest.mark.promise(10)
def test_a_companys_site_behind_a_wall_is_waited_for_and_not_given_up(finder):
    finder.web.turn(Knob(Trouble.CAPTCHA, "www.dunlin.example"))
    ended = finder.find(website="https://www.dunlin.example/")
    assert (ended["state"], finder.records("board")) == ("pending", {})


@pytest.mark.promise(10)
def test_a_wall_before_somebody_elses_site_does_not_stop_a_search(finder):
    body = (
        '<title>Maple</title><a href="https://network.example/maple/jobs">Jobs</a>'
        + "<p>We make syrup.</p>" * 50
    )
    finder.web.turn(
        Knob(Trouble.BODY, "www.maple.example", text=body), Knob(Trouble.CAPTCHA, "network.example")
    )
    ended = finder.find(website="https://www.maple.example/")
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "network.example" in ended["reason"]


@pytest.mark.promise(7)
def test_an_outage_is_waited_out(finder):
    finder.web.turn(Knob(Trouble.STATUS, API, status=500, times=1))
    ended = finder.find(ACME)
    assert (ended["state"], finder.records("board")) == ("retryable", {})
    finder.shop.clock.advance(HOUR)
    finder.work()
    assert finder.board().key == "greenhouse:acme"


@pytest.mark.promise(7)
def test_a_platform_that_stays_down_leaves_the_question_open(finder):
    them = drawn(lambda each: each.platform == "greenhouse")
    finder.web.turn(NO_SITES, Knob(Trouble.STATUS, API, status=500))
    task_id = finder.ask(name=them.name, website=site(them))
    for _ in range(4):
        finder.work()
        finder.shop.clock.advance(24 * HOUR)
    ended = finder.shop.fields(task_id)
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "did not answer" in ended["reason"]


@pytest.mark.promise(7)
def test_a_platform_that_stays_down_does_not_hide_a_board_on_another(finder):
    them = drawn(lambda each: each.platform == "lever")
    finder.web.turn(NO_SITES, Knob(Trouble.STATUS, API, status=500))
    finder.ask(name=them.name, website=site(them))
    for _ in range(4):
        finder.work()
        finder.shop.clock.advance(24 * HOUR)
    assert finder.board().key == f"lever:{them.token}"


def test_waiting_for_a_platform_asks_the_others_only_once(finder):
    them = drawn(lambda each: each.platform == "bamboohr")
    finder.web.turn(NO_SITES, Knob(Trouble.RATE_LIMITED, "api.lever.co", times=1, seconds=600))
    finder.ask(name=them.name, website=site(them))
    for _ in range(3):
        finder.work()
        finder.shop.clock.advance(HOUR)
    assert finder.board().key == f"bamboohr:{them.token}"
    assert len([path for path in finder.asked(API) if path.endswith(f"/{them.token}/jobs")]) == 1


# --- what is there already


@pytest.mark.promise(9)
def test_a_board_that_is_there_is_skipped_and_gains_the_link_of_its_company(finder):
    finder.find(ACME)
    ended = finder.find(f"{ACME}/jobs/7", name="Acme Anvils", website="https://www.acme.example/")
    board = finder.board()
    assert ended["state"] == "skipped"
    assert (board.data["company"], board.linked("company")) == ("acme.example", ("acme.example",))
    assert finder.find(ACME)["state"] == "skipped"
    assert len(finder.scrapes()) == 1


@pytest.mark.promise(7)
def test_a_board_that_is_there_does_not_become_a_strangers(finder):
    finder.find(ACME, name="Acme Anvils", website="https://www.acme.example/")
    ended = finder.find(ACME, name="Otter Robotics", website="https://www.otter.example/")
    assert ended["state"] == "failed"
    assert finder.board().linked("company") == ("acme.example",)
    assert finder.board().data["status"] == "active"


def test_a_guess_that_waits_goes_to_work_when_somebody_names_the_board(finder):
    them = drawn(lambda each: each.platform == "greenhouse")
    finder.find(name=them.name)
    assert finder.board().data["status"] == "pending"
    finder.find(board_url(them), name=them.name)
    assert (finder.board().data["status"], finder.board().data["method"]) == ("active", "url")
    assert len(finder.scrapes()) == 1


def test_a_board_that_is_disabled_stays_so_whoever_discovers_it_again(finder):
    finder.find(ACME)
    disable_board(finder.store, "greenhouse:acme", "they asked us to")
    assert finder.find(ACME)["state"] == "skipped"
    assert finder.find(ACME, name="Acme Anvils", website="https://www.acme.example/")["state"] == "skipped"
    assert finder.board().data["status"] == "disabled"


# --- what cannot be


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ({}, "url, company, name or website"),
        ({"website": "mailto:a@b.example"}, "website:"),
        ({"name": "Acme", "type_hint": "fax"}, "must be one of auto"),
    ],
)
def test_a_request_that_names_nothing_fails_with_advice(finder, payload, says):
    ended = finder.find(**payload)
    assert ended["state"] == "failed"
    assert says in ended["reason"]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"platform": "greenhouse"},
        {"platform": 7, "token": 7, "parts": [], "url": None},
        {"platform": "greenhouse", "token": "../../evil", "url": "x", "parts": {"token": "a/b"}},
    ],
)
def test_a_record_that_says_nothing_sensible_is_unknown_and_asks_nobody(finder, data):
    found = asyncio.run(trial(Walker(finder), BoardRecord.of(Found("board", "any", data))))
    assert (found.look.verdict, finder.asked()) == (Verdict.UNKNOWN, [])


def test_a_hint_is_taken_seriously(finder):
    assert finder.find(board_url(who("kestrel")), type_hint="rss")["state"] == "failed"
    finder.find(board_url(who("kestrel")), type_hint="html")
    assert finder.board().data["platform"] == "site"


# --- trial


class Walker:
    """A fetch, and somewhere to compute: what a command has."""

    def __init__(self, finder: Finder) -> None:
        self.fetcher = finder.fetcher()

    async def fetch(
        self, url, *, method="GET", headers={}, body=b"", render=False, max_age=None, credentials=None
    ):
        request = order(url, method=method, headers=headers, body=body, credentials=credentials)
        return await self.fetcher.fetch(request, FetchOptions(Ungoverned(), render=render))

    async def compute(self, function, /, *args, seconds=None):
        return await self.fetcher.compute(function, *args, seconds=seconds)


@pytest.mark.parametrize("platform", HOSTED)
def test_a_trial_reads_a_board_and_writes_nothing(finder, platform):
    async def tried():
        walker = Walker(finder)
        try:
            return await trial(walker, _record(platform))
        finally:
            await walker.fetcher.close()

    found = asyncio.run(tried())
    assert (found.look.verdict, len(found.sample)) == (Verdict.FOUND, 5)
    assert finder.records("board") == {}


def _record(platform: str) -> BoardRecord:
    board = recognise(board_url(who(OF_PLATFORM[platform])))
    return BoardRecord("any", board.url, board.platform, board.token, board.parts)
