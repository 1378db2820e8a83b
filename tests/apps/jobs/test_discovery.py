"""Finding boards on a web of platforms, custom domains, namesakes, walls and outages: nothing is found or
absent without proof."""

import pytest

from tests.apps.jobs.seeking import ACME, API, OF_PLATFORM, drawn, finder, site, who
from thresher.practice.web import Knob, Trouble
from thresher.practice.web.company import HOSTED, KNOWN
from thresher.practice.web.sites.home import board_url
from thresher.reading.platforms.platform import platform_named

__all__ = ["finder"]


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
    assert (board.data["platform"], board.data["method"], board.data["ownership"]) == (
        them.platform,
        "page",
        "proven",
    )
    assert board.linked("company") == (board.data["company"],)
    assert board.data["company_name"] == them.name


def test_a_high_confidence_goes_to_work_at_once(finder):
    finder.find(ACME, name="Acme Anvils", website="https://www.acme.example/")
    board = finder.board()
    assert (board.data["confidence"], board.data["status"], board.data["validation_required"]) == (
        "high",
        "active",
        False,
    )
    assert (board.data["failures"], board.data["due_at"], board.data["scraped_at"]) == (0, 0, 0)
    assert finder.scrapes() == [{"board": "greenhouse:acme", "failures": 0}]


def test_a_medium_confidence_waits_for_a_person_and_is_kept_with_the_company(finder):
    them = who("borealis")
    finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert (board.data["confidence"], board.data["status"], board.data["validation_required"]) == (
        "medium",
        "pending",
        True,
    )
    assert finder.scrapes() == []
    (theirs,) = finder.records("company").values()
    assert (theirs.data["board_url"], theirs.data["board_confidence"]) == (
        "https://jobs.lever.co/borealis",
        "medium",
    )
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
    assert (board.data["platform"], board.data["token"], board.data["url"]) == (
        platform,
        None,
        f"https://careers.{them.token}.example/",
    )
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
    assert (board.data["platform"], board.data["confidence"], board.data["status"]) == (
        "rss",
        "high",
        "active",
    )
    assert board.data["sample"]["count"] > 10


@pytest.mark.promise(7)
def test_a_feed_without_entries_is_no_board(finder):
    finder.web.turn(Knob(Trouble.NO_RESULTS, "feeds.practice.example"))
    ended = finder.find("https://feeds.practice.example/rss.xml")
    assert (ended["state"], finder.records("board")) == ("failed", {})


def test_a_page_that_lists_its_openings_itself_is_kept_for_a_person_with_a_sample(finder):
    them = drawn(
        lambda each: each.platform == "own" and each.layout == 1 and each.places > 10
    )  # says nothing of its feed
    finder.find(name=them.name, website=site(them))
    board = finder.board()
    assert (board.data["platform"], board.data["confidence"], board.data["status"]) == (
        "site",
        "low",
        "pending",
    )
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
    assert (board.data["status"], board.data["sample"]["count"], board.data["ownership"]) == (
        "active",
        0,
        "likely",
    )


def test_a_workday_tenant_without_its_data_centre_is_followed_to_it_and_waits_for_a_person(finder):
    dunlin = who("dunlin")
    whole = f"https://dunlin.wd{dunlin.workday_number}.myworkdayjobs.com/en-US/{dunlin.workday_site}"
    bare = "https://dunlin.myworkdayjobs.com/"
    finder.web.turn(Knob(Trouble.REDIRECT, "dunlin.myworkdayjobs.com", "/", text=whole))
    ended = finder.find(bare, name=dunlin.name, website=site(dunlin))
    assert ended["state"] == "succeeded", ended["reason"]
    board = finder.board()
    assert board.key.startswith(f"workday:dunlin:wd{dunlin.workday_number}")
    assert (board.data["status"], board.data["confidence"]) == ("pending", "medium")
    assert finder.scrapes() == []


def test_a_workday_tenant_that_leads_nowhere_is_requested_once_and_says_what_to_do(finder):
    finder.set({"jobs.discovery.probes": 0})
    ended = finder.find("https://dunlin.myworkdayjobs.com/")
    assert (ended["state"], finder.records("board")) == ("failed", {})
    assert "open the address in a browser" in ended["reason"]
    assert finder.asked() == ["dunlin.myworkdayjobs.com/"]
