"""Lists on pages that nobody has seen before: how rows are laid out on the web, each way once, and what
stands among them without being one.
"""

import json
import time

import pytest

from tests.reading.pages import document, look
from thresher.core.page import Verdict
from thresher.reading.lists.find_lists import find_lists

TOWNS = ("Leeds", "Berlin", "Madrid", "Lyon", "Porto", "Vienna", "Oslo", "Dublin", "Milan", "Prague")
TRADES = (
    "Ladder maker",
    "Rope tester",
    "Crane driver",
    "Bolt sorter",
    "Paint mixer",
    "Wire drawer",
    "Glass blower",
)
FIRMS = ("Acme", "Bolton Works", "Crossbar", "Dunmore", "Eastgate", "Fairlead", "Gantry")
MENU = "<nav><ul>" + "".join(f'<li><a href="/m/{n}">Menu {n}</a></li>' for n in range(12)) + "</ul></nav>"
FOOTER = "<footer>" + "".join(f'<a href="/f/{n}">Legal {n}</a> ' for n in range(9)) + "</footer>"
HEAD = "<title>Jobs - Board of Trades</title>"
BOARD = '<a href="/employers">For employers</a>'


def page(body: str, head: str = HEAD) -> str:
    return f"{head}{MENU}<main><h1>Open jobs</h1>{BOARD}{body}</main>{FOOTER}"


def found(html: str, url: str = "https://board.example/search"):
    return look(html, url)


def told(postings) -> list[tuple[str, str | None, str | None]]:
    return [(each.title, each.company, each.location) for each in postings]


EXPECTED = list(zip(TRADES, FIRMS, TOWNS[:7], strict=True))


def rows_of(template: str) -> str:
    return "".join(
        template.format(n=n, title=title, firm=firm, town=town, slug=title.lower().replace(" ", "-"))
        for n, (title, firm, town) in enumerate(EXPECTED, 101)
    )


