"""A source whose answers are JSON pages, so that a test can answer anything: rows, a verdict, a cursor."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.apps.prices.collecting import TITLE, spec
from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked, SourceQuery
from thresher.apps.prices.model import Adapter, Item, Listing, PriceType, SourceSpec
from thresher.core.context import Context
from thresher.core.page import Page, Verdict
from thresher.testing.web import Reply

NAME = "tests.apps.prices.paged:PagedAdapter"
URL = "https://paged.example/list"


@dataclass(frozen=True, slots=True)
class PagedAdapter:
    """Asks for `URL?at=CURSOR&q=...`; an item without include keywords asks for all. The option `url` names
    another list.
    """

    spec: SourceSpec

    def query(self, item: Item) -> SourceQuery | NotAsked:
        if "unasked" in item.spec.exclude:
            return NotAsked("it says so itself")
        words = " ".join(item.spec.include)
        return SourceQuery(self.spec.name, words, {"grade": item.spec.attributes.get("grade", "")})

    async def fetch(self, ctx: Context, query: SourceQuery, cursor: str | None) -> Page:
        url = str(self.spec.options.get("url") or URL)
        return await ctx.fetch(address(cursor, query.text, url), max_age=0.0)

    async def read(self, ctx: Context, query: SourceQuery, cursor: str | None, page: Page) -> ListingPage:
        del query, cursor
        return await ctx.compute(read, page.body)


def address(cursor: str | None = None, text: str = "", url: str = URL) -> str:
    return f"{url}?at={cursor or 0}" + (f"&q={text}" if text else "")


def read(body: bytes) -> ListingPage:
    said = json.loads(body)
    listings = tuple(
        Listing(title, PriceType.ASK, amount, "USD", str(amount), f"/rows/{at}", external_id=key, url=url)
        for at, (key, title, amount, url) in enumerate(said["rows"])
    )
    return ListingPage(
        listings,
        Verdict(said["verdict"]),
        said.get("reason", "said so"),
        said.get("next"),
        capped=said.get("capped", False),
        notes=tuple(said.get("notes", ())),
        unseen=tuple(said.get("unseen", ())),
    )


def page(
    rows: Iterable[tuple[str, int | None]] = (), verdict: str = "found", title: str = TITLE, **more: Any
) -> Reply:
    """A page of the list: ids with amounts in cents. An address stands for an id that there is not."""
    said = {"rows": [_row(key, title, amount) for key, amount in rows], "verdict": verdict, **more}
    return Reply(json.dumps(said), headers={"content-type": "application/json"})


def _row(key: str, title: str, amount: int | None) -> tuple[str | None, str, int | None, str | None]:
    return (None, title, amount, key) if key.startswith("https:") else (key, title, amount, None)


def paged_spec(name: str = "paged", **others: Any) -> SourceSpec:
    made = spec(name, **({"options": {}} | others))
    return SourceSpec(
        name,
        Adapter.SEARCH,
        options=made.options,
        rate_per_minute=made.rate_per_minute,
        cache_seconds=made.cache_seconds,
    )
