"""What stages ask about an item and a source together."""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.prices.model import Item, PriceSource
from thresher.apps.prices.store.collections import Collection, find_collection
from thresher.apps.prices.store.items import item_of_id
from thresher.apps.prices.store.sources import list_price_sources, price_source_of_id
from thresher.store.session import Session


def read_pair(
    session: Session,
    data: Mapping[str, Any],
    now: int,  # noqa: ARG001  every read is given the time
) -> tuple[Item | None, PriceSource | None, Collection | None]:
    """Read: an item, a source, and what is known of the two."""
    item, source = data["item"], data["source"]
    found = find_collection(session, item, source)
    return item_of_id(session, item), price_source_of_id(session, source), found


def read_sources(session: Session, data: Mapping[str, Any], now: int) -> Sequence[PriceSource]:  # noqa: ARG001  every read is given the time
    """Read: all sources, retired or not."""
    return list_price_sources(session, retired=True)
