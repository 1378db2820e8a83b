"""Answers that are not what was described: trouble, never an empty list; and one bad row breaks no page."""

import json
import time
from datetime import date

import pytest

from tests.apps.queries.clients.answers import ORIGIN, answered, client, offer, offers, read
from thresher.apps.queries.clients.client import read_detail
from thresher.apps.queries.clients.search import Offer
from thresher.core.errors import Malformed
from thresher.reading.postings.posting import Posting

WALL = "<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1></body></html>"
XML = """{format: xml, root: answer, rows: list.offer, fields: {id: "@id", title: name, url: link.@href, company: firm, posted: day, description: text}, remote: [{path: "@remote", is: {yes: remote}}]}"""
COUNTED_XML = XML.replace("rows:", "total: count, rows:")


def test_an_answer_as_described_is_read_whole():
    found = read(client(), {"count": 2, "offers": offers(1, 2)})
    assert (found.rows, found.total, found.next, found.capped, found.trouble, found.bad) == (
        2,
        2,
        None,
        None,
        None,
        (),
    )
    assert found.offers[0].posting == Posting(
        "Welder 1",
        company="Acme",
        url=f"{ORIGIN}/offers/1",
        posted_date=date(2026, 3, 1),
        key="A-1",
        where="acme: offers",
    )


def test_an_empty_list_is_empty_where_the_answer_says_so():
    for body in ({"count": 0, "offers": []}, {"offers": []}, {"count": 0}, {"count": 0, "offers": None}):
        found = read(client(), body)
        assert (found.rows, found.trouble, found.capped) == (0, None, None)


def test_lists_in_lists_are_empty_where_the_lists_are_there():
    split = client(answer="{rows: 'parts[].offers[]', fields: {id: id, title: name}}")
    for body in ({"parts": []}, {"parts": [{"offers": []}, {"offers": []}]}):
        assert read(split, body).trouble is None
    for body in ({}, {"parts": [{}]}, {"parts": [{"offers": "x"}]}, {"parts": None}):
        assert read(split, body).trouble


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (WALL, "a page for people came instead of data"),
        ("", "the JSON cannot be read"),
        ("<!doctype html><p>Sign in", "a page for people"),
        ('{"offers": [{"id": 1', "the JSON cannot be read"),
        ('{"offers": [' + "[" * 100_000, "the JSON cannot be read"),
        ({"error": "over quota"}, "the answer has no offers; it says: over quota"),
        ({"errors": [{"message": "bad key"}]}, "it says: bad key"),
        ({"error": {"message": "no"}, "count": 0}, "it says: no"),
        ({"jobs": []}, "the answer has no offers; it has jobs"),
        ({"offers": "none"}, "the answer has no offers"),
        ({"offers": None}, "the answer has no offers"),
        ({"count": 3, "offers": []}, "the list is empty, although it says that there are 3"),
        ([], "the answer has no offers"),
        ("null", "the answer has no offers"),
        ("<?xml version='1.0'?><answer/>", "the answer is XML, which the definition does not describe"),
        ({"offers": [1, 2]}, "none of 2 rows is an offer; row 1: it is a number, not an object"),
    ],
)
def test_what_is_not_as_described_is_trouble_and_never_an_empty_list(body, said):
    found = read(client(), body)
    assert found.offers == ()
    assert found.next is None
    assert said in (found.trouble or "")


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_a_refusal_is_trouble_whatever_its_body_says(status):
    assert (
        read(client(), {"offers": offers(1, 2)}, status=status).trouble
        == f"the answer has the status {status}"
    )


def test_an_answer_from_elsewhere_is_trouble():
    page = answered({"offers": offers(1, 1)}, url="https://login.other.example/")
    assert "redirected to https://login.other.example" in read(client(), page.body, url=page.url).trouble
    related = client(request="{url: https://api.example.com/v1/offers}")
    assert read(related, {"offers": offers(1, 1)}, url="https://www.example.com/v1").trouble is None


def test_an_answer_cannot_pretend_to_be_a_recording_of_another():
    body = {
        "request": {"url": "https://evil.example"},
        "response": {"status": 200, "body": {"offers": offers(1, 2)}},
    }
    assert read(client(), body).trouble == "the answer has no offers; it has request, response"


def test_a_refusal_that_repeats_the_key_is_quoted_without_it():
    body = {
        "error": "app_key 4f9d8c1b2a3e4f5d is not valid for https://a.example/?key=abc123def\x1b[31m"
        + "x" * 900
    }
    said = read(client(), body).trouble
    assert "is not valid" in said
    assert not any(part in said for part in ("4f9d8c1b2a3e4f5d", "abc123def", "\x1b"))
    assert len(said) < 250


