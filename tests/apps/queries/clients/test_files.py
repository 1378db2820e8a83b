"""Feeds, CSV and boards as clients."""

from datetime import date

import pytest

from thresher.apps.queries.clients.catalogue import catalogue
from thresher.apps.queries.clients.client import read_detail, read_file, read_page
from thresher.apps.queries.clients.search import Offer, Search
from thresher.core.errors import ConfigError, InvalidPayload, Malformed
from thresher.core.page import Page
from thresher.reading.postings.posting import Posting

TODAY = date(2026, 3, 9)
HOME = "https://acme.example/list"
WALL = "<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>"


def search(**parameters):
    return Search(parameters=parameters, today=TODAY)


def page(body, url=HOME, status=200, kind="text/plain"):
    return Page(url, url, status, {"content-type": kind}, body if isinstance(body, bytes) else body.encode())


def read(name, body, cursor=None, url=HOME, status=200, **parameters):
    return read_page(
        catalogue(None)[name], search(**(parameters or {"url": HOME})), cursor, page(body, url, status)
    )


ITEM = "<item><title>Welder {n}</title><link>/o/{n}</link><guid>g{n}</guid><pubDate>Sun, 0{n} Mar 2026 10:00:00 GMT</pubDate><region>Leeds</region><type>Contract</type><description>&lt;p&gt;Weld&lt;/p&gt;</description></item>"
RSS = '<?xml version="1.0"?><rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Openings</title>{more}{items}</channel></rss>'


def rss(*numbers, more=""):
    return RSS.format(items="".join(ITEM.format(n=n) for n in numbers), more=more)


def test_every_entry_of_a_feed_is_an_offer_because_the_query_says_so():
    found = read("feed", rss(1, 2), company="Acme", url=HOME)
    first = found.offers[0].posting
    assert (first.title, first.company, first.location, first.url) == (
        "Welder 1",
        "Acme",
        "Leeds",
        "https://acme.example/o/1",
    )
    assert (first.posted_date, first.description, first.key) == (date(2026, 3, 1), "Weld", "g1")
    assert (found.rows, found.bad, found.next, found.trouble) == (2, (), None, None)


def test_a_feed_may_be_atom_or_json():
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title><entry><id>e1</id><title>Welder</title><link href="/o/1"/><published>2026-03-01T00:00:00Z</published><updated>2026-03-05T00:00:00Z</updated></entry></feed>'
    made = '{"version": "https://jsonfeed.org/version/1.1", "title": "x", "items": [{"id": "e1", "title": "Welder", "url": "/o/1", "date_published": "2026-03-01T00:00:00Z", "date_modified": "2026-03-05T00:00:00Z"}]}'
    for text in (atom, made):
        (found,) = read("feed", text).offers
        assert (found.posting.key, found.posting.title, found.posting.url) == (
            "e1",
            "Welder",
            "https://acme.example/o/1",
        )
        assert (found.posting.posted_date, found.updated) == (date(2026, 3, 1), date(2026, 3, 5))


@pytest.mark.parametrize("body", [WALL, "", '{"items": []}', "<other/>", "plain words"])
def test_what_is_no_feed_is_trouble(body):
    assert read("feed", body).trouble.startswith("the answer is not a feed")


def test_a_feed_that_breaks_off_gives_its_whole_entries_and_says_so():
    found = read("feed", rss(1, 2)[:-60])
    assert [each.posting.key for each in found.offers] == ["g1"]
    assert "broken XML" in found.trouble
    assert read("feed", rss(1), status=500).trouble == "the answer has the status 500"