LAYOUTS = {
    "a company link before the title": """<li class="hit"><a href="/firms/{firm}"><img src="l.png" alt="{firm}"></a>
        <a href="/firms/{firm}">{firm}</a><h3><a href="/offer/{n}">{title}</a></h3><span>{town}</span></li>""",
    "a link around the whole row": """<a class="tile" href="/offer/{n}"><div><div class="t">{title}</div>
        <div class="firm-name company">{firm}</div><div class="x">{town}</div></div></a>""",
    "class names that say nothing": """<div class="css-1x"><div class="css-a"><a class="css-b" href="/vacancy/{n}">{title}</a></div>
        <div class="css-c">{firm}</div><div class="css-d">{town}</div><button>Save</button></div>""",
    "a link laid over the row": """<article class="card"><a class="overlay" href="/job/{n}" aria-label="Open"></a><h2>{title}</h2>
        <p class="employer">{firm}</p><p>{town}</p></article>""",
    "two links a row, a town first": """<li><a href="/jobs?town={town}">{town}</a> <a href="/job/{n}">{title}</a>
        <span class="company">{firm}</span></li>""",
    "found words in bold": """<li class="r"><h3><a href="/job/{n}"><b>{title}</b></a></h3><div class="company">{firm}</div>
        <div class="loc">{town}</div><p>A <b>job</b> for people who like to work.</p></li>""",
    "labels": """<div class="row"><h4><a href="/job/{n}">{title}</a></h4><p>Company: {firm}</p><p>Location: {town}</p></div>""",
    "links that run scripts": """<li class="job" onclick="window.location.href='/job/{n}'"><a href="javascript:void(0)">{title}</a>
        <span class="company">{firm}</span><span class="city">{town}</span></li>""",
    "an address in an attribute": """<div class="job" data-href="/job/{n}"><h3>{title}</h3><span class="company">{firm}</span>
        <span class="city">{town}</span></div>""",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_are_read_however_they_are_laid_out(layout: str):
    seen = found(page(f"<ul>{rows_of(LAYOUTS[layout])}</ul>"))
    assert told(seen.postings) == EXPECTED
    assert [each.url.partition("example")[2].rpartition("/")[2] for each in seen.postings] == [
        str(n) for n in range(101, 108)
    ]


def test_a_row_may_be_two_lines_of_a_table():
    row = """<tr class="head"><td><a href="/job/{n}">{title}</a></td></tr>
        <tr><td><span class="company">{firm}</span> <span class="place">{town}</span></td></tr><tr class="gap"><td></td></tr>"""
    seen = found(page(f"<table>{rows_of(row)}</table>"))
    assert told(seen.postings) == EXPECTED


def test_a_row_may_be_a_term_and_its_definition():
    row = """<dt><a href="/job/{n}">{title}</a></dt><dd><span class="company">{firm}</span>, <span class="place">{town}</span></dd>"""
    seen = found(page(f"<dl>{rows_of(row)}</dl>"))
    assert told(seen.postings) == EXPECTED


def test_the_head_of_a_table_says_what_its_columns_hold():
    head = "<tr><th>Position</th><th>Company</th><th>Location</th></tr>"
    row = """<tr><td><a href="/job/{n}">{title}</a></td><td>{firm}</td><td>{town}</td></tr>"""
    seen = found(page(f"<table>{head}{rows_of(row)}</table>"))
    assert told(seen.postings) == EXPECTED


def test_rows_in_boxes_of_their_own_are_one_list():
    row = """<div class="pair"><div class="half"><div class="card"><a href="/job/{n}">{title}</a>
        <i class="company">{firm}</i> <i class="city">{town}</i></div></div></div>"""
    seen = found(page(rows_of(row)))
    assert told(seen.postings) == EXPECTED


def test_advertisements_in_the_class_of_the_rows_are_left_out():
    row = '<li class="card"><h3><a href="/job/{n}">{title}</a></h3><p class="company">{firm}</p><p class="city">{town}</p></li>'
    advert = (
        '<li class="card promo"><a href="https://ads.other.example/c?x=9">Learn to code in a week</a></li>'
    )
    rows = rows_of(row).split("</li>")
    seen = found(page("<ul>" + "</li>".join([*rows[:3], advert.removesuffix("</li>"), *rows[3:]]) + "</ul>"))
    assert told(seen.postings) == EXPECTED


def test_a_paid_place_for_a_thing_of_the_list_is_a_row():
    row = '<li class="card"><h3><a href="/job/{n}">{title}</a></h3><p class="company">{firm}</p><p class="city">{town}</p></li>'
    rows = rows_of(row).replace('<li class="card">', '<li class="card sponsored"><b>Sponsored</b>', 1)
    assert told(found(page(f"<ul>{rows}</ul>")).postings) == EXPECTED


def test_rows_beside_one_declared_opening_are_all_read():
    declared = {
        "@type": "JobPosting",
        "title": TRADES[2],
        "hiringOrganization": {"name": FIRMS[2]},
        "description": "Drive.",
    }
    script = f'<script type="application/ld+json">{json.dumps(declared)}</script>'
    row = '<li><h3><a href="/job/{n}">{title}</a></h3><p class="company">{firm}</p><p class="city">{town}</p><p>Work with us, we pay well and have tea.</p></li>'
    seen = found(page(f"<ul>{rows_of(row)}</ul>{script}"))
    assert told(seen.postings) == EXPECTED


def test_a_page_about_one_declared_opening_keeps_it_alone():
    declared = {
        "@type": "JobPosting",
        "title": "Ladder maker",
        "hiringOrganization": {"name": "Acme"},
        "description": "Climb.",
    }
    script = f'<script type="application/ld+json">{json.dumps(declared)}</script>'
    rows = rows_of('<li><a href="/job/{n}">{title}</a> <span class="company">{firm}</span></li>')
    text = "<p>" + "You will build ladders of ash and oak, and test every rung of them. " * 40 + "</p>"
    seen = found(
        f"{HEAD}<h1>Ladder maker</h1>{text}<h2>Similar jobs</h2><ul>{rows}</ul>{script}",
        "https://board.example/job/101",
    )
    assert [each.title for each in seen.postings] == ["Ladder maker"]


def test_rows_that_only_a_script_carries_are_read():
    data = [
        {
            "jobHref": f"https://board.example/job/{n}",
            "jobTitle": title,
            "companyName": firm,
            "workAreaText": town,
        }
        for n, (title, firm, town) in enumerate(EXPECTED, 101)
    ]
    state = json.dumps({"search": {"result": data, "total": 9_999}})
    seen = found(f"{HEAD}{MENU}<div id=list></div><script>window.__RESULT__ = {state};</script>{FOOTER}")
    assert told(seen.postings) == EXPECTED
    assert seen.look.verdict is Verdict.FOUND


def test_a_list_of_forum_posts_in_the_same_markup_is_no_opening():
    row = '<li class="item"><a href="/company/acme/vacancies/{n}">{title}</a> <span class="city">{town}</span></li>'
    news = "".join(
        f'<li class="item"><a href="/forum/topics/{n}">What we think of rung {n}</a></li>' for n in range(7)
    )
    seen = found(page(f'<div><ul class="l">{rows_of(row)}</ul></div><div><ul class="l">{news}</ul></div>'))
    assert [each.title for each in seen.postings] == list(TRADES)


def test_menus_filters_and_pages_are_no_rows():
    row = '<li class="card"><a href="/job/{n}">{title}</a> <span class="company">{firm}</span> <span class="city">{town}</span></li>'
    filters = "".join(
        f'<li><label><input type=checkbox> <a href="/search?town={n}">Town {n} jobs</a></label></li>'
        for n in range(40)
    )
    pages = "".join(f'<a href="/search?page={n}">{n}</a>' for n in range(1, 9))
    seen = found(
        page(f"<ul class=facets>{filters}</ul><ul>{rows_of(row)}</ul><div class=pager>{pages}</div>")
    )
    assert told(seen.postings) == EXPECTED


def test_rows_of_products_have_links_and_prices():
    row = '<div class="item"><a href="/cat/{town}">{town}</a><a href="/p/{n}"><img src="i.jpg"></a><div><a href="/p/{n}">{title} of steel</a></div><div>£{n}.00</div></div>'
    seen = look(
        f"<title>Tools</title>{MENU}<h1>Tools</h1>{rows_of(row)}{FOOTER}", "https://shop.example/tools"
    )
    assert [(each.name, each.url, each.price.text) for each in seen.products] == [
        (f"{title} of steel", f"https://shop.example/p/{n}", f"£{n}.00")
        for n, title in enumerate(TRADES, 101)
    ]


def test_a_declared_list_is_completed_by_the_rows_that_the_page_shows():
    row = '<div class="item"><a href="/p/{n}">{title} of steel</a><div>£{n}.00</div></div>'
    things = [
        {
            "@type": "Product",
            "name": f"{title} of steel",
            "url": f"https://shop.example/p/{n}",
            "offers": {"price": n, "priceCurrency": "GBP"},
        }
        for n, title in enumerate(TRADES[1:], 102)
    ]
    script = f'<script type="application/ld+json">{json.dumps(things)}</script>'
    seen = look(
        f"<title>Tools</title>{MENU}<h1>Tools</h1>{rows_of(row)}{script}", "https://shop.example/tools"
    )
    assert [each.name for each in seen.products] == [f"{title} of steel" for title in TRADES]


def test_the_main_list_of_a_catalogue_comes_first():
    row = """<article><h3><a href="/course/{slug}">Course for a {title}</a></h3><p>by <a href="/school/{firm}">{firm} School</a></p>
        <p>Twelve lessons on how it is done, with a test at the end of each of them.</p></article>"""
    tags = "".join(f'<a class=tag href="/subject/{n}">Subject {n}</a>' for n in range(60))
    best = find_lists(document(f"<h1>Courses</h1>{MENU}<div>{tags}</div><div>{rows_of(row)}</div>{FOOTER}"))[
        0
    ]
    assert [each.title for each in best.rows] == [f"Course for a {title}" for title in TRADES]
    assert best.urls[0].endswith("/course/ladder-maker")


def test_a_company_page_gives_no_department_for_a_company():
    row = '<li><a href="/careers/{n}">{title}</a><div>Workshop {n}</div><div>{town}</div></li>'
    html = f"<title>Careers at Acme Ladders</title>{MENU}<h1>Careers</h1><ul>{rows_of(row)}</ul>"
    seen = look(html, "https://acme.example/careers")
    assert [(each.title, each.company) for each in seen.postings] == [(title, None) for title in TRADES]


def test_menus_around_an_empty_frame_are_never_called_found():
    menu = "".join(f'<li><a href="/c/{n}">Category number {n}</a></li>' for n in range(130))
    seen = look(
        f'<title>Search</title><div id="app"><ul>{menu}</ul><div class="results"></div></div><script src="a.js"></script>'
    )
    assert seen.look.verdict is Verdict.UNKNOWN


def test_what_a_filter_says_of_itself_does_not_empty_a_long_list():
    row = '<article class="item"><a href="/p/{0}">Ladder of steel {0}</a><div>£{0}.00</div></article>'
    rows = "".join(row.format(number) for number in range(100, 130))
    seen = look(
        f"<title>Ladders</title><div><p>No results found</p></div>{rows}",
        "https://shop.example/search?q=ladder",
    )
    assert seen.look.verdict is Verdict.FOUND
    assert len(seen.products) == 30


def test_thousands_of_rows_are_all_read():
    rows = "".join(
        f'<li class="c"><a href="/job/{n}">Ladder maker {n}</a> <span class="company">Acme {n}</span> <span class="city">Leeds</span></li>'
        for n in range(4_000)
    )
    seen = found(page(f"<ul>{rows}</ul>"))
    assert len(seen.postings) == 4_000


def timed(html: str) -> float:
    started = time.process_time()
    find_lists(document(html))
    return time.process_time() - started


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "make",
    [
        lambda n: "<div>" * n + "x",
        lambda n: "".join(f'<a href="/x/{at}">link {at}</a>' for at in range(n)),
        lambda n: "".join(
            f'<div class="{"c" * 50} k{at} {"d " * 200}"><a href="/{at}">t</a></div>' for at in range(n // 20)
        ),
        lambda n: "".join(
            f'<p class="a{chr(97 + at % 26)}{chr(97 + at // 26 % 26)}{chr(97 + at // 676 % 26)}">text {at}</p>'
            for at in range(n)
        ),
        lambda n: "<ul>" + "<li><ul>" * (n // 400) + "<li><a href=/a>deep</a>" * n,
        lambda n: "<table>" + "<tr><td><a href=/a/1>x</a><td>1" * n,
    ],
    ids=["nested", "links", "classes", "kinds", "lists", "cells"],
)
def test_the_time_for_hostile_pages_grows_with_their_size_only(make):
    small, large = timed(make(10_000)), timed(make(40_000))
    assert large < max(10 * small, 2.0)
