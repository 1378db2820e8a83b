"""Kinds and verdicts: nothing found is not nothing there."""

import json

import pytest

from tests.reading.pages import PROSE, look, rows
from thresher.core.page import Verdict
from thresher.reading.inspect.report import PageKind


@pytest.mark.parametrize(
    "body",
    [
        "<title>0 Ladder maker jobs in Leeds | Acme</title><h1>Ladder maker</h1>",
        "<title>Jobs</title><h1>No results found</h1>",
        "<title>Jobs</title><h1>Search</h1><p>There are currently no vacancies.</p>",
        "<title>Stellen</title><h1>Karriere</h1><p>Derzeit keine offenen Stellen.</p>",
        "<title>Emplois</title><h2>Aucun résultat</h2>",
        "<title>Empleo</title><p>No se han encontrado ofertas</p>",
        "<title>Lavoro</title><p>Nessuna posizione aperta</p>",
        "<title>Вакансии</title><p>По вашему запросу ничего не найдено</p>",
        "<title>求人</title><p>該当する求人は見つかりませんでした</p>",
    ],
)
@pytest.mark.promise(7)
def test_a_page_that_says_there_is_nothing_is_confirmed_empty(body: str):
    seen = look(body, "https://acme.example/careers")
    assert seen.look.verdict is Verdict.CONFIRMED_EMPTY
    assert seen.look.quote


@pytest.mark.promise(7)
def test_recommended_rows_under_no_results_are_not_found():
    body = (
        f"<title>0 stilt walker jobs in Leeds</title><h1>0 stilt walker jobs in Leeds</h1><ul>{rows(5)}</ul>"
    )
    seen = look(body, "https://acme.example/jobs")
    assert seen.look.verdict is Verdict.CONFIRMED_EMPTY
    assert seen.postings == ()


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>No results found</p>",
        '<div style="display: none"><p>No results found</p></div>',
        "<template><p>No results found</p></template>",
        '<div aria-hidden="true">No results found</div>',
        '<div class="no-results d-none"><p>No results found</p></div>',
        "<script>var empty = 'No results found';</script>",
    ],
)
@pytest.mark.promise(7)
def test_words_that_lie_ready_for_a_script_are_no_statement(hidden: str):
    seen = look(f"<title>Careers</title><h1>Careers</h1>{hidden}", "https://acme.example/careers")
    assert seen.look.verdict is Verdict.UNKNOWN


@pytest.mark.promise(7)
def test_a_few_rows_beside_no_results_may_be_recommendations():
    seen = look(f"<title>Jobs</title><p>No results found</p><ul>{rows(6)}</ul>", "https://acme.example/jobs")
    assert seen.look.verdict is Verdict.UNKNOWN
    assert seen.postings == ()


@pytest.mark.promise(7)
def test_counted_rows_count_more_than_a_sentence_in_a_corner():
    body = f"<title>Jobs</title><p>Showing 1 - 6 of 42 results</p><ul>{rows(6)}</ul><p>No results found</p>"
    seen = look(body, "https://acme.example/jobs")
    assert seen.look.verdict is Verdict.FOUND
    assert len(seen.postings) == 6


@pytest.mark.promise(7)
def test_many_rows_count_more_where_the_page_is_not_about_results():
    seen = look(
        f"<title>Work</title><ul>{rows(12)}</ul>{PROSE * 2}<p>No results found</p>",
        "https://acme.example/team/work-here",
    )
    assert seen.look.verdict is Verdict.FOUND


@pytest.mark.promise(7)
def test_a_widget_that_found_nothing_says_nothing_about_the_page():
    body = f"<title>The Ladder Inn</title><h1>The Ladder Inn</h1>{PROSE * 2}<div>No results</div>"
    assert look(body, "https://inns.example/leeds/ladder-inn").look.verdict is Verdict.FOUND


@pytest.mark.promise(7)
def test_an_empty_basket_is_no_empty_list():
    seen = look(
        "<title>Ladder</title><div>0 items</div><h1>Ladder</h1><p class=price>£5.00</p>",
        "https://shop.example/ladder",
    )
    assert seen.look.verdict is Verdict.FOUND
    assert len(seen.products) == 1


@pytest.mark.promise(7)
def test_a_search_that_found_nothing_says_so_however_long_its_page():
    body = f"<title>Search</title><h1>Search</h1><p>No results found for stilts.</p>{PROSE * 2}"
    assert look(body, "https://shop.example/search?q=stilts").look.verdict is Verdict.CONFIRMED_EMPTY


@pytest.mark.promise(7)
def test_a_careers_page_without_rows_or_words_is_unknown():
    seen = look(f"<title>Careers</title><h1>Careers</h1>{PROSE}", "https://acme.example/careers")
    assert seen.look.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("text", "empty"),
    [("10 results", False), ("100 jobs", False), ("$0 delivery on all products", False), ("0 results", True)],
)
@pytest.mark.promise(7)
def test_only_a_count_of_nothing_is_nothing(text: str, empty: bool):
    seen = look(f"<title>Shop</title><h1>{text}</h1>{PROSE}")
    assert (seen.look.verdict is Verdict.CONFIRMED_EMPTY) is empty


