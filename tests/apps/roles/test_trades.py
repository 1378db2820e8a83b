"""Candidates of other trades: their skills meet those that a posting's text names, on all databases."""

from collections.abc import Iterator

import pytest

from tests.apps.roles.market import Market
from tests.apps.roles.people import fit
from tests.harness.databases import Database
from tests.hiring.trades import POSTINGS
from thresher.apps.roles.matching.skill import alike, is_known_skill, keys_of, skill_key
from thresher.hiring.skills import all_skills

CANDIDATES = {
    "accountant": (
        "IFRS",
        "Month-end close",
        "AP",
        "Accounts receivable",
        "SAP FI",
        "QuickBooks",
        "VAT returns",
        "ACCA",
    ),
    "nurse": (
        "RN",
        "IV Therapy",
        "Wound care",
        "Phlebotomy",
        "Epic",
        "BLS",
        "ACLS",
        "Med-Surg",
        "Medication administration",
    ),
    "welder": (
        "MIG welding",
        "GTAW",
        "Blueprint reading",
        "AWS D1.1",
        "Fork lift",
        "Plasma cutting",
        "OSHA 10",
    ),
    "teacher": (
        "Lesson plans",
        "Classroom management",
        "PGCE",
        "SEN teaching",
        "Differentiated instruction",
        "Safeguarding",
    ),
}


@pytest.fixture
def market(database: Database) -> Iterator[Market]:
    made = Market(database)
    yield made
    made.close()


@pytest.mark.promise(19)
def test_everybody_is_matched_with_the_posting_of_their_trade_and_with_no_other(market: Market) -> None:
    people = {trade: market.candidate(f"a {trade}", 1, skills=own) for trade, own in CANDIDATES.items()}
    postings = {
        trade: market.posting(at, 1, title=title, description=text)
        for at, (trade, (title, text, _)) in enumerate(POSTINGS.items())
    }
    market.came_in(list(postings.values()))
    scores = market.pairs()
    for trade, candidate in people.items():
        of = {other: scores.get((candidate, posting), 0) for other, posting in postings.items()}
        assert max(of, key=lambda other: of[other]) == trade
        assert all(of[other] < of[trade] for other in of if other != trade)


@pytest.mark.parametrize("trade", CANDIDATES)
def test_a_candidate_meets_what_the_text_names_each_with_its_place(trade: str) -> None:
    title, text, asked = POSTINGS[trade]
    found = fit({"skills": CANDIDATES[trade]}, {"title": title, "description": text})
    assert len(found.matched) >= 5
    assert {each.asked.key for each in found.matched} | {each.key for each in found.missing} == set(asked)
    assert all(each.asked.place is not None for each in found.matched)


@pytest.mark.parametrize(
    ("own", "asked"),
    [("accounts payable", "accounts receivable"), ("osha 10", "osha 30"), ("acls", "pals"), ("cma", "cpa")],
)
def test_two_skills_that_are_known_are_never_a_misspelling_of_each_other(own: str, asked: str) -> None:
    assert not alike(skill_key(own), skill_key(asked), 0.5)


def test_a_misspelled_skill_is_met() -> None:
    assert alike(skill_key("acounts payable"), "accounts payable", 0.85)


@pytest.mark.parametrize(
    ("word", "keys"),
    [
        ("Month-end and year-end close under US GAAP", ("month-end close", "gaap")),
        ("Certified in MIG and TIG welding", ("mig welding", "tig welding")),
        ("Problem-Solving", ("problem solving",)),
        ("ux/ui", ("user experience",)),
    ],
)
def test_an_entry_of_a_list_means_the_skills_that_it_names(word: str, keys: tuple[str, ...]) -> None:
    assert keys_of(word) == keys


def test_the_name_of_every_skill_means_that_skill() -> None:
    assert [
        name for name in all_skills().families if keys_of(name) != (name,) or not is_known_skill(name)
    ] == []
