"""Items that are looked for in CSV files on the practice web: the smallest market there is."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any

from thresher.apps.prices.app import app as prices
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.model import Adapter, ItemSpec, ItemStatus, Origin, PricePoint, SourceSpec
from thresher.apps.prices.store.collections import Collection, find_collection
from thresher.apps.prices.store.items import save_item
from thresher.apps.prices.store.points import points_of
from thresher.apps.prices.store.sources import save_price_source
from thresher.config.settings import Settings, catalogue_of
from thresher.core.app import App
from thresher.store.store import Store
from thresher.testing.web import Page
from thresher.testing.world import World

URL = "https://lists.example/coins.csv"
TITLE = "1921 Morgan dollar"
HEADER = "id,title,price,currency,type,date,url\n"
# Opens a world on the database of a test: pages, and settings by name.
OpenWorld = Callable[..., World]
POLITE = {"host.interval": 0.0, "host.in_flight": 100}


def without_schedules(given: App) -> App:
    """The app without its schedules: a test asks when it wants to."""
    made = copy(given)
    object.__setattr__(made, "schedules", ())
    return made


app = without_schedules(prices)


def coins(amounts: Mapping[str, str] | Iterable[str], *, title: str = TITLE) -> str:
    """A file with a coin of each id, and its price."""
    pairs = amounts.items() if isinstance(amounts, Mapping) else ((each, "10.00") for each in amounts)
    return HEADER + "".join(
        f"{key},{title},{price},USD,ask,2023-11-01,https://lists.example/{key}\n" for key, price in pairs
    )


def spec(name: str = "lists", url: str = URL, **others: Any) -> SourceSpec:
    said: dict[str, Any] = {"options": {"url": url}, "rate_per_minute": None}
    return SourceSpec(name, Adapter.CSV, **(said | others))


def item_spec(name: str = "Morgan dollar", **others: Any) -> ItemSpec:
    """A coin; `attributes` are those that it has besides."""
    attributes = {
        "denomination": "dollar",
        "year": "1921",
        "series": "Morgan",
        **others.pop("attributes", {}),
    }
    return ItemSpec(name, "coin", attributes, **others)


def add_item(store: Store, said: ItemSpec | None = None, *, refresh: int = 0) -> int:
    with store.write() as session:
        now = store.backend.now(session)
        return save_item(session, said or item_spec(), ItemStatus.ATTRIBUTED, Origin.PERSON, refresh, now)


def add_source(store: Store, said: SourceSpec | None = None) -> int:
    with store.write() as session:
        return save_price_source(session, said or spec(), Origin.PERSON, store.backend.now(session))


def world(pages: Mapping[str, Page], database: str | None = None, **settings: float) -> World:
    """A world in which nobody has to wait for politeness."""
    return World(app, pages=pages, settings={**POLITE, **settings}, database=database)


def change(made: World, **settings: float) -> None:
    """Change settings while the world goes on."""
    made.store.settings = Settings({**dict(made.store.settings), **settings}, catalogue_of((app,)))


def collect(made: World, item: int, source: int, *, within: float = 60.0) -> dict[str, Any]:
    """Look for an item at a source; the task as it then stands."""
    (task,) = made.enqueue(collect_task(item, source))
    made.run_until_idle(within=within)
    return next(each for each in made.tasks("collect_prices") if each["id"] == task)


def standing(store: Store, item: int, source: int) -> Collection:
    with store.read() as session:
        found = find_collection(session, item, source)
    assert found is not None
    return found


def points(store: Store, item: int) -> list[PricePoint]:
    with store.read() as session:
        return list(points_of(session, item))


def prices_of(store: Store, item: int) -> dict[str | None, int]:
    """The live prices of an item by the ids of their listings."""
    return {each.external_id: each.price for each in points(store, item) if not each.ended_at}


def asked(made: World, url: str = URL) -> int:
    """How often the file was requested."""
    return sum(each.url == url for each in made.web.requests)
