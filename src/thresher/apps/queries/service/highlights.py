"""What the queries app has noticed, for the first page of the dashboard."""

from thresher.apps.queries.store.companies import list_companies
from thresher.core.extension import Highlight
from thresher.store.store import Store

MAX_COUNTED = 1_000  # companies, the strongest


def signals(store: Store) -> list[Highlight]:
    """Companies with a strong offer about which nobody has decided yet."""
    with store.read() as session:
        found = list_companies(session, limit=MAX_COUNTED)
    strong = [each for each in found if each.strong_offer_count]
    open_ones = sum(not each.resolved for each in strong)
    decided = len(strong) - open_ones
    if strong:
        says = f"and {decided:,} about which you have decided" if decided else ""
    else:
        says = f"none of {len(found):,} companies has one" if found else "no query has found a company yet"
    what = "company with a strong signal" if open_ones == 1 else "companies with a strong signal"
    return [Highlight(open_ones, what, "/signals", says)]


HIGHLIGHTS = (signals,)
