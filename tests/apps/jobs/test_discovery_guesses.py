"""Guessing where a board may be: bounded, told, and never given to the wrong company."""

import pytest

from tests.apps.jobs.seeking import NO_SITES, SEED, drawn, finder, site
from thresher.apps.jobs.discovery.trial import guesses
from thresher.hiring.records import company_key
from thresher.practice.web.company import HOSTED, directory, owner
from thresher.reading.platforms.platform import guessable

__all__ = ["finder"]


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
    assert "guessed boards do not exist" in ended["reason"]


@pytest.mark.promise(7)
def test_the_board_of_a_namesake_is_refused_by_name(finder):
    platforms = [platform.name for platform in guessable() if platform.name in HOSTED]
    them = drawn(
        lambda each: (
            each.platform == "workday" and any(owner(SEED, platform, each.token) for platform in platforms)
        )
    )
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
    assert all(
        (each.platform, each.token) == (board.data["platform"], board.data["token"]) for each, board in found
    )
    assert len(found) > 15
