"""Finding boards on a web of platforms, custom domains, namesakes, walls and outages: nothing is found or absent without proof."""

import asyncio

import pytest

from tests.engine.workshop import Workshop
from tests.harness.databases import memory_database
from tests.jobs.finder import Finder
from thresher.apps.jobs.discovery.candidate import guesses
from thresher.apps.jobs.discovery.trial import trial
from thresher.control.boards import disable_board
from thresher.core.clock import HOUR, FrozenClock
from thresher.core.found import Found
from thresher.core.look import Verdict
from thresher.fetch.errand import Errand
from thresher.fetch.governor import Ungoverned
from thresher.fetch.order import order
from thresher.hiring.records import company_key
from thresher.practice.web import Knob, PracticeWeb, Trouble, company
from thresher.practice.web.company import HOSTED, KNOWN, Company, directory, owner
from thresher.practice.web.sites.home import board_url
from thresher.reading.boards import recognise
from thresher.reading.platform import guessable, platform_named

SEED = 7
OF_PLATFORM = {platform: token for token, (_, platform, _) in KNOWN.items() if platform in HOSTED}
API = "boards-api.greenhouse.io"
ACME = "https://job-boards.greenhouse.io/acme"
NO_SITES = Knob(Trouble.NO_SUCH_SITE, host="*.example")


@pytest.fixture
def finder(web: PracticeWeb):
    database = memory_database(FrozenClock())
    shop = Workshop(database)
    yield Finder(shop, web)
    shop.close()
    database.close()


def who(token: str) -> Company:
    return company(SEED, token)


def site(of: Company) -> str:
    return f"https://{of.site}/"


def drawn(fits) -> Company:
    """A company of the practice web that is as wanted."""
    return next(each for each in directory(SEED, 800) if each.token not in KNOWN and fits(each))


# --- what is found


@pytest.mark.parametrize("platform", HOSTED)
def test_a_boards_address_is_enough(finder, platform):
    them = who(OF_PLATFORM[platform])
    ended = finder.find(board_url(them))
    board = finder.board()
    assert ended["state"] == "succeeded"
    assert (board.data["platform"], board.data["method"]) == (platform, "url")
    assert them.token in board.data["token"]
    assert board.data["sample"]["titles"]
    assert board.data["confidence"] == platform_named(platform).confidence
    assert "company" not in board.data


@pytest.mark.parametrize("token", [token for token, (_, platform, _) in KNOWN.items() if platform in HOSTED])
def test_a_companys_site_leads_to_its_board(finder, token):
    them = who(token)
    finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert (board.data["platform"], board.data["method"], board.data["ownership"]) == (them.platform, "page", "proven")
    assert board.linked("company") == (board.data["company"],)
    assert board.data["company_name"] == them.name


def test_a_high_confidence_goes_to_work_at_once(finder):
    finder.find(ACME, name="Acme Anvils", website="https://www.acme.example/")
    board = finder.board()
    assert (board.data["confidence"], board.data["status"], board.data["validation_required"]) == ("high", "active", False)
    assert (board.data["failures"], board.data["due_at"], board.data["scraped_at"]) == (0, 0, 0)
    assert finder.scrapes() == [{"board": "greenhouse:acme", "failures": 0}]


def test_a_medium_confidence_waits_for_a_person_and_is_kept_with_the_company(finder):
    them = who("borealis")
    finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert (board.data["confidence"], board.data["status"], board.data["validation_required"]) == ("medium", "pending", True)
    assert finder.scrapes() == []
    (theirs,) = finder.records("company").values()
    assert (theirs.data["board_url"], theirs.data["board_confidence"]) == ("https://jobs.lever.co/borealis", "medium")
    assert theirs.data["name"] == them.name


@pytest.mark.parametrize("asks", [{"auto_enable": False}, {"validation_required": True}])
def test_whoever_wants_to_look_first_is_waited_for(finder, asks):
    finder.find(ACME, **asks)
    assert finder.board().data["status"] == "pending"
    assert finder.scrapes() == []


