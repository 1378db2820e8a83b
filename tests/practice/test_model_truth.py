"""Asked about a page of the practice web, the model answers as a good reader would: what it says stands on
the page."""

import html
import json
import re
from typing import Any

import pytest

from tests.practice.browse import get
from thresher.practice.web import DAY_ZERO, Knob, PracticeWeb, Trouble, company, postings

MODEL = "https://model.practice.example/v1/chat/completions"


def thing(*names: str) -> dict:
    listed = {"duties", "wants", "offers"}
    one = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "type": "object",
        "properties": {
            name: {"type": "array", "items": {"type": "string"}} if name in listed else one for name in names
        },
    }


def things(*names: str) -> dict:
    return {"type": "object", "properties": {"items": {"type": "array", "items": thing(*names)}}}


def read(web: PracticeWeb, url: str, schema: dict, text: str = "") -> Any:
    said = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Read."},
            {"role": "user", "content": f"url: {url}\n\n{text}"},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}},
    }
    return json.loads(
        get(web, MODEL, "POST", said, Authorization="Bearer k").json["choices"][0]["message"]["content"]
    )


def shown(web: PracticeWeb, url: str) -> str:
    """What a page shows, as plain text."""
    page = re.sub(r"<script.*?</script>", " ", get(web, url).text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def link(web: PracticeWeb, url: str, pattern: str) -> str:
    found = re.search(pattern, get(web, url).text)
    assert found
    return html.unescape(found[1])


def values(found: dict) -> list[str]:
    return [
        each
        for value in found.values()
        for each in (value if isinstance(value, list) else [value])
        if each is not None
    ]


def test_a_course_is_read_as_its_page_shows_it(web: PracticeWeb):
    url = "https://courses.practice.example" + link(
        web, "https://courses.practice.example/catalogue", r'href="(/course/[^"]+)"'
    )
    found = read(
        web,
        url,
        thing("title", "price", "level", "hours", "instructor", "starts", "category", "description", "isbn"),
    )
    text = shown(web, url)
    assert found.pop("isbn") is None
    assert len(values(found)) == 8
    assert [value for value in values(found) if value not in text] == []


@pytest.mark.parametrize("host", ["coins", "muenzen", "monnaies", "mynt"])
def test_a_coin_is_read_as_its_page_shows_it(web: PracticeWeb, host: str):
    url = f"https://{host}.practice.example" + link(
        web, f"https://{host}.practice.example/search?q=crown&sold=1", r'href="(/item/\d+)"'
    )
    found = read(web, url, thing("title", "price", "currency", "grade", "sold_on", "availability"))
    text = shown(web, url)
    assert len(values(found)) == 6
    assert [value for value in values(found) if " ".join(value.split()) not in text] == []


def test_a_posting_and_its_company_are_read_as_their_pages_show_them(web: PracticeWeb):
    home = "https://www.kestrel.example"
    url = home + link(web, f"{home}/careers", r'href="(/careers/\d+[^"]*)"')
    found = read(
        web,
        url,
        thing("title", "company", "location", "employment_type", "salary", "description", "duties", "offers"),
    )
    text = shown(web, url)
    assert found["company"] == "Kestrel Optics"
    assert len(found["duties"]) == 3
    assert [value for value in values(found) if value not in text] == []
    about = read(web, f"{home}/about", thing("name", "founded", "location", "staff", "industry"))
    assert [value for value in values(about) if value not in shown(web, f"{home}/about")] == []
    assert about["name"] == "Kestrel Optics"


@pytest.mark.parametrize(
    ("board", "pattern"),
    [
        ("https://job-boards.greenhouse.io/acme", r'href="(https://[^"]+/acme/jobs/\d+)"'),
        ("https://jobs.lever.co/borealis", r'href="(https://[^"]+/borealis/[^"]+)"'),
    ],
    ids=["greenhouse", "lever"],
)
def test_hosted_postings_are_known_too(web: PracticeWeb, board: str, pattern: str):
    url = link(web, board, pattern)
    found = read(web, url, thing("title", "location", "salary"))
    assert found["title"]
    assert [value for value in values(found) if value not in shown(web, url)] == []
    assert len(read(web, board, things("title"))["items"]) > 5


def test_a_listing_is_read_whole_in_its_order_and_in_parts_as_far_as_it_is_quoted(web: PracticeWeb):
    url = "https://courses.practice.example/catalogue/data?page=2"
    everything = read(web, url, things("title", "price"))["items"]
    text = shown(web, url)
    assert len(everything) == 12
    assert [text.index(each["title"]) for each in everything] == sorted(
        text.index(each["title"]) for each in everything
    )
    part = text[: text.index(everything[5]["title"])] + " and more words of the page" * 20
    titles = [each["title"] for each in read(web, url, things("title"), part)["items"]]
    assert 0 < len(titles) < 12
    assert all(title in part for title in titles)


def test_an_address_that_is_gone_or_shows_nothing_has_no_things(web: PracticeWeb):
    assert read(web, "https://courses.practice.example/course/999999-nothing", things("title")) == {
        "items": []
    }
    assert read(web, "https://coins.practice.example/search?q=zloty", things("title", "price")) == {
        "items": []
    }
    presence = {"type": "object", "properties": {"any": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}}
    assert read(web, "https://coins.practice.example/search?q=zloty", presence) == {"any": False}
    assert read(web, "https://coins.practice.example/search?q=crown", presence) == {"any": True}


def test_a_place_nobody_knows_is_read_by_its_words(web: PracticeWeb):
    text = "# Old Bridge\n\nPrice: 40 ducats\nColour: green"
    assert read(web, "https://elsewhere.test/x", thing("title", "price", "weight"), text) == {
        "title": "Old Bridge",
        "price": "40 ducats",
        "weight": None,
    }


def test_invented_values_of_a_known_page_stand_nowhere_on_it(web: PracticeWeb):
    url = "https://courses.practice.example/catalogue"
    web.turn(Knob(Trouble.INVENTED, "model.practice.example"))
    text = shown(web, url)
    found = read(web, url, things("title", "price", "level"), text)["items"]
    assert len(found) == 12
    assert [value for each in found for value in values(each) if value in text] == []


def test_another_page_under_a_known_address_is_read_by_its_own_words(web: PracticeWeb):
    text = "# Old Bridge\n\nPrice: 40 ducats\n\n" + "Nothing of this is about a company. " * 20
    found = read(web, "https://www.kestrel.example/about", thing("title", "price", "founded"), text)
    assert found == {"title": "Old Bridge", "price": "40 ducats", "founded": None}


def test_what_a_part_of_a_page_does_not_show_is_not_said(web: PracticeWeb):
    home = "https://www.kestrel.example"
    url = home + link(web, f"{home}/careers", r'href="(/careers/\d+[^"]*)"')
    text = shown(web, url)
    part = text[text.index("What you will do") : text.index("What we offer")]
    number = int(url.rpartition("/")[2].partition("-")[0])
    (written,) = [each.wants for each in postings(7, company(7, "kestrel"), DAY_ZERO) if each.id == number]
    found = read(web, url, thing("title", "duties", "wants", "offers"), part)
    assert (found["title"], len(found["duties"]), len(found["wants"]), found["offers"]) == (
        None,
        3,
        len(written),
        [],
    )
