"""The same openings as nine designers would mark them up, read from text and from Markdown: each keeps its
own values."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema
from thresher.evidence.text_index import TextIndex
from thresher.evidence.verify import sheets, verified
from thresher.reading.html.document import Document
from thresher.reading.text.markdown import full_markdown
from thresher.reading.text.plain import full_text

URL = "https://hiring.example/"
FIELDS = (
    Field("title", required=True),
    Field("pay", Kind.MONEY),
    Field("place"),
    Field("posted", Kind.DATE),
    Field("link", Kind.URL),
)
OPENINGS = Schema("opening", FIELDS, many=True)
_NAMES = (
    "Alder cook",
    "Birch nurse",
    "Cedar baker",
    "Dogwood clerk",
    "Elm cook",
    "Fir nurse",
    "Ginkgo baker",
    "Hazel clerk",
)
_PLACES = ("Berlin", "Paris", "Rome", "Oslo")


def _opening(at: int) -> dict[str, str]:
    return {
        "title": _NAMES[at],
        "pay": f"${40 + at * 3},{at * 137 % 900 + 100:03d}",
        "place": _PLACES[at % 4] if at % 3 else "Remote",
        "posted": f"2025-0{at + 1}-1{at}",
        "link": f"{URL}p/{at}",
    }


ALL = [_opening(at) for at in range(len(_NAMES))]


def _link(item: Mapping[str, str]) -> str:
    return f"<a href='{item['link']}'>{item['title']}</a>"


def _grouped() -> str:
    places = sorted({item["place"] for item in ALL})
    return "".join(
        f"<h2>{place}</h2>" + "".join(map(_line, (item for item in ALL if item["place"] == place)))
        for place in places
    )


def _line(item: Mapping[str, str]) -> str:
    return f"<div>{_link(item)} {item['pay']} {item['posted']}</div>"


def _each(write: Callable[[Mapping[str, str]], str]) -> str:
    return "".join(map(write, ALL))


DESIGNS = {
    "cards": _each(
        lambda o: (
            f"<div><div>{_link(o)}</div><div>{o['place']}</div><div>{o['pay']}</div><div>{o['posted']}</div></div>"
        )
    ),
    "date above": _each(
        lambda o: (
            f"<article><time>{o['posted']}</time><h3>{_link(o)}</h3><p>{o['place']} - {o['pay']}</p></article>"
        )
    ),
    "nested list": "<ul>"
    + _each(lambda o: f"<li>{_link(o)}<ul><li>{o['place']}<li>{o['pay']}<li>{o['posted']}</ul></li>")
    + "</ul>",
    "one line": _each(
        lambda o: (
            f"<div><span>{o['pay']}</span> <span>{o['posted']}</span> {_link(o)} <span>{o['place']}</span></div>"
        )
    ),
    "terms": _each(
        lambda o: (
            f"<dl><dt>Title<dd>{_link(o)}<dt>Place<dd>{o['place']}<dt>Pay<dd>{o['pay']}<dt>Posted<dd>{o['posted']}</dl>"
        )
    ),
    "table": "<table><tr><th>Where<th>What<th>Pay<th>Since"
    + _each(lambda o: f"<tr><td>{o['place']}<td>{_link(o)}<td>{o['pay']}<td>{o['posted']}")
    + "</table>",
    "tables": _each(
        lambda o: (
            f"<table><tr><td>Title<td>{_link(o)}<tr><td>Place<td>{o['place']}<tr><td>Pay<td>{o['pay']}"
            f"<tr><td>Posted<td>{o['posted']}</table>"
        )
    ),
    "link below": _each(
        lambda o: (
            f"<section><h2>{o['title']}</h2><p>Join us in {o['place']} as {o['title']}.</p><p>Pay {o['pay']}</p>"
            f"<p>{o['posted']}</p><a href='{o['link']}'>Apply</a></section>"
        )
    ),
    "grouped": _grouped(),
}


@cache
def _read(design: str, form: str) -> list[TextIndex]:
    head = "<nav><a href=/>Home</a><a href=/all>All</a></nav><h1>Openings at Acme</h1>"
    markup = f"{head}{DESIGNS[design]}<footer>Acme 2025, call 555-1234</footer>"
    document = Document.from_html(f"<html><body>{markup}</body></html>", URL)
    return sheets(Material(full_markdown(document) if form == "markdown" else full_text(document), url=URL))


def _told(design: str, form: str) -> list[dict[str, Any]]:
    order = sorted(ALL, key=lambda item: item["place"]) if design == "grouped" else ALL
    # A text has no links, so nobody could have read one there.
    return [item | ({"link": None} if form == "text" else {}) for item in order]


def _thefts(told: list[dict[str, Any]]) -> Iterator[tuple[int, int, str]]:
    for name in (field.name for field in FIELDS):
        for at, item in enumerate(told):
            for other in (at - 1, (at + 1) % len(told), (at + 4) % len(told)):
                if told[other][name] not in (None, item[name]):
                    yield at, other, name


@pytest.mark.promise(14)
@pytest.mark.parametrize("form", ["markdown", "text"])
@pytest.mark.parametrize("design", DESIGNS)
def test_no_opening_gets_a_value_of_another(design: str, form: str):
    told = _told(design, form)
    for at, other, name in _thefts(told):
        stolen = [
            item | ({name: told[other][name]} if number == at else {}) for number, item in enumerate(told)
        ]
        assert verified(OPENINGS, {"items": stolen}, _read(design, form))[f"{at}.{name}"] is None, (
            at,
            other,
            name,
        )


@pytest.mark.promise(14)
def test_nearly_everything_that_is_told_faithfully_is_verified():
    found = {
        (design, form, name): place
        for design in DESIGNS
        for form in ("markdown", "text")
        for name, place in verified(OPENINGS, {"items": _told(design, form)}, _read(design, form)).items()
    }
    missed = [key for key, place in found.items() if place is None]
    assert len(missed) <= 0.02 * len(found), missed
