"""Examples of what several routes answer."""

from typing import Any

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
