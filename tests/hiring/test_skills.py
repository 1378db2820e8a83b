"""Skills beyond technology: postings for accountants, nurses, welders and teachers name theirs, ordinary
prose names none, and neither titles nor companies are read by them."""

import itertools
import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hiring.trades import POSTINGS, PROSE
from thresher.hiring import technology
from thresher.hiring.facts import read_facts
from thresher.hiring.records import PostingRecord
from thresher.hiring.skills import all_skills, family, known_as, names, skills

WORDS = (
    *(
        "accounts",
        "payable",
        "MIG",
        "welding",
        ",",
        "and",
        "Epic",
        "accounting",
        "\n",
        "degree",
        "in",
        "wound",
    ),
    *("care", "Go", "Sage", "A/P", "İ", "ß", ".", "month-end", "close", "SAP", "FI", "AWS", "D1.1", "Oracle"),
)


@pytest.mark.parametrize("trade", POSTINGS)
def test_a_posting_names_the_skills_of_its_trade_and_no_others(trade: str) -> None:
    title, text, asked = POSTINGS[trade]
    opening = read_facts(PostingRecord("acme/1", title=title, description=text), today=date(2026, 3, 1))
    assert sorted(opening.skills) == sorted(asked)
    for at, name in enumerate(opening.skills):
        place = opening.evidence.places[f"skills.{at}"]
        assert place is not None
        assert known_as(place.quote) == name
        assert place.path or text[place.start : place.end] == place.quote


@pytest.mark.parametrize("text", PROSE)
def test_ordinary_prose_names_no_skill(text: str) -> None:
    assert names(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A degree in accounting, finance or economics", ()),
        ("Bachelor's degree in Nursing, Accounting or a related field", ()),
        ("An accounting degree is welcome", ()),
        ("You studied mechatronics", ()),
        ("A degree in business and three years of experience in accounting", ("accounting",)),
        ("Knowledge of accounting", ("accounting",)),
        ("Our accounting is on the third floor", ()),
        ("payroll, accounting and VAT", ("payroll", "accounting", "vat")),
        ("Salary: 90,000 CAD", ()),
        ("CAD software, AutoCAD", ("computer-aided design", "autocad")),
        ("Experience with Epic or Cerner", ("epic", "cerner")),
        ("An epic journey", ()),
        ("We provide sign language interpreters on request", ()),
        ("Fluent in American Sign Language", ("sign language",)),
    ],
)
def test_what_was_studied_and_what_is_a_word_of_the_language_is_no_skill(
    text: str, found: tuple[str, ...]
) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("A/P", "accounts payable"),
        ("AP", "accounts payable"),
        ("Month end close", "month-end close"),
        ("month-end closing", "month-end close"),
        ("IFRS", "ifrs"),
        ("Quick Books", "quickbooks"),
        ("SAP FI", "sap"),
        ("RN", "registered nurse"),
        ("GMAW", "mig welding"),
        ("golang", "go"),
        ("Orthopedics", "orthopaedics"),
        ("Knitting patterns", "knitting patterns"),
    ],
)
def test_a_word_of_a_list_gets_the_name_that_postings_get(word: str, name: str) -> None:
    assert known_as(word) == name


def test_an_abbreviation_that_is_a_word_elsewhere_is_read_in_lists_alone() -> None:
    assert (
        names("The AP reported that HR answered. Our AR glasses, the SEM image and the PR of a colleague.")
        == ()
    )


@pytest.mark.parametrize(
    "text", ["Python, Go and accounts payable", "SAP FI and SAP CO", "C, C++ and welding", "Spring, payroll"]
)
def test_technologies_are_read_as_they_are_without_the_other_skills(text: str) -> None:
    own = {each.name for each in technology.technologies(text)}
    assert own == {name for name in names(text) if technology.family(name) is not None}


def test_a_skill_is_no_technology_so_titles_and_companies_are_read_without_it() -> None:
    assert technology.names("IFRS, month-end close, MIG welding, wound care, lesson planning") == ()
    assert technology.family("accounts payable") is None
    assert family("accounts payable") == "accounting"


def test_every_skill_finds_its_own_name_in_a_list_and_has_a_family() -> None:
    known = all_skills()
    assert len(known.families) > 1_200
    assert all(known_as(name) == name and family(name) for name in known.families)
    assert all(family(alias.name) for alias in known.aliases)


def test_no_phrase_of_two_skills_has_two_names() -> None:
    named: dict[str, set[str]] = {}
    for alias in all_skills().aliases:
        named.setdefault(alias.word, set()).add(alias.name)
    assert {word: found for word, found in named.items() if len(found) > 1} == {}


@pytest.mark.promise(14)
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_whatever_the_text_mentions_lie_inside_it_in_order_and_apart(words: list[str]) -> None:
    text = " ".join(words)
    found = skills(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "unit",
    [
        "accounts payable ",
        "accounting ",
        "degree in degree in ",
        "accounting, ",
        "a/p ",
        "month-end ",
        "mig tig mig ",
        "bachelor of ",
        "x, y, z degree ",
    ],
)
def test_hostile_text_costs_time_in_proportion_to_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        rounds = []
        for _ in range(5):
            start = time.process_time()
            skills(text)
            rounds.append(time.process_time() - start)
        return min(rounds)

    skills("warm up")
    assert seconds(160_000) < 24 * max(seconds(20_000), 0.002)


@pytest.mark.promise(14)
def test_a_text_of_all_phrases_together_is_read_in_bounded_time() -> None:
    text = ", ".join(alias.word for alias in all_skills().aliases)
    start = time.process_time()
    found = skills(text)
    assert len({each.name for each in found}) > 1_000
    assert time.process_time() - start < 5
