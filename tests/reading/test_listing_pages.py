"""Lists of pages that are drawn from a seed: layouts, languages, names of classes and what stands around the
rows, in combinations that no rule was written for.
"""

import ada_url
import pytest

from tests.reading.listing_pages import (
    ENGLISH,
    ISLANDS,
    LAYOUTS,
    TONGUES,
    Listing,
    Tongue,
    island,
    listing,
)
from tests.reading.pages import look
from thresher.core.page import Verdict

URL = "https://board.example/search"
SEEDS = range(2_000, 2_060)


def rows_read(body: bytes) -> list[tuple[str, str | None, str | None, str | None]]:
    """Title, address, company and place of each row: openings, else the rows of the main list."""
    seen = look(body, URL)
    if seen.postings:
        return [(each.title, each.url, each.company, each.location) for each in seen.postings]
    return [
        (
            row.title,
            row.url,
            row.fields.get("company") or row.fields.get("beside"),
            row.fields.get("location"),
        )
        for group in seen.lists[:1]
        for row in group.rows
    ]


def expected(made: Listing) -> list[tuple[str, str | None, str | None, str | None]]:
    return [
        (thing.title, ada_url.join_url(URL, thing.href), thing.company, thing.place) for thing in made.things
    ]


def test_rows_of_pages_nobody_has_seen_are_read_as_they_stand():
    """Rows, titles and links of a page all exact; companies and places on nearly all pages. One page is
    known to be missed: four openings in a script's links beside three articles.
    """
    right = {"rows": 0, "company": 0, "place": 0}
    wrong = []
    for seed in SEEDS:
        made = listing(seed)
        read, wanted = rows_read(made.body), expected(made)
        exact = [row[:2] for row in read] == [row[:2] for row in wanted]
        right["rows"] += exact
        right["company"] += [row[2] for row in read] == [row[2] for row in wanted]
        right["place"] += [row[3] for row in read] == [row[3] for row in wanted]
        wrong += [] if exact else [made.name]
    assert len(wrong) <= 1, wrong
    assert min(right.values()) >= 0.9 * len(SEEDS), right


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda each: each.code)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_encoding_that_nobody_declares_spoils_no_title(layout: str, tongue: Tongue):
    made = listing(7, layout=layout, tongue=tongue, rows=12)
    assert [row[0] for row in rows_read(made.undeclared)] == [thing.title for thing in made.things]


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda each: each.code)
@pytest.mark.parametrize("how", ISLANDS)
def test_rows_that_stand_only_in_the_data_of_a_script_are_read(how: str, tongue: Tongue):
    made = island(5, how, tongue)
    assert rows_read(made.body) == expected(made)


def test_rows_that_the_page_links_count_before_data_without_links():
    made = listing(11, layout="cards", tongue=ENGLISH, rows=12)
    rows = ",".join(
        f'{{"id": {n}, "jobTitle": "{thing.title}", "companyName": "Somebody", "location": "Leeds"}}'
        for n, thing in enumerate((*made.things, *made.things[:6]))
    )
    html = made.html.replace("</body>", f"<script>window.__S__ = {{jobs: [{rows}]}}</script></body>")
    assert [row[:2] for row in rows_read(html.encode())] == [row[:2] for row in expected(made)]


@pytest.mark.parametrize("tongue", TONGUES, ids=lambda each: each.code)
def test_menus_and_facets_around_nothing_are_no_openings(tongue: Tongue):
    made = listing(3, layout="cards", tongue=tongue, rows=4)
    before, _, rest = made.html.partition("<h1>")
    after = rest.partition("</main>")[2]
    shell = f'{before}<div id="app"></div><script src="/app.js"></script></main>{after}'
    seen = look(shell.encode(), URL)
    assert not seen.postings
    assert seen.look.verdict is not Verdict.FOUND


@pytest.mark.parametrize("layout", ["cards", "a table", "terms and definitions"])
def test_a_thousand_rows_are_a_thousand_rows(layout: str):
    made = listing(1, layout=layout, tongue=ENGLISH, rows=1_000)
    titles = [row[0] for row in rows_read(made.body)]
    assert sum(thing.title in set(titles) for thing in made.things) == len(made.things)
