"""A small API, described and answered by hand, for the tests of the clients."""

import json
from datetime import date

from thresher.apps.queries.clients.api import ApiClient, api_client
from thresher.apps.queries.clients.client import read_page
from thresher.apps.queries.clients.search import Search, SearchPage
from thresher.core.page import Page

TODAY = date(2026, 3, 9)
ORIGIN = "https://api.acme.example"
BASE = """
name: acme
title: Acme Offers
request:
  url: https://api.acme.example/v1/offers
  query: {q: "{text}"}
answer:
  rows: offers
  total: count
  fields: {id: id, title: name, url: link, company: firm.name, posted: day}
"""


def client(text: str = BASE, **changes: str) -> ApiClient:
    """The small API with keys added or replaced, each written as YAML."""
    lines = [line for line in text.splitlines() if line.partition(":")[0] not in changes]
    if changes:
        kept, skip = [], False
        for line in text.splitlines():
            if line[:1].strip():
                skip = line.partition(":")[0] in changes
            if not skip:
                kept.append(line)
        lines = kept + [f"{key}: {value}" for key, value in changes.items()]
    return api_client("\n".join(lines), "acme.yaml")


def offer(number: int, **more: object) -> dict[str, object]:
    return {
        "id": f"A-{number}",
        "name": f"Welder {number}",
        "link": f"/offers/{number}",
        "firm": {"name": "Acme"},
        "day": "2026-03-01",
        **more,
    }


def offers(first: int, count: int) -> list[dict[str, object]]:
    return [offer(number) for number in range(first, first + count)]


def answered(
    body: object, url: str = f"{ORIGIN}/v1/offers", status: int = 200, kind: str = "application/json"
) -> Page:
    raw = (
        body
        if isinstance(body, bytes)
        else body.encode()
        if isinstance(body, str)
        else json.dumps(body).encode()
    )
    return Page(url, url, status, {"content-type": kind}, raw)


def read(made: ApiClient, body: object, cursor: str | None = None, **how: object) -> SearchPage:
    return read_page(made, Search(today=TODAY), cursor, answered(body, **how))  # type: ignore[arg-type]