@pytest.mark.parametrize("platform", ["recruitee", "teamtailor"])
def test_a_board_on_a_companys_own_domain_is_found_by_what_it_is_made_of(finder, platform):
    them = drawn(lambda each: each.platform == platform and each.custom_domain)
    finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert (board.data["platform"], board.data["token"], board.data["url"]) == (platform, None, f"https://careers.{them.token}.example/")
    assert (board.data["confidence"], board.data["ownership"]) == ("high", "proven")


def test_a_board_on_an_own_domain_is_one_board_whichever_page_of_it_is_given(finder):
    them = drawn(lambda each: each.platform == "teamtailor" and each.custom_domain)
    finder.find(f"https://careers.{them.token}.example/")
    ended = finder.find(f"https://careers.{them.token}.example/jobs")
    assert ended["state"] == "skipped"
    assert len(finder.records("board")) == 1


def test_a_board_that_a_script_embeds_is_found(finder):
    them = drawn(lambda each: each.platform == "greenhouse" and each.layout == 2)
    finder.find(name=them.name, website=site(them))
    assert finder.board().key == f"greenhouse:{them.token}"


def test_a_feed_with_entries_is_taken_at_its_word(finder):
    finder.find("https://feeds.practice.example/rss.xml")
    board = finder.board()
    assert (board.data["platform"], board.data["confidence"], board.data["status"]) == ("rss", "high", "active")
    assert board.data["sample"]["count"] > 10


@pytest.mark.promise(7)
def test_a_feed_without_entries_is_no_board(finder):
    finder.web.turn(Knob(Trouble.NO_RESULTS, "feeds.practice.example"))
    ended = finder.find("https://feeds.practice.example/rss.xml")
    assert (ended["state"], finder.records("board")) == ("failed", {})


def test_a_page_that_lists_its_openings_itself_is_kept_for_a_person_with_a_sample(finder):
    them = drawn(lambda each: each.platform == "own" and each.layout == 1 and each.places > 10)  # says nothing of its feed
    finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert (board.data["platform"], board.data["confidence"], board.data["status"]) == ("site", "low", "pending")
    assert len(board.data["sample"]["titles"]) == 5
    assert {host.partition("/")[0] for host in finder.asked()} == {them.site}  # and nobody guesses


def test_the_feed_of_a_page_that_lists_its_openings_is_found(finder):
    finder.find(name="Kestrel Optics", website="https://www.kestrel.example/")
    assert (finder.board().data["platform"], finder.board().data["ownership"]) == ("rss", "proven")


@pytest.mark.promise(7)
def test_a_page_that_only_a_browser_sees_is_neither_a_board_nor_none(finder):
    them = who("larkspur")
    ended = finder.find(name=them.name, website=site(them))
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "JavaScript" in ended["reason"]


def test_a_board_that_says_it_is_empty_is_still_the_companys(finder):
    finder.web.turn(Knob(Trouble.NO_RESULTS, API))
    finder.find(ACME, name="Acme Anvils")
    board = finder.board()
    assert (board.data["status"], board.data["sample"]["count"], board.data["ownership"]) == ("active", 0, "likely")


# --- what is guessed


def test_a_guess_with_the_right_name_waits_for_a_person(finder):
    them = drawn(lambda each: each.platform == "greenhouse")
    finder.web.turn(NO_SITES)
    ended = finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert ended["state"] == "succeeded"
    assert (board.key, board.data["method"]) == (f"greenhouse:{them.token}", "guess")
    assert (board.data["confidence"], board.data["status"]) == ("medium", "pending")
    assert finder.scrapes() == []


def test_a_name_alone_is_enough_to_guess_by(finder):
    them = drawn(lambda each: each.platform == "workable")
    finder.find(name=them.name)
    assert (finder.board().key, finder.board().data["ownership"]) == (f"workable:{them.token}", "likely")


