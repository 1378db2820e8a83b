"""Examples of what several routes answer."""

from typing import Any

# An item of a data set, as several routes show it.
ITEM: dict[str, Any] = {
    "id": 51,
    "datasetId": 9,
    "itemKey": "catalog.acme.example/courses/101",
    "page": "0123456789abcdef",
    "place": 0,
    "values": {"name": "Calculus"},
    "evidence": {"source": "9f…", "places": {"name": {"quote": "Calculus", "start": 10, "end": 18}}},
    "verified": True,
    "doubts": ["the page declares no ceu"],
    "readBy": "data",
    "digest": "77…",
    "url": "https://catalog.acme.example/courses/101",
    "createdAt": "2026-03-02T10:45:01.000Z",
}
