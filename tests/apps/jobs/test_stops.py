"""The stop lists: what is known before anything is fetched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.opening import profile
from thresher.apps.jobs.filtering.filter import stopped
from thresher.apps.jobs.person.wants import Stops

DOMAINS = ("acme.example", "https://www.rival.example/")
LISTS = profile(excluded=Stops(companies=("Meta", "Acme Robotics"), domains=DOMAINS, keywords=("crypto",)))


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ({"company": "Meta"}, "excluded_company"),
        ({"company": "META Platforms, Inc."}, "excluded_company"),
        ({"company": "Acme Robotics GmbH"}, "excluded_company"),
        ({"company": "ACME-Robotics"}, "excluded_company"),
        ({"url": "https://acme.example/1"}, "excluded_domain"),
        ({"url": "https://boards.ACME.example:8443/1"}, "excluded_domain"),
        ({"url": "https://acme.example./1"}, "excluded_domain"),
        ({"url": "https://good.example@acme.example/1"}, "excluded_domain"),
        ({"url": "https://rival.example"}, "excluded_domain"),
        ({"title": "Crypto Engineer"}, "excluded_keyword"),
        ({"url": "https://good.example/open/senior-crypto-engineer"}, "excluded_keyword"),
        ({"url": "https://good.example/open/senior_crypto_engineer"}, "excluded_keyword"),
        ({"url": "https://good.example/open?q=crypto%20engineer"}, "excluded_keyword"),
    ],
)
def test_what_is_on_a_list_is_stopped_with_its_quote(said: dict[str, str], rule: str):
    found = stopped(LISTS, **said)
    assert found is not None
    assert (found.name, found.quote) == (rule, *said.values())


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"company": "Metabase"},
        {"company": "Acme"},
        {"company": ""},
        {"url": "https://notacme.example/1"},
        {"url": "https://acme.example.good.example/1"},
        {"url": "https://acme.example@good.example/1"},
        {"url": "https://good.example/?next=https://acme.example"},
        {"url": "not an address"},
        {"title": "Cryptography Engineer"},
        {"title": "Engineer (no crypto)"},
        {"url": "https://good.example/cryptography"},
    ],
)
def test_what_only_looks_like_it_is_not(said: dict[str, str]):
    assert stopped(LISTS, **said) is None


PATTERNS = profile(excluded=Stops(keywords=("intern*", "*coin", "senior cry* engineer", "*/promo*/x*")))


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "said",
    [
        {"title": "Internship, Platform"},
        {"title": "Summer INTERN"},
        {"title": "Bitcoin Engineer"},
        {"title": "Senior Crypto Engineer"},
        {"title": "Senior Cryptography-Engineer"},
        {"url": "https://good.example/open/internships/7"},
        {"url": "https://good.example/promotion/x1"},
    ],
)
def test_a_star_stands_for_other_characters_of_a_word(said: dict[str, str]):
    found = stopped(PATTERNS, **said)
    assert found is not None
    assert found.name == "excluded_keyword"


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "said",
    [
        {"title": "Winter Sports Engineer"},
        {"title": "Coined by Engineers"},
        {"title": "Senior Crypto Platform Engineer"},
        {"url": "https://good.example/x/promo"},
        {"title": "a star * alone"},
    ],
)
def test_a_star_does_not_stand_for_a_space(said: dict[str, str]):
    assert stopped(PATTERNS, **said) is None


@pytest.mark.promise(18)
def test_a_hostile_text_costs_a_pattern_no_more_than_its_length():
    """With a pattern that backtracks, this would outlive the reader."""
    ready = profile(excluded=Stops(keywords=("a*a*a*a*end",)))
    assert stopped(ready, title="a" * 50_000 + " end") is None
    assert stopped(ready, title=" ".join(["aaaa"] * 10_000)) is None


def test_a_keyword_that_was_stored_before_patterns_were_checked_is_taken_literally():
    old = profile(excluded=Stops(keywords=("intern.*", "*")))
    assert stopped(old, title="Internship") is None
    assert stopped(old, title="Say intern.* once") is not None


def test_empty_lists_stop_nothing():
    assert (
        stopped(
            profile(excluded=Stops(keywords=())), title="Sales", company="Meta", url="https://acme.example"
        )
        is None
    )


@given(st.text(), st.text(), st.text())
def test_nothing_on_the_way_in_can_break_it(title: str, company: str, url: str):
    found = stopped(LISTS, title=title, company=company, url=url)
    assert found is None or found.quote in (title[:300], company[:300], url[:300])