def test_a_paged_feed_goes_on_at_its_own_host_only():
    link = '<atom:link rel="next" href="{}"/>'
    first = read("feed", rss(1, 2, more=link.format("/list?page=2")))
    made = catalogue(None)["feed"]
    assert made.call(search(url=HOME), first.next, {}).url == f"{HOME}?page=2"
    assert read("feed", rss(1, 2), first.next, url=f"{HOME}?page=2").trouble.endswith(
        "repeats the rows of an earlier one"
    )
    assert read("feed", rss(3), first.next, url=f"{HOME}?page=2").next is None
    assert read("feed", rss(1, more=link.format("https://evil.example/"))).trouble.endswith(
        "leads to another host"
    )
    assert read("feed", rss(1, more=link.format("/list"))).trouble.endswith("leads to the page itself")
    with pytest.raises(InvalidPayload, match="another host"):
        made.call(search(url="https://other.example/f"), first.next, {})


@pytest.mark.parametrize("name", ["feed", "csv"])
@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/x", "file:///etc/passwd", "acme", "https://me:pw@acme.example/f"]
)
def test_an_address_that_is_none_of_the_web_is_refused(name, url):
    with pytest.raises(ConfigError, match="the parameter url"):
        catalogue(None)[name].call(search(url=url), None, {})


def test_a_feed_cannot_be_searched_for_a_text():
    with pytest.raises(ConfigError, match="feed cannot search for a text"):
        catalogue(None)["feed"].call(Search("welder", {"url": HOME}, today=TODAY), None, {})


def test_columns_are_known_by_the_usual_words_for_them():
    text = (
        "Job Title,Company Name,Location,Job URL,Date Posted,Job ID,Description,Requirements,Last Updated,Company URL,Nonsense\n"
        'Welder,"Acme, Inc.",Leeds,https://acme.example/o/1,2026-03-01,A-1,"Weld\nsteel",Patience,2026-03-05,https://acme.example,?\n'
    )
    (found,) = read("csv", text).offers
    posting = found.posting
    assert (posting.title, posting.company, posting.location, posting.url, posting.key) == (
        "Welder",
        "Acme, Inc.",
        "Leeds",
        "https://acme.example/o/1",
        "A-1",
    )
    assert (posting.posted_date, posting.description) == (date(2026, 3, 1), "Weld\nsteel\n\nPatience")
    assert (found.updated, found.company_url) == (date(2026, 3, 5), "https://acme.example")


@pytest.mark.parametrize("coded", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_spreadsheet_of_another_country_is_read_as_it_is_saved(coded):
    text = "Puesto;Empresa;Ciudad;URL\r\nSoldador;Aceros Ñandú;Cádiz;https://acme.example/1\r\n;;;\r\n"
    (found,) = read("csv", text.encode(coded)).offers
    assert (found.posting.title, found.posting.company, found.posting.location) == (
        "Soldador",
        "Aceros Ñandú",
        "Cádiz",
    )


def test_a_bad_line_is_named_and_the_others_are_read():
    text = 'title\tcompany\turl\nWelder\tAcme\thttps://a.example/1\n\tAcme\thttps://a.example/2\nFitter\t"never closed\nSmith\tAcme\tjavascript:x\nSmith\t\t\nTurner\tBrill\thttps://a.example/5\n'
    found = read("csv", text)
    assert [each.posting.title for each in found.offers] == ["Welder", "Turner"]
    assert [each.partition(":")[0] for each in found.bad] == ["line 3", "line 4", "line 5", "line 6"]
    assert found.rows == 6


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        (WALL, "the header has no column for the title"),
        ("a,b\n1,2", "the header has no column for the title"),
        ("title\nWelder", "none of url, id and company"),
        ("title,url\n,https://a.example/1", "none of 1 rows is an offer; line 2: it has no title"),
        (b"\x00\x01\x02" * 1000, "the header has no column"),
        ("PK\x03\x04", "the header has no column"),
    ],
)
def test_what_is_no_list_of_offers_is_trouble(body, said):
    assert said in read("csv", body).trouble


def test_a_header_without_rows_is_an_empty_list():
    found = read("csv", "title,url\n")
    assert (found.rows, found.trouble) == (0, None)


