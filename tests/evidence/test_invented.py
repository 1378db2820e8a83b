"""Invented values, planted one by one into otherwise faithful answers. None of them may come out as
verified."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.evidence.pages import ITEMS, OFFERS, PAGES, Item, answer
from thresher.evidence.verify import sheets, verified

_LOOKALIKES = str.maketrans({"a": "а", "e": "е", "o": "о", "i": "і", "c": "с"})  # Cyrillic


def _titles(item: Item, following: Item) -> Iterator[str]:
    words = item.title.split()
    yield " ".join([*words[:-1], "crate"])
    yield " ".join(["Copper", *words[1:]])
    yield f"{item.title} deluxe"
    yield item.title.translate(_LOOKALIKES)
    yield item.title[1:] if item.title[1].isalpha() else item.title[2:-1]
    yield item.title[:-1] if item.title[-2:].isalpha() else f"{item.title}m"
    yield f"{words[-1]} {following.title.split()[0]}"
    yield f"{item.title} {following.title}"
    yield item.slug
    yield " ".join(reversed(words))


def _prices(item: Item) -> Iterator[str]:
    amount = item.price.lstrip("€")
    whole, cents = amount.replace(",", "").split(".")
    yield f"€{int(whole) + 1}.{cents}"
    yield f"€{whole}.{(int(cents) + 1) % 100:02d}"
    yield f"€{whole}{cents}"
    yield f"${amount}"
    yield f"{amount} CHF"
    yield f"£{amount}"
    yield f"€{whole}" if cents != "00" else "€1"
    yield f"€{amount} per month"
    yield f"€{amount} - €{int(whole) + 50}.00"


def _dates(item: Item) -> Iterator[str]:
    yield (item.listed + timedelta(days=1)).isoformat()
    yield (item.listed - timedelta(days=1)).isoformat()
    yield item.listed.replace(year=item.listed.year + 1).isoformat()
    yield item.listed.replace(day=1, month=item.listed.month % 12 + 1).isoformat()
    yield f"{item.listed:%d.%m.}{item.listed.year - 10}"


def _weights(item: Item) -> Iterator[int]:
    yield item.weight + 1
    yield item.weight - 1
    yield -item.weight
    yield item.weight * 10
    yield item.weight // 1000 or 3
    yield item.weight % 1000 if item.weight % 1000 not in (0, item.weight) else 17


def _links(item: Item) -> Iterator[str]:
    yield f"https://shop.example/offers/{item.slug}9"
    yield f"https://shop.example/{item.slug}"
    yield f"https://shop.example.org/offers/{item.slug}"
    yield f"https://shop.example/offers/{item.slug}?page=2"
    yield "https://shop.example/offers"


def _cities(item: Item) -> Iterator[str]:
    yield item.city[:-1]
    yield f"New {item.city}"
    yield "Antwerp"
    yield "offers"
    yield item.city.translate(_LOOKALIKES) if item.city.translate(_LOOKALIKES) != item.city else "Сplit"


def planted() -> list[list[tuple[str, Any]]]:
    """For each thing what is planted into it, field by field; the lists of all things are equally long."""
    found = []
    for at, item in enumerate(ITEMS):
        following = ITEMS[(at + 1) % len(ITEMS)]
        groups = {
            "title": _titles(item, following),
            "price": _prices(item),
            "listed": _dates(item),
            "weight": _weights(item),
            "link": _links(item),
            "city": _cities(item),
        }
        invented = [(name, value) for name, values in groups.items() for value in values]
        # What is true of the next thing is not true of this one.
        invented += [(name, following.answer[name]) for name in groups]
        invented += [(name, ITEMS[at - 5].answer[name]) for name in groups]
        found.append(invented)
    return found


PLANTED = planted()
APART = 3  # of so many things one has a planted value: the others are told faithfully, as in a model's answer


@pytest.mark.promise(14)
@pytest.mark.parametrize("page", PAGES)
def test_no_invented_value_is_verified(page: str):
    page_sheets = sheets(PAGES[page]())
    tried, wrong = 0, []
    for kind in range(len(PLANTED[0])):
        for first in range(APART):
            things = range(first, len(ITEMS), APART)
            name = PLANTED[0][kind][0]
            found = verified(
                OFFERS, answer(**{name: {at: PLANTED[at][kind][1] for at in things}}), page_sheets
            )
            tried += len(things)
            wrong += [
                (at, *PLANTED[at][kind], found[f"{at}.{name}"]) for at in things if found[f"{at}.{name}"]
            ]
    assert tried >= 200
    assert not wrong, f"{len(wrong)} of {tried}: {wrong[:12]}"


@pytest.mark.promise(14)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", ["title", "price", "city", "listed", "weight", "link"])
def test_values_swapped_between_neighbours_are_not_verified(page: str, name: str):
    page_sheets = sheets(PAGES[page]())
    for at in range(len(ITEMS) - 1):
        swapped = {at: ITEMS[at + 1].answer[name], at + 1: ITEMS[at].answer[name]}
        found = verified(OFFERS, answer(**{name: swapped}), page_sheets)
        assert found[f"{at}.{name}"] is None, (at, swapped)
        assert found[f"{at + 1}.{name}"] is None, (at, swapped)


@pytest.mark.promise(14)
@pytest.mark.parametrize("page", PAGES)
def test_a_thing_made_up_whole_has_no_verified_value(page: str):
    invented = {
        "title": "Silver tea set",
        "price": "€333.00",
        "city": "Naples",
        "listed": "2025-03-31",
        "weight": 777,
        "link": "https://shop.example/offers/tea-130",
    }
    said = answer()
    said["items"].insert(4, invented)
    found = verified(OFFERS, said, sheets(PAGES[page]()))
    assert not [name for name, place in found.items() if name.startswith("4.") and place is not None]
    assert not [name for name, place in found.items() if not name.startswith("4.") and place is None]
