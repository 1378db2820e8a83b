"""Postings from every form in which a source may give them."""

import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.pages import PROSE, TODAY, look, rows
from thresher.core.page import Verdict
from thresher.reading.inspect.report import PageKind
from thresher.reading.lists.rows import read_rows
from thresher.reading.platforms.answers import read_answer
from thresher.reading.postings.posting import UNDER_HEADLINE, Posting, merged

GREENHOUSE = {
    "jobs": [
        {
            "id": 1,
            "title": "Ladder maker",
            "absolute_url": "https://boards.greenhouse.io/acme/jobs/1",
            "location": {"name": "Leeds"},
            "first_published": "2026-03-01T10:00:00-05:00",
            "updated_at": "2026-03-09T10:00:00-05:00",
            "content": "&lt;p&gt;You make ladders &amp;amp; stools.&lt;/p&gt;",
        }
    ],
    "meta": {"total": 1},
}
LEVER = [
    {
        "id": "a",
        "text": "Ladder maker",
        "hostedUrl": "https://jobs.lever.co/acme/a",
        "createdAt": 1772409600000,
        "categories": {"location": "Leeds", "allLocations": ["Leeds", "York"], "commitment": "Full-time"},
        "description": "<p>Make ladders.</p>",
        "lists": [{"text": "You bring", "content": "<li>hands</li>"}],
        "additional": "<p>Tea is free.</p>",
        "salaryRange": {"min": 30000, "max": 40000, "currency": "GBP", "interval": "per-year-salary"},
    }
]


def only(data: object, url: str = "https://acme.example/x.json") -> Posting:
    seen = look(json.dumps(data), url, kind="application/json")
    assert len(seen.postings) == 1, seen.look
    return seen.postings[0]


def test_escaped_html_is_unescaped_once():
    assert only(GREENHOUSE).description == "You make ladders & stools."


def test_the_first_day_of_publication_counts_not_the_last_edit():
    assert only(GREENHOUSE).posted_date == date(2026, 3, 1)


def test_the_board_of_a_saved_answer_is_known_by_its_rows():
    seen = look(json.dumps(GREENHOUSE), "")
    assert seen.board is not None
    assert (seen.board.platform, seen.board.token) == ("greenhouse", "acme")
    assert seen.kind is PageKind.BOARD


def test_the_lists_of_an_answer_are_part_of_its_description():
    posting = only(LEVER)
    assert posting.description is not None
    for piece in ("Make ladders.", "You bring", "hands", "Tea is free."):
        assert piece in posting.description
    assert posting.location == "Leeds; York"
    assert posting.employment_type == "Full-time"


def test_the_ends_of_a_salary_keep_their_names():
    salary = only(LEVER).salary
    assert salary is not None
    assert (salary.low, salary.high, salary.currency, salary.period) == (
        Decimal(30000),
        Decimal(40000),
        "GBP",
        "year",
    )


def test_one_opening_in_two_countries_is_one_posting_with_both():
    row = {
        "title": "Ladder maker",
        "shortcode": "AB",
        "url": "https://apply.workable.com/j/AB",
        "city": "",
        "state": "",
    }
    posting = only({"name": "Acme", "jobs": [{**row, "country": "Spain"}, {**row, "country": "Portugal"}]})
    assert posting.location == "Spain; Portugal"
    assert posting.company == "Acme"


def test_an_unlisted_row_is_not_shown():
    job = {"title": "Secret ladder", "jobUrl": "https://jobs.ashbyhq.com/acme/1", "isListed": False}
    seen = look(json.dumps({"jobs": [job], "apiVersion": "1"}))
    assert seen.postings == ()
    assert seen.look.verdict is Verdict.UNKNOWN


def test_a_workday_row_gets_its_address_from_the_board_it_came_from():
    data = {
        "total": 1,
        "jobPostings": [
            {"title": "Ladder maker", "externalPath": "/job/Leeds/Maker_1", "postedOn": "Posted 3 Days Ago"}
        ],
    }
    posting = only(data, "https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/Site/jobs")
    assert posting.url == "https://acme.wd5.myworkdayjobs.com/Site/job/Leeds/Maker_1"
    assert posting.posted_date == date(2026, 3, 7)