LINE = "title,url\nWelder {n},https://acme.example/o/{n}\n"


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "offers"
    inside.mkdir()
    for name, number in (("2026-03-02.csv", 2), ("2026-03-01.CSV", 1), ("2026-03-03.txt", 3)):
        (inside / name).write_text(LINE.format(n=number))
    (inside / "notes.md").write_text("no list")
    (inside / ".hidden.csv").write_text(LINE.format(n=9))
    return tmp_path


def test_the_files_of_a_folder_are_pages_in_the_order_of_their_names(folder):
    made, asked = catalogue(None)["csv-folder"], search(folder="offers")
    assert made.local
    assert made.files(asked, folder) == (
        "offers/2026-03-01.CSV",
        "offers/2026-03-02.csv",
        "offers/2026-03-03.txt",
    )
    pages, cursor = [], None
    while cursor is not None or not pages:
        pages.append(read_file(made, asked, folder, cursor))
        cursor = pages[-1].next
    assert [each.posting.title for each in sum((found.offers for found in pages), ())] == [
        "Welder 1",
        "Welder 2",
        "Welder 3",
    ]


def test_a_bad_file_is_trouble_and_the_next_ones_are_still_there(folder):
    (folder / "offers" / "2026-03-01.CSV").write_text("nonsense")
    found = read_file(catalogue(None)["csv-folder"], search(folder="offers"), folder, None)
    assert "the header has no column" in found.trouble
    assert found.next == "offers/2026-03-02.csv"


@pytest.mark.parametrize("said", ["..", "/etc", "offers/../..", "out"])
def test_a_folder_outside_the_project_is_refused_by_whatever_way_it_is_reached(
    folder, tmp_path_factory, said
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "out").symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="is not inside the project"):
        catalogue(None)["csv-folder"].files(search(folder=said), folder)


def test_a_file_that_leads_out_of_the_project_is_not_read(folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    secret.write_text(LINE.format(n=7))
    (folder / "offers" / "0.csv").symlink_to(secret)
    with pytest.raises(ConfigError, match="is not inside the project"):
        read_file(catalogue(None)["csv-folder"], search(folder="offers"), folder, None)


def test_a_folder_that_is_empty_or_not_there_and_a_file_that_is_gone_are_said(folder):
    made = catalogue(None)["csv-folder"]
    (folder / "none").mkdir()
    assert read_file(made, search(folder="none"), folder, None).trouble == "the folder has no CSV files"
    assert "is no longer there" in read_file(made, search(folder="offers"), folder, "offers/x.csv").trouble
    with pytest.raises(ConfigError, match="does not exist in the project"):
        made.files(search(folder="elsewhere"), folder)
    with pytest.raises(ConfigError, match="needs the parameter folder"):
        made.files(search(), folder)


GREENHOUSE = '{{"jobs": [{rows}], "meta": {{"total": {total}}}}}'
JOB = '{{"id": {n}, "title": "Welder {n}", "absolute_url": "https://boards.greenhouse.io/acme/jobs/{n}", "location": {{"name": "Leeds"}}, "updated_at": "2026-03-01T00:00:00Z", "content": "Weld"}}'


def board(body, cursor=None, status=200, kind="application/json", name="greenhouse:acme"):
    asked = page(body, "https://boards-api.greenhouse.io/v1/boards/acme/jobs", status, kind)
    return read_page(catalogue(None)["board"], search(board=name), cursor, asked)


@pytest.mark.parametrize(
    "name", ["greenhouse:acme", "https://boards.greenhouse.io/acme", "boards.greenhouse.io/acme"]
)
def test_a_board_is_named_by_its_key_or_its_address(name):
    call = catalogue(None)["board"].call(search(board=name), None, {})
    assert call.url == "https://boards-api.greenhouse.io/v1/boards/acme/jobs?content=true"


def test_the_list_of_a_board_is_read_by_its_platforms_file():
    found = board(GREENHOUSE.format(rows=", ".join(JOB.format(n=n) for n in (1, 2)), total=2))
    assert [each.posting.title for each in found.offers] == ["Welder 1", "Welder 2"]
    assert (found.rows, found.total, found.next, found.capped, found.trouble) == (2, 2, None, None, None)


def test_a_board_that_counts_more_than_it_shows_is_capped():
    found = board(GREENHOUSE.format(rows=JOB.format(n=1), total=7))
    assert found.capped == "it says that there are 7, and shows 1"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": "no such board"}', "the answer is not as greenhouse answers"),
        ('{"jobs": [', "the JSON cannot be read"),
        (WALL, "a page for people came instead of data"),
    ],
)
def test_an_answer_that_is_not_the_boards_is_trouble(body, said):
    assert said in board(body, kind="text/html" if body is WALL else "application/json").trouble
    assert board(body, status=404).trouble == "the answer has the status 404"


