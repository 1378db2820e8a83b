"""An explanation names the very prices that a valuation rests on, and each other one with its reason."""

from collections.abc import Callable

import pytest

from tests.apps.prices.listings import filed, row
from thresher.apps.prices.model import Adapter, ItemSpec, ItemStatus, Origin, PriceType, SourceSpec
from thresher.apps.prices.service.prices import explain_item
from thresher.apps.prices.store.items import save_item
from thresher.apps.prices.store.sources import save_price_source
from thresher.apps.prices.valuing import value_task
from thresher.testing.world import World

GRADES = ("raw", "VG", None, "MS63", "AU details", "VG")


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    ("wanted", "counts"), [("raw", 4), ("MS63", 1), ("AU details", 1), (None, 2), ("MS70", 0)]
)
def test_an_explanation_counts_what_the_valuation_counts(
    world: Callable[..., World], wanted: str | None, counts: int
) -> None:
    said = {"denomination": "dollar", "year": "1921"} | ({"grade": wanted} if wanted else {})
    with world() as here:
        with here.store.write() as session:
            now = here.store.backend.now(session)
            save_price_source(session, SourceSpec("bay", Adapter.MANUAL), Origin.PERSON, now)
            item = save_item(
                session, ItemSpec("Morgan", "coin", said), ItemStatus.ATTRIBUTED, Origin.PERSON, 0, now
            )
            rows = [
                row(4_000 + at, external_id=str(at), price_type=PriceType.SOLD, grade=grade)
                for at, grade in enumerate(GRADES)
            ]
            filed(session, rows, now, item=item)
        here.enqueue(value_task(item))
        here.run_until_idle()
        found = explain_item(here.store, "Morgan")
    assert len(found.counted) == counts
    assert len(found.not_counted) == len(GRADES) - counts
    assert all(each.point.reason for each in found.not_counted)
    value = found.item.value
    assert value is not None
    assert value.comp_count == counts