def test_a_bound_is_no_date():
    data = {
        "total": 1,
        "jobPostings": [
            {"title": "Ladder maker", "externalPath": "/job/1", "postedOn": "Posted 30+ Days Ago"}
        ],
    }
    assert only(data).posted_date is None


def test_a_feed_that_lists_one_opening_twice_gives_one():
    position = "<position><id>7</id><office>Leeds</office><name>Ladder maker</name><createdAt>2026-03-01</createdAt></position>"
    seen = look(f"<workzag-jobs>{position}{position}</workzag-jobs>", kind="application/xml")
    assert [posting.title for posting in seen.postings] == ["Ladder maker"]


def test_the_name_of_a_position_is_not_that_of_its_description():
    text = """<workzag-jobs><position><id>7</id><name>Ladder maker</name><jobDescriptions><jobDescription><name>Your day</name>
    <value><![CDATA[<p>Make ladders</p>]]></value></jobDescription></jobDescriptions></position></workzag-jobs>"""
    seen = look(text, "https://acme.jobs.personio.de/xml", kind="application/xml")
    assert seen.postings[0].title == "Ladder maker"
    assert (seen.postings[0].description or "").split() == ["Your", "day", "Make", "ladders"]
    assert seen.postings[0].url == "https://acme.jobs.personio.de/job/7"


def test_rows_of_an_unknown_answer_are_found_by_what_they_hold():
    row = {"employer": {"display_name": "Acme"}, "posted_at": "2026-03-01"}
    first = {**row, "job_title": "Ladder maker", "link": "https://x.example/1", "city": "Leeds"}
    second = {**row, "job_title": "Stool maker", "link": "https://x.example/2", "city": "York"}
    data = {"info": {"total": 2}, "payload": {"list": [first, second]}}
    listing = read_rows(data, today=TODAY, source="the answer")
    assert listing is not None
    assert [(each.title, each.company, each.location) for each in listing.postings] == [
        ("Ladder maker", "Acme", "Leeds"),
        ("Stool maker", "Acme", "York"),
    ]


def test_a_list_of_articles_is_not_a_list_of_postings():
    articles = [
        {"title": f"News {n}", "url": f"https://x.example/{n}", "date": "2026-03-01", "summary": "It rained."}
        for n in range(5)
    ]
    assert read_rows({"articles": articles}, today=TODAY, source="x") is None


def test_recommended_rows_of_an_answer_are_not_its_rows():
    row = {
        "title": "Ladder maker",
        "url": "https://x.example/1",
        "company": "Acme",
        "location": "Leeds",
        "date": "2026-03-01",
    }
    listing = read_rows({"results": [], "recommendedJobs": [row, row], "total": 0}, today=TODAY, source="x")
    assert listing is not None
    assert listing.postings == ()


def test_paid_rows_are_left_out():
    row = {"title": "Ladder maker", "url": "https://x.example/1", "company": "Acme", "location": "Leeds"}
    listing = read_rows(
        [row, {**row, "url": "https://x.example/2", "sponsored": True}], today=TODAY, source="x"
    )
    assert listing is not None
    assert len(listing.postings) == 1


def test_what_a_page_declares_is_read_first():
    declared = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": "Ladder maker",
        "datePosted": "2026-03-01",
        "hiringOrganization": {"@type": "Organization", "name": "Acme"},
        "employmentType": ["FULL_TIME", "CONTRACTOR"],
        "jobLocation": [
            {"address": {"addressLocality": "Leeds", "addressCountry": "GB"}},
            {"address": {"addressLocality": "York"}},
        ],
        "baseSalary": {
            "currency": "GBP",
            "value": {"minValue": 30000, "maxValue": 40000, "unitText": "YEAR"},
        },
        "description": "&lt;p&gt;Make ladders.&lt;/p&gt;",
    }
    seen = look(
        f"<h1>Something else</h1><script type='application/ld+json'>{json.dumps(declared)}</script><ul>{rows(3)}</ul>"
    )
    assert seen.kind is PageKind.DETAIL
    posting = seen.postings[0]
    assert (posting.title, posting.company, posting.location) == ("Ladder maker", "Acme", "Leeds, GB; York")
    assert posting.employment_type == "FULL_TIME, CONTRACTOR"
    assert posting.description == "Make ladders."
    assert posting.salary is not None
    assert posting.salary.period == "year"


