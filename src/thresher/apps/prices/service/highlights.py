"""What the prices app knows the value of, for the first page of the dashboard."""

from thresher.apps.prices.model import ItemStatus
from thresher.apps.prices.service.items import count_by_status
from thresher.core.extension import Highlight
from thresher.store.store import Store


def values(store: Store) -> list[Highlight]:
    """Items that have a value, of all that are kept up to date."""
    counts = count_by_status(store)
    valued = counts.get(ItemStatus.PRICED, 0)
    every = sum(number for status, number in counts.items() if status != ItemStatus.ARCHIVED)
    says = f"of {every:,}" if every else "no item has been added yet; add one on the page Items"
    return [Highlight(valued, "item valued" if valued == 1 else "items valued", "/prices", says)]


HIGHLIGHTS = (values,)
