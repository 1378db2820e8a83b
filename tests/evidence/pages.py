"""Invented shops, all selling the same twelve things, each with another page: what an answer says is checked
against these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema

SITE = "https://shop.example/offers"


@dataclass(frozen=True)
class Item:
    title: str
    price: str
    city: str
    listed: date
    weight: int
    slug: str

    @property
    def answer(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "price": self.price,
            "city": self.city,
            "listed": self.listed.isoformat(),
            "weight": self.weight,
            "link": f"https://shop.example/offers/{self.slug}",
        }


ITEMS = (
    Item("Brass table lamp", "€49.90", "Lisbon", date(2025, 3, 14), 1250, "brass-lamp-117"),
    Item("Walnut writing desk", "€1,310.00", "Ghent", date(2025, 4, 2), 38400, "walnut-desk-118"),
    Item("Woollen blanket, grey", "€86.25", "Porto", date(2024, 11, 30), 2310, "blanket-119"),
    Item("O'Hara folding chair", "€37.15", "Zürich", date(2025, 1, 9), 4875, "chair-120"),
    Item("Set of six wine glasses", "€58.40", "Málaga", date(2025, 2, 21), 1940, "glasses-121"),
    Item("Party tent 3 x 6 m", "€219.95", "Kraków", date(2024, 12, 5), 27600, "tent-122"),
    Item("Cast-iron frying pan", "€64.70", "Bergen", date(2025, 5, 17), 3120, "pan-123"),
    Item("C++ in twelve evenings", "€29.35", "Aarhus", date(2024, 10, 8), 905, "book-124"),
    Item("Children's bicycle", "€142.60", "Tartu", date(2025, 6, 23), 9430, "bicycle-125"),
    Item("R&D notebook, ruled", "€7.85", "Split", date(2025, 7, 1), 385, "notebook-126"),
    Item("Mirror with oak frame", "€178.20", "Leuven", date(2024, 9, 19), 11700, "mirror-127"),
    Item("Leather satchel", "€264.55", "Umeå", date(2025, 8, 26), 1665, "satchel-128"),
)

OFFERS = Schema(
    "offer",
    (
        Field("title", required=True),
        Field("price", Kind.MONEY, required=True),
        Field("city"),
        Field("listed", Kind.DATE),
        Field("weight", Kind.INTEGER),
        Field("link", Kind.URL),
    ),
    many=True,
)

_MENU = "[Home](/) [Furniture](/c/furniture-20) [Kitchen](/c/kitchen-31) [Help](/help)"
_HEAD = f"# Second Hand Hall\n\n{_MENU}\n\nOpen since 1998, call +32 9 555 01 77.\n\n"
_FOOT = "\n\nFree delivery over €500. © 2025 Second Hand Hall, version 4.12.7\n\n[Imprint](/imprint) [Terms](/terms)\n"


def _weight(item: Item) -> str:
    return f"{item.weight:,} g"


def _linked(item: Item) -> str:
    return f"[{item.title}](/offers/{item.slug})"


def headed() -> Material:
    parts = [
        f"## {_linked(item)}\n\n**Price:** {item.price}\n\nIn {item.city}, listed {item.listed:%d %B %Y}\n\n{_weight(item)}"
        for item in ITEMS
    ]
    return Material(_HEAD + "\n\n".join(parts) + _FOOT, url=SITE)


def tabled() -> Material:
    rows = [
        f"| {item.listed.isoformat()} | {item.price} | {_linked(item)} | {item.city} | {_weight(item)} |"
        for item in ITEMS
    ]
    head = "| Date | Price | Offer | Place | Weight |\n| --- | --- | --- | --- | --- |\n"
    return Material(_HEAD + head + "\n".join(rows) + _FOOT, url=SITE)


def listed() -> Material:
    rows = [
        f"- {_linked(item)} · {item.city} · {_weight(item)} · {item.listed:%B %d, %Y} · {item.price}"
        for item in ITEMS
    ]
    return Material(_HEAD + "\n".join(rows) + _FOOT, url=SITE)


def stacked() -> Material:
    """Price and date above the title, nothing but paragraphs."""
    parts = [
        f"{item.listed:%d.%m.%Y}\n\n{item.price}\n\n{_linked(item)}\n\nto be fetched in {item.city}\n\n{_weight(item)}"
        for item in ITEMS
    ]
    return Material(_HEAD + "\n\n".join(parts) + _FOOT, url=SITE)


def with_contents() -> Material:
    """All titles once more, above."""
    contents = "\n".join(f"- {item.title}" for item in ITEMS)
    return Material(
        _HEAD + "In this list:\n\n" + contents + "\n\n" + headed().text.removeprefix(_HEAD), url=SITE
    )


def data() -> Material:
    found = [
        {
            "datePosted": f"{item.listed.isoformat()}T08:00:00Z",
            "name": item.title,
            "url": f"/offers/{item.slug}",
            "offers": {"price": item.price.lstrip("€").replace(",", ""), "priceCurrency": "EUR"},
            "weight": item.weight,
            "address": {"city": item.city},
        }
        for item in ITEMS
    ]
    return Material("", {"shop": "Second Hand Hall", "count": 12, "results": found}, url=SITE)


PAGES: Mapping[str, Callable[[], Material]] = {
    "headings": headed,
    "table": tabled,
    "list": listed,
    "paragraphs": stacked,
    "contents": with_contents,
    "data": data,
}


def answer(**changed: dict[int, Any]) -> dict[str, Any]:
    """What a faithful reader says of all twelve, with some values changed: `price={3: "€1.00"}`."""
    items = [item.answer for item in ITEMS]
    for name, values in changed.items():
        for at, value in values.items():
            items[at][name] = value
    return {"items": items}