def test_rows_of_a_page_are_postings_with_what_their_elements_are_named():
    seen = look(f"<title>Jobs</title><h1>Open positions</h1><ul>{rows(6)}</ul>", "https://acme.example/jobs")
    assert seen.kind is PageKind.LISTING
    assert len(seen.postings) == 6
    first = seen.postings[0]
    assert (first.title, first.company, first.location, first.url) == (
        "Ladder maker 1",
        "Acme 1",
        "Leeds",
        "https://acme.example/job/10001",
    )


def test_five_links_to_one_opening_make_one_posting():
    links = "".join(
        f'<a href="/job/{n}00001?from={k}">{w}</a>'
        for n in (1, 2)
        for k, w in enumerate(("Maker", "Leeds", "More"))
    )
    seen = look(
        f"<title>Jobs</title><ul><li class=job>{links[: len(links) // 2]}</li><li class=job>{links[len(links) // 2 :]}</li></ul>"
    )
    assert [posting.title for posting in seen.postings] == ["Maker", "Maker"]


def test_advertised_rows_and_recommendations_are_set_apart():
    advert = '<li class="result"><a href="/pagead/clk?ad=1x"><h3>Buy now</h3></a><span class="company">Ads</span></li>'
    body = f"<title>Jobs</title><ul>{advert}{rows(5)}</ul><h2>Recommended for you</h2><ul>{rows(3, path='job', start=60)}</ul>"
    titles = [posting.title for posting in look(body, "https://acme.example/jobs").postings]
    assert titles == [f"Ladder maker {n}" for n in range(1, 6)]


def test_categories_are_not_openings():
    links = "".join(
        f'<li><a href="/jobs/{name}-{n}">{name} jobs</a></li>'
        for n, name in enumerate(("Leeds", "York", "Hull", "Bath"))
    )
    assert look(f"<title>Jobs</title><ul>{links}</ul>").postings == ()


def test_what_is_only_half_drawn_is_taken_from_the_pages_script():
    data = [
        {
            "title": f"Ladder maker {n}",
            "link": f"https://acme.example/job/{n}",
            "companyName": "Acme",
            "city": "Leeds",
            "code": str(n),
        }
        for n in range(1, 13)
    ]
    body = f"<title>Jobs</title><ul>{rows(3)}</ul><script>window.__STATE__ = {json.dumps({'offers': data})};</script>"
    assert len(look(body, "https://acme.example/jobs").postings) == 12


def test_a_list_in_a_script_that_the_page_does_not_show_is_not_taken():
    data = [
        {"title": f"Hidden {n}", "url": f"/x/{n}", "company": "Other", "location": "Hull", "id": n}
        for n in range(30)
    ]
    body = f"<title>Jobs</title><ul>{rows(6)}</ul><script>window.ads = {json.dumps({'list': data})};</script>"
    assert len(look(body, "https://acme.example/jobs").postings) == 6


def test_an_old_page_about_one_opening_is_read_by_its_labels():
    body = """<title>Ladder maker - Acme - Leeds</title><h1>Ladder maker</h1>
    <table><tr><td>Company:</td><td>Acme</td></tr><tr><td>Location:</td><td>Leeds</td></tr></table>
    <dl><dt>Salary</dt><dd>£30,000 a year</dd></dl>"""
    seen = look(body, "https://acme.example/job/7")
    assert seen.kind is PageKind.DETAIL
    posting = seen.postings[0]
    assert (posting.title, posting.company, posting.location) == ("Ladder maker", "Acme", "Leeds")


def test_the_company_is_what_stands_under_the_headline_and_in_the_title():
    body = """<title>Search - Ladder maker - Acme Works - Leeds</title><div><h3>Ladder maker</h3><h4>Acme Works</h4></div>
    <table><tr><th>Posted:</th><td>March 1, 2026</td></tr></table>"""
    posting = look(body, "https://board.example/job/7").postings[0]
    assert (posting.title, posting.company, posting.posted_date) == (
        "Ladder maker",
        "Acme Works",
        date(2026, 3, 1),
    )