def test_everything_that_was_tried_is_kept(finder):
    them = drawn(lambda each: each.platform == "recruitee" and not each.custom_domain)
    finder.web.turn(NO_SITES)
    finder.find(name=them.name, website=site(them))
    tried = finder.board().data["tried"]
    assert [each["method"] for each in tried] == ["look", *["guess"] * (len(tried) - 1)]
    assert all(each["reason"] for each in tried[:-1])
    assert tried[-1]["name"].startswith(them.name)
    assert (tried[-1]["status"], tried[-1]["verdict"], tried[-1]["count"] > 0) == (200, "found", True)


@pytest.mark.promise(7)
def test_platforms_whose_tokens_are_no_names_are_never_guessed():
    tried = {each.board.platform for each in guesses("Acme Anvils", "https://acme.example/", 1_000)}
    assert tried == {platform.name for platform in guessable()}
    assert not tried & {"workday", "icims", "oracle", "eightfold", "phenom"}


def test_guesses_are_bounded_by_a_setting(finder):
    finder.web.turn(NO_SITES)
    finder.set({"jobs.discovery.probes": 3})
    finder.find(name="Verbena Courier", website="https://www.verbenacourier.example/")
    (theirs,) = finder.records("company").values()
    assert len([each for each in theirs.data["tried"] if each["method"] == "guess"]) == 3


@pytest.mark.promise(7)
def test_a_name_that_nobody_answers_to_is_skipped_and_not_called_absent(finder):
    ended = finder.find(name="No-Such Thing Anvils")
    assert (ended["state"], finder.records("board")) == ("skipped", {})
    assert "guessed boards led nowhere" in ended["reason"]


@pytest.mark.promise(7)
def test_the_board_of_a_namesake_is_refused_by_name(finder):
    platforms = [platform.name for platform in guessable() if platform.name in HOSTED]
    them = drawn(lambda each: each.platform == "workday" and any(owner(SEED, platform, each.token) for platform in platforms))
    finder.web.turn(NO_SITES)
    finder.find(name=them.name, website=site(them))
    (theirs,) = finder.records("company").values()
    refused = [each for each in theirs.data["tried"] if each.get("count")]
    assert finder.records("board") == {}
    assert all(each["name"] != them.name and each["reason"] for each in refused)
    assert refused


@pytest.mark.promise(7)
def test_among_forty_companies_no_board_is_given_to_the_wrong_one(finder):
    finder.web.turn(NO_SITES)
    asked = {company_key(each.name, site(each)): each for each in directory(SEED, 40)}
    for each in asked.values():
        finder.ask(name=each.name, website=site(each))
    finder.work()
    found = [(asked[board.data["company"]], board) for board in finder.records("board").values()]
    assert all((each.platform, each.token) == (board.data["platform"], board.data["token"]) for each, board in found)
    assert len(found) > 15


# --- what is not a board, or not the company's


@pytest.mark.promise(7)
@pytest.mark.parametrize("url", [
    "https://job-boards.greenhouse.io/no-such-company", "https://jobs.lever.co/no-such-company", "https://jobs.ashbyhq.com/no-such-company",
    "https://careers.smartrecruiters.com/no-such-company", "https://no-such-company.bamboohr.com/careers",
    "https://no-such-company.recruitee.com/", "https://apply.workable.com/no-such-company/",
])  # fmt: skip
def test_a_token_that_nobody_has_is_no_board(finder, url):
    ended = finder.find(url)
    assert (ended["state"], finder.records("board"), finder.scrapes()) == ("failed", {}, [])


@pytest.mark.promise(7)
@pytest.mark.parametrize("platform", ["ashby", "smartrecruiters"])
def test_a_zero_is_no_proof_where_every_name_gives_a_zero(finder, platform):
    finder.web.turn(Knob(Trouble.NO_RESULTS, "*"))
    ended = finder.find(board_url(who(OF_PLATFORM[platform])))
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "no proof" in ended["reason"]


@pytest.mark.promise(7)
def test_a_board_that_was_given_for_a_company_it_does_not_name_is_not_given_to_it(finder):
    finder.find(ACME, name="Otter Robotics", website="https://www.otter.example/")
    board = finder.board()
    assert (board.data["confidence"], board.data["status"], board.data["company_name"]) == ("low", "pending", "Acme Anvils")
    assert (board.data.get("company"), board.linked("company")) == (None, ())
    assert finder.records("company") == {}


