"""What the practice model answers about the catalogues: the planted values of a page, and what the page is
for and where it leads."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.practice.browse import get
from thresher.core.schema import Field, Kind, Schema
from thresher.practice.web import CATALOGUES, DAY_ZERO, CatalogueSite, Knob, PracticeWeb, Trouble, planted
from thresher.reading.html.charset import decode
from thresher.reading.html.document import Document
from thresher.reading.text.markdown import full_markdown

SEED = 7
MODEL = "https://model.practice.example/v1/chat/completions"
ALL = pytest.mark.parametrize("of", CATALOGUES, ids=lambda each: each.name)
ABOUT_PAGE = Schema(
    "page",
    (
        Field("page_type", choices=("DETAIL", "DETAIL_LINKS", "CATEGORY_LINKS"), judged=True),
        Field("link_examples", Kind.URL, many=True),
        Field("pagination_example", Kind.URL),
        Field("next_url", Kind.URL),
    ),
)


@dataclass(frozen=True)
class Told:
    page_type: str | None
    link_examples: list[str]
    pagination_example: str | None
    next_url: str | None


def entity_schema(of: CatalogueSite) -> Schema:
    fields = tuple(Field(each.name, Kind(each.type), required=each.required) for each in of.fields)
    return Schema(of.kind, fields)


def markdown(web: PracticeWeb, url: str) -> str:
    """A page as the project's own reading writes it down for a model."""
    got = get(web, url)
    return full_markdown(Document(decode(got.body, got.headers["content-type"]).text, url))


def ask(web: PracticeWeb, url: str, schema: Schema, text: str) -> Any:
    properties = {field.name: field.json_schema() for field in schema.fields}
    said = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Read."},
            {"role": "user", "content": f"url: {url}\n\n{text}"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "it", "schema": {"type": "object", "properties": properties}},
        },
    }
    got = get(web, MODEL, "POST", said, Authorization="Bearer k")
    return json.loads(got.json["choices"][0]["message"]["content"])


def told(web: PracticeWeb, url: str, text: str | None = None) -> Told:
    return Told(**ask(web, url, ABOUT_PAGE, markdown(web, url) if text is None else text))


@ALL
def test_the_model_reads_the_planted_values_off_the_page(web: PracticeWeb, of: CatalogueSite):
    for each in planted(of.name, SEED, DAY_ZERO)[::7]:
        found = ask(web, each.url, entity_schema(of), markdown(web, each.url))
        assert found == dict(each.fields), each.url


@ALL
def test_the_model_says_that_an_item_page_is_one(web: PracticeWeb, of: CatalogueSite):
    url = planted(of.name, SEED, DAY_ZERO)[5].url
    assert told(web, url) == Told("DETAIL", [], None, None)


@pytest.mark.parametrize(
    ("url", "page_type", "count", "following"),
    [
        ("https://numbered.catalogues.example/courses", "DETAIL_LINKS", 12, "/courses?page=2"),
        ("https://numbered.catalogues.example/courses?page=6", "DETAIL_LINKS", 11, None),
        (
            "https://offsets.catalogues.example/credentials",
            "DETAIL_LINKS",
            20,
            "/credentials?offset=20&limit=20",
        ),
        ("https://loadmore.catalogues.example/shop", "DETAIL_LINKS", 10, None),
        ("https://departments.catalogues.example/", "CATEGORY_LINKS", 6, "/?page=2"),
        ("https://departments.catalogues.example/?page=2", "CATEGORY_LINKS", 4, None),
        (
            "https://departments.catalogues.example/departments/fine-arts",
            "CATEGORY_LINKS",
            4,
            "/departments/fine-arts?page=2",
        ),
        (
            "https://departments.catalogues.example/departments/engineering/soil-science",
            "DETAIL_LINKS",
            5,
            "/departments/engineering/soil-science?page=2",
        ),
        ("https://zerobased.catalogues.example/framework", "DETAIL_LINKS", 16, "/framework?p=1"),
        ("https://totals.catalogues.example/articles?page=40", "DETAIL_LINKS", 0, "/articles?page=41"),
        ("https://duplicates.catalogues.example/c/garden", "DETAIL_LINKS", 12, "/c/garden?page=2"),
        ("https://duplicates.catalogues.example/?page=3", "DETAIL_LINKS", 15, "/?page=4"),
        ("https://courses.practice.example/catalogue?page=2", "DETAIL_LINKS", 12, "/catalogue?page=3"),
    ],
)
def test_the_model_tells_what_a_list_is_and_how_it_goes_on(
    web: PracticeWeb, url: str, page_type: str, count: int, following: str | None
):
    found = told(web, url)
    text = markdown(web, url)
    assert (found.page_type, len(found.link_examples)) == (page_type, count)
    assert (found.next_url or "").endswith(following or "")
    assert bool(found.next_url) == bool(following)
    assert [each for each in found.link_examples if each not in text] == []


def test_the_last_page_of_a_list_still_shows_how_its_pages_are_addressed(web: PracticeWeb):
    found = told(web, "https://numbered.catalogues.example/courses?page=6")
    assert (found.next_url, found.pagination_example) == (
        None,
        "https://numbered.catalogues.example/courses?page=1",
    )


def test_a_cursor_is_answered_as_it_is_written(web: PracticeWeb):
    found = told(web, "https://nextlinks.catalogues.example/bildungsgaenge")
    assert found.next_url == found.pagination_example
    assert get(web, found.next_url or "").status == 200


def test_each_of_many_links_to_one_item_is_answered_once(web: PracticeWeb):
    found = told(web, "https://duplicates.catalogues.example/")
    bare = {
        each.partition("?")[0].partition("#")[0].rstrip("/").partition("//")[2]
        for each in found.link_examples
    }
    assert len(bare) == len(found.link_examples)
    assert not any("partner.example" in each for each in found.link_examples)


def test_an_empty_shell_tells_the_model_nothing(web: PracticeWeb):
    assert told(web, "https://api.catalogues.example/") == Told(None, [], None, None)
    answer = get(web, "https://api.catalogues.example/api/courses?page=2")
    found = told(web, "https://api.catalogues.example/api/courses?page=2", answer.text)
    assert (found.page_type, found.link_examples[0]) == ("DETAIL_LINKS", answer.json["items"][0]["url"])


def test_a_link_that_the_question_does_not_show_is_not_answered(web: PracticeWeb):
    url = "https://numbered.catalogues.example/courses"
    text = markdown(web, url)
    found = told(web, url, text[: len(text) // 2])
    assert 0 < len(found.link_examples) < 12
    assert found.next_url is None


def test_a_model_that_invents_is_wrong_about_pages_too(web: PracticeWeb):
    web.turn(Knob(Trouble.INVENTED, "model.practice.example"))
    text = markdown(web, "https://numbered.catalogues.example/courses")
    found = told(web, "https://numbered.catalogues.example/courses")
    assert found.link_examples
    assert [each for each in (*found.link_examples, found.next_url) if each in text] == []
