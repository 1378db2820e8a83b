"""Listings, and rows of them, as the tests of the prices app need them."""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.prices.model import JudgedListing, Listing, PriceType, Signal
from thresher.apps.prices.point_row import PointRow, point_row
from thresher.apps.prices.store.points import file_points
from thresher.store.session import Session

BODY = "a" * 64


def listing(title: str = "1921-D Morgan dollar", amount: int | None = 4_500, **others: Any) -> Listing:
    said: dict[str, Any] = {
        "title": title,
        "price_type": PriceType.ASK,
        "amount": amount,
        "currency": "USD",
        "quote": f"${(amount or 0) / 100:.2f}",
        "place": "/items/0/price",
        "external_id": "v1|110|0",
        "url": "https://bay.example/itm/110?hash=1",
    }
    return Listing(**(said | others))


def judged(found: Listing, strength: int = 800, **others: Any) -> JudgedListing:
    said: dict[str, Any] = {
        "unit": found.amount,
        "quantity": 1,
        "strength": strength,
        "signals": (Signal("year", "1921", "matches", 300, "1921"),),
    }
    return JudgedListing(found, **(said | others))


def row(
    amount: int = 4_500, strength: int = 800, *, at: int = 1, body: str | None = None, **others: Any
) -> PointRow:
    """A row of one listing. What a JudgedListing has of its own is said of it, the rest of the listing."""
    own = {
        name: others.pop(name) for name in ("unit", "quantity", "grade", "counts", "reason") if name in others
    }
    found = point_row(judged(listing(amount=amount, **others), strength, **own), at, body)
    assert found is not None
    return found


def page(
    rows: Sequence[PointRow],
    at: int,
    *,
    item: int = 1,
    source: int = 1,
    bodies: Sequence[str] = (),
    began_at: int | None = None,
) -> Mapping[str, Any]:
    """A page of rows; one of a list if it is said when that began."""
    seen = {"observed_at": at, "began_at": began_at}
    return {"item": item, "source": source, "rows": rows, "bodies": bodies, **seen}


def filed(session: Session, rows: Sequence[PointRow], at: int, **others: Any) -> dict[str, int]:
    return file_points(session, page(rows, at, **others), at)