BAD = [
    ("text", "it is a text, not an object"),
    (None, "it is nothing, not an object"),
    ([1], "it is a list, not an object"),
    ({}, "it has no title"),
    ({"id": 1, "name": "  "}, "it has no title"),
    ({"id": 1, "name": "!!! 123"}, "it has no title"),
    ({"id": 1, "name": {"x": "y"}}, "it has no title"),
    ({"id": 1, "name": True}, "it has no title"),
    ({"name": "Welder"}, "it has neither an id nor a link"),
    ({"name": "Welder", "link": "javascript:alert(1)"}, "it has neither an id nor a link"),
    ({"name": "Welder", "id": True}, "it has neither an id nor a link"),
]


def test_a_bad_row_is_named_and_the_others_are_read():
    rows = [offer(1), *(row for row, _ in BAD), offer(2)]
    found = read(client(), {"offers": rows})
    assert [each.posting.key for each in found.offers] == ["A-1", "A-2"]
    assert found.rows == len(rows)
    assert found.bad == tuple(f"row {at}: {why}" for at, (_, why) in enumerate(BAD, 2))
    assert found.trouble is None


def test_wild_values_are_cut_or_dropped_and_nothing_breaks():
    wild = offer(
        1,
        name="<b>Welder</b> &amp; " + "x" * 5_000,
        firm={"name": ["Acme", "Brill"]},
        day=10**30,
        id=10**25,
        link="http://" + "a" * 9_000,
    )
    (found,) = read(client(), {"offers": [wild]}).offers
    assert found.posting.title.startswith("Welder & xxx")
    assert len(found.posting.title) == 300
    assert (found.posting.company, found.posting.posted_date, found.posting.url) == (
        "Acme; Brill",
        None,
        None,
    )
    assert len(found.posting.key) < 40
    assert json.dumps(found.posting.title)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-03-01", date(2026, 3, 1)),
        ("2026-03-01T23:59:59Z", date(2026, 3, 1)),
        ("2026-03-01T23:30:00.000+01:00", date(2026, 3, 1)),
        ("2026-03-01 10:00:00", date(2026, 3, 1)),
        ("Sun, 01 Mar 2026 10:00:00 GMT", date(2026, 3, 1)),
        ("1 March 2026", date(2026, 3, 1)),
        ("01.03.2026", date(2026, 3, 1)),
        ("03/04/2026", None),
        (1772323200, date(2026, 3, 1)),
        (1772323200000, date(2026, 3, 1)),
        ("1772323200", date(2026, 3, 1)),
        ("yesterday", date(2026, 3, 8)),
        ("3 days ago", date(2026, 3, 6)),
        ("30+ days ago", None),
        ("2027-01-01", None),
        ("9999-99-99", None),
        (99999999999999999, None),
        (-1, None),
        ({"day": 1}, None),
        ("", None),
    ],
)
def test_a_day_is_read_however_it_is_written_and_never_made_up(said, day):
    (found,) = read(client(), {"offers": [offer(1, day=said)]}).offers
    assert found.posting.posted_date == day


def test_the_order_of_day_and_month_and_the_time_zone_are_the_definitions():
    body = {"offers": [offer(1, day="03/02/2026"), offer(2, day=1772409600 - 60)]}
    first, second = read(client(day_first="true", timezone="Asia/Tokyo"), body).offers
    assert (first.posting.posted_date, second.posting.posted_date) == (date(2026, 2, 3), date(2026, 3, 2))


def test_an_offer_that_stands_twice_on_a_page_is_one():
    found = read(client(), {"offers": [offer(1), offer(1, name="Again"), offer(2)]})
    assert [each.posting.title for each in found.offers] == ["Welder 1", "Welder 2"]
    assert found.rows == 3


def test_a_page_with_endless_rows_is_read_up_to_a_limit_and_says_so():
    found = read(client(), {"offers": offers(1, 5_001)})
    assert len(found.offers) == 5_000
    assert found.trouble == "the page has 5,001 rows; only 5,000 were read"
    split = client(answer="{rows: 'parts[].offers[]', fields: {id: id, title: name}}")
    found = read(split, {"parts": [{"offers": offers(at, 1_000)} for at in range(0, 6_000, 1_000)]})
    assert found.trouble == "the page has 6,000 rows; only 5,000 were read"


def test_salary_workplace_and_requirements_are_read():
    made = client(
        answer="{rows: offers, fields: {id: id, title: name, low: pay.from, high: pay.to, currency: {template: EUR}, period: pay.per, description: text, requirements: must, updated: changed, company_id: firm.id, company_url: firm.web}, remote: [{path: home, is: {true: remote, part: hybrid}}]}"
    )
    row = offer(
        1,
        pay={"from": 30_000, "to": "40,000", "per": "yearly"},
        text="<p>Weld.</p>",
        must="Steel",
        home=True,
        changed="2026-03-05",
        firm={"id": 77, "web": "//acme.example"},
    )
    (found,) = read(made, {"offers": [row]}).offers
    salary = found.posting.salary
    assert (int(salary.low), int(salary.high), salary.currency, salary.period) == (
        30_000,
        40_000,
        "EUR",
        "year",
    )
    assert (found.posting.description, found.posting.remote) == ("Weld.\n\nSteel", "remote")
    assert (found.updated, found.day) == (date(2026, 3, 5), date(2026, 3, 5))
    assert (found.company_id, found.company_url) == ("77", "https://acme.example/")


