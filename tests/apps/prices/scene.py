"""A project with an item that is valued, one that was never looked for and one that lacks something: what
people look at.
"""

from datetime import timedelta

from tests.apps.prices.listings import filed, row
from thresher.apps.prices.model import (
    Adapter,
    Bands,
    ConfidencePart,
    ItemSpec,
    ItemStatus,
    Origin,
    PriceType,
    SourceSpec,
    Valuation,
)
from thresher.apps.prices.store.items import save_item
from thresher.apps.prices.store.sources import save_price_source
from thresher.apps.prices.store.valuations import store_valuation
from thresher.core.clock import DAY, day_of
from thresher.store.session import Session
from thresher.store.store import Store

PROJECT = "apps: [prices]\nsettings:\n  web.rate: 1000000\n"
EVIL = "<img src=x onerror=alert(1)>"
MORGAN = ItemSpec("1921-D Morgan", "coin", {"denomination": "dollar", "year": "1921", "mintmark": "D"})
PHONE = ItemSpec(f"Phone {EVIL}", "product", {"brand": "Acme", "model": "X-9"}, include=(EVIL,))
SALES, ASKS = 14, 5


def fill(store: Store) -> int:
    """The Morgan with sales, asks, one of another grade and a hostile one; its id."""
    with store.write() as session:
        now = store.backend.now(session)
        source = save_price_source(
            session,
            SourceSpec("bay", Adapter.CSV, options={"url": "https://bay.example/prices.csv"}, reputation=0.8),
            Origin.PERSON,
            now,
        )
        item = save_item(session, MORGAN, ItemStatus.ATTRIBUTED, Origin.PERSON, 0, now)
        save_item(session, PHONE, ItemStatus.PENDING, Origin.PERSON, 0, now)
        file_prices(session, item, source, now)
        for day, median in ((20, 5_000), (8, 5_150), (0, 5_300)):
            said = {"valuation": valuation(item, median, now - day * DAY), "asked": 0, "alerts": ()}
            store_valuation(session, said | {"read_at": now - day * DAY}, now - day * DAY)
    return item


def file_prices(session: Session, item: int, source: int, now: int) -> None:
    today = day_of(now)
    sold = [
        row(
            4_600 + at * 90,
            external_id=f"s{at}",
            price_type=PriceType.SOLD,
            listed_on=today - timedelta(days=3 * at),
            title=f"1921-D Morgan silver dollar no. {at}",
        )
        for at in range(SALES)
    ]
    asked = [row(5_600 + at * 150, external_id=f"a{at}", title="1921 D Morgan dollar") for at in range(ASKS)]
    other = row(
        19_900, external_id="g", counts=False, reason="its grade is MS66, the item has none", grade="MS66"
    )
    hostile = row(5_200, external_id="e", title=EVIL, url="javascript:alert(1)", counts=False, reason=EVIL)
    filed(session, [*sold, *asked, other, hostile], now, item=item, source=source)


def valuation(item: int, median: int, at: int) -> Valuation:
    bands = Bands(
        median - 900, median - 500, median - 120, median, median + 130, median + 600, median + 1_100, median
    )
    parts = (
        ConfidencePart("prices", 2, "19 prices count"),
        ConfidencePart("sold", 1, "74 % of them were paid"),
    )
    return Valuation(
        item,
        "USD",
        bands,
        8,
        SALES + ASKS,
        SALES,
        ASKS,
        1,
        "14 sales and 5 asks from one source.",
        parts,
        {"of another grade": 1},
        f"basis {at}",
        at,
    )
