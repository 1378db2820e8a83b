"""A world with an item, a source, and a collection that files what it is told."""

from collections.abc import Mapping

from tests.apps.prices.listings import filed, row
from tests.harness.databases import Database
from thresher.apps.prices.app import app
from thresher.apps.prices.model import Adapter, ItemSpec, ItemStatus, Origin, PriceType, SourceSpec, Valuation
from thresher.apps.prices.store.items import item_of_id, save_item
from thresher.apps.prices.store.sources import save_price_source
from thresher.apps.prices.store.valuations import PastValuation, valuation_history, valuation_of
from thresher.apps.prices.valuing import requests
from thresher.core.app import App
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Outcome
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.task import NewTask
from thresher.testing.web import Page
from thresher.testing.world import START, World

MORGAN = ItemSpec("1921-D Morgan", "coin", {"denomination": "dollar", "year": "1921"})
COLLECT, COLLECT_ALL = "collect_for_test", "collect_all_for_test"


async def collect_one(ctx: Context) -> Outcome:
    """File some sales as a collection does, and ask for a valuation."""
    said = ctx.task.payload
    rows = [
        row(price, at=ctx.now(), external_id=f"{ctx.task.id}-{at}", price_type=PriceType.SOLD)
        for at, price in enumerate(said["prices"])
    ]
    filing = {"item": said["item"], "source": 1, "rows": rows, "bodies": [], "observed_at": ctx.now()}
    effect, child = requests(said["item"], ctx.task.id)
    return Done(effects=(Effect("prices.file_points", filing), effect), children=(child,))


async def collect_all(ctx: Context) -> Outcome:
    """Start collections one after the other, so that each valuation ends before the next collection does."""
    found = ctx.task.payload["found"]
    return Done(
        children=tuple(
            NewTask(COLLECT, {"item": 1, "prices": prices}, key=f"1:{at}", delay=10.0 * at)
            for at, prices in enumerate(found)
        )
    )


def with_collections(of: App) -> App:
    """The app with the collections of these tests."""
    own = (Pipeline(COLLECT, Stage(collect_one)), Pipeline(COLLECT_ALL, Stage(collect_all)))
    made = {name: getattr(of, name) for name in of.__dataclass_fields__}
    return App(**(made | {"pipelines": (*of.pipelines, *own)}))


def opened(
    database: Database,
    pages: Mapping[str, Page] = {},
    *,
    now: int = START,
    settings: Mapping[str, float] = {},
) -> World:
    """A world on the database of a test. Opened again, it is another worker on the same tasks."""
    url = database.address(app)
    return World(with_collections(app), pages=pages, settings=settings, now=now, database=url)


def scene(world: World, spec: ItemSpec = MORGAN) -> int:
    """An item and a source, the first of each; the item's id."""
    source = SourceSpec("bay", Adapter.MANUAL, reputation=0.8)
    with world.store.write() as session:
        now = world.store.backend.now(session)
        save_price_source(session, source, Origin.PERSON, now)
        return save_item(session, spec, ItemStatus.ATTRIBUTED, Origin.PERSON, 0, now)


def sales(world: World, *amounts: int, item: int = 1, kind: PriceType = PriceType.SOLD) -> None:
    """File sales without asking for a valuation."""
    with world.store.write() as session:
        now = world.store.backend.now(session)
        rows = [
            row(each, at=now, external_id=f"{kind}{at}", price_type=kind) for at, each in enumerate(amounts)
        ]
        filed(session, rows, now, item=item)


def collection(*prices: int, item: int = 1) -> NewTask:
    """A collection that finds these sales."""
    return NewTask(COLLECT, {"item": item, "prices": prices})


def collections(*found: tuple[int, ...]) -> NewTask:
    """A run of collections of the first item, ten seconds apart."""
    return NewTask(COLLECT_ALL, {"found": found})


def valued(world: World, item: int = 1) -> Valuation:
    with world.store.read() as session:
        found = valuation_of(session, item)
    assert found is not None
    return found


def history(world: World, item: int = 1) -> list[PastValuation]:
    with world.store.read() as session:
        return valuation_history(session, item)


def status(world: World, item: int = 1) -> ItemStatus:
    with world.store.read() as session:
        found = item_of_id(session, item)
    assert found is not None
    return found.status