@pytest.mark.parametrize("name", ["", "acme", "nobody:acme", "greenhouse:../x", "https://acme.example/jobs"])
def test_what_is_no_board_is_refused_with_an_example(name):
    with pytest.raises(ConfigError, match="greenhouse:acme"):
        catalogue(None)["board"].call(search(board=name), None, {})


def walked(name, answers):
    """The requests for a board's list, page by page."""
    made, asked, cursor, calls = catalogue(None)["board"], search(board=name), None, []
    for body in answers:
        call = made.call(asked, cursor, {})
        calls.append(call)
        found = read_page(made, asked, cursor, page(body, call.url, kind="application/json"))
        assert found.trouble is None, found
        cursor = found.next
    assert cursor is None
    return calls


def test_a_board_of_several_pages_goes_on_as_its_platform_does():
    def rows(first, count):
        each = '{{"id": "{n}", "name": "Welder {n}", "releasedDate": "2026-03-01T00:00:00Z", "location": {{"city": "Leeds"}}, "company": {{"identifier": "acme", "name": "Acme"}}, "ref": "https://api.smartrecruiters.com/v1/companies/acme/postings/{n}"}}'
        listed = ", ".join(each.format(n=n) for n in range(first, first + count))
        return f'{{"offset": {first}, "limit": 100, "totalFound": 150, "content": [{listed}]}}'

    first, second = walked("smartrecruiters:acme", [rows(0, 100), rows(100, 50)])
    assert "offset=100" in second.url
    assert first.url.partition("?")[0] == second.url.partition("?")[0]


DETAIL = '{{"id": "{n}", "name": "Welder", "company": {{"identifier": "acme", "name": "Acme"}}, "jobAd": {{"sections": {{"jobDescription": {{"text": "<p>Weld.</p>"}}}}}}}}'


def test_the_detail_of_a_posting_is_asked_for_where_the_list_leaves_its_text_out():
    made = catalogue(None)["board"]
    (full,) = board(GREENHOUSE.format(rows=JOB.format(n=1), total=1)).offers
    assert made.detail_call(full, {}) is None
    bare = Offer(Posting("Welder", url="https://jobs.smartrecruiters.com/acme/7", key="7"))
    call = made.detail_call(bare, {})
    assert call.url == "https://api.smartrecruiters.com/v1/companies/acme/postings/7"
    found = read_detail(made, bare, page(DETAIL.format(n=7), call.url, kind="application/json"))
    assert (found.posting.company, found.posting.description, found.posting.key) == ("Acme", "Weld.", "7")
    with pytest.raises(Malformed, match="the detail of another offer"):
        read_detail(made, bare, page(DETAIL.format(n=8), call.url, kind="application/json"))
    for body in (WALL, "{}", '{"id": '):
        with pytest.raises(Malformed, match="the detail of an offer cannot be read"):
            read_detail(made, bare, page(body, call.url, kind="application/json"))
