"""True values in other dress: nearly all of them must be found where they stand, and what is found must be
the right place."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from tests.evidence.pages import ITEMS, OFFERS, PAGES, Item, answer
from thresher.evidence.verify import sheets, verified, verify

APART = 3


def _titles(item: Item) -> Iterator[str]:
    yield item.title.upper()
    yield item.title.lower()
    yield f"  {item.title.replace(' ', '  ')} "
    yield item.title.replace(" ", "\N{NO-BREAK SPACE}")
    yield item.title.replace(" ", "\n")
    yield item.title.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    yield item.title.replace("&", "&amp;")
    yield f"**{item.title}**"
    yield f"[{item.title}](https://elsewhere.example)"
    yield f"“{item.title}”"
    yield item.title.replace("-", " ").replace(",", "")
    yield f"{item.title}."
    yield "".join(
        chr(ord(char) + 0xFEE0) if char.isascii() and char.isalnum() else char for char in item.title
    )


def _prices(item: Item) -> Iterator[str]:
    plain = item.price.lstrip("€").replace(",", "")
    whole, cents = plain.split(".")
    grouped = f"{int(whole):,}"
    yield f"{plain} EUR"
    yield f"EUR {plain}"
    yield f"{grouped.replace(',', '.')},{cents} €"
    yield f"{grouped.replace(',', ' ')},{cents} €"
    yield f"€ {grouped}.{cents}"
    yield f"from €{plain}"
    yield f"{plain} euro"
    yield plain


def _dates(item: Item) -> Iterator[str]:
    day = item.listed
    yield f"{day.day} {day:%B %Y}"
    yield f"{day:%b} {day.day}, {day.year}"
    yield f"{day:%B} {day.day}th, {day.year}"
    yield f"{day:%d.%m.%Y}"
    yield f"{day:%Y/%m/%d}"
    yield f"{day.isoformat()}T12:30:00Z"
    yield f"{day:%A}, {day.day} {day:%B %Y}"
    yield f"{day.year}年{day.month}月{day.day}日"


def _cities(item: Item) -> Iterator[str]:
    yield item.city.upper()
    yield unicodedata.normalize("NFD", item.city)
    yield unicodedata.normalize("NFKD", item.city).encode("ascii", "ignore").decode()
    yield f"{item.city}\N{ZERO WIDTH SPACE}"


def _links(item: Item) -> Iterator[str]:
    yield f"/offers/{item.slug}"
    yield f"HTTPS://Shop.Example/offers/{item.slug}"
    yield f"https://shop.example/offers/{item.slug}?utm_source=letter"
    yield f"https://shop.example/offers/{item.slug}#top"


def reworded(item: Item) -> list[tuple[str, Any]]:
    groups = {
        "title": _titles(item),
        "price": _prices(item),
        "listed": _dates(item),
        "city": _cities(item),
        "link": _links(item),
    }
    return [(name, value) for name, values in groups.items() for value in values]


REWORDED = [reworded(item) for item in ITEMS]


def _missed(page: str) -> tuple[int, list[tuple[int, str, Any]]]:
    page_sheets = sheets(PAGES[page]())
    tried, missed = 0, []
    for kind in range(len(REWORDED[0])):
        for first in range(APART):
            things = range(first, len(ITEMS), APART)
            name = REWORDED[0][kind][0]
            found = verified(
                OFFERS, answer(**{name: {at: REWORDED[at][kind][1] for at in things}}), page_sheets
            )
            tried += len(things)
            missed += [(at, *REWORDED[at][kind]) for at in things if not found[f"{at}.{name}"]]
    return tried, missed


@pytest.mark.promise(14)
@pytest.mark.parametrize("page", PAGES)
def test_true_values_in_another_format_are_verified(page: str):
    tried, missed = _missed(page)
    assert tried >= 200
    assert len(missed) <= 0.02 * tried, f"{len(missed)} of {tried}: {missed[:12]}"


@pytest.mark.promise(14)
@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_faithful_answer_says_is_verified_in_its_own_place(page: str):
    material = PAGES[page]()
    found = verify(OFFERS, answer(), material)
    assert not list(found.unverified())
    places = [place for place in found.places.values() if place is not None]
    if material.text:
        assert all(place.quote == material.text[place.start : place.end] for place in places)
        assert len({place.start for place in places}) == len(places)
    else:
        assert len({place.path for place in places}) == len(places)
