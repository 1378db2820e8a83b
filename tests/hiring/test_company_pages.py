"""Which pages of a company are read, where its board is, and how complete a dossier is."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hiring.telling import ENGLISH, YEAR, facts, told
from thresher.hiring.company.dossier import DossierPage
from thresher.hiring.company.facts import (
    DAY,
    Completeness,
    Thresholds,
    completeness,
    founded,
    is_fresh,
    read_facts,
    seated,
    since,
    size_category,
)
from thresher.hiring.company.headcount import headcount
from thresher.hiring.company.pages import candidates, named, openings
from thresher.hiring.records import CompanyRecord
from thresher.reading.html.document import Document

HOME = """<nav><a href="/">Home</a><a href="/company/about-us">About us</a><a href="/careers">Careers</a><a href="/values">Our values</a>
<a href="https://other.example/about">About</a><a href="/about-cookies">About cookies</a></nav><p>Hello</p>"""


def test_the_links_of_the_home_page_name_its_pages():
    found = named(Document(HOME, "https://www.tarn.example/"))
    assert found == {
        "about": "https://www.tarn.example/company/about-us",
        "careers": "https://www.tarn.example/careers",
        "culture": "https://www.tarn.example/values",
    }


def test_nothing_is_guessed_that_a_link_names():
    tries = dict(candidates("https://www.tarn.example/", {"about": "https://www.tarn.example/us"}))
    assert tries == {
        "about": ("https://www.tarn.example/us",),
        "careers": ("https://www.tarn.example/careers", "https://www.tarn.example/jobs"),
    }


def test_a_board_is_not_visited_because_its_address_says_what_it_is():
    assert "careers" not in dict(
        candidates("https://www.tarn.example/", {"careers": "https://jobs.lever.co/tarn"})
    )


def leaf(html: str, role: str = "careers", url: str = "https://www.tarn.example/careers") -> DossierPage:
    return DossierPage(role, Document(f"<html><head></head><body>{html}</body></html>", url))


def test_the_careers_page_shows_the_board():
    found = openings([leaf("<a href='https://boards.greenhouse.io/tarn'>Open positions</a>")])
    assert (found.board.platform, found.board.token, found.confidence) == ("greenhouse", "tarn", "high")


def test_a_link_to_a_board_is_enough():
    found = openings([leaf("<p>Hi</p>", "home", "https://www.tarn.example/")], "https://jobs.lever.co/tarn")
    assert (found.board.platform, found.confidence) == ("lever", "medium")


def test_a_page_of_its_own_is_low():
    found = openings([leaf("<h1>Careers</h1><ul><li>Cook</li></ul>")])
    assert (found.url, found.confidence, found.board) == ("https://www.tarn.example/careers", "low", None)


def test_a_feed_of_openings_is_high_and_a_feed_of_comments_is_none():
    feed = "<link rel='alternate' type='application/rss+xml' title='{}' href='{}'>"
    good = openings([leaf(feed.format("Jobs at Tarn", "/jobs.rss"))])
    assert (good.url, good.confidence) == ("https://www.tarn.example/jobs.rss", "high")
    assert openings([leaf(feed.format("Careers Comments Feed", "/careers/feed/"))]).confidence == "low"
    assert openings([leaf(feed.format("News", "/news.rss"))]).confidence == "low"


def test_no_pages_show_nothing():
    assert openings([]).url is None


@pytest.mark.parametrize(
    ("about", "culture", "wanted"),
    [
        (50, 25, "none"),
        (51, 0, "minimal"),
        (0, 26, "minimal"),
        (100, 51, "minimal"),
        (101, 50, "minimal"),
        (101, 51, "good"),
        (0, 0, "none"),
    ],
)
def test_completeness_is_as_the_thresholds_say(about, culture, wanted):
    company = CompanyRecord(
        "tarn.example",
        name="Tarn",
        website="https://www.tarn.example/",
        about="a" * about,
        culture="c" * culture,
    )
    assert completeness(company, Thresholds()) == wanted
    assert completeness(replace(company, name=""), Thresholds()) is Completeness.NONE
    assert completeness(replace(company, website=None), Thresholds()) is Completeness.NONE


@pytest.mark.parametrize(("days", "fresh"), [(0, True), (29.9, True), (30, False), (31, False), (-1, False)])
def test_a_good_company_is_fresh_for_thirty_days(days, fresh):
    now = 100 * DAY
    good = CompanyRecord("acme", completeness="good", analyzed_at=int(now - days * DAY))
    assert is_fresh(good, Thresholds(), now) is fresh
    assert not is_fresh(CompanyRecord("acme", completeness="minimal", analyzed_at=now), Thresholds(), now)
    assert not is_fresh(CompanyRecord("acme", completeness="good"), Thresholds(), now)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (100, 100, "small"),
        (101, 101, "medium"),
        (1000, 1000, "medium"),
        (1001, None, "large"),
        (50, 150, "small"),
    ],
)
def test_sizes_have_categories(low, high, wanted):
    assert size_category(low, high, Thresholds()) == wanted


@given(st.text(max_size=300))
def test_any_sentence_is_read_without_trouble(text):
    for read in (headcount, seated, lambda said: founded(said, YEAR), lambda said: since(said, YEAR)):
        found = read(text)
        assert found is None or 0 <= found.start < found.end <= len(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "<h1>About us</h1>",
                "<h2>Our values</h2>",
                "<p>We are 30 people</p>",
                "<p>",
                "</div>",
                "Founded: 1990",
                "<dl><dt>HQ<dd>Rome, Italy",
                "<li>x",
                "\x00",
                "😀",
                ENGLISH,
            ]
        ),
        max_size=30,
    )
)
def test_any_page_is_read_and_its_values_stand_in_it(pieces):
    text = told("".join(pieces))
    assert all(text.text[line.start : line.end] == line.text for line in text.lines)
    assert all(before.end <= after.start for before, after in pairwise(text.lines))
    for found in read_facts(text, name="Tarn Tools", year=YEAR).found.values():
        assert text.text[found.start : found.end] == str(getattr(found.value, "text", found.value))


@pytest.mark.parametrize(
    ("heading", "is_mission"),
    [
        ("Our mission", True),
        ("Mission & Vision", True),
        ("Tarn Tools mission", True),
        ("Computer Vision", False),
        ("Television", False),
        ("Mission control software", False),
    ],
)
def test_a_heading_says_the_topic_and_nothing_else(heading, is_mission):
    found = facts(
        f"<h2>{heading}</h2><p>To lay every keel straight, whatever the weather.</p>", role="careers"
    )
    assert ("mission" in found) is is_mission