def test_rows_with_plain_addresses_are_openings_on_the_page_that_lists_them():
    links = "".join(
        f'<li><a href="/x/ladder-{n}">Ladder maker {n}</a><span class="location">Leeds</span></li>'
        for n in range(4)
    )
    assert len(look(f"<h1>Careers</h1><ul>{links}</ul>", "https://acme.example/careers").postings) == 4
    assert look(f"<h1>Branches</h1><ul>{links}</ul>", "https://acme.example/branches").postings == ()


def test_a_link_around_a_whole_row_is_called_by_its_first_block():
    row = '<a href="/vacancy/{0}00000"><div>Ladder maker {0}</div><div>Acme</div><div>Leeds</div></a>'
    seen = look(
        f"<title>Vacancies</title><div>{''.join(row.format(n) for n in range(1, 7))}</div>",
        "https://acme.example/vacancies",
    )
    assert [posting.title for posting in seen.postings] == [f"Ladder maker {n}" for n in range(1, 7)]


def test_the_head_of_a_table_names_the_cells_of_its_rows():
    cells = "".join(
        f'<tr><td><a href="/job/{n}00000">Maker {n}</a></td><td>Leeds</td><td>2026-03-0{n}</td></tr>'
        for n in range(1, 7)
    )
    body = f"<title>Jobs</title><table><tr><th>Title</th><th>Location</th><th>Date posted</th></tr>{cells}</table>"
    first = look(body, "https://acme.example/jobs").postings[0]
    assert (first.title, first.location, first.posted_date) == ("Maker 1", "Leeds", date(2026, 3, 1))


def test_a_link_to_a_companys_page_names_the_company():
    body = "".join(
        f'<li class=job><a href="/job/{n}00000">Maker {n}</a><a href="/company/acme-{n}/">Acme {n}</a></li>'
        for n in range(1, 7)
    )
    assert [each.company for each in look(f"<title>Jobs</title><ul>{body}</ul>").postings] == [
        f"Acme {n}" for n in range(1, 7)
    ]


def test_an_article_about_work_is_not_a_posting():
    assert look(f"<title>The future of work</title><h1>The future of work</h1>{PROSE}").postings == ()


def test_a_posting_seen_twice_keeps_what_either_says():
    first, second = (
        Posting("A", url="https://x.example/1?utm_source=a"),
        Posting("A", company="Acme", url="https://x.example/1"),
    )
    assert merged([first, second]) == (Posting("A", company="Acme", url="https://x.example/1?utm_source=a"),)


@pytest.mark.promise(18)
def test_entities_of_its_own_make_xml_unreadable_not_large():
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><rss><channel><item><title>&b;</title></item></channel></rss>'
    seen = look(bomb, kind="application/xml")
    assert seen.look.verdict is Verdict.UNKNOWN
    assert "entities" in seen.look.reason


