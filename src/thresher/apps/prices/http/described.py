"""How the routes of this app describe their answers: by an example, with places for what people named."""

from collections.abc import Collection
from typing import Any

from thresher.web.answer import JSON
from thresher.web.schemas import answers

# Their members are named by a person: they may be others than those of the example.
_OPEN = frozenset(("attributes", "options", "leftOut", "filed"))

AT = "2026-03-02T10:15:00.000Z"


def usd(minor: int) -> dict[str, Any]:
    """An amount, as answers show it."""
    return {"minor": minor, "currency": "USD", "amount": f"{minor / 100:.2f}"}


VALUE: dict[str, Any] = {
    "currency": "USD",
    "median": usd(4_500),
    "quickSale": usd(3_900),
    "fairLow": usd(4_300),
    "fairHigh": usd(4_800),
    "premium": usd(5_600),
    "p10": usd(3_500),
    "p90": usd(6_200),
    "mean": usd(4_620),
    "confidence": 8,
    "compCount": 21,
    "soldCount": 15,
    "askCount": 6,
    "sourceCount": 2,
    "computedAt": AT,
}
ITEM: dict[str, Any] = {
    "id": 7,
    "name": "1921-D Morgan",
    "kind": "coin",
    "status": "priced",
    "attributes": {"denomination": "dollar", "year": "1921"},
    "include": ["silver"],
    "exclude": ["replica"],
    "currency": "USD",
    "urls": ["https://shop.example/morgan"],
    "sources": ["ebay-us"],
    "refreshSeconds": 43_200,
    "lacks": ["year"],
    "value": VALUE,
    "collectedAt": AT,
    "declaredIn": "person",
    "createdAt": AT,
    "updatedAt": AT,
    "archivedAt": AT,
}
POINT: dict[str, Any] = {
    "id": 31,
    "source": "ebay-us",
    "priceType": "sold",
    "price": usd(4_500),
    "unit": usd(4_500),
    "quantity": 1,
    "matchStrength": 0.95,
    "counts": True,
    "reason": "it is a lot of 5, and the price of one is not certain",
    "title": "1921-D Morgan silver dollar",
    "url": "https://shop.example/itm/31",
    "externalId": "v1|31|0",
    "condition": "Used",
    "grade": "MS63",
    "listingDate": "2026-02-27",
    "firstSeenAt": AT,
    "observedAt": AT,
    "endedAt": AT,
}
_UNKNOWN = (
    "refreshSeconds",
    "value",
    "median",
    "quickSale",
    "fairLow",
    "fairHigh",
    "premium",
    "p10",
    "p20",
    "p80",
    "p90",
    "mean",
    "confidence",
    "collectedAt",
    "archivedAt",
    "reason",
    "url",
    "externalId",
    "condition",
    "grade",
    "listingDate",
    "endedAt",
    "verdict",
    "lastSuccessAt",
    "lastFailureAt",
    "lastError",
    "dueAt",
    "task",
    "state",
    "waits",
    "why",
    "quote",
    "shipping",
    "was",
    "high",
    "body",
    "definition",
    "ratePerMinute",
    "cacheSeconds",
    "pausedUntil",
    "retiredAt",
    "amount",
    "percent",
    "basis",
    "toldAt",
    "firedAt",
    "told",
)


def fits(example: Any, perhaps: Collection[str] = (), absent: Collection[str] = ()) -> dict[str, Any]:
    """The description of a route whose answers look like this example. Members in `perhaps` may be null,
    those in `absent` may be missing.
    """
    found = answers(example, perhaps=(*_UNKNOWN, *perhaps), absent=absent)
    (told,) = found["content"].values()
    return {"responses": {"200": {**found, "content": {JSON: {**told, "schema": _opened(told["schema"])}}}}}


def _opened(schema: Any) -> Any:
    """A description in which what people name is any object."""
    if isinstance(schema, list):
        return [_opened(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _opened(each) for name, each in schema.items()}
    members = found.get("properties")
    if isinstance(members, dict):
        places = (name for name in members.keys() & _OPEN if members[name].get("type") == "object")
        members |= {name: {"type": "object"} for name in places}
    return found