@pytest.mark.promise(7)
def test_an_answer_from_another_host_is_not_the_boards(finder):
    finder.web.turn(Knob(Trouble.REDIRECT, API, "/v1/boards/acme/jobs", text="https://api.lever.co/v0/postings/borealis?mode=json"))
    ended = finder.find(ACME)
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "sends us on to api.lever.co" in ended["reason"]


@pytest.mark.promise(10)
@pytest.mark.parametrize(("knob", "tag"), [
    (Knob(Trouble.CAPTCHA, API), "anti_bot"), (Knob(Trouble.STATUS, API, status=401), "auth"),
    (Knob(Trouble.STATUS, API, status=403), "forbidden"),
])  # fmt: skip
def test_a_wall_before_a_board_disables_it_with_its_tag(finder, knob, tag):
    finder.web.turn(knob)
    ended = finder.find(ACME, name="Acme Anvils")
    board = finder.board()
    assert (ended["state"], board.data["status"], board.data["disabled_tag"]) == ("failed", "disabled", tag)
    assert (board.data["last_look"]["verdict"], finder.scrapes()) == ("blocked", [])


@pytest.mark.promise(10)
def test_a_companys_site_behind_a_wall_is_waited_for_and_not_given_up(finder):
    finder.web.turn(Knob(Trouble.CAPTCHA, "www.dunlin.example"))
    ended = finder.find(website="https://www.dunlin.example/")
    assert (ended["state"], finder.records("board")) == ("pending", {})


@pytest.mark.promise(10)
def test_a_wall_before_somebody_elses_site_does_not_stop_a_search(finder):
    body = '<title>Maple</title><a href="https://network.example/maple/jobs">Jobs</a>' + "<p>We make syrup.</p>" * 50
    finder.web.turn(Knob(Trouble.BODY, "www.maple.example", text=body), Knob(Trouble.CAPTCHA, "network.example"))
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


@pytest.mark.parametrize(("payload", "says"), [
    ({}, "url, company, name or website"), ({"website": "mailto:a@b.example"}, "website:"),
    ({"name": "Acme", "type_hint": "fax"}, "write one of auto"),
])  # fmt: skip
def test_a_request_that_names_nothing_fails_with_advice(finder, payload, says):
    ended = finder.find(**payload)
    assert ended["state"] == "failed"
    assert says in ended["reason"]


@pytest.mark.parametrize("data", [{}, {"platform": "greenhouse"}, {"platform": 7, "token": 7, "parts": [], "url": None},
                                  {"platform": "greenhouse", "token": "../../evil", "url": "x", "parts": {"token": "a/b"}}])  # fmt: skip
def test_a_record_that_says_nothing_sensible_is_unknown_and_asks_nobody(finder, data):
    found = asyncio.run(trial(Walker(finder), Found("board", "any", data)))
    assert (found.look.verdict, finder.asked()) == (Verdict.UNKNOWN, [])


def test_a_hint_is_taken_seriously(finder):
    assert finder.find(board_url(who("kestrel")), type_hint="rss")["state"] == "failed"
    finder.find(board_url(who("kestrel")), type_hint="html")
    assert finder.board().data["platform"] == "site"


# --- trial


class Walker:
    """Only a fetch: what a command has."""

    def __init__(self, finder: Finder) -> None:
        self.fetcher = finder.fetcher()

    async def fetch(self, url, *, method="GET", headers={}, body=b"", render=False, max_age=None):
        return await self.fetcher.fetch(order(url, method=method, headers=headers, body=body), Errand(Ungoverned(), render=render))


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


def _record(platform: str) -> Found:
    board = recognise(board_url(who(OF_PLATFORM[platform])))
    return Found("board", "any", {"platform": board.platform, "token": board.token, "url": board.url, "parts": dict(board.parts)})