ROW = '<offer id="{n}" remote="yes"><name><![CDATA[Welder & Co {n}]]></name><link href="/o/{n}"/><firm kind="x">Acme</firm><day>2026-03-0{n}</day><text><p>Weld <b>it</b></p></text></offer>'


@pytest.mark.parametrize("count", [1, 2])
def test_xml_gives_attributes_cdata_and_xhtml_for_one_row_and_for_several(count):
    rows = "".join(ROW.format(n=n) for n in range(1, count + 1))
    made = client(answer=XML)
    for text in (
        f"<?xml version='1.0'?><answer><list>{rows}</list></answer>",
        f"<a:answer xmlns:a='urn:a'><a:list>{rows}</a:list></a:answer>",
    ):
        found = read(made, text, kind="application/xml")
        assert (found.rows, found.trouble, found.bad) == (count, None, ())
        assert found.offers[0].posting == Posting(
            "Welder & Co 1",
            company="Acme",
            url=f"{ORIGIN}/o/1",
            posted_date=date(2026, 3, 1),
            description="Weld it",
            key="1",
            remote="remote",
            where="acme: list.offer",
        )


@pytest.mark.parametrize(
    ("answer", "text", "said"),
    [
        (XML, "<other/>", "the answer has no <answer>"),
        (XML, "<answer><list><offer", "the XML cannot be read"),
        (XML, "<answer><error>over quota</error></answer>", "it says: over quota"),
        (XML, "<answer/>", "the answer has no list.offer"),
        (COUNTED_XML, "<answer><list/></answer>", "the answer has no list.offer"),
        (COUNTED_XML, "<answer><count>4</count><list/></answer>", "the answer has no list.offer"),
        (XML, "<answer><list><offer>x</offer></list></answer>", "the answer has no list.offer"),
        (
            XML,
            "<answer><list><offer>x</offer><offer>y</offer></list></answer>",
            "it is a text, not an object",
        ),
        (XML, "<answer>" + "<list>" * 1_500_000, "the XML cannot be read"),
        (XML, '<!DOCTYPE answer [<!ENTITY a "b">]><answer>&a;</answer>', "the XML cannot be read"),
    ],
)
def test_xml_that_is_broken_or_something_else_is_trouble(answer, text, said):
    started = time.process_time()
    found = read(client(answer=answer), f"<?xml version='1.0'?>{text}", kind="text/xml")
    assert found.offers == ()
    assert said in (found.trouble or "")
    assert time.process_time() - started < 20


def test_an_empty_xml_list_is_empty_where_the_list_is_there_and_counts_nothing():
    head = "<?xml version='1.0'?>"
    assert read(client(answer=XML), f"{head}<answer><list/></answer>").trouble is None
    assert read(client(answer=COUNTED_XML), f"{head}<answer><count>0</count><list/></answer>").trouble is None


DETAILED = client(
    answer="{rows: offers, fields: {id: id, title: name, company: firm.name}}",
    detail='{request: {url: "https://api.acme.example/one/{id}"}, answer: {rows: offer, fields: {title: name, description: text, requirements: must, company_url: web}}}',
)
LISTED = Offer(Posting("Welder", company="Acme", key="7"), company_id="c1")


def test_a_detail_completes_an_offer_and_takes_nothing_from_it():
    body = {
        "offer": {
            "id": 7,
            "name": "WELDER",
            "text": "<p>Weld.</p>",
            "must": "Steel",
            "web": "https://acme.example",
        }
    }
    found = read_detail(DETAILED, LISTED, answered(body))
    assert (found.posting.title, found.posting.company, found.posting.key) == ("Welder", "Acme", "7")
    assert (found.posting.description, found.company_id) == ("Weld.\n\nSteel", "c1")
    assert found.company_url == "https://acme.example/"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"offer": {"id": 8, "name": "Welder"}}, "this is the detail of another offer"),
        ({"offer": []}, "the answer has no offer"),
        ({"message": "gone"}, "it says: gone"),
        ({"offer": {"id": 7}}, "it has no title"),
        (WALL, "a page for people"),
        ('{"offer": {', "the JSON cannot be read"),
    ],
)
def test_a_detail_that_is_none_is_malformed_and_says_why(body, said):
    with pytest.raises(Malformed, match=said):
        read_detail(DETAILED, LISTED, answered(body))
