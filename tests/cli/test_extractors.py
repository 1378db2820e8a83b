"""A person teaches a site with three pages, sees what was learned, and puts it aside."""

from pathlib import Path

import pytest

from tests.cli.conftest import Thresher
from thresher.core.errors import TooSlow

APP = """
from thresher import App, Done, Field, Kind, Pipeline, Schema, Stage


def nothing(ctx):
    return Done()


BOOK = Schema("book", (Field("title", required=True), Field("price", Kind.MONEY), Field("pages", Kind.INTEGER), Field("tags", many=True)))
app = App("books", pipelines=(Pipeline("book", Stage(nothing)),), schemas=(BOOK,))
"""
BOOKS = (
    ("The Salt Road", "£12.50", 311, "travel"),
    ("Moss and Stone", "£8.99", 148, "nature"),
    ("A Winter Ledger", "£21.00", 402, "history"),
    ("Low Tide", "£15.25", 222, "nature"),
)


def page(title: str, price: str, pages: int, tag: str) -> str:
    return (
        f"<html><head><title>{title} - Corner Books</title></head><body><header><a href='/'>Corner Books</a></header>"
        f"<main><h1 class='name'>{title}</h1><p class='price'>{price}</p><table><tr><th>Pages</th><td>{pages}</td></tr>"
        f"<tr><th>Shelf</th><td>{tag}</td></tr></table><h2>You may also like</h2><ul><li>Another Book £3.00</li></ul></main>"
        "<footer>Open every day but Sunday</footer></body></html>"
    )


@pytest.fixture
def books(project: Path, queue: Thresher) -> Thresher:
    (project / "app.py").write_text(APP, "utf-8")
    for number, book in enumerate(BOOKS):
        (project / f"{number}.html").write_text(page(*book), "utf-8")
    return queue


def teach(books: Thresher, project: Path, number: int, *more: str):
    title, price, pages, _ = BOOKS[number]
    values = [f"title={title}", f"price={price}", f"pages={pages}"]
    address = f"https://books.example/{number}"
    return books(
        "extractors", "label", "book", str(project / f"{number}.html"), *values, *more, "--base-url", address
    )


@pytest.mark.promise(18)
def test_a_page_that_holds_its_reader_is_stopped_and_teaches_nothing(books: Thresher, project: Path):
    (project / "0.html").write_text("<p>words</p>" * 100_000 + page(*BOOKS[0]), "utf-8")
    books("config", "set", "isolation.seconds", "0.05")
    result = teach(books, project, 0)
    assert (result.code, "took longer than 0.05 seconds and was stopped" in result.err) == (
        TooSlow.exit_code,
        True,
    )
    for number in (1, 2):
        books("config", "set", "isolation.seconds", "10")
        assert "three pages are needed" in teach(books, project, number).out


@pytest.mark.promise(20)
def test_three_pages_that_a_person_has_labelled_teach_a_site(books: Thresher, project: Path):
    assert "three pages are needed" in teach(books, project, 0).out
    teach(books, project, 1)
    assert "version 1 is in use" in teach(books, project, 2).out
    (found,) = books("extractors", "list", "--json").json
    assert (found["site"], found["schema"], found["version"], found["state"]) == (
        "books.example",
        "book",
        1,
        "active",
    )
    shown = books("extractors", "show", "books.example", "book").out
    assert "h1" in shown
    assert "pages" in shown


def test_lines_of_a_box_are_named_as_people_count_them(books: Thresher, project: Path):
    for number, (title, price, pages, tag) in enumerate(BOOKS[:3]):
        facts = f"<h1>{title}</h1><div class='facts'>{tag}<br>{price}<br>Pages: {pages}<br>Paperback</div>"
        (project / f"{number}.html").write_text(f"<body>{facts}<p>Open every day</p></body>", "utf-8")
        teach(books, project, number)
    shown = " ".join(books("extractors", "show", "books.example", "book").out.split())
    assert "line 2 of div" in shown
    assert "what follows 'pages:' in its line" in shown


def test_what_was_learned_can_be_put_aside(books: Thresher, project: Path):
    for number in range(3):
        teach(books, project, number)
    assert "no longer used" in books("extractors", "retire", "books.example", "book").out
    assert books("extractors", "list", "--json").json == []
    assert len(books("extractors", "list", "--all", "--json").json) == 1
    assert books("extractors", "retire", "books.example", "book").code == 4


@pytest.mark.promise(14)
def test_a_value_that_does_not_stand_on_the_page_is_not_believed_even_of_a_person(
    books: Thresher, project: Path
):
    said = books(
        "extractors",
        "label",
        "book",
        str(project / "0.html"),
        "title=The Salt Road",
        "price=£13.50",
        "--base-url",
        "https://books.example/0",
    )
    assert said.code != 0
    assert "price cannot be found in the text of the page" in said.err


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["title"], "FIELD=VALUE"),
        (["title=The Salt Road", "weight=3"], "its fields are title, price, pages, tags"),
        (["pages=many"], "pages must be digits, got 'many'"),
    ],
)
def test_a_label_that_makes_no_sense_is_refused_with_what_would(
    books: Thresher, project: Path, values: list[str], says: str
):
    said = books(
        "extractors",
        "label",
        "book",
        str(project / "0.html"),
        *values,
        "--base-url",
        "https://books.example/0",
    )
    assert said.code != 0
    assert says in said.err


def test_a_schema_that_no_app_has_is_named_with_those_there_are(books: Thresher, project: Path):
    said = books(
        "extractors",
        "label",
        "film",
        str(project / "0.html"),
        "title=x",
        "--base-url",
        "https://books.example/0",
    )
    assert "no app here has a schema 'film'; known are: book" in said.err


def test_nothing_learned_says_how_to_begin(books: Thresher):
    assert "three pages" in books("extractors", "list").out
    assert "nothing was learned of books.example" in books("extractors", "show", "books.example", "book").err