def answer(data: object) -> Verdict:
    return look(json.dumps(data), "https://x.example/api", kind="application/json").look.verdict


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        ({"jobs": [], "meta": {"total": 0}}, Verdict.CONFIRMED_EMPTY),
        ({"jobs": [], "meta": {"total": 18}}, Verdict.UNKNOWN),
        ({"jobResults": [], "totalSize": 18}, Verdict.UNKNOWN),
        ({"results": [], "total": 0}, Verdict.CONFIRMED_EMPTY),
        ({"results": []}, Verdict.UNKNOWN),
        (
            {"content": [], "totalFound": 0},
            Verdict.UNKNOWN,
        ),  # this platform answers so for companies that do not exist
        ({"jobs": [], "apiVersion": "1"}, Verdict.UNKNOWN),
        ({"jobPostings": [], "total": 0}, Verdict.CONFIRMED_EMPTY),
        ({"error": "no such board"}, Verdict.UNKNOWN),
        ({}, Verdict.UNKNOWN),
        ([], Verdict.UNKNOWN),
    ],
)
@pytest.mark.promise(7)
def test_an_empty_answer_is_proof_only_if_its_own_count_agrees(data: object, verdict: Verdict):
    assert answer(data) is verdict


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (401, Verdict.BLOCKED),
        (403, Verdict.BLOCKED),
        (429, Verdict.BLOCKED),
        (404, Verdict.UNKNOWN),
        (410, Verdict.UNKNOWN),
        (500, Verdict.UNKNOWN),
    ],
)
@pytest.mark.promise(7)
def test_a_refusal_is_never_found(status: int, verdict: Verdict):
    seen = look(f"<title>Jobs</title><ul>{rows(6)}</ul>", "https://acme.example/jobs", status=status)
    assert seen.look.verdict is verdict
    assert seen.postings == ()


@pytest.mark.parametrize(
    ("body", "url", "kind"),
    [
        (f"<title>Jobs</title><ul>{rows(6)}</ul>", "https://acme.example/jobs", PageKind.LISTING),
        (
            "<title>Just a moment...</title><p>Checking your browser</p>",
            "https://acme.example/",
            PageKind.WALL,
        ),
        (
            f"<title>Acme</title><a href=/x>x</a><h1>Ladders</h1>{PROSE}",
            "https://acme.example/",
            PageKind.COMPANY,
        ),
        ("<title>x</title><p>short</p>", "https://acme.example/a/b/c", PageKind.OTHER),
        ("<title>Acme</title><p>Our openings</p>", "https://jobs.lever.co/acme", PageKind.BOARD),
    ],
)
def test_a_page_is_of_the_kind_a_person_would_say(body: str, url: str, kind: PageKind):
    assert look(body, url).kind is kind


def test_an_article_is_an_article():
    head = '<title>How ladders are made</title><meta property="og:type" content="article">'
    body = f"<html><head>{head}</head><body><article><h1>How ladders are made</h1>{PROSE * 4}</article></body></html>"
    assert look(body, "https://acme.example/2026/03/ladders.html").kind is PageKind.ARTICLE


def test_a_feed_is_a_feed():
    item = (
        "<item><title>Acme: Ladder maker</title><link>https://x.example/jobs/1</link><pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate>"
        "<description>Apply now, full-time.</description></item>"
    )
    seen = look(
        f"<?xml version='1.0'?><rss version='2.0'><channel><title>Jobs</title>{item}</channel></rss>",
        kind="application/rss+xml",
    )
    assert seen.kind is PageKind.FEED
    assert seen.postings[0].url == "https://x.example/jobs/1"


def test_an_atom_feed_gives_its_links():
    entry = (
        "<entry><title type='html'>Ladder maker</title><link rel='self' href='https://x.example/self'/><link href='https://x.example/jobs/1'/>"
        "<published>2026-03-03T10:00:00Z</published><summary>Apply now</summary><id>1</id></entry>"
    )
    seen = look(
        f"<feed xmlns='http://www.w3.org/2005/Atom'><title>Openings</title>{entry}</feed>",
        kind="application/atom+xml",
    )
    assert seen.kind is PageKind.FEED
    assert (seen.postings[0].title, seen.postings[0].url) == ("Ladder maker", "https://x.example/jobs/1")


def test_a_feed_of_news_holds_no_postings():
    item = (
        "<item><title>It rained</title><link>https://x.example/1</link><pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate>"
        "<description>All day.</description></item>"
    )
    seen = look(
        f"<rss version='2.0'><channel><title>News</title>{item * 3}</channel></rss>",
        kind="application/rss+xml",
    )
    assert seen.kind is PageKind.FEED
    assert seen.postings == ()