@pytest.mark.promise(18)
def test_very_deep_xml_is_refused():
    assert look("<a>" * 5_000, kind="application/xml").look.verdict is Verdict.UNKNOWN


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["jobs", "title", "url", "company", "location", "id", "content", "text", "meta", "total"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_any_json_is_read_without_a_crash(data: object):
    read_answer(data, today=TODAY)
    read_rows(data, today=TODAY, source="x")


TEXT = (
    "<p>You make ladders of ash and steel, and you make them well. We have made them since the flood.</p>" * 4
)


def test_the_text_of_an_opening_is_what_the_page_names_so():
    body = f"""<h1>Ladder maker</h1><p>Company: Acme</p><p>Location: Leeds</p>
        <section class="description"><h2>About the work</h2><div class="job-description">{TEXT}</div></section><footer>{TEXT}</footer>"""
    (found,) = look(f"<title>Ladder maker job</title>{body}").postings
    assert found.description is not None
    assert found.description.count("ash and steel") == 4
    assert "About the work" not in found.description


def test_of_a_page_that_names_no_description_the_text_under_the_headline_is_it():
    body = f"<h1>Ladder maker</h1><p>Company: Acme</p><p>Location: Leeds</p>{TEXT}"
    (found,) = look(f"<title>Ladder maker job</title><nav>Home Ladders</nav>{body}").postings
    assert found.description is not None
    assert found.description.count("ash and steel") == 4
    assert "Home" not in found.description
    assert found.where == UNDER_HEADLINE


def test_a_few_words_under_the_headline_are_no_description():
    body = "<title>Ladder maker job</title><h1>Ladder maker</h1><p>Company: Acme</p><p>Location: Leeds</p>"
    (found,) = look(body).postings
    assert found.description is None


def test_company_and_place_under_the_headline_are_known_by_the_title():
    body = "<h3>Ladder maker</h3><h4>HP</h4><h5>Leeds, West Yorkshire, United Kingdom</h5><p>Salary: 30,000 EUR a year</p>"
    (found,) = look(f"<title>Job search - Ladder maker - HP - Leeds, UK - Site</title>{body}").postings
    assert (found.company, found.location) == ("HP", "Leeds, West Yorkshire, United Kingdom")


def test_a_line_under_the_headline_that_the_title_does_not_repeat_is_no_company():
    body = "<h3>Ladder maker</h3><h4>HP</h4><h5>Leeds</h5><p>Salary: 30,000 EUR a year</p><p>Posted: 2026-03-01</p>"
    (found,) = look(f"<title>Job search - Ladder maker - Cheap ladders</title>{body}").postings
    assert (found.company, found.location) == (None, "Leeds")


def labels(links: str) -> str:
    return f"<title>Ladder maker job</title><div><h1>Ladder maker</h1></div><p>Location: Leeds</p><p>Posted: 2026-03-01</p>{links}"


def test_a_link_to_the_page_of_one_company_names_the_company_of_the_opening():
    page = labels(
        '<a href="/company/x1/acme_ladders_ltd.html">Acme Ladders, Ltd.</a><a href="/company/x1/acme_ladders_ltd.html">More</a>'
    )
    assert look(page).postings[0].company == "Acme Ladders, Ltd."


@pytest.mark.parametrize(
    "links",
    [
        '<a href="/company/acme">Acme</a><a href="/company/zenith">Zenith</a>',
        '<nav><a href="/company/acme">Acme</a></nav>',
        '<a href="/company/about">About</a>',
        '<a href="/company/acme">View other openings of this company</a>',
    ],
)
def test_links_to_several_companies_or_to_none_name_nobody(links: str):
    assert look(labels(links)).postings[0].company is None


def test_of_two_links_to_one_opening_the_one_that_its_address_repeats_is_the_title():
    row = '<tr><td><a href="/job/{0}/ladder-maker-{0}">Leeds</a></td><td><a href="/job/{0}/ladder-maker-{0}">Ladder maker {0}</a></td></tr>'
    rows = "".join(row.format(number) for number in range(1, 7))
    found = look(f"<title>Jobs</title><table>{rows}</table>")
    assert [posting.title for posting in found.postings] == [f"Ladder maker {n}" for n in range(1, 7)]


def test_an_opening_that_is_offered_in_other_towns_too_is_still_one():
    row = '<tr><td><a href="/job/{0}/ladder-maker">Leeds {0}</a></td><td><a href="/job/{0}/ladder-maker">Ladder maker</a></td></tr>'
    rows = "".join(row.format(number) for number in range(1, 7))
    body = f"<h1>Ladder maker</h1><p>Company: Acme</p><p>Location: York</p><table>{rows}</table>"
    (found,) = look(
        f"<title>Ladder maker</title>{body}", url="https://site.example/job/9/ladder-maker"
    ).postings
    assert (found.title, found.company, found.location) == ("Ladder maker", "Acme", "York")


def test_a_link_that_says_more_than_the_name_gives_way_to_the_element_named_so():
    row = """<li class="result"><a href="/job/{0}000{0}"><h3>Ladder maker {0}</h3></a>
        <a href="/cmp/acme/faq">12 questions about Acme {0}</a><span class="company-name">Acme {0}</span></li>"""
    rows = "".join(row.format(number) for number in range(1, 7))
    found = look(f"<title>Jobs</title><ul>{rows}</ul>")
    assert [posting.company for posting in found.postings] == [f"Acme {n}" for n in range(1, 7)]
