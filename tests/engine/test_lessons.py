"""What is kept of a site that cannot be learned, and that a person's word is always taken."""

import asyncio
import json

import pytest

from tests.harness.tasks import events, rows
from thresher import Field, Schema
from thresher.engine.reader import MAX_EXAMPLES, Lessons
from thresher.reading.html.document import Document
from thresher.store import extractors
from thresher.store.store import Store

BOOK = Schema("book", (Field("title", required=True),))


def teach(store: Store, number: int, by: str = "model") -> None:
    """A page whose value stands in no place that a rule could name."""
    words = " ".join(f"{word}{number}" for word in ("salt", "road", "moss", "stone"))
    page = Document.from_html(
        f"<p>{words} title{number} and more of it, {number * 7}.</p>", f"https://books.example/{number}"
    )
    asyncio.run(Lessons(store, "books.example", BOOK).add(page, {"title": f"title{number} and"}, by))  # type: ignore[arg-type]


def kept(store: Store) -> int:
    return int(rows(store, "select count(*) from examples")[0][0])


def test_a_site_that_cannot_be_learned_does_not_fill_the_store(store: Store):
    for number in range(MAX_EXAMPLES + 5):
        teach(store, number)
    assert kept(store) == MAX_EXAMPLES
    assert rows(store, "select count(*) from extractors") == [(0,)]
    assert 0 < len(events(store, "extractor_refused")) < MAX_EXAMPLES
    teach(store, 99, "person")
    assert kept(store) == MAX_EXAMPLES + 1


def test_nothing_known_is_nothing_taught(store: Store):
    page = Document.from_html("<p>nothing</p>", "https://books.example/")
    asyncio.run(Lessons(store, "books.example", BOOK).add(page, {}, "model"))
    assert kept(store) == 0


@pytest.mark.promise(18)
def test_a_stored_extractor_with_a_selector_that_came_from_a_page_is_doubted_and_learned_anew(store: Store):
    def learn(number: int) -> None:
        page = Document.from_html(f"<h1>Ladder no. {number}</h1><p>x</p>", f"https://books.example/{number}")
        asyncio.run(
            Lessons(store, "books.example", BOOK).add(page, {"title": f"Ladder no. {number}"}, "model")
        )

    for number in range(3):
        learn(number)
    lessons = Lessons(store, "books.example", BOOK)
    known = lessons.active()
    assert known is not None
    body = json.loads(known.body)
    for rule in body["fields"]["title"]["rules"]:
        rule["by"] = ["css", "x,:has(~p~p~p~p~zz)", ""]
    with store.write() as session:
        session.run("update extractors set body = :body, made_at = made_at - 1", {"body": json.dumps(body)})
    assert lessons.active() is None
    assert len(events(store, "extractor_doubted")) == 1
    for number in range(3, 6):
        learn(number)
    again = extractors.active(store, "books.example", "book")
    assert again is not None
    assert again.version == 2
    assert ":has" not in again.body
